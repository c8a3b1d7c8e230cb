"""Prices that can be read and are hardly meant."""

from io import BytesIO
from pathlib import Path
from time import process_time

import pytest

from invert.sheets.doubts import doubtful_prices, doubts_about
from invert.sheets.read import load, read_rows
from invert.sheets.rows import PriceBook

HEADER = "provider,model,component,threshold_tokens,amount,currency,effective_date,valid_to,retrieved_date,ttl_seconds"
DATED = "2026-01-01,,2026-11-20,"
SOLD = (("input", 2), ("output", 8))


def doubted(*rows: str) -> list[str]:
    fx = load().fx
    read, problems = read_rows([HEADER, *rows], "own.csv", fx, overlay=True)
    assert problems == []
    return list(map(str, doubtful_prices(PriceBook(rows=tuple(read), fx=fx, problems=(), newest_retrieved=None))))


SOUND = (f"a,m,input,,2,,{DATED}", f"a,m,output,,8,,{DATED}", f"a,m,cache_read,,0.2,,{DATED}", f"a,m,cache_write,,2.5,,{DATED}300",
         f"a,m,input,200000,4,,{DATED}", f"a,m,output,200000,12,,{DATED}")  # fmt: skip


def test_a_sound_sheet_raises_no_doubt():
    assert doubted(*SOUND) == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (f"a,n,cache_read,,0.0005,,{DATED}", "column amount: 0.0005 is 0.0005 USD per million tokens: is it per thousand, or per token?"),
        (f"a,n,cache_read,,0.002,CNY,{DATED}", "0.002 is 0.00029 USD per million tokens"),
        (f"b,m,input,,2,,{DATED}", ""),
        (
            f"\u201ca\u201d,p,input,,2,,{DATED}",
            "column provider: '\u201ca\u201d' is in quotation marks, which belong to the name so: is 'a' meant?",
        ),
        (f"a,\u00abp,input,,2,,{DATED}", "is 'p' meant?"),
        (f"a,d\u2019or,input,,2,,{DATED}", ""),
        (f"a,Mar-26,input,,2,,{DATED}", "column model: 'Mar-26' is written by a spreadsheet that reads a name as a date"),
        (f"a,2026-03-01,input,,2,,{DATED}", "'2026-03-01' is written by a spreadsheet"),
        (f"a,1.5E+10,input,,2,,{DATED}", "'1.5E+10' is written by a spreadsheet that reads a name as a number"),
        (f"a,gr\u043ek-9,input,,2,,{DATED}", "mixes Latin letters with character U+043E (cyrillic small letter o)"),
        (f"\u0391cme,p,input,,2,,{DATED}", "column provider: '\u0391cme' mixes Latin letters with character U+0391 (greek capital letter"),
        (f"a,\u043e9,input,,2,,{DATED}", "looks like 'o9' and begins with character U+043E"),
        (f"a,\u0413\u0438\u0433\u0430-2,input,,2,,{DATED}", ""),
        (f"a,\u901a\u4e49-qwen,input,,2,,{DATED}", ""),
        (f"a,m-2026-03-01,input,,2,,{DATED}", ""),
        ("a,n,cache_read,,0.1,,2016-01-01,,2026-11-20,", "column effective_date: 2016-01-01 is more than 3 years from"),
        ("a,n,cache_read,,0.1,,2026-01-01,2062-01-01,2026-11-20,", "column valid_to: 2062-01-01 is more than 3 years from"),
        ("a,n,cache_read,,0.1,,2026-01-01,,2062-11-20,", "column retrieved_date: 2062-11-20 is more than 3 years from"),
    ],
)
def test_a_doubtful_row_is_named_with_its_column(row: str, said: str):
    found = doubted(*SOUND, f"a,n,input,,2,USD,{DATED}", f"a,n,output,,8,USD,{DATED}", row)
    found = [one for one in found if one.startswith("own.csv row 10")]
    assert (len(found) == 1 and said in found[0]) if said else found == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (f"a,k,cache_read,,3,,{DATED}", "cache_read 3 is not below input 2: a cache read is cheaper"),
        (f"a,k,cache_write,,0.5,,{DATED}300", "cache_write 0.5 is below input 2: amounts are prices, not what is added to the input"),
        (f"a,k,cache_write,,0,,{DATED}300", "cache_write is 0: is it free?"),
        (f"a,k,cache_read,,2,,{DATED}", "cache_read 2 is not below input 2: a cache read is cheaper"),
        (f"a,k,cache_read,,1.9,,{DATED}", ""),
        (f"a,k,cache_write,,20.1,,{DATED}300", "cache_write 20.1 is more than 10 times input 2: is one of the two in another unit?"),
        (f"a,k,cache_write,,20,,{DATED}300", ""),
        (
            f"a,k,output,200000,6,,{DATED}",
            "output above 200000 tokens is 6, below the 8 of the band before: are the two",
        ),
        (f"a,k,output,200000,8,,{DATED}", ""),
    ],
)
def test_prices_of_one_sheet_are_held_against_each_other(row: str, said: str):
    sheet = (f"a,k,input,,2,,{DATED}", f"a,k,output,,8,,{DATED}", f"a,k,input,200000,3,,{DATED}")
    found = doubted(*sheet, row, *([f"a,k,output,200000,8,,{DATED}"] if "output,200000" not in row else []))
    assert (len(found) == 1 and said in found[0] and found[0].startswith("own.csv row 5, column amount")) if said else found == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([f"a,m,cache_storage,,0,,{DATED}"], ["row 8, column amount: cache_storage is 0: is it free?"]),
        ([f"a,m,input,271999,8,,{DATED}", f"a,m,output,271999,24,,{DATED}"], ["row 8, column threshold_tokens: 271999 is one token below"]),
        ([f"a,m,input,262143,8,,{DATED}", f"a,m,output,262143,24,,{DATED}"], ["row 8, column threshold_tokens: 262143 is one token below"]),
        ([f"a,m,input,271000,4,,{DATED}", f"a,m,output,271000,12,,{DATED}"], ["row 8, column amount: prices above 271000 tokens equal"]),
        ([f"a,m,input,271000,8,,{DATED}", f"a,m,output,271000,12,,{DATED}"], []),
    ],
)
def test_a_free_cache_a_band_without_premium_and_a_threshold_one_below_are_asked_about(rows: list[str], said: list[str]):
    found = doubted(*SOUND, *rows)
    assert len(found) == len(said)
    assert all(text in one for text, one in zip(said, found, strict=True))


def test_a_file_of_ones_own_is_none_that_ships_whatever_it_is_called(tmp_path, monkeypatch):
    """openai sells o3 at 8 USD a million tokens of output."""
    monkeypatch.chdir(tmp_path)
    said = {}
    for name in ("prices.csv", "mine.csv"):
        Path(name).write_text("provider,model,component,amount\nopenai,o3,input,2\nopenai,o3,output,400\n", encoding="utf-8")
        said[name] = [str(one).replace(f"./{name}", name).replace(name, "F", 1) for one in doubtful_prices(load(name))]
    assert said["prices.csv"] == said["mine.csv"] and "50 times above the 8 that it follows (prices.csv:" in said["mine.csv"][0]


def test_prices_of_other_days_are_not_held_against_each_other():
    assert doubted("a,m,input,,5,,2026-01-01,2026-06-01,2026-11-20,", "a,m,input,,2,,2026-06-01,,2026-11-20,",
                   "a,m,output,,8,,2026-01-01,,2026-11-20,", "a,m,cache_read,,3,,2026-01-01,2026-06-01,2026-11-20,") == []  # fmt: skip


def test_a_blank_currency_beside_another_of_the_provider_is_asked_about():
    (said, other) = doubted(
        f"z,m,input,,14,CNY,{DATED}", f"z,m,output,,56,CNY,{DATED}", f"z,n,input,,14,,{DATED}", f"z,n,output,,56,,{DATED}"
    )
    assert said.startswith("own.csv row 4, column currency: is blank, which is read as USD, and z asks CNY for m (own.csv:2)")
    assert other.startswith("own.csv row 5, column currency")


def test_a_price_ten_times_from_every_other_of_its_provider_is_asked_about():
    sheets = [
        row
        for name, price in (("a", 2), ("b", 3), ("c", 5))
        for row in (f"p,{name},input,,{price},,{DATED}", f"p,{name},output,,{4 * price},,{DATED}")
    ]
    assert doubted(*sheets) == []
    found = doubted(*sheets, f"p,d,input,,80,,{DATED}", f"p,d,output,,90,,{DATED}")
    assert len(found) == 1 and "input 80 USD is more than 10 times dearer than any other of p: p/d (standard)" in found[0]
    cheap = doubted(*sheets, f"p,d,input,,0.1,,{DATED}", f"p,d,output,,8,,{DATED}")
    assert len(cheap) == 1 and "more than 10 times cheaper" in cheap[0]
    assert doubted(*sheets[:4], f"p,d,input,,80,,{DATED}", f"p,d,output,,90,,{DATED}")
    assert doubted(*sheets[:2], f"p,d,input,,80,,{DATED}", f"p,d,output,,90,,{DATED}") == [], "two are no neighbourhood"


def doubts_beside_what_ships(*rows: str) -> list[str]:
    """Of rows of one's own laid over the shipped prices of Claude Opus 5: 5 and 25, a cache read 0.5, writes 6.25 and 10."""
    return list(map(str, doubtful_prices(load([HEADER, *(f"anthropic,claude-opus-5,{row}" for row in rows)]))))


def test_a_row_of_one_s_own_is_named_and_not_the_shipped_one_that_it_contradicts():
    (said,) = doubts_beside_what_ships("input,,30,,,,,")
    assert said == "standard input row 2, column amount: output 25 is below input 30: are the two the wrong way round?"
    (said,) = doubts_beside_what_ships("output,,4,,,,,")
    assert said == "standard input row 2, column amount: output 4 is below input 5: are the two the wrong way round?"
    (said,) = doubts_beside_what_ships("output,,100,CNY,,,,")
    assert said.startswith("standard input row 2, column currency: output is in CNY and input in USD")


@pytest.mark.parametrize("since", ["", "2026-11-19", "2020-01-01"])
def test_a_price_that_is_ten_times_or_a_tenth_of_the_one_it_follows_is_asked_about(since: str):
    cheaper = doubts_beside_what_ships(f"input,,0.5,,{since},,,", f"output,,2.5,,{since},,,")
    assert [one.partition(" is ")[0] for one in cheaper] == [
        "standard input row 2, column amount: input 0.5",
        "standard input row 3, column amount: output 2.5",
    ]
    assert "input 0.5 is 10 times below the 5 that it follows (prices.csv:71): is the decimal point in its place?" in cheaper[0]
    (dearer,) = doubts_beside_what_ships(f"cache_write,,62.5,,{since},,,300")
    assert "cache_write 62.5 is 10 times above the 6.25 that it follows (prices.csv:74)" in dearer
    assert doubts_beside_what_ships(f"input,,2.5,,{since},,,", f"output,,12.5,,{since},,,") == []


def test_a_price_is_held_against_the_one_that_it_follows_in_time_in_whatever_order_they_stand():
    rows = ["a,m,input,,20,,2026-03-01,,,", "a,m,input,,2,,2026-01-01,2026-03-01,,", "a,m,output,,80,,2026-01-01,,,"]
    (said,) = doubted(*rows)
    assert said.startswith("own.csv row 2, column amount: input 20 is 10 times above the 2 that it follows (own.csv:3)")
    dollars = ("a,m,input,,20,USD,2026-01-01,2026-03-01,,", "a,m,output,,80,USD,2026-01-01,2026-03-01,,")
    yuan = ("a,m,input,,140,CNY,2026-03-01,,,", "a,m,output,,560,CNY,2026-03-01,,,")
    assert doubted(*yuan, *dollars) == [], "seven yuan a dollar"
    free = ("a,m,cache_read,,0,,2026-01-01,2026-03-01,,", "a,m,cache_read,,1,,2026-03-01,,,")
    assert doubted(*free, "a,m,input,,20,,2026-01-01,,,", "a,m,output,,80,,2026-01-01,,,") == [
        "own.csv row 2, column amount: cache_read is 0: is it free? If it is not sold, leave this row out"
    ]


def test_the_shipped_prices_raise_no_doubt():
    assert doubtful_prices(load()) == []


@pytest.mark.slow
def test_the_time_grows_as_the_rows_do():
    """Many rows, and many stretches of time of one price."""

    def took(count: int) -> float:
        many = [row for n in range(count // 4) for row in (f"p,m{n},input,,2,,{DATED}", f"p,m{n},output,,8,,{DATED}")]
        stretches = [f"p,x,input,,2,,{2000 + n // 336}-{n // 28 % 12 + 1:02d}-{n % 28 + 1:02d},,2026-11-20," for n in range(count // 2)]
        ends = [row.split(",")[6] for row in stretches[1:]]
        dated = [row.replace(",,2026-11-20,", f",{end},2026-11-20,") for row, end in zip(stretches, ends, strict=False)]
        read, problems = read_rows([HEADER, *many, *dated, "p,x,output,,8,,,,2026-11-20,"], "own.csv", overlay=True)
        assert problems == []
        book = PriceBook(rows=tuple(read), fx={}, problems=(), newest_retrieved=None)
        start = process_time()
        doubtful_prices(book)
        return process_time() - start

    took(500)
    small, large = min(took(2_000) for _ in range(3)), min(took(8_000) for _ in range(3))
    assert large < 8 * small + 0.05


def test_rows_of_one_s_own_are_held_against_those_that_ship():
    rows = {
        "acme,a,{},,{},USD,2026-01-01,,2026-11-20,": (0.0025, 0.01, "is it per thousand tokens?"),
        "acme,b,{},,{},USD,2026-01-01,,2026-11-20,": (250, 1000, "is it in cents?"),
        "acme,c,{},,{},USD,2062-01-01,,,": (2, 8, "2062-01-01 is more than 3 years after"),
        "Google,d,{},,{},USD,2026-01-01,,2026-11-20,": (2, 8, "'Google' is another provider than 'google'"),
        "goolge,d,{},,{},USD,2026-01-01,,2026-11-20,": (2, 8, "'goolge' is another provider than 'google'"),
        "OpenAI,GPT-5.4,{},,{},USD,2026-01-01,,2026-11-20,": (2, 8, "'GPT-5.4' is another model than 'gpt-5.4'"),
        "\u201cgoogle\u201d,e,{},,{},USD,2026-01-01,,2026-11-20,": (2, 8, "is another provider than 'google'"),
    }
    for row, (first, second, said) in rows.items():
        own = [HEADER, row.format("input", first), row.format("output", second)]
        assert any(said in str(doubt) for doubt in doubtful_prices(load(own))), row
    other = [HEADER, "opena,GPT-5.4,input,,2,USD,,,2026-11-20,", "opena,GPT-5.4,output,,8,USD,,,2026-11-20,"]
    assert {doubt.column for doubt in doubtful_prices(load(other))} == {"provider", "model"}
    own = [row.replace("opena,", "zbi,") for row in other]
    assert doubtful_prices(load(own)) == [], "of three letters one is no slip, and a model is that of its provider"
    words = b"provider,model,component,amount,service_tier,verification\nacme,a,input,2,bacth,offical\nacme,a,output,8,bacth,offical"
    found = [str(one).partition(", ")[2] for one in doubtful_prices(load(BytesIO(words)))]
    assert found[:2] == ["column service_tier: 'bacth' is another word than 'batch': is that one meant?"] * 2
    assert found[2:] == ["column verification: 'offical' is another word than 'official': is that one meant?"] * 2
    sound = [HEADER, "acme,a,input,,2,USD,2026-01-01,,2026-11-20,", "acme,a,output,,8,USD,2026-01-01,,2026-11-20,"]
    assert doubtful_prices(load(sound)) == [] == doubtful_prices(load())


@pytest.mark.parametrize(
    ("output", "said"), [(("", 1.5, "USD"), "is below input 2"), (("", 40, "CNY"), "is in CNY"), ((200, 12, "USD"), "is 200k meant")]
)
def test_prices_of_one_sheet_that_hardly_go_together_are_named(output: tuple, said: str):
    at, amount, currency = output
    rows = [f"a,m,input,,2,USD,{DATED}", f"a,m,output,{at},{amount},{currency},{DATED}"]
    more = [f"a,m,output,,8,USD,{DATED}", f"a,m,input,{at},4,USD,{DATED}"] if at else []
    assert any(said in doubt for doubt in doubted(*rows, *more))


def test_doubts_about_some_sheets_are_those_that_a_check_has_of_their_rows():
    own = b"provider,model,component,amount\nacme,k,input,0.0025\nacme,k,output,0.01\nacme,other,input,2\nacme,other,output,8\n"
    book = load(BytesIO(own))
    found = doubts_about([("acme", "k", "", "standard")], book)
    assert [one.row for one in found] == [2, 3] and {*found} == {*doubtful_prices(book)}
    assert doubts_about([("acme", "other", "", "standard")], book) == ()
