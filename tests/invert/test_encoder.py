"""Records as JSON and back, by the types of their fields and a table of keys."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from math import inf, nan
from typing import Any

import pytest

from invert.encoder import Codec, Leaf, WrongShape
from invert.records import Estimate
from invert.report.contract import CODEC, Question, question_of
from invert.result import Shown
from invert.sheets.rows import FileText
from tests.tools.inferred import current
from tests.tools.together import in_one_test


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: float | None
    names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.names)


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: Inner
    day: date
    by_name: Mapping[str, int]
    more: Inner | None = None


PLAIN = Codec(leaves={date: Leaf(str, date.isoformat, date.fromisoformat)})
OUTER = Outer(inner=Inner(size=1.23456789, names=("a", "b")), day=date(2026, 4, 29), by_name={"x": 1})


def test_a_record_without_keys_of_its_own_is_its_fields_and_is_read_again():
    written = PLAIN.encode(OUTER)
    assert written == {"inner": {"size": 1.23456789, "names": ["a", "b"]}, "day": "2026-04-29", "by_name": {"x": 1}, "more": None}
    assert PLAIN.decode(Outer, written) == OUTER


def test_a_number_that_is_not_finite_is_null():
    assert [PLAIN.encode(value) for value in (inf, -inf, nan, 0.0)] == [None, None, None, 0.0]


@in_one_test(
    ("change", "why"),
    [
        ({"day": 3}, "day is 3, but must be a text"),
        ({"inner": {"names": []}}, "it lacks inner.size"),
        ({"inner": {"size": "1", "names": []}}, "inner.size is '1', but must be a number or null"),
        ({"inner": {"size": 10**400, "names": []}}, "inner.size is too large"),
        ({"inner": {"size": 1, "names": [1]}}, "inner.names[0] is 1, but must be a text"),
        ({"inner": {"size": 1, "names": ["a\n"]}}, "inner.names[0] has characters that do not print"),
        ({"by_name": {"x": 1.5}}, "by_name.x is 1.5, but must be a whole number"),
    ],
)  # fmt: skip
def test_a_document_of_another_shape_is_refused_with_its_place_and_what_is_allowed(change: dict[str, Any], why: str):
    with pytest.raises(WrongShape) as refused:
        PLAIN.decode(Outer, {**PLAIN.encode(OUTER), **change})
    assert str(refused.value).startswith(why)


def test_a_question_is_read_as_it_was_written():
    run = current()
    for shown in (Shown(), Shown(style="csv", by="-model", wanted=("a=b",), columns="model", against=FileText("a.csv", b"a,b"))):
        asked = question_of(run, shown)
        found = CODEC.decode(Question, CODEC.encode(asked))
        assert found.shown == shown and CODEC.encode(found) == CODEC.encode(asked)


def test_estimates_and_records_are_encoded_the_same_after_they_are_read():
    for one in current():
        for estimate in (*one.kv_bytes.values(), *one.kv_bytes_stored.values(), *one.by_price.values()):
            written = CODEC.encode(replace(estimate, families=None))
            assert CODEC.encode(CODEC.decode(Estimate, written)) == written
