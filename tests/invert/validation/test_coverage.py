"""What verdict a record earns: by how often ranges held, then by what they know."""

from dataclasses import replace

import pytest

from invert.assumptions import USUAL
from invert.estimators.prediction import coverage_at
from invert.records import Record
from invert.validation import coverage


def record(count: int, of: int, gain: float) -> Record:
    known = {"rms": 1.0, "rms_of_baseline": 1.0, "standard_error": 0.2, "interval": (gain - 0.4, gain + 0.4)}
    return Record(count=of, groups=of, gain=gain, coverage=(coverage_at(0.9, count, of),), **known)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            record(0, 9, 1.0),
            "not trusted: its ranges were right for 0 of 9, and at most 23% of these ranges are right, but 90% is promised",
        ),
        (record(9, 9, -0.4), "not trusted: its ranges were right for 9 of 9, but it knows less than the class does, by 0.40 nats"),
        (
            record(9, 9, 0.1),
            "trusted: its ranges were right for 9 of 9 where 90% is promised, and it knows 0.10 nats more than the class, for no more",
        ),
        (record(8, 9, 0.3), "trusted: its ranges were right for 8 of 9 where 90% is promised, and it knows 0.30 nats more than the class"),
    ],
)
def test_a_record_is_trusted_by_what_it_held_and_what_it_knows(one: Record, said: str):
    assert coverage.judge_record(one, "the class").startswith(said)
    assert "not trusted" in coverage.judge_record(one, "the class", replace(USUAL, level=0.8))


def test_how_many_standard_errors_a_gain_must_exceed_is_an_assumption():
    one = record(9, 9, 0.3)
    assert coverage.judge_record(one, "the class").endswith("0.30 nats more than the class")
    said = coverage.judge_record(one, "the class", replace(USUAL, least_gain_in_errors=2.0))
    assert said.endswith("0.30 nats more than the class, for no more than 2 standard errors")
    assert one.has_skill() and one.has_skill(1.4) and not one.has_skill(1.6)


def test_a_fault_that_is_put_in_is_found_out_by_ranks_and_a_sound_run_is_not():
    assert coverage.judge_ranks(0.9, 0.02, 9, 0.9, False).startswith("sound")
    assert coverage.judge_ranks(0.9, 0.01, 9, 0.9, False).startswith("unsound")
    assert coverage.judge_ranks(0.9, 0.02, 9, 0.9, True) == "the built-in error is not visible here"
