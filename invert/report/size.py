"""How big a model is by its price, and what mark-up that leaves: the lines of a full report, and the cells of a table."""

from derive.units import show
from invert.records import OF_ARCHITECTURE, Estimate, Record
from invert.report.findings import estimate_text
from invert.report.layout import NONE, aligned, title
from invert.result import Inference, Run

_KNOWN_SIZE, _BY_ARCHITECTURE = "known", "by its architecture"
"""A size that is nobody's statement, in a cell and in a sentence."""
_NAMES = {"active_params": "active parameters", "total_params": "all parameters", "input_markup": "input over its cost at rent"}


def size_lines(one: Inference, table: Run) -> list[str]:
    """Size and mark-up with what estimates like them have got right."""
    rows = [
        {"quantity": _NAMES[name], "range": estimate_text(name, estimate), "because": estimate.because}
        for name, estimate in one.market.items()
    ]
    records = [f"{_NAMES[name]}: {record_in_words(one.market[name].record)}" for name in ("active_params", "total_params")]
    known = [line for line in records if not line.endswith(NONE)]
    return [*title("How big the model is, by its input price"), aligned(tuple(rows[0]), rows), *known, *_stated(one)]


def record_in_words(record: Record | None) -> str:
    """What such estimates have got right, in one line. A dash where there is no record."""
    if record is None:
        return NONE
    held = record.held[-1]
    return (
        f"of {record.count} {record.of} in {record.groups} families, each predicted from the other families, {held.held} lay in their"
        f" {held.level:.0%} range; off by {record.rms:.2f} nats (rms), {record.rms_of_class:.2f} without the price"
    )


def _stated(one: Inference) -> list[str]:
    """What is known beside the estimate."""
    if one.model is None or not one.model.active_params:
        return []
    return [f"Stated: {show('active_params', one.model.active_params)} active ({one.model.active_params_grade})."]


def stated_size(one: Inference) -> str:
    """`49B (known)`, `3.3B (assumed)` of a table that nobody verified, `60B (given)`. A dash where nobody states the size."""
    if not one.size_stated:
        return NONE
    return f"{_short('active_params', one.anchors.values['active_params'])} ({how_stated(one, 'known')})"


def how_stated(one: Inference, verified: str = "stated") -> str:
    """`given`, `assumed` or `unverified` by the grade of a size, `known` of its architecture; another word where it is verified."""
    return _word(one.anchors.origin["active_params"], verified)


def stated_as(origin: str) -> str:
    """`as stated`, or `by its architecture` where the size is from the table of those: a sentence's words for where it is from."""
    word = _word(origin, "stated")
    return _BY_ARCHITECTURE if word == _KNOWN_SIZE else f"as {word}"


def _word(origin: str, verified: str) -> str:
    if origin == OF_ARCHITECTURE:
        return _KNOWN_SIZE
    return next((word for word in ("given", "assumed", "unverified") if word in origin), verified)


def cell(name: str, estimate: Estimate) -> str:
    """`45B (14B to 155B)`, or a dash."""
    if estimate.kind != "interval" or estimate.median is None or estimate.low is None or estimate.high is None:
        return NONE
    low, median, high = (_short(name, value) for value in (estimate.low, estimate.median, estimate.high))
    return median if low == high else f"{median} ({low} to {high})"


def _short(name: str, value: float) -> str:
    return f"x{float(f'{value:.2g}'):g}" if name == "input_markup" else show(name, value, digits=2)
