"""Figures of price sheets and of the scoreboard, as charts: pure functions of records, drawn elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from shlex import quote
from types import MappingProxyType

from derive.errors import NotCovered
from derive.show.chart import Axis, Chart, Mark, Rule, chart_axis
from derive.units import show
from invert.assumptions import USUAL, Assumptions
from invert.estimators.names import KV_NAMES
from invert.records import TIER_NAMES, Estimate, HoldCosts, Judgement, PricesByContext, SizeLine
from invert.report.layout import USD_PER_MTOK
from invert.result import Inference

_SHARE = 100
_KEPT = "\N{NO-BREAK SPACE}"
_TIMES = (
    (1e-2, "10 ms"), (1e-1, "100 ms"), (1.0, "1 s"), (10.0, "10 s"), (60.0, "1 min"), (300.0, "5 min"), (3600.0, "1 h"), (86400.0, "1 d"),
    (604800.0, "1 week"),
)  # fmt: skip
"""Hold times [s] that people have a word for."""
_NO_MODELS: Mapping[str, float] = MappingProxyType({})
_LEVELS = ("in 50%", "in 90%")
"""Columns of the scoreboard on how often ranges of a level held."""


def _sheet(one: Inference) -> str:
    return f"{one.name}, prices of {one.sheet.as_of}"


def _ends(found: Estimate, size: float) -> tuple[float | None, float | None]:
    low, high = (None if end is None else end / size for end in (found.low, found.high))
    return low, high


def _coverage_text(found: Estimate) -> str:
    """Describe the coverage of similar ranges on one line."""
    return " (right for {} of {})".format(*found.kept).replace(" ", _KEPT).replace(_KEPT, " ", 1) if found.kept else ""


def kv_by_estimator(one: Inference, of_models: Mapping[str, float] = _NO_MODELS) -> Chart:
    """Draw the KV bytes of one sheet by every estimator with a range and by the lecture's reading, against the typical KV.

    Known caches [byte/token] are drawn below.
    """
    found = {name: estimate for name, estimate in one.kv_bytes.items() if estimate.kind in ("interval", "upper", "lower", "given")}
    points = {"KV from threshold": one.pairs[0].lecture.values, "KV joint": one.pairs[0].joint.values} if one.pairs else {}
    read = {label: values["kv_bytes_per_token"] for label, values in points.items() if values}
    known = [one.known.read] if one.known else []
    middles = [estimate.median or estimate.high or estimate.low or 0.0 for estimate in found.values()]
    every = [end for estimate in found.values() for end in (estimate.low, estimate.high) if end]
    if not (found or read):
        raise NotCovered(f"{one.name}: no estimate of its KV bytes has a range: backsolve infer {quote(one.sheet.model)} says why")
    across, size = chart_axis(
        "kv_bytes_per_token", [*middles, *every, *read.values(), *known, *of_models.values()], "KV bytes read for a token of context"
    )
    rows = (*(f"{KV_NAMES[name].heading}{_coverage_text(estimate)}" for name, estimate in found.items()), *read)
    rows += (f"{len(of_models)} models of known cache",) if of_models else ()
    of_class = one.kv_bytes["headline"]
    marks = [] if of_class.low is None or of_class.high is None else [_band("range of the class of its time", of_class, len(rows), size)]
    ranges = tuple(_ends(estimate, size) for estimate in found.values())
    xs = tuple(middle / size for middle in middles)
    marks.append(Mark(name=_level(found.values()), form="points", xs=xs, ys=tuple(map(float, range(len(found)))), ends=ranges))
    if read:
        places = tuple(float(place) for place in range(len(found), len(found) + len(read)))
        marks.append(Mark(name="reading without a range", form="points", xs=tuple(value / size for value in read.values()), ys=places))
    if of_models:
        at = (float(len(rows) - 1),) * len(of_models)
        marks.append(
            Mark(
                name="a model of known cache",
                form="points",
                xs=tuple(value / size for value in of_models.values()),
                ys=at,
                names=(*of_models,),
            )
        )
    return Chart(
        title="KV bytes per token by each estimator, beside the typical KV",
        said=(_sheet(one), *_without(one.kv_bytes, found)),
        across=across,
        up=Axis(words="", rows=rows),
        marks=tuple(marks),
        rules=tuple(Rule(name=f"by its architecture, {show('kv_bytes_per_token', value)}", at=value / size) for value in known),
    )


def _band(name: str, found: Estimate, rows: int, size: float) -> Mark:
    """Draw a range of the axis across all rows."""
    low, high = (found.low or 0.0) / size, (found.high or 0.0) / size
    top, bottom = -0.5, rows - 0.5
    return Mark(name=name, form="area", xs=((low * high) ** 0.5,) * 2, ys=(top, bottom), ends=((low, high),) * 2)


def _level(estimates: Iterable[Estimate]) -> str:
    levels = [one.level for one in estimates if one.level]
    return f"median, and {levels[0]:.0%} range" if levels else "median, and range"


def _without(every: Mapping[str, Estimate], found: Mapping[str, Estimate]) -> list[str]:
    """List estimators without a range, and why."""
    missing = [name for name in every if name not in found]
    return [f"No range by {', '.join(KV_NAMES[name].heading for name in missing)}."] if missing else []


def size_price(line: SizeLine, sheets: Sequence[Inference] = ()) -> Chart:
    """Draw active parameters against input price: open models, their fitted line with its range, and sheets at their estimated size."""
    drawn = [one for one in sheets if one.market["active_params"].kind == "interval"]
    if sheets and not drawn:
        raise NotCovered(f"{sheets[0].name}: {sheets[0].market['active_params'].because}")
    params = [one.active_params for one in line.models]
    up, size = chart_axis("active_params", [*params, *(end for ends in line.sizes for end in ends)], "active parameters")
    dollars = tuple(price / USD_PER_MTOK for price in line.prices)
    marks = [
        Mark(
            name=f"{len(line.models)} open models at the list price of their makers",
            form="points",
            xs=tuple(one.input_price / USD_PER_MTOK for one in line.models),
            ys=tuple(value / size for value in params),
            names=tuple(one.model for one in line.models),
        ),
        Mark(name="the line", form="line", xs=dollars, ys=tuple(median / size for _, median, _ in line.sizes)),
        Mark(
            name=f"{line.level:.0%} of open models of that price",
            form="area",
            xs=dollars,
            ys=tuple(median / size for _, median, _ in line.sizes),
            ends=tuple((low / size, high / size) for low, _, high in line.sizes),
        ),
    ]
    if drawn:
        found = [one.market["active_params"] for one in drawn]
        marks.append(
            Mark(
                name="what the price suggests of it" if len(drawn) == 1 else "sheets, as their prices suggest",
                form="points",
                xs=tuple(one.sheet.bands[0].input.usd_per_token / USD_PER_MTOK for one in drawn),
                ys=tuple((estimate.median or 0.0) / size for estimate in found),
                ends=tuple(_ends(estimate, size) for estimate in found) if len(drawn) == 1 else (),
                beside=(drawn[0].sheet.model,) if len(drawn) == 1 else (),
                names=tuple(one.sheet.model for one in drawn),
            )
        )
    held = line.record.at(line.level)
    record = f"Such ranges held {held.held} of {held.count} models whose price family was left out." if held else ""
    if len(drawn) == 1:
        how = f"{_sheet(drawn[0])}: {drawn[0].market['active_params'].because}."
    else:
        how = "The extra price/cost of closed vendors is that of closed models of known size." if drawn else ""
    said = (how, record)
    across = Axis(words="input price [$/MTok]")
    return Chart(
        title="Input price rises with active parameters",
        said=tuple(text for text in said if text),
        across=across,
        up=up,
        marks=tuple(marks),
    )


def cost_context(one: Inference, curve: PricesByContext) -> Chart:
    """Draw the prices of a sheet over the context with its band steps, and the predictions of the joint reading."""
    starts = [max(float(band.threshold_tokens), curve.first) for band in one.sheet.bands]
    edges = [*starts, curve.last]
    marks = [
        *(
            Mark(
                name=f"{side} price, as published",
                form="line",
                xs=tuple(x for pair in pairwise(edges) for x in pair),
                ys=tuple(price.usd_per_token / USD_PER_MTOK for price in prices for _ in range(2)),
            )
            for side, prices in (
                ("output", [band.output for band in one.sheet.bands]),
                ("input", [band.input for band in one.sheet.bands]),
            )
        ),
        *(
            Mark(
                name=f"{side} at one mark-up over cost, as the joint reading has it",
                form="line",
                xs=curve.contexts,
                ys=tuple(value / USD_PER_MTOK for value in values),
                dashed=True,
            )
            for side, values in (("output", curve.outputs), ("input", curve.inputs))
            if values
        ),
    ]
    across, size = chart_axis("context_length", [*edges, *curve.contexts], "context")
    scaled = tuple(_x_axis(mark, size) for mark in marks)
    thresholds = [float(band.threshold_tokens) for band in one.sheet.bands[1:]]
    return Chart(
        title="Cost rises with context, and prices in steps",
        said=(_sheet(one), *([f"No curve: {curve.problem}."] if curve.problem else [])),
        across=across,
        up=Axis(words="price of a token [$/MTok]"),
        marks=scaled,
        rules=tuple(Rule(name=show("context_length", value), at=value / size) for value in thresholds),
    )


def _x_axis(mark: Mark, size: float) -> Mark:
    return Mark(name=mark.name, form=mark.form, xs=tuple(x / size for x in mark.xs), ys=mark.ys, dashed=mark.dashed)


def tier_map(one: Inference, costs: HoldCosts) -> Chart:
    """Draw the cost of every memory tier over the hold time, with the hold times and cache prices of the sheet."""
    marks = [
        Mark(
            name=f"{TIER_NAMES[tier]}, {basis}",
            form="line",
            xs=costs.times,
            ys=tuple(value / USD_PER_MTOK for value in values),
            dashed=basis == "rented",
        )
        for (tier, basis), values in costs.costs.items()
    ]
    base = one.sheet.bands[0].input.usd_per_token
    sold = [(float(write.ttl_seconds), write.premium * base) for write in one.observables.cache_write_premiums if write.ttl_seconds]
    sold = [(ttl, price) for ttl, price in sold if price > 0]
    rate = one.observables.storage_price
    if sold:
        ttls, prices = zip(*sold, strict=True)
        beside = tuple(f"kept {show('ttl', ttl)}" for ttl in ttls)
        per_mtok = tuple(price / USD_PER_MTOK for price in prices)
        marks.append(Mark(name="asked for a write above input", form="points", xs=ttls, ys=per_mtok, beside=beside))
    if rate and rate.value > 0:
        asked = tuple(rate.value * time / USD_PER_MTOK for time in costs.times)
        marks.append(Mark(name="storage, as asked by the hour", form="line", xs=costs.times, ys=asked))
    return Chart(
        title="The longer a cache is kept, the slower the cheapest memory",
        said=(
            _sheet(one),
            f"For {show('kv_bytes_per_token', costs.kv_bytes, digits=2)} of KV cache, at hardware prices of {costs.year}: held, written and"
            " read once. A price is above cost by an unknown markup.",
        ),
        across=Axis(words="hold time", ticks=_TIMES),
        up=Axis(words="cost of a kept token [$/MTok]"),
        marks=tuple(marks),
        rules=(Rule(name="input price: the price of computing it again", at=base / USD_PER_MTOK, up=True),),
    )


def tornado(one: Inference, assumptions: Assumptions = USUAL, estimator: str = "one_markup") -> Chart:
    """Draw the change of the KV bytes of an estimator with each input at both ends of its range. Raises NotCovered without an interval."""
    swings = (one.swings or {}).get(estimator)
    if swings is None or not swings.value:
        why = swings.left_out if swings and swings.left_out else "one mark-up gives no interval of its KV bytes"
        raise NotCovered(f"{one.name} has no tornado: {why}")
    rows = [swing for swing in swings.value if swing.low and swing.high]
    sides = [("at the low end of the input", [swing.low for swing in rows]), ("at its high end", [swing.high for swing in rows])]
    places = tuple(map(float, range(len(rows))))
    contradicted = [swing.name for swing in swings.value if swing not in rows]
    return Chart(
        title="Which input changes the KV bytes most",
        said=(
            f"{_sheet(one)}; by {KV_NAMES[estimator].heading}, each input alone at either end of its {assumptions.level:.0%} range",
            *([f"At an end of {', '.join(contradicted)} prices contradict the model."] if contradicted else []),
        ),
        across=Axis(words="KV bytes over their central value [ratio]"),
        up=Axis(words="", rows=tuple(swing.name.replace("_", " ") for swing in rows)),
        marks=tuple(
            Mark(
                name=name,
                form="bars",
                xs=tuple(value or 1.0 for value in values),
                ys=places,
                ends=tuple((min(value or 1.0, 1.0), max(value or 1.0, 1.0)) for value in values),
            )
            for name, values in sides
        ),
        rules=(Rule(name="central value", at=1.0),),
    )


def foretold_against_true(title: str, quantity: str, judged: Sequence[Judgement]) -> Chart:
    """Draw predictions for known models against the true values. Exact predictions are on the line."""
    values = [value for one in judged for value in (one.truth, one.low, one.high)]
    words = quantity.replace("_", " ")
    (up, size), (across, _) = (chart_axis(quantity, values, f"{words}, {which}") for which in ("foretold", "true"))
    truths = tuple(one.truth / size for one in judged)
    found = Mark(
        name=_coverage_of(judged),
        form="points",
        xs=truths,
        ys=tuple(one.median / size for one in judged),
        ends=tuple((one.low / size, one.high / size) for one in judged),
        names=tuple(one.model for one in judged),
    )
    right = Mark(name="predicted = true", form="line", xs=(min(truths), max(truths)), ys=(min(truths), max(truths)), dashed=True)
    return Chart(title=title, across=across, up=up, marks=(found, right))


def foretold_over_true(title: str, judged: Sequence[Judgement]) -> Chart:
    """Draw predictions over true values of known models, with a row for each model. 1 is exact."""
    models = [*dict.fromkeys(one.model for one in judged)]
    marks = []
    for way in dict.fromkeys(one.by for one in judged):
        own = [one for one in judged if one.by == way]
        marks.append(
            Mark(
                name=f"{way}: {_coverage_of(own)}",
                form="points",
                xs=tuple(median for _, median, _ in (one.ratios_to_truth for one in own)),
                ys=tuple(float(models.index(one.model)) for one in own),
                ends=tuple((low, high) for low, _, high in (one.ratios_to_truth for one in own)),
            )
        )
    across = Axis(words="predicted over true [ratio]")
    return Chart(title=title, across=across, up=Axis(words="", rows=(*models,)), marks=(*marks,), rules=(Rule(name="right", at=1.0),))


def _coverage_of(judged: Sequence[Judgement]) -> str:
    return f"{sum(one.held for one in judged)} of {len(judged)} ranges of {judged[0].level:.0%} held"


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
            " level. Ranges are what so few models leave open.",
        ),
        across=Axis(words="truths inside the range [%]", is_logarithmic=False),
        up=Axis(words="", rows=names),
        marks=tuple(marks),
        rules=tuple(Rule(name=level.removeprefix("in "), at=float(level.removeprefix("in ").rstrip("%"))) for level in _LEVELS),
    )


def _share(value: object) -> float:
    return _SHARE * float(str(value))
