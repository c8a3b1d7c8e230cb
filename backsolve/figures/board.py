"""Describe the pictures of the blackboard as data: five pictures of curves that depend on sliders, and the ladder of memories.

A curve is a tree of the catalogue. A script draws the curves as the sliders move, and `chart_of` draws them without a script.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from math import log10
from typing import Any, NamedTuple

from derive.catalogue import equation
from derive.expressions.branches import branches
from derive.immutable import immutable
from derive.preset_rows import MemoryTierFigure
from derive.show.chart import Axis, Chart, Mark, Rule
from derive.show.layout import csv_text
from derive.tables import shipped
from derive.tables.shipped import in_si
from derive.trees import Tree, names, value_of
from derive.units import show
from invert.data import read_data
from invert.sheets.diff import shipped_book

SHARED = ("batch", "machine_balance_ratio", "sparsity", "context_length", "kv_bytes_per_token", "active_params")
"""Quantities with a slider above the pictures, because they move several of them."""

_ROLES = {"compute": 0, "weights": 1, "kv": 2, "price": 3, "total": 4}
"""The role of a curve, and the number of its colour without a script."""
_POINTS = 96

_BEYOND: Tree = ("Min", 1, ("Max", 0, ("*", 1000, ("+", ("/", "context_length", "long_context_threshold"), -1))))
"""0 up to the threshold of a price, and 1 beyond it."""
_PRICE: Tree = ("+", 1, ("*", _BEYOND, ("+", "premium_out", -1)))
"""The price of a token over its price below the threshold."""

_INVERTED = {
    "batching.sparsity": "total_params",
    "batching.machine_balance_ratio": "ridge_point",
    "batching.ridge_point": "peak_flops",
}
"""Equations that compute another quantity than their left side."""
_LEGS = (
    *(*_INVERTED, "batching.balance_batch", "roofline.compute_time", "roofline.weight_time", "roofline.kv_time"),
    *("roofline.memory_time", "roofline.step_time", "batching.weight_compute_ratio", "context.balance_context", "context.kv_compute_ratio"),
    *("serving.normalised_cost", "batching.fast_mode_fast_batch", "batching.fast_mode_normal_batch", "architecture.kv_bytes_per_sequence"),
    *("pipeline.kv_cancellation", "training.pretrain_cost", "training.rl_cost", "training.inference_cost"),
)
"""Equations in the order in which they follow from the sliders."""


@immutable(kw_only=False)
class Line:
    """A curve: its quantity, name and role. `beside` are quantities with other values than the sliders have."""

    of: Tree
    words: str
    role: str
    beside: Mapping[str, float] = field(default_factory=dict)
    dashed: bool = False


@immutable
class Picture:
    """A picture: its title, axes and curves, named values `marks` of its axis across, and named points `spots` on its last curve.

    The axis across ends at a round number above `end`, and has only whole numbers if it is `whole`. Curves leave the picture above `most`.
    `moved_by` are the shared sliders that move it, and `sliders` its own. `up_words` is a label that differs from the name of `up`.
    """

    key: str
    title: str
    time: str
    across: str
    end: Tree
    up: str
    up_words: str = ""
    lines: tuple[Line, ...]
    marks: tuple[tuple[Tree, str], ...] = ()
    spots: tuple[tuple[Tree, str], ...] = ()
    moved_by: tuple[str, ...] = SHARED
    sliders: tuple[str, ...] = ()
    equations: tuple[str, ...]
    claims: tuple[str, ...]
    most: float | None = None
    whole: bool = False


def pictures() -> tuple[Picture, ...]:
    """Return the pictures in the order of the lecture, without the ladder of memories, which no slider moves."""
    equal_rl, equal_inference = (_formula(f"training.equal_cost_{one}", "pretrain_tokens") for one in ("rl", "inference"))
    return (
        Picture(
            key="time",
            title="Step time: memory reads, then arithmetic",
            time="0:02:50",
            across="batch",
            end=("*", 2.5, "balance_batch"),
            up="step_time",
            lines=(
                Line("compute_time", "compute", "compute"),
                Line("weight_time", "weights", "weights"),
                Line("kv_time", "KV cache", "kv"),
                Line("memory_time", "weights + KV", "weights", dashed=True),
                Line("step_time", "step: the longer", "total"),
            ),
            marks=(("balance_batch", "balance batch"),),
            spots=(("batch", "your batch"),),
            sliders=("hbm_bandwidth",),
            equations=("roofline.step_time", "batching.balance_batch"),
            claims=("A13a",),
        ),
        Picture(
            key="cost",
            title="Cost per token: a hyperbola down to a floor",
            time="0:13:10",
            across="batch",
            end=("*", 2.5, "balance_batch"),
            up="normalised_cost",
            up_words="cost per token over its floor",
            lines=(
                Line("weight_compute_ratio", "weights: 1 / batch", "weights"),
                Line("kv_compute_ratio", "KV cache", "kv"),
                Line(1, "floor: compute", "compute"),
                Line("normalised_cost", "cost", "total"),
            ),
            marks=(("balance_batch", "balance batch"),),
            spots=(("fast_batch", "fast mode"), ("normal_batch", "normal mode"), ("batch", "your batch")),
            sliders=("fast_price_ratio", "fast_speed_ratio"),
            equations=("serving.normalised_cost", "batching.fast_mode_batch_ratio"),
            claims=("A10a", "A11a"),
            most=12.0,
        ),
        Picture(
            key="context",
            title="Cost over context: KV cache reads overtake arithmetic, and the price has a step",
            time="1:34:03",
            across="context_length",
            end=("*", 2.2, "long_context_threshold"),
            up="normalised_cost",
            up_words="cost per token over its floor",
            lines=(
                Line("normalised_cost", "cost at your batch", "kv", dashed=True),
                Line("normalised_cost", "at a large batch", "total", beside={"weight_compute_ratio": 0.0}),
                Line(_PRICE, "price asked", "price"),
            ),
            marks=(("balance_context", "balance context"),),
            sliders=("long_context_threshold", "premium_out"),
            equations=("context.balance_context", "readings.threshold_is_crossover"),
            claims=("E3a", "E2f"),
            most=6.0,
        ),
        Picture(
            key="pipeline",
            title="Pipelining: the weights per chip fall, the KV cache does not",
            time="1:10:33",
            across="pipeline_stages",
            end=15,
            up="memory_per_chip",
            lines=(
                Line("memory_per_chip", "weights", "weights", beside={"kv_bytes_per_sequence": 0.0}),
                Line("memory_per_chip", "KV cache", "kv", beside={"total_params": 0.0}),
                Line("memory_per_chip", "both", "total"),
            ),
            moved_by=("batch", "sparsity", "context_length", "kv_bytes_per_token", "active_params"),
            sliders=("chips",),
            whole=True,
            equations=("pipeline.kv_cancellation",),
            claims=("C6a",),
        ),
        Picture(
            key="training",
            title="Training: pre-training costs as much as RL, or as inference",
            time="1:25:28",
            across="pretrain_tokens",
            end=("Max", ("*", 1.3, equal_rl), ("*", 1.3, equal_inference)),
            up="pretrain_flops",
            up_words="arithmetic",
            lines=(
                Line("pretrain_flops", "pre-training", "weights"),
                Line("rl_flops", "RL", "kv"),
                Line("inference_flops", "inference", "compute"),
            ),
            marks=((equal_rl, "same as RL"), (equal_inference, "same as inference")),
            moved_by=("active_params",),
            sliders=("rl_tokens", "inference_tokens", "decode_efficiency", "rl_multiplier"),
            equations=("training.equal_cost_rl", "training.equal_cost_inference", "training.overtraining"),
            claims=("D5a", "D8a"),
        ),
    )


# -- curves ------------------------------------------------------------------------------------------------------------


@cache
def legs() -> list[dict[str, Any]]:
    """Return the equations of the pictures for the script: each result with its tree."""
    made = {id: _INVERTED.get(id) or equation(id).symbols[0] for id in _LEGS}
    return [{"id": id, "makes": name, "right": _formula(id, name)} for id, name in made.items()]


def _formula(id: str, name: str) -> Tree:
    """Return the right side of an equation for its left side, or the first closed form for another of its quantities."""
    row = equation(id)
    first, *_ = [row.trees[1]] if name == row.symbols[0] else branches(row, name)[0].roots or ()
    return first


def followed(given: Mapping[str, float]) -> dict[str, float]:
    """Return all values that follow from the given values, equation after equation. Given values stay."""
    values = {**given}
    for leg in legs():
        if leg["makes"] not in values and names(leg["right"]) <= values.keys():
            values[leg["makes"]] = value_of(leg["right"], values)
    return values


def round_end(value: float) -> float:
    """Return the next of 1, 2, 5 and their decades, where an axis may end.

    >>> round_end(6000.0), round_end(0.15)
    (10000.0, 0.2)
    """
    decade = 10.0 ** int(log10(value) // 1)
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= value * (1 - 1e-9))


def points_of(picture: Picture, line: Line, state: Mapping[str, float]) -> list[tuple[float, float]]:
    """Return the points of a curve, from one end of its picture to the other."""
    end = round_end(value_of(picture.end, followed(state)))
    places = [*range(1, int(end) + 1)] if picture.whole else [end * (k + 1) / _POINTS for k in range(_POINTS)]
    return [(at, value_of(line.of, followed({**state, **line.beside, picture.across: at}))) for at in places]


def chart_of(picture: Picture, state: Mapping[str, float]) -> Chart:
    """Return a picture as a chart, for readers without a script."""
    whole = followed(state)
    marks = []
    for line in picture.lines:
        points = [(x, y) for x, y in points_of(picture, line, state) if picture.most is None or y <= picture.most]
        xs, ys = zip(*points, strict=True) if points else ((), ())
        colour, wide = _ROLES[line.role], line.role == "total"
        marks.append(Mark(name=line.words, form="line", xs=xs, ys=ys, colour=colour, dashed=line.dashed, wide=wide))
    return Chart(
        title=picture.title,
        across=Axis(quantity=picture.across, is_logarithmic=False),
        up=Axis(quantity=picture.up, words=picture.up_words, is_logarithmic=False),
        marks=tuple(marks),
        rules=tuple(_rule(words, picture.across, value_of(at, whole)) for at, words in picture.marks),
    )


def _rule(words: str, name: str, at: float) -> Rule:
    return Rule(name=f"{words} {show(name, at)}", at=at)


# -- the ladder of memories --------------------------------------------------------------------------------------------

_TIERS = {"hbm": "HBM", "ddr": "DDR", "flash": "flash", "hdd": "disk"}
"""Tiers of memory_tiers.csv on the ladder, and their labels."""
_COLUMNS = {"drain_time_s": "value", "low_s": "low", "high_s": "high"}
"""Columns of the file for a drain time and both ends of its range."""
_LECTURE = "lecture"
"""The device of the drain times that the lecture states."""

LADDER_FILE = "drain-times.csv"
"""The file with the numbers of the ladder."""


def drain_times() -> list[MemoryTierFigure]:
    """Return the drain times of the ladder, for today's devices and for the lecture."""
    rows = shipped.rows_of(MemoryTierFigure)
    return [row for row in rows if row.quantity == "drain_time" and row.tier in _TIERS and row.device != "range"]


def ladder_csv() -> str:
    """Return the drain times of the ladder [s] as CSV."""
    rows = [
        {"tier": row.tier, "device": row.device} | {name: _seconds(row, end) for name, end in _COLUMNS.items()} for row in drain_times()
    ]
    return f"{csv_text(('tier', 'device', *_COLUMNS), rows)}\n"


def ladder() -> Chart:
    """Return the drain times of today's devices and of the lecture for each tier of memory, and the lifetimes that caches are sold for."""
    said = [row for row in drain_times() if row.device == _LECTURE]
    devices = [row for row in drain_times() if row.device != _LECTURE]
    ends = tuple((_seconds(row, "low"), _seconds(row, "high")) for row in said)
    return Chart(
        title="How long each memory takes to drain, and how long caches are sold for",
        across=Axis(words="drain time", ticks=tuple((at, show("drain_time", at)) for at in (0.01, 1.0, 60.0, 3600.0, 86400.0))),
        up=Axis(rows=tuple(_TIERS.values())),
        marks=(_drain_times("today's devices", "compute", devices), replace(_drain_times("the lecture", "price", said), ends=ends)),
        rules=tuple(_rule("sold:", "ttl", life) for life in sold_lifetimes()),
    )


def _drain_times(name: str, role: str, rows: Sequence[MemoryTierFigure]) -> Mark:
    """Return drain times as points in the rows of their tiers."""
    ys = tuple(float([*_TIERS].index(row.tier)) for row in rows)
    names = tuple(f"{row.device}: {show('drain_time', _seconds(row), 3)}" for row in rows)
    return Mark(name=name, form="points", colour=_ROLES[role], xs=tuple(map(_seconds, rows)), ys=ys, names=names)


def _seconds(row: MemoryTierFigure, end: str = "value") -> float:
    """Return a drain time, or one end of its range [s]."""
    return in_si(row.quantity, getattr(row, end) or row.value, row.unit)


def sold_lifetimes() -> list[float]:
    """Return the lifetimes of caches that vendors list most often [s], from the shipped prices."""
    writes = [row for row in shipped_book(read_data()).rows if row.component == "cache_write" and not row.valid_to]
    lives = [row.ttl_seconds for row in writes if row.ttl_seconds]
    return sorted({float(life) for life in lives if lives.count(life) > len(lives) / 10})


# -- all pictures ------------------------------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """A picture at one state: its chart, the ids of its equations and claims, its second of the lecture, and the file of its numbers."""

    key: str
    time: str
    chart: Chart
    equations: tuple[str, ...]
    claims: tuple[str, ...]
    file: str = ""


def drawn_pictures(state: Mapping[str, float]) -> Iterator[Drawn]:
    """Yield the pictures in the order of the lecture, at these values of all sliders [SI]."""
    yield from (Drawn(one.key, one.time, chart_of(one, state), one.equations, one.claims) for one in pictures())
    yield Drawn("ladder", "2:00:37", ladder(), ("cache.drain_time", "cache.drain_time_rule"), ("E15a", "E15c", "E15d"), LADDER_FILE)
