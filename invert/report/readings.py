"""Show the readings and estimates of one sheet, each with its range and its record."""

from collections.abc import Iterator

from invert.report.columns import ABSENT, MODEL_KEYS, REGISTRY, SHORT_KEYS, Column, models_of_record
from invert.report.layout import NONE, Table, aligned
from invert.result import EXTRAPOLATED, Inference, Run

_GAP = 2
_SIZES_BY_KNOWLEDGE = ("total_params_by_knowledge", "total_params_by_price_and_knowledge")
"""Rows for a sheet whose size is not stated."""


def readings_table(one: Inference, run: Run) -> Table:
    """Return the readings and estimates of a sheet as a table."""
    columns = ("", "estimate", f"{100 * run.assumptions.level:.0f} % range", "right before")
    rows = [(column.heading, column.text(one), column.span(one), record_text(column, one, run)) for column in columns_of(one)]
    return aligned(columns, rows, _GAP, rule=False)


def readings_in_lines(one: Inference, run: Run) -> list[str]:
    """Return the same as sentences, without missing values."""
    records = {column.key: record_text(column, one, run) for column in columns_of(one)}
    return [
        f"{column.heading}: {column.whole_text(one)}{f'; right before: {record}' if (record := records[column.key]) != NONE else ''}."
        for column in columns_of(one)
        if column.text(one) != ABSENT
    ]


def columns_of(one: Inference) -> Iterator[Column]:
    """Yield the columns that are rows for this sheet: the columns of the default table, and others with a value."""
    for column in map(REGISTRY.__getitem__, MODEL_KEYS):
        size_is_stated = one.size_stated if column.key == "active_params_by_price" else not one.size_stated
        wanted = column.key not in ("active_params_by_price", *_SIZES_BY_KNOWLEDGE) or size_is_stated
        if wanted and (column.key in SHORT_KEYS or column.text(one) != ABSENT):
            yield column


def record_text(column: Column, one: Inference, run: Run) -> str:
    """Return how often estimates like the one of this sheet were right before, and on which models."""
    record = column.record([one], run) or NONE
    if column.text(one) == ABSENT:
        return NONE
    if column.models and EXTRAPOLATED in one.flags:
        return "extrapolated"
    return f"{record} {models_of_record(column, one)}" if column.models and record[:1].isdigit() else record
