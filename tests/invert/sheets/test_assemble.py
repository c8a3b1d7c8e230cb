"""Which sheets hold on a day, which of them a name means, and prices changed by hand."""

from datetime import date

import pytest

from derive.errors import UnknownName, WrongData
from derive.tables import shipped
from invert.sheets.assemble import find, matches, models, sheets, sheets_that_ship, whole_name
from invert.sheets.read import load
from invert.sheets.rows import PriceBook
from invert.sheets.tables import ModelRow
from tests.tools.data import shipped_data
from tests.tools.sheets import TODAY, book_of, full, pair
from tests.tools.tables import reading, with_cells
from tests.tools.together import in_one_test


def tiers(book: PriceBook, **asked) -> list[str]:
    return [sheet.service_tier for sheet in sheets(book, **asked)[0]]


def test_a_sheet_holds_bands_writes_and_storage_in_order():
    sheet = full()
    assert [band.threshold_tokens for band in sheet.bands] == [0, 200000]
    assert [(band.input.amount, band.output.amount) for band in sheet.bands] == [(2, 10), (4, 18)]
    assert sheet.bands[0].cache_read.amount == 0.2 and sheet.bands[1].cache_read is None
    assert [(offer.ttl_seconds, [(one.threshold_tokens, one.price.amount) for one in offer.prices]) for offer in sheet.writes] == [
        (300, [(0, 2.5), (200000, 5)]),
        (3600, [(0, 4)]),
    ]
    assert sheet.storage.base.amount == 4.5 and sheet.as_of == TODAY


def test_shipped_sheets_of_models_that_are_not_out_are_no_record_of_anything():
    later = with_cells(
        shipped.content("models.csv").decode(), lambda row: row | ({"release_date": "2026-11-21"} if row["model"] == "o3" else {})
    )
    with reading(shipped.read().edited(models=later)):
        left = [sheet.model for sheet in sheets_that_ship(shipped_data())]
    assert [sheet.model for sheet in sheets(load())[0] if sheet.model not in left] == ["o3"]


@pytest.mark.parametrize(("day", "rate"), [(date(2025, 1, 1), 7), (date(2026, 11, 30), 7), (date(2026, 12, 1), 8)])
def test_other_currencies_are_converted_at_the_rate_of_the_day(day: date, rate: float):
    book = book_of("a,m,,,input,,,14,CNY,,,,", "a,m,,,output,,,56,CNY,,,,")
    price = sheets(book, day)[0][0].bands[0].input
    assert (price.amount, price.currency) == (14, "CNY") and price.usd_per_token == pytest.approx(14 / rate * 1e-6)


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
    found, problems = sheets(book_of(*HISTORY), day)
    assert problems == []
    assert [(sheet.bands[0].input.amount, len(sheet.bands)) for sheet in found] == expected


def test_a_verification_day_is_not_a_beginning():
    book = book_of(*pair("a", "m", "batch", "2026-10-12,verified,2027-01-01"), *pair("a", "n", "batch", "2026-10-12,first_seen,"))
    assert [sheet.model for sheet in sheets(book, date(2026, 1, 1), everything=True)[0]] == ["m"]
    assert [sheet.model for sheet in sheets(book, date(2026, 11, 1), everything=True)[0]] == ["m", "n"]
    assert [sheet.model for sheet in sheets(book, date(2027, 1, 1), everything=True)[0]] == ["n"]


def test_one_tier_a_model_by_default_and_all_when_asked():
    book = book_of(
        *pair("a", "m"), *pair("a", "m", "batch"), *pair("a", "m", "off_peak"), *pair("b", "m", "off_peak"), *pair("b", "m", "peak")
    )
    assert tiers(book) == ["standard", "off_peak"]
    assert tiers(book, tier="batch") == ["batch"] and tiers(book, tier="peak") == ["peak"]
    assert tiers(book, tier="all") == tiers(book, everything=True) == ["batch", "off_peak", "standard", "off_peak", "peak"]


def test_the_default_tier_is_that_of_the_day():
    book = book_of(*pair("a", "m", dates=",,2026-08-01"), *pair("a", "m", "off_peak", "2026-08-01,start,"))
    assert tiers(book, as_of=date(2026, 7, 31)) == ["standard"] and tiers(book) == ["off_peak"]


def test_a_broken_standard_sheet_is_named_and_no_other_tier_slips_in_for_it():
    found, problems = sheets(book_of(pair("a", "m")[0], *pair("a", "m", "off_peak")))
    assert found == [] and "a/m (standard) has input and no output" in str(problems[0])


def test_an_unknown_tier_and_a_book_without_days_are_refused():
    with pytest.raises(UnknownName, match="unknown service tier 'standrad'; did you mean 'standard'"):
        sheets(book_of(*pair("a", "m")), tier="standrad")
    with pytest.raises(WrongData, match="retrieved_date"):
        sheets(PriceBook(rows=(), fx={}, problems=(), newest_retrieved=None))


# Names.


def model_row(provider: str, model: str, *aliases: str, first_party: bool = True) -> ModelRow:
    return ModelRow(
        provider=provider,
        model=model,
        aliases=aliases,
        first_party=first_party,
        architecture="",
        architecture_grade="",
        max_context=None,
        active_params=None,
        active_params_grade="",
        total_params=None,
        weights_until=None,
        release_date=None,
        release_grade="",
        source="",
        notes="",
    )


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
PRICED = sheets(book_of(*(line for row in LISTED if row.model != "gpt-old" for line in pair(row.provider, row.model))))[0]


@in_one_test(
    ("name", "meant", "noted"),
    [
        ("openai/gpt-9", "openai/gpt-9", False),
        ("gpt-9", "openai/gpt-9", False),
        ("GPT-9", "openai/gpt-9", False),
        ("gpt-nine", "openai/gpt-9", False),
        ("openai/gpt-nine", "openai/gpt-9", False),
        ("gemini-9-flash", "google/gemini-9-flash", False),
        ("gemini-9-pro", "google/gemini-9-pro-preview", True),
        ("gemini-9-pro-preview", "google/gemini-9-pro-preview", True),
        ("cloud/gemini-9-pro", "cloud/gemini-9-pro-preview", False),
        ("gemini-pro-latest", "google/gemini-9-pro-preview", False),
        ("zhipu/glm", "zhipu/glm", False),
        ("open-1", None, False),
        ("Org/Open-1", "host/Org/Open-1", False),
        ("gemini-9-pr", None, False),
        ("gpt", None, False),
        ("", None, False),
    ],
)
def test_a_name_means_one_model(name: str, meant: str | None, noted: bool):
    if meant is None:
        with pytest.raises(UnknownName):
            find([name], PRICED, LISTED)
        return
    found, notes = find([name], PRICED, LISTED)
    assert [f"{sheet.provider}/{sheet.model}" for sheet in found] == [meant]
    assert bool(notes) == noted and all("also sold by cloud" in note for note in notes)


@in_one_test(
    ("name", "message"),
    [
        ("gpt-old", "'gpt-old' has no sheet in this service tier on this day; `backsolve prices list` shows all"),
        ("gemini-9-flsh", "'gemini-9-flsh' is no model here; did you mean google/gemini-9-flash or google/gemini-9-pro-preview?"),
        ("nothing", "'nothing' is no model here; `backsolve prices list` shows all"),
        (
            "gemni",
            "'gemni' is no model here; did you mean cloud/gemini-9-pro-preview or google/gemini-9-flash or google/gemini-9-pro-preview?",
        ),
        (
            "gemni*",
            "'gemni*' is no model here; did you mean cloud/gemini-9-pro-preview or google/gemini-9-flash or google/gemini-9-pro-preview?",
        ),
        ("opnai", "'opnai' is no model here; did you mean openai/gpt-9 or openai/gpt-9-luna or openai/gpt-9-sol?"),
        ("flsh", "'flsh' is no model here; did you mean google/gemini-9-flash?"),
        ("x\n\x1b[2J", "'x\\n\\x1b[2J' is no model here; `backsolve prices list` shows all"),
    ],
)
def test_an_unknown_name_gets_its_candidates(name: str, message: str):
    with pytest.raises(UnknownName) as caught:
        find([name], PRICED, LISTED)
    assert str(caught.value) == message and caught.value.exit_status == 2


def test_the_name_of_a_model_without_a_price_is_not_the_beginning_of_another():
    """Before, the sheet of the other was shown without a word."""
    offered = [sheet for sheet in PRICED if sheet.model == "gemini-9-pro-preview"]
    assert find(["gemini-9-pro"], offered, [])[0]
    with pytest.raises(UnknownName, match="has no sheet in this service tier on this day"):
        find(["gemini-9-pro"], offered, [], [("google", "gemini-9-pro")])


def test_a_model_that_several_sell_and_none_of_them_makes_is_shown_of_each():
    found, notes = find(["glm"], PRICED, LISTED)
    assert [f"{sheet.provider}/{sheet.model}" for sheet in found] == ["zai/glm", "zhipu/glm"]
    assert notes == ["glm: sold by zai and zhipu; provider/model takes one"]


def test_a_pattern_means_all_that_match_it():
    found, notes = find(["gemini-9-*", "OPENAI/*"], PRICED, LISTED)
    assert not [note for note in notes if "also sold" in note]
    names = [f"{sheet.provider}/{sheet.model}" for sheet in found]
    assert {"google/gemini-9-flash", "google/gemini-9-pro-preview", "openai/gpt-9"} <= {*names} and len(names) == len({*names})
    with pytest.raises(UnknownName, match=r"'llama\*' is no model here"):
        find(["llama*"], PRICED, LISTED)


def test_a_name_that_holds_the_marks_of_a_pattern_is_a_name_first():
    named = [("acme", "m[1m]"), ("acme", "m1"), ("[x]", "m*")]
    assert [matches(name, named, {}) for name in ("m[1m]", "acme/m[1m]", "[x]/m*")] == [[named[0]], [named[0]], [named[2]]]
    assert matches("m[12]", named, {}) == [named[1]] and matches("*/m[1m]", named, {}) == [named[1]]


def test_of_names_that_differ_in_capitals_alone_the_one_that_is_typed_is_meant():
    named = [("openai", "gpt-5.4"), ("openai", "GPT-5.4"), ("azure", "gpt-5.4"), ("OpenAI", "other"), ("openai", "other")]
    for name in ("openai/GPT-5.4", "openai/gpt-5.4", "OpenAI/other", "openai/other"):
        assert [f"{provider}/{model}" for provider, model in matches(name, named, {})] == [name]
    assert matches("GPT-5.4", named, {}) == named[1:3] and matches("gpt-5.4", named, {}) == [named[0], named[2]]
    assert matches("Gpt-5.4", named, {}) == named[:3], "as nobody spells it"


def test_the_real_models_cover_the_real_sheets():
    book, listed = load(), models(shipped_data())
    priced = {(row.provider, row.model) for row in book.rows}
    assert priced == {(row.provider, row.model) for row in listed}
    for row in listed:
        for name in (f"{row.provider}/{row.model}", *(whole_name(row.provider, alias) for alias in row.aliases)):
            found, _ = find([name], sheets(book, everything=True)[0], listed)
            assert {(sheet.provider, sheet.model) for sheet in found} == {(row.provider, row.model)}


@in_one_test(
    ("line", "message"),
    [
        ("b,n,,perhaps,false,,,,,,,,,,,", "models.csv row 3, column first_party: 'perhaps' is not a truth value"),
        ("b,n,,,false,,,,,,,,,,,", "models.csv row 3, column first_party: is blank"),
        (
            "b,n,,true,false,,,many,,,,,,,,",
            "models.csv row 3, column max_context: 'many' is not a whole number. Write digits only",
        ),
        ("b,n,,true,false,,,,many,verified,,,,,,", "models.csv row 3, column active_params: 'many' is not a number"),
        ("b,n,,true,false,,,,1e9,,,,,,,", "models.csv row 3, column active_params_grade: is blank, and active_params is not"),
        ("b,n,,true,false,Nothing-1B,verified,,,,,,,,,", "models.csv row 3, column architecture: 'Nothing-1B' is not in architectures.csv"),
        ("b,n,,true,false,,,,,,,,2026,quoted,,", "models.csv row 3, column release_date: '2026' is not an ISO date"),
        ("b,n,,true,false,,,,,,,,2026-05-01,,,", "models.csv row 3, column release_grade: is blank, and release_date is not"),
        ("b,n,,true,false,,,,,,,,2026-05-01,rumour,,", "models.csv row 3, column release_grade: 'rumour' is not known"),
        ("b,n,,true,false,,,,,,,2026-09-10,,,,", "models.csv row 3, column weights_until: ends the known weights"),
        ("b,n,,true,false,,,,1e9,verified,,2026-05-01,2026-05-01,quoted,,", "models.csv row 3, column weights_until: is not after"),
        ("b,n,,true", "models.csv row 3: has 4 cells"),
    ],
)
def test_a_wrong_model_row_is_named_and_the_others_are_read(line: str, message: str):
    header = shipped.content("models.csv").decode().splitlines()[0]
    with reading(shipped.read().edited(models=f"{header}\na,m,,TRUE,false,,,,,,,,,,,\n{line}\n")):
        (row,), (problem,) = models(shipped_data()), shipped.problems(ModelRow)
    assert (row.provider, row.model, row.first_party) == ("a", "m", True)
    assert str(problem).startswith(message)


@in_one_test("mark", ["\u200b", "\u2060", "\u00ad", "\ufe0f", "\ufeff"])
def test_a_character_of_a_name_that_does_not_show_is_named(mark: str):
    for name in (f"gpt-9{mark}", f"{mark}openai/gpt-9", f"gpt{mark}-9"):
        with pytest.raises(UnknownName, match=rf"holds the character U\+{ord(mark):04X} \(.*\), which does not show; did you mean"):
            find([name], PRICED, LISTED)


CLOUD = "cloud/gemini-9-pro-preview"


@in_one_test(
    ("name", "fault", "meant"),
    [
        ("gpt\u20119", "character 4 is U+2011 (non-breaking hyphen) where 'gpt-9' has '-'", "openai/gpt-9"),
        ("openai/g\u0440t-9", "character 9 is U+0440 (cyrillic small letter er) where 'openai/gpt-9' has 'p'", "openai/gpt-9"),
        ("gpt\u2013nine", "character 4 is U+2013 (en dash) where 'gpt-nine' has '-'", "openai/gpt-9"),
        ("G\u03a1T-9-sol", "character 2 is U+03A1 (greek capital letter rho) where 'gpt-9-sol' has 'p'", "openai/gpt-9-sol"),
        ("zhipu/\uff47lm", "character 7 is U+FF47 (fullwidth latin small letter g) where 'zhipu/glm' has 'g'", "zhipu/glm"),
        ("cloud/gemini-9\u2212pro", f"character 15 is U+2212 (minus sign) where {CLOUD!r} has '-'", CLOUD),
    ],
)
def test_a_name_that_looks_like_another_is_refused_with_its_character(name: str, fault: str, meant: str):
    with pytest.raises(UnknownName) as caught:
        find([name], PRICED, LISTED)
    assert str(caught.value) == f"{name!r} is no model here: {fault}; did you mean {meant}?"


def test_white_space_around_a_name_and_the_normal_form_of_its_letters_do_not_matter():
    named = sheets(book_of(*pair("caf\u00e9", "m")))[0]
    assert find(["\u00a0gpt-9\u3000"], PRICED, LISTED) == find(["gpt-9"], PRICED, LISTED)
    assert find(["cafe\u0301/m"], named, []) == find(["caf\u00e9/m"], named, [])
