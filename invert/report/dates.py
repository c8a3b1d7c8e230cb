"""What a model's prices implied over time, as text, JSON and CSV."""

import json
from collections.abc import Sequence

from derive.show.cells import csv_text
from invert.comparison_records import Dated, History
from invert.report.changes import change_record, key_record, price_in_words, said_record, sheet_in_words, told_in_words
from invert.report.layout import NONE, aligned, laid_out

_SHOWN = (
    ("active by price", ("active_params", "market")),
    ("mark-up", ("input_markup", "market")),
    ("KV read", ("kv_bytes_per_token", "headline")),
    ("KV increment", ("kv_bytes_per_token", "increment")),
    ("bandwidth-bound", ("bandwidth_bound_fraction", "")),
)
"""The inferences that text has a column of."""
DATED_COLUMNS = (
    "provider", "model", "region", "service_tier", "since", "as_of", "changes", "quantity", "estimator", "kind", "median", "low", "high",
)  # fmt: skip


def history_text(found: Sequence[History], width: int) -> str:
    """A table a sheet, a row a day, and below it what changed on each."""
    lines: list[str] = []
    for one in found:
        lines += [*([""] if lines else []), sheet_in_words(one.key), *history_parts(one)]
    return laid_out(lines, width)


def history_parts(one: History) -> list[str]:
    """The days of one sheet as a table, and what changed on each."""
    columns = ("since", "in / out", *(name for name, _ in _SHOWN))
    rows = [_row(dated, place, one.days) for place, dated in enumerate(one.days)]
    kept = [column for column in columns if any(row[column] != NONE for row in rows)]
    said = [f"{dated.as_of}: {'; '.join(map(price_in_words, dated.changes))}." for dated in one.days[1:]]
    ended = [f"Sold so until {one.until}."] if one.until else [] if said else ["No price of it has changed since."]
    return [aligned(kept, rows), *said, *ended]


def _row(dated: Dated, place: int, days: Sequence[Dated]) -> dict[str, str]:
    since = str(dated.since) if dated.since else f"before {days[place + 1].as_of}" if place + 1 < len(days) else "not known"
    asked = [dated.side.prices.get((name, 0, None)) for name in ("input", "output")]
    said = {name: told_in_words(of[0], dated.side.said.get(of)) for name, of in _SHOWN}
    return {"since": since, "in / out": " / ".join(f"{one[0]:g}" if one else NONE for one in asked), **said}


def history_json(found: Sequence[History]) -> str:
    """Strict JSON, an object a sheet, a member of `days` a day, every inference by quantity and estimator."""
    sheets = [
        {**key_record(one.key), "until": one.until and one.until.isoformat(), "days": [_record(dated) for dated in one.days]}
        for one in found
    ]
    return json.dumps(sheets, indent=2, allow_nan=False)


def _record(dated: Dated) -> dict[str, object]:
    return {
        "since": dated.since and dated.since.isoformat(),
        "as_of": dated.as_of.isoformat(),
        "changes": [change_record(change) for change in dated.changes],
        "inferences": [
            {"quantity": quantity, "estimator": estimator, **said_record(told)} for (quantity, estimator), told in dated.side.said.items()
        ],
    }


def history_csv(found: Sequence[History]) -> str:
    """One line an inference and day."""
    return csv_text(DATED_COLUMNS, (
        {
            **key_record(one.key), "since": dated.since and dated.since.isoformat(), "as_of": dated.as_of.isoformat(),
            "changes": "; ".join(map(price_in_words, dated.changes)), "quantity": quantity, "estimator": estimator, **said_record(told),
        }
        for one in found for dated in one.days for (quantity, estimator), told in dated.side.said.items()
    ))  # fmt: skip
