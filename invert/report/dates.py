"""Report the history of a model's prices as text, JSON and CSV."""

import json
from collections.abc import Sequence

from derive.show.cells import csv_text
from invert.comparison_records import Dated, History
from invert.estimate_text import estimate_text
from invert.report.changes import CHANGES, KEY, inferences, price_in_words
from invert.report.columns import ABSENT, HISTORY_KEYS, REGISTRY, size_grade
from invert.report.layout import NONE, aligned, billions, laid_out
from invert.sheets.sheet import Asked, money_unit, sheet_in_words

_COLUMNS = tuple(REGISTRY[key] for key in HISTORY_KEYS)
_PRICE_COST = REGISTRY["input_price_cost_ratio_by_price"].heading
DATED_COLUMNS = (
    "provider", "model", "region", "service_tier", "since", "as_of", "changes", "quantity", "estimator", "kind", "median", "low", "high",
)  # fmt: skip


def history_text(found: Sequence[History], width: int) -> str:
    """Format a table for each sheet with a row for each day, and the price changes below."""
    lines: list[str] = []
    for one in found:
        lines += [*([""] if lines else []), sheet_in_words(one.key), *history_parts(one)]
    return laid_out(lines, width)


def history_parts(one: History) -> list[str]:
    """Return the days of one sheet as a table, and the price changes of each day."""
    units = {unit for dated in one.days for unit in _units(dated)}
    columns = ("since", "in / out", *(column.heading for column in _COLUMNS))
    rows = [{**_row(dated, place, one.days), "in / out": _asked(dated, len(units) > 1)} for place, dated in enumerate(one.days)]
    kept = [column for column in columns if any(row[column] != ABSENT for row in rows)]
    read = [f"In and out are in {unit}" for unit in units if len(units) == 1]
    if (size := one.days[-1].size) and _PRICE_COST in kept:
        read.append(f"price/cost is by {billions(size[0])} active as {size_grade(size[1])}, not by the price")
    said = [f"{dated.as_of}: {'; '.join(map(price_in_words, dated.changes))}." for dated in one.days[1:]]
    ended = [f"Sold so until {one.until}."] if one.until else [] if said else ["No price has changed since then."]
    return [aligned(kept, rows), *([f"{'; '.join(read)}."] if read else []), *said, *ended]


def _prices(dated: Dated) -> list[Asked | None]:
    """Return the input and output prices of that day."""
    return [dated.side.prices.get((name, 0, None)) for name in ("input", "output")]


def _units(dated: Dated) -> list[str]:
    return [money_unit(*one[1:]) for one in _prices(dated) if one]


def _asked(dated: Dated, with_unit: bool) -> str:
    """Return `3 / 14`, with the unit if it differs between days."""
    amounts = " / ".join(f"{one[0]:g}" if one else NONE for one in _prices(dated))
    return f"{amounts} {', '.join(dict.fromkeys(_units(dated)))}" if with_unit else amounts


def _row(dated: Dated, place: int, days: Sequence[Dated]) -> dict[str, str]:
    since = str(dated.since) if dated.since else f"before {days[place + 1].as_of}" if place + 1 < len(days) else "not known"
    return {"since": since, **{one.heading: estimate_text(one.of[0], dated.side.said.get(one.of)) for one in _COLUMNS}}


def history_json(found: Sequence[History]) -> str:
    """Return strict JSON: an object for each sheet with `days`, each with all inferences by quantity and estimator."""
    return json.dumps(CHANGES.encode(found), indent=2, allow_nan=False)


def history_csv(found: Sequence[History]) -> str:
    """Return CSV with a line for each inference and day."""
    return csv_text(DATED_COLUMNS, (
        {
            **CHANGES.encode_keys(one, KEY), "since": dated.since, "as_of": dated.as_of,
            "changes": "; ".join(map(price_in_words, dated.changes)), **estimate,
        }
        for one in found for dated in one.days for estimate in inferences(dated.side.said)
    ))  # fmt: skip
