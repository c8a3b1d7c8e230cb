"""Which sheets hold on a day, which of them a name means, and prices changed by hand."""

from datetime import date

import pytest

from derive.errors import UnknownName
from derive.tables import shipped
from invert.sheets.assemble import find, models, sheets
from invert.sheets.rows import ModelRow, PriceBook
from tests.tools.data import shipped_data
from tests.tools.sheets import TODAY, book_of, full, pair
from tests.tools.tables import reading
from tests.tools.together import in_one_test


def tiers(book: PriceBook, **asked) -> list[str]:
    return [sheet.service_tier for sheet in sheets(book, **asked)]


def test_a_sheet_holds_bands_writes_and_storage_in_order():
    sheet = full()
    assert [band.threshold_tokens for band in sheet.bands] == [0, 200000]
    assert [(band.input.amount, band.output.amount) for band in sheet.bands] == [(2, 10), (4, 18)]
    assert sheet.bands[0].cache_read.amount == 0.2 and sheet.bands[1].cache_read is None
    assert [(price.ttl_seconds, price.amount) for price in sheet.writes] == [(300, 2.5), (3600, 4)]
    assert sheet.storage.amount == 4.5 and sheet.as_of == TODAY
    assert [place for place in sheet.prices if place[0] == "cache_write"] == [
        ("cache_write", 0, 300),
        ("cache_write", 200000, 300),
        ("cache_write", 0, 3600),
    ]


HISTORY = [
    *pair("a", "m", dates="2026-01-01,start,2026-06-01", amount=3),
    "a,m,,standard,input,200000,,6,,2026-01-01,start,2026-06-01,",
    "a,m,,standard,output,200000,,20,,2026-01-01,start,2026-06-01,",
    *pair("a", "m", dates="2026-06-01,start,2027-01-01", amount=2),
    *pair("a", "m", dates="2027-01-01,start,", amount=4),
]


@in_one_test(
    ("day", "expected"),
    [
        (date(2025, 12, 31), []),
        (date(2026, 1, 1), [(3, 2)]),
        (date(2026, 5, 31), [(3, 2)]),
        (date(2026, 6, 1), [(2, 1)]),
        (None, [(2, 1)]),
        (date(2026, 12, 31), [(2, 1)]),
        (date(2027, 1, 1), [(4, 1)]),
        (date.max, [(4, 1)]),
    ],
)
def test_a_sheet_before_and_after_its_change_dates(day: date | None, expected: list[tuple[float, int]]):
    found = sheets(book_of(*HISTORY), day)
    assert [(sheet.bands[0].input.amount, len(sheet.bands)) for sheet in found] == expected


def test_one_tier_a_model_by_default_and_all_when_asked():
    book = book_of(
        *pair("a", "m"), *pair("a", "m", "batch"), *pair("a", "m", "off_peak"), *pair("b", "m", "off_peak"), *pair("b", "m", "peak")
    )
    assert tiers(book) == ["standard", "off_peak"]
    assert tiers(book, tier="batch") == ["batch"] and tiers(book, tier="peak") == ["peak"]
    assert tiers(book, tier="all") == tiers(book, everything=True) == ["batch", "off_peak", "standard", "off_peak", "peak"]


# Names.


def model_row(provider: str, model: str, *aliases: str, first_party: bool = True) -> ModelRow:
    return models(shipped_data())[0].changed(provider=provider, model=model, aliases=aliases, first_party=first_party)


LISTED = [
    model_row("google", "gemini-9-pro-preview", "gemini-pro-latest"),
    model_row("cloud", "gemini-9-pro-preview", first_party=False),
    model_row("google", "gemini-9-flash"),
    model_row("openai", "gpt-9", "gpt-nine"),
    model_row("openai", "gpt-9-sol"),
    model_row("openai", "gpt-9-luna"),
    model_row("zai", "glm"),
    model_row("zhipu", "glm"),
    model_row("openai", "gpt-old"),
    model_row("host", "Org/Open-1", first_party=False),
]
BOOK = book_of(*(line for row in LISTED if row.model != "gpt-old" for line in pair(row.provider, row.model)))
PRICED = sheets(BOOK)


@in_one_test(
    ("name", "meant", "noted"),
    [
        ("openai/gpt-9", "openai/gpt-9", False),
        ("gpt-nine", "openai/gpt-9", False),
        ("gemini-9-pro", "google/gemini-9-pro-preview", True),
        ("gemini-9-pro-preview", "google/gemini-9-pro-preview", True),
        ("gemini-pro-latest", "google/gemini-9-pro-preview", False),
        ("open-1", None, False),
        ("Org/Open-1", "host/Org/Open-1", False),
        ("", None, False),
    ],
)
def test_a_name_means_one_model(name: str, meant: str | None, noted: bool):
    if meant is None:
        with pytest.raises(UnknownName):
            find([name], PRICED, LISTED, BOOK, TODAY)
        return
    found, notes = find([name], PRICED, LISTED, BOOK, TODAY)
    assert [f"{sheet.provider}/{sheet.model}" for sheet in found] == [meant]
    assert bool(notes) == noted and all("also sold by cloud" in note for note in notes)


@in_one_test(
    ("name", "message"),
    [
        ("gpt-old", "'gpt-old' has no sheet in this service tier on this day; `backsolve prices list` shows all"),
        ("gemini-9-flsh", "'gemini-9-flsh' is not a model here; did you mean google/gemini-9-flash or google/gemini-9-pro-preview?"),
        (
            "gemni",
            "'gemni' is not a model here; did you mean cloud/gemini-9-pro-preview or google/gemini-9-flash or google/gemini-9-pro-preview?",
        ),
        ("opnai", "'opnai' is not a model here; did you mean openai/gpt-9 or openai/gpt-9-luna or openai/gpt-9-sol?"),
        ("x\n\x1b[2J", "'x\\n\\x1b[2J' is not a model here; `backsolve prices list` shows all"),
    ],
)
def test_an_unknown_name_gets_its_candidates(name: str, message: str):
    with pytest.raises(UnknownName) as caught:
        find([name], PRICED, LISTED, BOOK, TODAY)
    assert str(caught.value) == message and caught.value.exit_status == 2


@in_one_test(
    ("line", "message"),
    [
        ("b,n,,perhaps,false,,,,,,,,,,,", "models.csv row 3, column first_party: 'perhaps' is not a truth value"),
        ("b,n,,,false,,,,,,,,,,,", "models.csv row 3, column first_party: is blank"),
        ("b,n,,true,false,,,many,,,,,,,,", "models.csv row 3, column max_context: 'many' is not a whole number"),
        ("b,n,,true,false,,,,many,verified,,,,,,", "models.csv row 3, column active_params: 'many' is not a number"),
        ("b,n,,true,false,,,,1e9,,,,,,,", "models.csv row 3, column active_params_grade: is blank, and active_params is not"),
        ("b,n,,true,false,Nothing-1B,verified,,,,,,,,,", "models.csv row 3, column architecture: 'Nothing-1B' is not in architectures.csv"),
        ("b,n,,true,false,,,,,,,,2026,quoted,,", "models.csv row 3, column release_date: '2026' is not an ISO date"),
        ("b,n,,true,false,,,,,,,,2026-05-01,,,", "models.csv row 3, column release_grade: is blank, and release_date is not"),
        ("b,n,,true,false,,,,,,,,2026-05-01,rumour,,", "models.csv row 3, column release_grade: 'rumour' is not known"),
        ("b,n,,true,false,,,,,,,2026-09-10,,,,", "models.csv row 3, column weights_until: ends the known weights"),
        ("b,n,,true,false,,,,1e9,verified,,2026-05-01,2026-05-01,quoted,,", "models.csv row 3, column weights_until: is not after"),
        ("b,n,,true", "models.csv row 3: the header has 16 cells, and the row has 4"),
    ],
)
def test_a_wrong_model_row_is_named(line: str, message: str):
    header = shipped.read().content("models.csv").decode().splitlines()[0]
    with reading(shipped.read().edited(models=f"{header}\na,m,,TRUE,false,,,,,,,,,,,\n{line}\n")):
        (problem,) = shipped.read().problems(ModelRow)
    assert str(problem).startswith(message)
