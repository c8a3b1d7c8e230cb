"""Charts of price sheets and of the scoreboard: pure functions of records. The other modules of this folder draw them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from shlex import quote

import numpy as np

from derive.errors import NotCovered
from derive.show.chart import Axis, Chart, Mark, Rule, known_range
from derive.units import show
from invert.assumptions import USUAL
from invert.data import read_data
from invert.estimate_text import kv_heading
from invert.estimators.panel import listed_models
from invert.estimators.size import ANY, PER_MTOK, closed_price_cost, size_line, size_record
from invert.estimators.typical_kv import known_kv_bytes
from invert.forward_model import forward
from invert.records import TIER_NAMES, Estimate, JudgedPrediction
from invert.result import Inference
from invert.storage.tiers import HOLD_TIMES, hold_costs

_KEPT = "\N{NO-BREAK SPACE}"
_TIMES = (
    (1e-2, "10 ms"), (1e-1, "100 ms"), (1.0, "1 s"), (10.0, "10 s"), (60.0, "1 min"), (300.0, "5 min"), (3600.0, "1 h"), (86400.0, "1 d"),
    (604800.0, "1 week"),
)  # fmt: skip
"""Hold times [s] with a common name."""
_PRICE, _KV, _SIZE = "input_price", "kv_bytes_per_token", "active_params"
_FIRST_CONTEXT, _CONTEXTS = 1e3, 61
"""First context of a curve [token], and its number of points."""
_LEVELS = ("in 50%", "in 90%")
"""Columns of the scoreboard for the coverage of ranges of a level."""


def _sheet(one: Inference) -> str:
    return f"{one.name}, prices of {one.sheet.as_of}"


def _ends(found: Estimate) -> tuple[float | None, float | None]:
    return found.low, found.high


def _coverage_text(found: Estimate) -> str:
    """Describe the coverage of similar ranges on one line."""
    return " (right for {} of {})".format(*found.coverage).replace(" ", _KEPT).replace(_KEPT, " ", 1) if found.coverage else ""


def _row_points(name: str, colour: int, rows: Iterable[int], values: Mapping[str, float]) -> list[Mark]:
    """Draw values without ranges in their rows. Draw no mark without values."""
    ys = tuple(map(float, rows))
    return [Mark(name=name, form="points", xs=tuple(values.values()), ys=ys, names=tuple(values), colour=colour)] if values else []


def kv_by_estimator(one: Inference) -> Chart:
    """Draw the KV bytes of one sheet by every estimator with a range and by the lecture's reading, against the typical KV.

    Models with a known cache are drawn below.
    """
    found = {name: estimate for name, estimate in one.kv_bytes.items() if estimate.kind in ("interval", "upper", "lower", "given")}
    points = {"KV from threshold": one.pairs[0].lecture.values, "KV joint": one.pairs[0].joint.values} if one.pairs else {}
    read = {label: values[_KV] for label, values in points.items() if values}
    if not (found or read):
        raise NotCovered(f"{one.name}: no estimate of its KV bytes has a range: backsolve infer {quote(one.sheet.model)} says why")
    models = known_kv_bytes(read_data(), one.assumptions)
    rows = (*(f"{kv_heading(name)}{_coverage_text(estimate)}" for name, estimate in found.items()), *read)
    rows += (f"{len(models)} models of known cache",) if models else ()
    median = Mark(
        name=_level(found.values()),
        form="points",
        xs=tuple(estimate.median or estimate.high or estimate.low or 0.0 for estimate in found.values()),
        ys=tuple(map(float, range(len(found)))),
        ends=tuple(map(_ends, found.values())),
        colour=1,
    )
    missing = [kv_heading(name) for name in one.kv_bytes if name not in found]
    return Chart(
        title="KV bytes per token by each estimator, compared with typical KV",
        said=(_sheet(one), *([f"No range by {', '.join(missing)}."] if missing else [])),
        across=Axis(quantity=_KV, words="KV bytes read for a token of context"),
        up=Axis(rows=rows),
        marks=(
            *_band("range of the typical KV", one.kv_bytes["typical"], len(rows)),
            median,
            *_row_points("reading without a range", 2, range(len(found), len(found) + len(read)), read),
            *_row_points("a model of known cache", 3, [len(rows) - 1] * len(models), models),
        ),
        rules=(Rule(name=f"by its architecture, {show(_KV, one.known.read)}", at=one.known.read),) if one.known else (),
    )


def _line(name: str, xs: Iterable[float], ys: Iterable[float], colour: int, dashed: bool = False) -> Mark:
    return Mark(name=name, form="line", xs=(*xs,), ys=(*ys,), colour=colour, dashed=dashed)


def _band(name: str, found: Estimate, rows: int) -> list[Mark]:
    """Draw a range of the axis across all rows. Without both ends draw no mark."""
    if found.low is None or found.high is None:
        return []
    middle = (found.low * found.high) ** 0.5
    return [Mark(name=name, form="area", xs=(middle,) * 2, ys=(-0.5, rows - 0.5), ends=(_ends(found),) * 2, colour=0)]


def _level(estimates: Iterable[Estimate]) -> str:
    levels = [one.level for one in estimates if one.level]
    return f"median, and {levels[0]:.0%} range" if levels else "median, and range"


_MOST_NAMED = 3
"""The most sheets whose names and ranges are drawn."""


def size_price(sheets: Sequence[Inference] = ()) -> Chart:
    """Draw active parameters against input price: open models, their fitted line with its range, and sheets at their estimated size."""
    data, assumptions = read_data(), sheets[0].assumptions if sheets else USUAL
    line, models = size_line(data, assumptions), listed_models(data)
    drawn = [one for one in sheets if one.by_price[_SIZE].kind == "interval"]
    if sheets and not drawn:
        raise NotCovered(f"{sheets[0].name}: {sheets[0].by_price[_SIZE].because}")
    alone, medians = len(drawn) == 1, tuple(size.median for size in line.values())
    marks = [
        Mark(
            name=f"{len(models)} open models at the list price of their makers",
            form="points",
            xs=tuple(one.input_price / PER_MTOK for one in models),
            ys=tuple(one.active_params for one in models),
            names=() if alone else tuple(one.model for one in models),
        ),
        _line("fitted line", line, medians, 1),
        Mark(
            name=f"{assumptions.level:.0%} of open models at this price",
            form="area",
            xs=tuple(line),
            ys=medians,
            ends=tuple((size.low, size.high) for size in line.values()),
        ),
    ]
    found = [one.by_price[_SIZE] for one in drawn]
    prices = tuple(one.sheet.bands[0].input.usd_per_token for one in drawn)
    # Names of equal prices would cover each other.
    named = len(drawn) <= _MOST_NAMED and len({*prices}) == len(prices)
    if drawn:
        marks.append(
            Mark(
                name="estimate from the price" if alone else "price sheets, estimated from their prices",
                form="points",
                xs=prices,
                ys=tuple(estimate.median or 0.0 for estimate in found),
                ends=tuple(map(_ends, found)) if named else (),
                beside=tuple(one.sheet.model for one in drawn) if named else (),
                names=tuple(one.sheet.model for one in drawn),
            )
        )
    ranges = size_record(data, ANY, assumptions=assumptions).at(assumptions.level)
    how = closed_price_cost(data, "active_params", assumptions) + "." if drawn else ""
    said = (
        f"{_sheet(drawn[0])}: {found[0].because}." if alone else how,
        f"Ranges were right for {ranges.right} of {ranges.count} open models. Each was predicted without its family." if ranges else "",
    )
    return Chart(
        title="Input price rises with active parameters",
        said=tuple(filter(None, said)),
        across=Axis(quantity=_PRICE, is_logarithmic=True),
        up=Axis(quantity=_SIZE, words="active parameters"),
        marks=tuple(marks),
    )


def prices_by_context(one: Inference, last: float) -> tuple[tuple[float, ...], dict[str, tuple[float, ...]]]:
    """Return contexts up to `last` [token], and the output and input prices that the joint reading predicts there [USD/token]."""
    pair, base = one.pairs[0], one.sheet.bands[0].input.usd_per_token
    contexts = tuple(np.geomspace(_FIRST_CONTEXT, last, _CONTEXTS).tolist())
    found = forward({**one.anchors.values, **pair.joint.values}, (pair.pair.short_context, *contexts), base)
    return contexts, {side: tuple(map(float, found[side][1:])) for side in ("output", "input")}


def _last_context(one: Inference) -> float:
    """Return the end of the last band [token]."""
    threshold, longest = float(one.sheet.bands[-1].threshold_tokens), one.max_context
    open_end = one.assumptions.open_top_ratio * max(threshold, _FIRST_CONTEXT)
    return float(longest) if longest and longest > threshold else open_end


def cost_context(one: Inference) -> Chart:
    """Draw the prices of a sheet over the context with its band steps, and the predictions of the joint reading."""
    bands, last, joint = one.sheet.bands, _last_context(one), one.pairs[0].joint if one.pairs else None
    contexts, implied = prices_by_context(one, last) if joint and joint.values else ((), {})
    problem = joint.problem if joint else "one price for all lengths, so there is no premium"
    edges = [*(max(float(band.threshold_tokens), _FIRST_CONTEXT) for band in bands), last]
    asked = {"output": [band.output for band in bands], "input": [band.input for band in bands]}
    across = [x for pair in pairwise(edges) for x in pair]
    steps = [
        _line(f"{side} price, as published", across, [price.usd_per_token for price in prices for _ in range(2)], [*asked].index(side))
        for side, prices in asked.items()
    ]
    curves = [
        _line(f"{side} at one price/cost, by the joint reading", contexts, values, [*asked].index(side), dashed=True)
        for side, values in implied.items()
    ]
    thresholds = [float(band.threshold_tokens) for band in bands[1:]]
    return Chart(
        title="Cost rises with context, and prices in steps",
        said=(_sheet(one), *([f"No curve: {problem}."] if problem else [])),
        across=Axis(quantity="context_length", words="context"),
        up=Axis(quantity=_PRICE, words="price of a token", is_logarithmic=True),
        marks=(*steps, *curves),
        rules=tuple(Rule(name=show("context_length", value), at=value) for value in thresholds),
    )


def tier_map(one: Inference) -> Chart:
    """Draw the cost of every memory tier over the hold time, with the hold times and cache prices of the sheet.

    Raise NotCovered if the bytes of a cached token are not known.
    """
    stored = one.known.stored if one.known else one.kv_bytes_stored["typical"].median
    if stored is None:
        raise NotCovered(f"{one.name}: the bytes of a cached token are not known, and without them the cost of a tier is not known")
    marks = [
        _line(f"{TIER_NAMES[tier]}, {basis}", HOLD_TIMES, values, [*TIER_NAMES].index(tier), dashed=basis == "rented")
        for (tier, basis), values in hold_costs(read_data(), stored, one.assumptions).items()
    ]
    base = one.sheet.bands[0].input.usd_per_token
    sold = {write.ttl_seconds: write.premium * base for write in one.observables.cache_write_premiums if write.ttl_seconds}
    sold = {ttl: price for ttl, price in sold.items() if price > 0}
    if sold:
        name, beside = "price of a write minus input price", tuple(f"kept {show('ttl', ttl)}" for ttl in sold)
        marks.append(Mark(name=name, form="points", xs=(*sold,), ys=(*sold.values(),), beside=beside, colour=len(TIER_NAMES)))
    rate = one.observables.storage_price
    if rate and rate.value > 0:
        marks.append(_line("storage, by the hourly price", HOLD_TIMES, [rate.value * time for time in HOLD_TIMES], len(TIER_NAMES)))
    return Chart(
        title="The longer a cache is kept, the slower the cheapest memory",
        said=(
            _sheet(one),
            f"For {show(_KV, stored, digits=2)} of KV cache, at hardware prices of {one.assumptions.price_years[-1]}: stored,"
            " written and read once. Price/cost is unknown.",
        ),
        across=Axis(words="hold time", ticks=_TIMES),
        up=Axis(quantity=_PRICE, words="cost of a kept token", is_logarithmic=True),
        marks=tuple(marks),
        rules=(Rule(name="input price: the price of computing the token again", at=base, up=True),),
    )


def tornado(one: Inference) -> Chart:
    """Draw the change of KV from all prices with each input at both ends of its range. Raise NotCovered without an interval."""
    swings = (one.swings or {}).get("from_all_prices")
    if not swings:
        raise NotCovered(f"{one.name} has no tornado figure, because its KV bytes from all prices have no range")
    rows = [swing for swing in swings if swing.low and swing.high]
    sides = {"at the low end of the input": [swing.low for swing in rows], "at its high end": [swing.high for swing in rows]}
    contradicted = [swing.name for swing in swings if swing not in rows]
    return Chart(
        title="Which input changes the KV bytes most",
        said=(
            f"{_sheet(one)}; by {kv_heading('from_all_prices')}, each input alone at either end of its {one.assumptions.level:.0%} range",
            *([f"At an end of {', '.join(contradicted)} prices contradict the model."] if contradicted else []),
        ),
        across=Axis(words="KV bytes over their central value [ratio]", is_logarithmic=True),
        up=Axis(rows=tuple(swing.name.replace("_", " ") for swing in rows)),
        marks=tuple(
            Mark(
                name=name,
                form="bars",
                xs=tuple(value or 1.0 for value in values),
                ys=tuple(map(float, range(len(rows)))),
                ends=tuple((min(value or 1.0, 1.0), max(value or 1.0, 1.0)) for value in values),
            )
            for name, values in sides.items()
        ),
        rules=(Rule(name="central value", at=1.0),),
    )


def predicted_against_true(title: str, quantity: str, judged: Sequence[JudgedPrediction]) -> Chart:
    """Draw predictions for known models against the true values. Exact predictions are on the line."""
    words, truths = quantity.replace("_", " "), tuple(one.truth for one in judged)
    found = Mark(
        name=_coverage_of(judged),
        form="points",
        xs=truths,
        ys=tuple(one.median for one in judged),
        ends=tuple((one.low, one.high) for one in judged),
        names=tuple(one.model for one in judged),
    )
    right = _line("predicted = true", known_range(truths), known_range(truths), 1, dashed=True)
    up, across = (Axis(quantity=quantity, words=f"{words}, {which}") for which in ("predicted", "true"))
    return Chart(title=title, across=across, up=up, marks=(found, right))


def predicted_over_true(title: str, judged: Sequence[JudgedPrediction]) -> Chart:
    """Draw predictions over true values of known models, with a row for each model. 1 is exact."""
    models = [*dict.fromkeys(one.model for one in judged)]
    by = {way: [one for one in judged if one.by == way] for way in dict.fromkeys(one.by for one in judged)}
    marks = (
        Mark(
            name=f"{way}: {_coverage_of(own)}",
            form="points",
            xs=tuple(one.ratios_to_truth[1] for one in own),
            ys=tuple(float(models.index(one.model)) for one in own),
            ends=tuple((one.ratios_to_truth[0], one.ratios_to_truth[2]) for one in own),
        )
        for way, own in by.items()
    )
    across = Axis(words="predicted over true [ratio]", is_logarithmic=True)
    return Chart(title=title, across=across, up=Axis(rows=(*models,)), marks=(*marks,), rules=(Rule(name="right", at=1.0),))


def _coverage_of(judged: Sequence[JudgedPrediction]) -> str:
    return f"{sum(one.right for one in judged)} of {len(judged)} ranges of {judged[0].level:.0%} were right"


def reliability(rows: Sequence[Mapping[str, object]]) -> Chart:
    """Draw the coverage of every estimate on the scoreboard. A calibrated 90 % range contains 90 % of the truths."""
    scored = [row for row in rows if row[_LEVELS[1]] is not None]
    names = tuple(f"{row['estimate']}, {row['left out']} left out ({row['models']})" for row in scored)
    marks = [
        Mark(
            name=f"share inside ranges of {level.removeprefix('in ')}",
            form="points",
            xs=tuple(_share(row[level]) for row in scored),
            ys=tuple(map(float, range(len(scored)))),
            ends=tuple((_share(row[f"{level}, low"]), _share(row[f"{level}, high"])) for row in scored),
        )
        for level in _LEVELS
    ]
    return Chart(
        title="How often ranges contained the true value",
        said=(
            "For models that were left out of the fit (their number is in brackets). A fair estimate lies on the dotted line of its"
            " level. Ranges are wide because there are few models.",
        ),
        across=Axis(words="truths inside the range [%]", is_logarithmic=False),
        up=Axis(rows=names),
        marks=tuple(marks),
        rules=tuple(Rule(name=level.removeprefix("in "), at=float(level.removeprefix("in ").rstrip("%"))) for level in _LEVELS),
    )


def _share(value: object) -> float:
    return 100 * float(str(value))


SHEET_FIGURES: Mapping[str, Callable[[Inference], Chart]] = {
    "kv-by-estimator": kv_by_estimator,
    "size-price": lambda one: size_price([one]),
    "cost-context": cost_context,
    "tornado": tornado,
    "tier-map": tier_map,
}
"""The figures of one sheet by name. Each raises NotCovered if the sheet has no data for it."""


def figures_of_sheet(one: Inference) -> Iterator[Chart]:
    """Yield the figures of a sheet that have data to draw."""
    needed = {"cost-context": one.pairs, "tornado": one.pairs, "tier-map": one.storage}
    for name, chart_of in SHEET_FIGURES.items():
        with suppress(NotCovered):
            if needed.get(name, (one,)):
                yield chart_of(one)
