"""A word finds what it is called, what is named with it and what speaks of it, in this order; a time what was said at it."""

import pytest

from derive.catalogue import by_id
from derive.catalogue.searching import TALK, equations_about, equations_at, quantities_about
from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.quantities.aliases import ALIASES, ALSO_CALLED
from tests.tools.together import some


def named(word: str) -> list[str]:
    return [row.name for row in quantities_about(word)]


def test_a_quantity_is_found_by_its_name_its_symbol_and_what_people_call_it():
    for row in some(QUANTITIES.values(), every=12):
        assert named(row.name)[0] == row.name
        assert len(row.symbol) == 1 or row.name in named(row.symbol)
    for word, names in some((*ALSO_CALLED.items(), *ALIASES.items()), every=16):
        assert {*named(word)[: len(names)]} == {*names}


def test_what_is_named_with_a_word_comes_before_what_only_speaks_of_it():
    found = named("batch")
    assert found[0] == "batch" and found.index("balance_batch") < found.index("kv_time")
    assert named("hbm capacity")[0] == "hbm_capacity" and named("weigths") == [] and "chips" in named("chps")


def test_one_letter_finds_no_word_that_begins_with_it():
    assert named("t") == [] and named("") == [] and equations_about("") == []


def test_equations_are_found_by_chapter_title_quantity_and_statement():
    assert {row.id for row in by_id().values() if row.chapter == "roofline"} <= {row.id for row in equations_about("roofline")}
    assert [row.chapter for row in equations_about("roofline")][:5] == ["roofline"] * 5
    assert "roofline.step_time" in [row.id for row in equations_about("t_m")]
    assert "memory.capacity" in [row.id for row in equations_about("stages")]
    assert equations_about("batch", [by_id()["cache.drain_time"]]) == []


def test_a_minute_holds_all_that_was_said_in_it_and_a_second_less():
    minute, second = ({row.id for row in equations_at(time)} for time in ("0:19", "0:19:30"))
    assert minute and second <= minute and {row.id for row in equations_at("19:30")} == second
    for id in minute:
        spans = [(one.start, one.end or one.start) for one in by_id()[id].sources if one.kind == TALK]
        assert any(start < 20 * 60 and end >= 19 * 60 for start, end in spans)


@pytest.mark.parametrize("time", ["", "19", "0:61:1", "1:2:3", "0:60:60", "x", "0:19:30:1"])
def test_what_is_no_time_is_refused(time: str):
    with pytest.raises(WrongValue, match="time of the lecture"):
        equations_at(time)
