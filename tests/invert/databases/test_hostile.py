"""Databases in which any one value is another: a line says so, and nothing else happens."""

import copy
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from derive.tables.lines import Problem
from invert.databases import genai, litellm, models_dev, openrouter
from invert.databases.records import Database, Format, Offer, WrongField, items_of, price_rows
from invert.sheets.rows import PriceRow
from tests.tools.databases import DAY, GENAI, LITELLM, MODELS_DEV, OPENROUTER

SOURCE = Database(name="base")
OTHERS = (None, True, -1, 1e400, 10**30, float("nan"), "", "x", "=1", "\u202e", [], [[]], [None], {}, {"a": {}}, [{"a": 1}], 3.5)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a tree of objects, lists and records that holds a value."""
    inside: dict[Any, Any] = {}
    if isinstance(value, SimpleNamespace):
        inside = vars(value)
    elif isinstance(value, dict):
        inside = value
    elif isinstance(value, list | tuple):
        inside = dict(enumerate(value))
    for name, one in inside.items():
        if not isinstance(value, tuple):
            yield value, name
        yield from places(one)


def put(holder: Any, name: Any, value: Any) -> None:
    if isinstance(holder, SimpleNamespace):
        setattr(holder, name, value)
    else:
        holder[name] = value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "content"),
    [(genai, list(GENAI)), (litellm, LITELLM), (models_dev, MODELS_DEV), (openrouter, OPENROUTER)],
    ids=lambda one: "",
)
def test_any_value_may_be_another(module: ModuleType, content: Any):
    count = len(list(places(content)))
    assert count > 20
    for number in range(count):
        for other in OTHERS[number % 3 :: 3]:
            changed = copy.deepcopy(content)
            put(*list(places(changed))[number], other)
            if module is genai or module.FORMAT.is_shape(changed):
                read(module.FORMAT, changed)


def read(form: Format, content: Any) -> None:
    try:
        for item in items_of(form, content, SOURCE):
            assert isinstance(item, Problem | Offer)
            rows = price_rows(item, SOURCE, DAY) if isinstance(item, Offer) else []
            assert isinstance(rows, str) or all(isinstance(row, PriceRow) and row.amount > 0 for row in rows)
    except WrongField as error:
        assert str(error).startswith("field ")
