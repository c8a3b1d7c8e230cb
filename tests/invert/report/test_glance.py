"""All sheets at a glance: a line each within any width, in the order that is asked, and nothing without what qualifies it."""

from dataclasses import replace

import pytest

from derive.errors import UnknownName, WrongValue
from invert.inference import infer
from invert.report.glance import COLUMNS, FIRST_TO_GO, HEAD_LINES, OF_TEXT, SHOWN, glance, in_order, picked
from tests.tools.inferred import current
from tests.tools.together import in_one_test


def sheets_of(text: str) -> list[str]:
    body, *_ = text.partition(f"\n\n{len(current())} sheets")
    return [line for line in body.splitlines()[HEAD_LINES:] if line]


def test_it_fits_a_page_whole_and_any_terminal_from_80():
    whole = glance(current(), 100)
    assert "left out" not in whole.lower() and max(map(len, whole.splitlines())) <= 100
    for width in (80, 90, 120, 200):
        text = glance(current(), width)
        assert max(map(len, text.splitlines())) <= width and len(sheets_of(text)) == len(current())
    narrow = glance(current(), 80)
    assert f"Left out for want of width: {', '.join(name for name in SHOWN if name in FIRST_TO_GO)}" in " ".join(narrow.split())
    assert "and range" in narrow and "known" in narrow.splitlines()[1]


def test_sheets_with_a_price_of_long_context_come_first_and_the_dearest_before_the_others():
    found = in_order(current())
    prices = [one.sheet.bands[0].input.usd_per_token for one in found]
    banded = sum(bool(one.pairs) for one in found)
    assert all(one.pairs for one in found[:banded]) and 0 < banded < len(found)
    assert prices[:banded] == sorted(prices[:banded], reverse=True) and prices[banded:] == sorted(prices[banded:], reverse=True)
    assert glance(current()).splitlines()[HEAD_LINES + banded] == ""


@in_one_test("name", [column.name for column in COLUMNS])
def test_it_is_sorted_by_any_column_from_the_largest_or_the_other_way(name: str):
    (column,) = [column for column in COLUMNS if column.name == name]
    for by in (name, f"-{name}"):
        keys = [column.key(one) for one in in_order(current(), by)]
        known = [key for key in keys if key is not None]
        texts = isinstance(known[0], str)
        assert known == sorted(known, reverse=texts == by.startswith("-")) and keys[: len(known)] == known


def test_a_line_says_what_the_record_has():
    (line,) = [line for line in sheets_of(glance(current())) if line.startswith("gpt-6-sol ")]
    assert line.split() == ["gpt-6-sol", "2/10", "272k", "2/1.5", "45", "14-150", "-", "20*", "2.8-140", "-", "~HBM?"]
    (known,) = [line for line in sheets_of(glance(current())) if line.startswith("MiniMax-M3 ")]
    assert known.split()[:10] == ["MiniMax-M3", "0.3/1.2", "512k", "2/2", "23", "12x", "27", "2.7-280", "21", "-"]


def test_flags_are_letters_that_are_explained_and_so_are_records():
    said = " ".join(glance(current()).split("\n\n")[-1].split())
    assert (
        "90% ranges held 38 of 42 open models, no closed one;" in said
        and "90% ranges held 11 of 14 open models" in said
        and "size extrapolated" in said
    )
    (line,) = [line for line in sheets_of(glance(current())) if line.startswith("gpt-6-astra ")]
    letters = dict(part.split(" ", 1) for part in said.partition("Flags: ")[2].partition(". ")[0].split("; "))
    assert {letters[letter] for letter in line.split()[-1]} == {"size extrapolated"}


def test_a_class_of_no_known_time_and_a_tier_by_price_are_marked_where_they_stand():
    (opus,) = [line.split() for line in sheets_of(glance(current())) if line.startswith("claude-opus-5 ")]
    assert "20*" in opus and "HBM/DDR" in opus, "a vendor's word"
    said = " ".join(glance(current()).split("\n\n")[-1].split())
    assert "* release not known" in said and "without ~ the vendor's word" in said and "in 1 of 5 lifetimes" in said


def test_nothing_explains_what_is_not_shown():
    prices = " ".join(glance(current(), columns=["model", "price"]).split("\n\n")[-1].split())
    assert not [word for word in ("Active:", "KV:", "Over cost:", "Priced as:", "extrapolated", "release not known") if word in prices]
    assert "extrapolated" in glance(current(), columns=["model", "active"])
    run = current()
    stated, by_price = (tuple(one for one in run if one.size_stated is known) for known in (True, False))
    of_stated, of_price = (" ".join(glance(replace(run, inferences=some)).split()) for some in (stated, by_price))
    assert "Active: without a range as stated." in of_stated and "Over cost:" in of_stated
    assert "Active: by the price of input" in of_price and "as stated" not in of_price and "Over cost:" not in of_price
    given = infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": "70kB"})
    assert "KV: as models of its time" not in glance(given)


def test_of_one_name_it_is_said_who_sells_it():
    both = infer("glm-5.1")
    assert [one.sheet.provider for one in both] == ["zai", "zhipu-bigmodel"]
    text = glance(both)
    assert "by zai" in text and "by zhipu-bigmodel" in text and "by openai" not in glance(current())


def test_columns_that_are_asked_for_are_shown_however_wide():
    text = glance(current(), 40, ["provider", "MODEL", "kv"])
    assert [line.split() for line in text.splitlines()[:2]] == [["KV", "read,", "kB"], ["provider", "model", "and", "range"]]
    with pytest.raises(UnknownName, match="unknown column 'kvs'; allowed: model, price"):
        glance(current(), columns=["kvs"])


@in_one_test(
    ("wanted", "count"),
    [
        (["provider=openai"], 13), (["provider=openai, x-ai"], 18), (["model=GPT-6*"], 5), (["provider=openai", "model=*sol"], 3),
        (["flag=off*"], 2), (["tier=off_peak"], 2), (["cache=flash"], 8), (["currency=CNY"], 7), (["provider=nobody"], 0),
        (["flag=off"], 2),
    ],
)  # fmt: skip
def test_sheets_are_picked_by_patterns(wanted: list[str], count: int):
    assert len(picked(current(), wanted)) == count


@in_one_test(("wanted", "said"), [("provider", "write provider=PATTERN"), ("provider=", "write provider=PATTERN")])
def test_a_pattern_that_is_none_is_refused(wanted: str, said: str):
    with pytest.raises(WrongValue, match=said):
        picked(current(), [wanted])
    with pytest.raises(UnknownName, match="did you mean 'provider'"):
        picked(current(), ["providr=x"])
    assert {"provider", "model", "flag"} <= {*OF_TEXT}


def test_a_size_that_no_range_holds_and_kv_that_is_given():
    (one,) = infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": "70kB", "active_params": "60B"})
    assert glance(replace(current(), inferences=(one,))).splitlines()[HEAD_LINES].split()[4:9] == ["60", "30x", "70", "given", "-"]
