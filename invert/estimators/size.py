"""The size of a model from its price, its knowledge, or both: ln N = a + b (ln P - d) + c logit(A) + s t.

N in 1e9 parameters, P the base list price of input [USD/Mtoken], d the extra price/cost of a vendor with closed weights, which is
fitted on closed models of known size, and A the accuracy on a benchmark of facts. A form (`SizeForm`) names the data. Every fit is
judged in three ways: families (or vendors) left out, models released later, and closed models. The baseline is the same form
without its last predictor. `size_by_price` says which price of a sheet predicts its size.

Each benchmark has its own fits, to sparse open models of today, with the accuracy of the best variant of a model. A form with a benchmark
is used if its gain in log density over the same fit without the score exceeds one standard error, both with families left out and on
models that were released later.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from math import exp, log
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import logit, stdtrit

from derive.errors import WrongData
from derive.immutable import immutable
from derive.preset_rows import OpenModel
from derive.tables.lines import Problem
from derive.tables.writing import edited_table
from invert.arrays import Array
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import prediction
from invert.estimators.panel import Priced, hosted_models, listed_models, rows_so_far
from invert.posterior.draws import DEFAULT, SEED, normals, uniforms
from invert.records import CLOSED_MODELS, Estimate, JudgedPrediction, Record, interval
from invert.sheets.rows import DisclosedSize, FileText, HostPrice, KnowledgeScore, ListPrice, ModelRow
from invert.sheets.sheet import LIST_TIERS, PriceSheet

if TYPE_CHECKING:
    from invert.estimators.cases import Case

BILLION = 1e9
SIZES_JUDGED_SINCE = date(2026, 1, 1)
"""Models released from this day on test the fits to earlier models."""
_RESAMPLES = 1024
_SURE = 0.999
"""The highest accuracy in use: without a wrong answer the logit would be infinite."""

Params = Literal["active_params", "total_params"]
LeftOut = Literal["family", "vendor", "later", "closed vendor"]
"""What a prediction does not use: the price family or vendor of the model, all later models, or a closed model's vendor."""


@immutable
class SizeForm:
    """The target of a fit and its predictors: prices of makers or hosts, or scores on a benchmark, for all or for sparse models."""

    params: Params
    sparse: bool = True
    priced: bool = True
    hosts: bool = False
    benchmark: str = ""

    @property
    def table(self) -> str:
        """Return the name of the table with its prices or scores."""
        return (KnowledgeScore if self.benchmark else HostPrice if self.hosts else ListPrice).TABLE


ACTIVE, ANY, TOTAL = SizeForm(params="active_params"), SizeForm(params="active_params", sparse=False), SizeForm(params="total_params")
"""Fits by list price: active parameters of sparse models (like all of today's large models), active parameters of all models, and total
parameters.
"""


@immutable
class SizedModel:
    """A model of known size: its families, its release, ln of its size [1e9], and the numbers that predict it."""

    price_family: str
    vendor: str
    released: date
    ln_params: float
    predictors: tuple[float, ...]


@immutable
class Size:
    """Parameters of a model, as quantiles given its price, and the spread of their logarithm [nat]."""

    low: float
    median: float
    high: float
    spread: float


def best_scores(data: Data, benchmark: str) -> dict[str, KnowledgeScore]:
    """Return the score of the best variant of each model, by the name of the model in lower case."""
    rows = [row for row in rows_so_far(data, KnowledgeScore) if row.benchmark == benchmark]
    # The last row of a name counts, and of equal scores the first one.
    return {row.model.casefold(): row for row in sorted(rows, key=lambda row: -row.accuracy)[::-1]}


def predictors_of(form: SizeForm, ln_price: float, score: KnowledgeScore | None) -> tuple[float, ...]:
    """Return the predictors of a form: ln of the price, then the logit of the accuracy."""
    return (*((ln_price,) if form.priced else ()), *((float(logit(min(score.accuracy, _SURE))),) if form.benchmark and score else ()))


def _sized_model(
    form: SizeForm, row: OpenModel | DisclosedSize, family: str, released: date, params: float, price: float,
    scores: Mapping[str, KnowledgeScore],
) -> SizedModel:  # fmt: skip
    """Return a model of known size with its predictors by a form."""
    predictors = predictors_of(form, log(price), scores.get(row.model.casefold()))
    return SizedModel(price_family=family, vendor=row.vendor, released=released, ln_params=log(params / BILLION), predictors=predictors)


@cache_with_data
def sized_models(data: Data, form: SizeForm, assumptions: Assumptions = USUAL, without: str = "") -> tuple[SizedModel, ...]:
    """Return the open models that a form is fitted to, without a price family."""
    priced = hosted_models(data, assumptions) if form.hosts else listed_models(data) if form.priced else ()
    prices, scores = {row.model: row.input_price for row in priced}, best_scores(data, form.benchmark)
    models = {row.model: row for row in rows_so_far(data, OpenModel)}
    return tuple(
        _sized_model(form, row, row.price_family, row.release_date, getattr(row, form.params), prices.get(row.model, 1.0), scores)
        for row in ([models[name] for name in prices] if form.priced else models.values())
        if row.price_family != without
        and (not form.benchmark or row.model.casefold() in scores)
        # A sparse model that is new enough is like the closed models of today.
        and (not form.sparse or row.total_params > assumptions.sparse_ratio * row.active_params)
        and (not form.sparse or row.release_date.year >= assumptions.sparse_since)
    )


def size_table(
    data: Data, form: SizeForm, assumptions: Assumptions = USUAL, without: str = "", by: str = "price_family"
) -> prediction.GroupedRows:
    """Return the models of a form as input of a regression. Raise `WrongData` if they have too few groups for a line."""
    rows = sized_models(data, form, assumptions, without)
    if len({getattr(row, by) for row in rows}) < assumptions.least_to_learn:
        raise WrongData(f"{form.table}.csv: fewer than {assumptions.least_to_learn} values of {by} are left to fit a size")
    return _grouped(rows, by, assumptions)


def _grouped(rows: tuple[SizedModel, ...], by: str, assumptions: Assumptions) -> prediction.GroupedRows:
    columns = zip(*(row.predictors for row in rows), strict=True)
    return prediction.grouped([row.ln_params for row in rows], [getattr(row, by) for row in rows], *columns, assumptions=assumptions)


def closed_models(data: Data, form: SizeForm, assumptions: Assumptions) -> tuple[SizedModel, ...]:
    """Return the closed models of known size at their own prices. For total parameters they are today's models, as in the fits."""
    scores = best_scores(data, form.benchmark)
    return tuple(
        _sized_model(form, row, row.vendor, row.date, size, row.input_price, scores)
        for row in rows_so_far(data, DisclosedSize)
        if row.closed
        and (size := row.exactly(form.params))
        and (form.params == "active_params" or row.date.year >= assumptions.sparse_since)
        and (not form.benchmark or row.model.casefold() in scores)
    )


@cache_with_data
def extra_price_cost_ratio(data: Data, params: Params, assumptions: Assumptions, without: str = "") -> tuple[float, float]:
    """Return mean and spread [nat] of the extra price/cost d of closed vendors, from the closed models of all but one vendor.

    The residuals of these models from the fit to open ones are -b d plus the error of the fit, and the prior of d is normal. Vendors
    are groups.
    """
    prior, form = assumptions.extra_price_cost_ratio_prior, SizeForm(params=params)
    mean, precision, one = log(prior.centre), prior.spread**-2, prediction.fit(size_table(data, form, assumptions))
    rows = tuple(row for row in closed_models(data, form, assumptions) if row.vendor != without)
    if not rows:
        return mean, prior.spread
    found, slope = _grouped(rows, "vendor", assumptions), one.coefficients[1] / one.scale
    residuals = found.target - found.predictors @ one.coefficients
    fitted = precision + slope**2 * found.weights.sum()
    return float((mean * precision - slope * (found.weights * residuals).sum() / one.scale) / fitted), float(fitted**-0.5)


def predict_closed(one: prediction.Fit, form: SizeForm, predictors: Array, extra: Array) -> prediction.Student:
    """Return the sizes of closed models by a fit to open ones, with the mean and spread of their extra price/cost (2, n)."""
    used = predictors[:, : len(one.coefficients)].copy()
    found = one.predict(used)
    if not form.priced or used.shape[1] < 2:
        return found
    used[:, 1] -= extra[0]
    return replace(found, centre=used @ one.coefficients, scale=np.hypot(found.scale, one.coefficients[1] * extra[1]))


def _record(
    rows: prediction.GroupedRows,
    predict: Callable[[prediction.GroupedRows], prediction.Student],
    judged: prediction.GroupedRows | None = None,
    of: str = Record.of,
) -> Record | None:
    """Return the record of a regression, with its gain over the regression without the last predictor."""
    judged, without = judged or rows, replace(rows, predictors=rows.predictors[:, :-1])
    found, baseline = (predict(one).judge(judged.target) for one in (rows, without))
    return prediction.record(found, baseline, judged.groups, of=of)


@cache_with_data
def size_record(data: Data, form: SizeForm, left_out: LeftOut = "family", assumptions: Assumptions = USUAL) -> Record:
    """Return the record of a form on closed models, or on open models that fits without their family or vendor or earlier fits predict."""
    rows, least = size_table(data, form, assumptions, by="vendor" if left_out == "vendor" else "price_family"), assumptions.least_to_learn
    if left_out == "later":
        days = [row.released for row in sized_models(data, form, assumptions)]
        found = _record(rows, lambda one: prediction.predict_in_order(one, days, SIZES_JUDGED_SINCE, least))
    elif left_out == "closed vendor":
        models, found = closed_models(data, form, assumptions), None
        if models:
            # The printed estimate is judged: each vendor is left out in turn.
            closed = _grouped(models, "vendor", assumptions)
            extra = np.array([extra_price_cost_ratio(data, form.params, assumptions, row.vendor) for row in models]).T
            found = _record(rows, lambda one: predict_closed(prediction.fit(one), form, closed.predictors, extra), closed, CLOSED_MODELS)
    else:
        found = _record(rows, prediction.predict_left_out)
    if found is None:
        table = DisclosedSize.TABLE if left_out == "closed vendor" else form.table
        raise WrongData(f"{table}.csv: models of fewer than {prediction.LEAST_FAMILIES} families or vendors test the fit")
    return found


def shuffled_record(data: Data, form: SizeForm, seed: int, assumptions: Assumptions = USUAL) -> Record | None:
    """Return the record of a fit to shuffled values of the last predictor, which must have no gain."""
    rows = size_table(data, form, assumptions)
    shuffled = rows.predictors.copy()
    shuffled[:, -1] = np.random.default_rng(seed).permutation(shuffled[:, -1])
    return _record(replace(rows, predictors=shuffled), prediction.predict_left_out)


# Sizes at a price.


@cache_with_data
def size_draws(data: Data, form: SizeForm, without: str, closed: bool, assumptions: Assumptions) -> tuple[Array, Array, Array, Array]:
    """Return draws of everything unknown between a price and a size: intercept and slope over resampled vendors, extra price/cost of a
    closed vendor, and error of a new family. The fits leave a price family out.

    All prices use the same draws, so a higher price always means a larger size.
    """
    rows = size_table(data, form, assumptions, without)
    vendors = [row.vendor for row in sized_models(data, form, assumptions, without)]
    one, (mean, spread) = prediction.fit(rows), extra_price_cost_ratio(data, form.params, assumptions) if closed else (0.0, 0.0)
    # A vendor drawn k times counts its families' rows k times, each with a weight of one over the square root of their number.
    known, of_vendor = np.unique(vendors, return_inverse=True)
    shares = np.full(len(known), 1 / len(known))
    times = np.sqrt(np.random.default_rng(SEED).multinomial(len(known), shares, size=_RESAMPLES).astype(float))
    lines = prediction.coefficients_at(rows, times[:, of_vendor] * rows.weights)
    intercept, slope = lines[(_RESAMPLES * uniforms(DEFAULT)[:, 0]).astype(int)].T
    return intercept, slope, mean + spread * normals(DEFAULT)[:, 1], one.scale * _drawn_errors(one.freedom)


@cache_with_data
def size_at(data: Data, form: SizeForm, price: float, without: str, closed: bool, assumptions: Assumptions) -> Size:
    """Return the size at a price [USD/Mtoken]: the median, and the ends of the central range with the level of the run."""
    intercept, slope, extra, errors = size_draws(data, form, without, closed, assumptions)
    drawn = intercept + slope * (log(price) - extra) + errors
    low, median, high = (BILLION * np.exp(np.quantile(drawn, [assumptions.tails[0], 0.5, assumptions.tails[1]]))).tolist()
    return Size(low=low, median=median, high=high, spread=float(drawn.std()))


@cache
def _drawn_errors(freedom: int) -> Array:
    """Return Student's t of these degrees of freedom at the points of the error of a new family."""
    return np.asarray(stdtrit(freedom, uniforms(DEFAULT)[:, 2]))


# The price of a sheet that predicts its size.

PER_MTOK = 1e6


@immutable
class ByPrice:
    """The price [USD/Mtoken] that predicts a size, from the lists of makers or the median of hosts, with the reason in `because`. `closed`:
    the sizes include the extra price/cost of a closed vendor. `listed` is the open model that the sheet sells, which is left out of the
    fit.
    """

    price: float
    hosts: bool
    because: str
    closed: bool
    extrapolated: bool
    listed: Priced | None

    def form(self, params: Params) -> SizeForm:
        """Return the form of the fit. For hosts it is fitted to today's sparse models, which are like those of closed vendors."""
        return SizeForm(params=params, sparse=params == "total_params" or self.closed or self.hosts, hosts=self.hosts)


def size_by_price(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> ByPrice | str:
    """Return the price that predicts a size from a sheet, or the reason why it does not predict one."""
    listed = sheet.bands[0].input.usd_per_token if sheet.service_tier in LIST_TIERS else sheet.list_input
    if not listed:
        return f"a {sheet.service_tier.replace('_', '-')} price gives no size. The standard price does, and is not known"
    hosts = model is not None and not model.first_party
    of_hosts = (one for one in hosted_models(data, assumptions) if model and one.architecture == model.architecture != "")
    row = next(of_hosts, None) if hosts else _open_model(model, data)
    if hosts and row is None:
        return "the price of one host. Too few hosts sell the model for a median price"
    # A vendor that is in no table counts as closed.
    closed = row is None and not (model and model.architecture)
    price = row.input_price if hosts and row else listed * PER_MTOK
    because = "by the median price of hosts for models with known size" if hosts else "by the input price of open models with known size"
    because += ". The model is in no table, so its vendor counts as closed" * (model is None)
    lowest, highest = assumptions.size_prices
    extrapolated = not lowest <= price <= highest
    because += ". Extrapolated: few open models have such a price" * extrapolated
    return ByPrice(price=price, hosts=hosts, because=because, closed=closed, extrapolated=extrapolated, listed=row)


def size_at_price(found: ByPrice, params: Params, data: Data, assumptions: Assumptions) -> Size:
    """Return the active or total parameters at that price. Raise `WrongData` if too few models are left for the fit."""
    without = found.listed.price_family if found.listed else ""
    return size_at(data, found.form(params), found.price, without, found.closed, assumptions)


def closed_price_cost(data: Data, params: Params, assumptions: Assumptions) -> str:
    """Return the fitted price/cost of closed models in words.

    >>> from invert.data import read_data
    >>> closed_price_cost(read_data(), "active_params", USUAL)
    'Closed models of known size have a lower price/cost than open ones'
    """
    word = "higher" if extra_price_cost_ratio(data, params, assumptions)[0] > 0 else "lower"
    return f"Closed models of known size have a {word} price/cost than open ones"


def record_of_size(found: ByPrice, params: Params, data: Data, assumptions: Assumptions) -> Record:
    """Return the record of these sizes: on closed models for a closed model, else on left-out open models."""
    return size_record(data, found.form(params), "closed vendor" if found.closed else "family", assumptions)


def _open_model(model: ModelRow | None, data: Data) -> Priced | None:
    """Return the open model that a sheet sells, by architecture or name, which its fit leaves out."""
    if model is None:
        return None
    names = {name.casefold() for name in (model.model, *model.aliases)}
    named = (one for one in listed_models(data) if one.architecture == (model.architecture or None) or one.model.casefold() in names)
    return next(named, None)


_PLACES = 11
"""Number of prices on the line."""


def size_line(data: Data, assumptions: Assumptions = USUAL) -> dict[float, Size]:
    """Return the size by the fit to all open models, at prices [USD/token] from the lowest to the highest of their makers.

    >>> from invert.data import read_data
    >>> price, size = [*size_line(read_data()).items()][-1]
    >>> f"{price * 1e6:g} USD/MTok: {size.median / 1e9:.0f}B"
    '3 USD/MTok: 84B'
    """
    asked = [row.input_price for row in listed_models(data)]
    prices = np.geomspace(min(asked), max(asked), _PLACES).tolist()
    return {price / PER_MTOK: size_at(data, ANY, price, "", False, assumptions) for price in prices}


def judged_sizes(data: Data, assumptions: Assumptions = USUAL) -> tuple[JudgedPrediction, ...]:
    """Return the active parameters that the price of each open model predicts, by a fit without its price family."""
    rows = listed_models(data)
    found, reach = prediction.predict_left_out(size_table(data, ANY, assumptions)), (1 + assumptions.level) / 2
    reaches = found.scale * float(stdtrit(found.freedom, reach))
    return tuple(
        JudgedPrediction(
            model=row.model,
            by=f"input at {row.input_price:g} USD/MTok",
            truth=row.active_params,
            low=BILLION * exp(centre - reach),
            median=BILLION * exp(centre),
            high=BILLION * exp(centre + reach),
            level=assumptions.level,
        )
        for row, centre, reach in zip(rows, np.asarray(found.centre), np.asarray(reaches), strict=True)
    )


# Total parameters from the factual knowledge of a model.

_MANY_REFUSALS = 0.2
"""Share of refused questions, above which a model may know more than its accuracy shows."""
IN_WORDS = {True: "price and knowledge", False: "no price used"}
"""The evidence in words, without and with a price."""
_GATES: tuple[LeftOut, ...] = ("family", "later")
"""The tests that a form must pass before it is used."""


def with_scores(data: Data, scores: FileText | None) -> Data:
    """Return the data with the scores of the user's own file after the shipped ones."""
    if scores is None:
        return data
    table = KnowledgeScore.TABLE
    alone = data.tables.edited(**{table: scores.content.decode(errors="replace")})
    for fault in alone.problems(KnowledgeScore):
        raise WrongData(str(replace(fault, origin=scores.place)))
    known = {(row.model, row.benchmark, row.variant) for row in data.tables.rows_of(KnowledgeScore)}
    for row in alone.rows_of(KnowledgeScore):
        if (row.model, row.benchmark, row.variant) in known:
            message = f"{table}.csv has a score of the same model, benchmark and variant. Write another variant"
            raise WrongData(str(Problem(origin=scores.place, row=row.place, column="variant", message=message)))
    together = edited_table(data.tables.content(f"{table}.csv"), tuple(data.tables.columns(table)), alone.raw_rows(table))
    return Data(data.tables.edited(**{table: together.decode()}))


@cache_with_data
def knowledge_forms(data: Data, assumptions: Assumptions) -> tuple[SizeForm, ...]:
    """Return the forms of every benchmark with enough models: first the forms with a price, then by gain."""
    benchmarks = dict.fromkeys(row.benchmark for row in rows_so_far(data, KnowledgeScore))
    forms = [SizeForm(params="total_params", priced=priced, benchmark=benchmark) for benchmark in benchmarks for priced in IN_WORDS]
    judged = [form for form in forms if all(_record_if_any(data, form, gate, assumptions) for gate in _GATES)]
    return tuple(sorted(judged, key=lambda form: (not form.priced, -size_record(data, form, "family", assumptions).gain)))


def _record_if_any(data: Data, form: SizeForm, left_out: LeftOut, assumptions: Assumptions) -> Record | None:
    """Return the record of a form, or None if too few models have a score."""
    try:
        return size_record(data, form, left_out, assumptions)
    except WrongData:
        return None


def passes_gate(data: Data, form: SizeForm, assumptions: Assumptions) -> bool:
    """Return whether the gain of a form exceeds its error, with families left out and on later models."""
    errors = assumptions.least_gain_in_errors
    return all(size_record(data, form, left_out, assumptions).has_skill(errors) for left_out in _GATES)


def total_params_by_knowledge(case: "Case", data: Data, assumptions: Assumptions, priced: bool) -> Estimate:
    """Return the total parameters by the score of the model, and by its list price if `priced`.

    The benchmark is the one with the largest gain, among those that have a score of the model and pass the tests.
    """
    if priced and (case.size_price is None or case.size_price.hosts):
        return Estimate(kind="undetermined", because=case.no_size or "a host's price. The scores are fitted with prices of makers")
    # The possible names of the model in the scores: its own, its aliases, and the name of the open model that it sells.
    listed = case.size_price.listed if case.size_price else None
    known = (case.sheet.model, *(case.model.aliases if case.model else ()), *([listed.model] if listed else []))
    names = [name.casefold() for name in known]
    because = "the model has no score on a benchmark of facts"
    for form in knowledge_forms(data, assumptions):
        scores = best_scores(data, form.benchmark)
        score = next((scores[name] for name in names if name in scores), None)
        if score and form.priced == priced:
            if passes_gate(data, form, assumptions):
                return _size_by_score(case, form, score, data, assumptions)
            because = f"the score on {form.benchmark} improves the estimate by price by less than one standard error"
    return Estimate(kind="undetermined", because=because)


def _size_by_score(case: "Case", form: SizeForm, score: KnowledgeScore, data: Data, assumptions: Assumptions) -> Estimate:
    found = case.size_price
    closed, without = bool(found and found.closed), found.listed.price_family if found and found.listed else ""
    rows = size_table(data, form, assumptions, without)
    values = np.array([[1.0, *predictors_of(form, log(found.price) if found else 0.0, score)]])
    extra = np.array(extra_price_cost_ratio(data, "total_params", assumptions) if closed else (0.0, 0.0))
    one = predict_closed(prediction.fit(rows), form, values, extra).first
    highest = size_table(data, form, assumptions).predictors[:, -1].max()
    extrapolated, refused = bool(values[0, -1] > highest), (score.refusals or 0.0) > _MANY_REFUSALS
    because = f"{IN_WORDS[form.priced]}: the size of sparse open models with this score on {form.benchmark}"
    because += ". The model refused many questions, so it may be larger" * refused
    because += ". Extrapolated: every open model has a lower score" * extrapolated
    of_closed = _record_if_any(data, form, "closed vendor", assumptions) if closed else None
    of_it = of_closed or size_record(data, form, "family", assumptions)
    return interval([BILLION * end for end in one.range(assumptions.level)], because, record=None if extrapolated else of_it)
