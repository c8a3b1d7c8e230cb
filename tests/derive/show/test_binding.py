"""What binds, in words and shares: no inequality of the catalogue keeps a term below zero, and shares are those of the times."""

import pytest

from derive.answers import Answer
from derive.catalogue import by_id
from derive.expressions.sympy_solver import regimes
from derive.show.binding import (
    MEMORY_BOUND,
    limit_in_words,
    plain_regime,
)

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")


def test_every_regime_of_the_catalogue_has_words_without_a_term_below_zero():
    for label in {one.label for row in by_id().values() for one in regimes(row.sides[1]) if one.label}:
        words = plain_regime(label)
        for part in words.split(" and "):
            sides = part.replace(" <= ", " >= ").split(" >= ")
            assert not any(side.startswith("-") or side == "0" for side in sides), (label, words)


def test_shares_are_those_of_times_or_of_their_ratios():
    memory = Answer(kind="point", value=1.0, regime="memory_time >= compute_time")
    compute = Answer(kind="point", value=1.0, regime="compute_time >= memory_time")
    times = {"weight_time": 6.0, "kv_time": 2.0, "compute_time": 3.0, "attention_time": 1.0}
    assert limit_in_words(memory, times) == "memory-bound: weights 75 %, KV 25 %; arithmetic takes 50 % of that time"
    longer = {**times, "tokens_verified_per_step": 4.0}
    assert limit_in_words(compute, longer) == "compute-bound: weights 75 %, attention 25 %; reads take 50 % of that time"
    ratios = {"weight_compute_ratio": 0.002, "kv_compute_ratio": 1.998}
    assert limit_in_words(memory, ratios) == "memory-bound: weights 0.1 %, KV 99.9 %; arithmetic takes 50 % of that time"


def test_without_the_parts_or_without_a_regime_there_are_no_shares():
    memory = Answer(kind="point", value=1.0, regime="memory_time >= compute_time")
    assert limit_in_words(memory, {"memory_time": 1.0}) == MEMORY_BOUND
    assert limit_in_words(Answer(kind="point", value=1.0), {"weight_time": 1.0}) == ""
    both = Answer(kind="point", value=1.0, regime="memory_time >= compute_time and 1 >= chips/kv_heads")
    assert limit_in_words(both, {"weight_time": 1.0, "compute_time": 1.0}) == "memory-bound and chips/kv_heads <= 1"
