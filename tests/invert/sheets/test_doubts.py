"""Prices that can be read and are hardly meant."""

import csv
from datetime import date
from io import BytesIO
from time import process_time

import pytest

from invert.sheets.doubts import doubtful_prices, doubts_about
from invert.sheets.read import load, read_rows
from invert.sheets.rows import PriceBook
from tests.tools.data import shipped_data

HEADER = "provider,model,component,threshold_tokens,amount,currency,effective_date,valid_to,retrieved_date,ttl_seconds"
DATED = "2026-01-01,,2026-11-20,"


def doubted(*rows: str) -> list[str]:
    fx = load().fx
    read, problems = read_rows([HEADER, *rows], "own.csv", fx, overlay=True)
    assert problems == []
    return list(map(str, doubtful_prices(PriceBook(rows=tuple(read), fx=fx, newest_retrieved=date(2026, 11, 20)))))


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
            "column provider: '\u201ca\u201d' is in quotation marks, which are then part of the name: is 'a' meant?",
        ),
        (f"a,d\u2019or,input,,2,,{DATED}", ""),
        (f"a,Mar-26,input,,2,,{DATED}", "column model: 'Mar-26' was changed by a spreadsheet, which read the name as a date"),
        (f"a,1.5E+10,input,,2,,{DATED}", "'1.5E+10' was changed by a spreadsheet, which read the name as a number"),
        (f"a,gr\u043ek-9,input,,2,,{DATED}", "mixes Latin letters with character U+043E (cyrillic small letter o)"),
        (f"a,\u043e9,input,,2,,{DATED}", "looks like 'o9' and begins with character U+043E"),
        (f"a,5.4,input,,2,,{DATED}", ""),
        (f"a,gpt-4-0613,input,,2,,{DATED}", ""),
        (f"a,\u0413\u0438\u0433\u0430,input,,2,,{DATED}", ""),
        (f"a,\u901a\u4e49 qwen,input,,2,,{DATED}", ""),
        ("a,n,cache_read,,0.1,,2016-01-01,,2026-11-20,", "column effective_date: 2016-01-01 is more than 3 years from"),
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
        (f"a,k,cache_write,,0.5,,{DATED}300", "cache_write 0.5 is below input 2"),
        (f"a,k,cache_write,,0,,{DATED}300", "cache_write is 0: is it free?"),
        (f"a,k,cache_write,,20.1,,{DATED}300", "cache_write 20.1 is more than 10 times input 2: does one of the two have another unit?"),
        (f"a,k,output,200000,150,,{DATED}", "output 150 is more than 10 times input 3: does one of the two have another unit?"),
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
        ([f"a,m,cache_write,,2.4,,{DATED}3600"], ["row 8, column amount: cache_write 2.4 for 3600 s is below the 2.5 for 300 s"]),
        ([f"a,m,cache_write,,2.5,,{DATED}3600"], []),
        ([f"a,m,cache_storage,,0,,{DATED}"], ["row 8, column amount: cache_storage is 0: is it free?"]),
        ([f"a,m,input,271999,8,,{DATED}", f"a,m,output,271999,24,,{DATED}"], ["row 8, column threshold_tokens: 271999 is one token below"]),
        ([f"a,m,input,271000,4,,{DATED}", f"a,m,output,271000,12,,{DATED}"], ["row 8, column amount: prices above 271000 tokens equal"]),
        ([f"a,m,input,271000,8,,{DATED}", f"a,m,output,271000,12,,{DATED}"], []),
    ],
)
def test_a_free_cache_a_band_without_premium_and_a_threshold_one_below_are_asked_about(rows: list[str], said: list[str]):
    found = doubted(*SOUND, *rows)
    assert len(found) == len(said)
    assert all(text in one for text, one in zip(said, found, strict=True))


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
        book = PriceBook(rows=tuple(read), fx={}, newest_retrieved=date(2026, 11, 20))
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
        "google,gemini-3.1-pro,{},,{},USD,2026-01-01,,2026-11-20,": (2, 8, "is another model than 'gemini-3.1-pro-preview'"),
        "\u201cgoogle\u201d,e,{},,{},USD,2026-01-01,,2026-11-20,": (2, 8, "is another provider than 'google'"),
    }
    for row, (first, second, said) in rows.items():
        own = [HEADER, row.format("input", first), row.format("output", second)]
        assert any(said in str(doubt) for doubt in doubtful_prices(load(own))), row
    other = [HEADER, "opena,GPT-5.4,input,,2,USD,,,2026-11-20,", "opena,GPT-5.4,output,,8,USD,,,2026-11-20,"]
    assert {doubt.column for doubt in doubtful_prices(load(other))} == {"provider", "model"}
    own = [row.replace("opena,", "zbi,") for row in other]
    assert doubtful_prices(load(own)) == [], "of three letters one is no slip, and a model is that of its provider"
    dated = b"provider,model,component,amount,release_date,verification\nacme,a,input,2,2030-01-01,guess\nacme,a,output,8,2030-01-01,guess"
    assert {doubt.column for doubt in doubtful_prices(load(BytesIO(dated)))} == {"release_date", "verification"}
    words = b"provider,model,component,amount,service_tier,verification\nacme,a,input,2,bacth,offical\nacme,a,output,8,bacth,offical"
    found = [str(one).partition(", ")[2] for one in doubtful_prices(load(BytesIO(words)))]
    assert found[::2] == ["column service_tier: 'bacth' is another word than 'batch': is that one meant?"] * 2
    assert found[1::2] == ["column verification: 'offical' is another word than 'official': is that one meant?"] * 2
    sound = [HEADER, "acme,a,input,,2,USD,2026-01-01,,2026-11-20,", "acme,a,output,,8,USD,2026-01-01,,2026-11-20,"]
    assert doubtful_prices(load(sound)) == [] == doubtful_prices(load())


def test_doubts_about_some_sheets_are_those_that_a_check_has_of_their_rows():
    own = b"provider,model,component,amount\nacme,k,input,0.0025\nacme,k,output,0.01\nacme,other,input,2\nacme,other,output,8\n"
    book = load(BytesIO(own))
    found = doubts_about([("acme", "k", "", "standard")], book)
    assert [one.row for one in found] == [2, 3] and {*found} == {*doubtful_prices(book)}
    assert doubts_about([("acme", "other", "", "standard")], book) == ()


def test_a_copy_of_the_shipped_prices_is_doubted_only_where_it_was_edited():
    """Shipped rows were checked, also those of a copy. A price is far from the one that it replaces, and precedes no other."""
    content = shipped_data().tables.content("prices.csv")
    assert doubtful_prices(load(BytesIO(content))) == []
    rows = [*csv.DictReader(content.decode().splitlines())]
    place = next(place for place, row in enumerate(rows) if row["component"] == "cache_read" and row["valid_to"] and row["amount"])
    amount = f"{float(rows[place]['amount']) * 40:g}"
    lines = content.decode().splitlines()
    lines[place + 1] = ",".join(amount if name == "amount" else cell for name, cell in rows[place].items())
    found = [one for one in doubtful_prices(load(lines)) if "times" in one.message]
    assert {one.row for one in found} <= {place + 2}
    assert all("that it replaces (prices.csv:" in one.message or "not below" in one.message for one in found)


def test_a_band_far_above_the_band_before_is_doubted():
    (found,) = doubted(*SOUND[:4], f"a,m,input,200000,12,,{DATED}", f"a,m,output,200000,120,,{DATED}")
    assert found.endswith("output above 200000 tokens is 120, 15 times the 8 of the band before: is the decimal point right?")


def test_a_price_long_before_the_release_and_a_second_currency_of_a_sheet_are_doubtful():
    header = "provider,model,component,threshold_tokens,amount,currency,effective_date,date_kind,release_date"
    rows = ["input,,2,USD,", "output,,8,USD,", "input,200000,4,CNY,", "output,200000,12,CNY,"]
    own = "\n".join([header, *(f"acme,a,{row}2026-01-01,start,2026-05-01" for row in rows)])
    found = [f"{one.row} {one.column} {one.message}" for one in doubtful_prices(load(BytesIO(own.encode())))]
    assert [one for one in found if one.startswith("4 currency input is in CNY and input in USD")]
    assert "2 effective_date 2026-01-01 is more than 31 days before the release, on 2026-05-01: are both days right?" in found
