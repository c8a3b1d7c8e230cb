"""Total parameters by what a model knows: ln N = a + b logit(A), or ln N = a + b logit(A) + c ln P.

N in 1e9 parameters, A the accuracy of the best variant of a model on a benchmark of facts, P the list price of input [USD/Mtoken].
Each benchmark has its own fits, to sparse open models of today. A form is used if its gain in log density over the same fit without
the score exceeds one standard error, both with families left out and on models that were released later.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from io import StringIO
from math import log

import numpy as np

from derive.errors import WrongData
from derive.files import content_of, label
from derive.immutable import immutable
from derive.preset_rows import OpenModel
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.estimators.market import learnt
from invert.estimators.market.record import LEAST_VOTES, record
from invert.estimators.market.regression import Fit, GroupedRows, Predictions, fit, foretold, grouped, predict_in_order
from invert.estimators.market.size import BILLION, SIZES_JUDGED_SINCE, is_sparse_of_today
from invert.estimators.market.student import Student
from invert.records import CLOSED_MODELS, Estimate, Record, interval, undetermined, undetermined_on_error
from invert.sheets.read import cached_beside_prices
from invert.sheets.sheet import FileText
from invert.sheets.tables import DisclosedSize, KnowledgeScore

_COLUMNS = ("model", "benchmark", "variant", "accuracy", "refusals", "date", "source", "grade")
_SURE = 0.999
"""The highest accuracy in use: without a wrong answer the logit would be infinite."""
_MANY_REFUSALS = 0.2
"""A model that refuses more of the questions may know more than its accuracy shows."""
PRICE_AND_KNOWLEDGE, KNOWLEDGE_ALONE = ("logit", "ln_price"), ("logit",)
IN_WORDS = {PRICE_AND_KNOWLEDGE: "price and knowledge", KNOWLEDGE_ALONE: "no price used"}


@immutable
class ScoredModel:
    """A model of known size with its score, ln of its size [1e9] and ln of its list price, or None if it has no list price."""

    group: str
    released: date
    ln_params: float
    logit: float
    ln_price: float | None


@immutable
class KnowledgeFit:
    """A form of the fit to one benchmark with its records: families left out, models released later, and closed models.

    `highest` is the largest logit among the open models.
    """

    benchmark: str
    predictors: tuple[str, ...]
    record: Record
    in_order: Record
    of_closed: Record | None
    highest: float

    @property
    def in_words(self) -> str:
        """Return the evidence that it uses, in words."""
        return IN_WORDS[self.predictors]

    def has_skill(self, errors: float) -> bool:
        """Return whether it passes the gate in both tests."""
        return self.record.has_skill(errors) and self.in_order.has_skill(errors)


def best_scores(data: Data, benchmark: str) -> dict[str, KnowledgeScore]:
    """Return the score of the best variant of each model, by the name of the model in lower case."""
    found: dict[str, KnowledgeScore] = {}
    for row in learnt.rows_so_far(data, KnowledgeScore):
        name = row.model.casefold()
        if row.benchmark == benchmark and (name not in found or row.accuracy > found[name].accuracy):
            found[name] = row
    return found


def scores_of(file: str | FileText | None) -> FileText | None:
    """Return a file of scores by its name, or the file itself if it was read before. Raise `WrongData` if it cannot be read."""
    if isinstance(file, FileText) or not file:
        return file or None
    return FileText(label(file), content_of(file))


def with_scores(data: Data, scores: FileText | None) -> Data:
    """Return the data with the scores of the user's own file after the shipped ones.

    The file is a CSV with the columns of knowledge_scores.csv. Raise `WrongData` with the first fault if it cannot be used.
    """
    if scores is None:
        return data
    header, _, lines = scores.content.decode(errors="replace").removeprefix("\ufeff").replace("\r\n", "\n").partition("\n")
    alone = data.tables.edited(**{KnowledgeScore.TABLE: f"{header}\n{lines}"})
    for fault in alone.problems(KnowledgeScore):
        raise WrongData(str(replace(fault, origin=scores.place)))
    rows = [{name: row[name] for name in _COLUMNS} for row in alone.raw_rows(KnowledgeScore.TABLE)]
    shipped, text = data.tables.content(f"{KnowledgeScore.TABLE}.csv").decode(), StringIO()
    csv.DictWriter(text, _COLUMNS, lineterminator="\n").writerows(rows)
    return Data(data.tables.edited(**{KnowledgeScore.TABLE: shipped + text.getvalue()}))


def logit(accuracy: float) -> float:
    """Return ln(A/(1 - A)).

    >>> round(logit(0.75), 3)
    1.099
    """
    accuracy = min(accuracy, _SURE)
    return log(accuracy / (1 - accuracy))


@cached_beside_prices
def knowledge_fits(data: Data, assumptions: Assumptions) -> tuple[KnowledgeFit, ...]:
    """Return every form of every benchmark that enough models have: those with a price first, then by their gain."""
    benchmarks = dict.fromkeys(row.benchmark for row in learnt.rows_so_far(data, KnowledgeScore))
    forms = [(benchmark, predictors) for benchmark in benchmarks for predictors in IN_WORDS]
    found = (_judged_fit(data, benchmark, predictors, assumptions) for benchmark, predictors in forms)
    return tuple(sorted((one for one in found if one), key=lambda one: (-len(one.predictors), -one.record.gain)))


def _judged_fit(data: Data, benchmark: str, predictors: tuple[str, ...], assumptions: Assumptions) -> KnowledgeFit | None:
    rows = _open_models(data, benchmark, predictors, assumptions)
    both, alone = (_grouped(rows, names, assumptions) for names in (predictors, predictors[1:]))
    if both.count < assumptions.least_to_learn:
        return None
    days, least = [row.released for row in rows], assumptions.least_to_learn
    later, later_alone = (predict_in_order(one, days, SIZES_JUDGED_SINCE, least) for one in (both, alone))
    if np.unique(later.groups).size < LEAST_VOTES:
        return None
    return KnowledgeFit(
        benchmark=benchmark,
        predictors=predictors,
        record=record(foretold(both), foretold(alone)),
        in_order=record(later, later_alone),
        of_closed=_closed_record(data, benchmark, predictors, both, alone, assumptions),
        highest=max(row.logit for row in rows),
    )


def _open_models(
    data: Data, benchmark: str, predictors: tuple[str, ...], assumptions: Assumptions, without: str = ""
) -> tuple[ScoredModel, ...]:
    """Return the sparse open models of today with the data that the fit needs, without one price family."""
    scores = best_scores(data, benchmark)
    prices = {row.model: row.input_price for row in learnt.listed_models(data)}
    found = (
        ScoredModel(
            group=row.price_family,
            released=row.release_date,
            ln_params=log(row.total_params / BILLION),
            logit=logit(scores[row.model.casefold()].accuracy),
            ln_price=log(prices[row.model]) if row.model in prices else None,
        )
        for row in learnt.rows_so_far(data, OpenModel)
        if row.model.casefold() in scores
        and row.price_family != without
        and is_sparse_of_today(row.total_params, row.active_params, row.release_date, assumptions)
    )
    return tuple(row for row in found if row.ln_price is not None or predictors == KNOWLEDGE_ALONE)


def _grouped(rows: Sequence[ScoredModel], predictors: Sequence[str], assumptions: Assumptions) -> GroupedRows:
    columns = ([getattr(row, name) for row in rows] for name in predictors)
    return grouped([row.ln_params for row in rows], [row.group for row in rows], *columns, assumptions=assumptions)


def _closed_models(data: Data, benchmark: str, assumptions: Assumptions) -> Iterator[ScoredModel]:
    """Yield the closed models of known total that have a score, as the fits of today see them. Vendors are groups."""
    scores = best_scores(data, benchmark)
    for row in learnt.rows_so_far(data, DisclosedSize):
        size, score = row.exactly("total_params"), scores.get(row.model.casefold())
        if row.closed and size and score and row.date.year >= assumptions.sparse_since:
            yield ScoredModel(
                group=row.vendor,
                released=row.date,
                ln_params=log(size / BILLION),
                logit=logit(score.accuracy),
                ln_price=log(row.input_price) - learnt.extra_markup(data, "total", assumptions, row.vendor)[0],
            )


def _closed_record(
    data: Data, benchmark: str, predictors: tuple[str, ...], both: GroupedRows, alone: GroupedRows, assumptions: Assumptions
) -> Record | None:
    """Return the record of the fits to open models on closed models, or None if closed models of fewer than two vendors are known."""
    rows = tuple(_closed_models(data, benchmark, assumptions))
    if len({row.group for row in rows}) < LEAST_VOTES:
        return None

    def predict_by_open_models(seen: GroupedRows, names: tuple[str, ...]) -> Predictions:
        one, found = fit(seen), _grouped(rows, names, assumptions)
        scale = _scale_of_closed(one, names, data, assumptions)
        centre = found.predictors @ np.array([one.intercept, *one.slopes])
        return Predictions(
            centre=centre, scale=np.full(len(rows), scale), freedom=one.freedom, target=found.target, groups=found.groups
        )  # fmt: skip

    return replace(record(predict_by_open_models(both, predictors), predict_by_open_models(alone, predictors[1:])), of=CLOSED_MODELS)


def _scale_of_closed(one: Fit, predictors: Sequence[str], data: Data, assumptions: Assumptions) -> float:
    """Return the scale [nat] of a fit for a closed model, with the spread of its extra price/cost if the fit has a price."""
    of_price = dict(zip(predictors, one.slopes, strict=True)).get("ln_price", 0.0)
    return float(np.hypot(one.scale, of_price * learnt.extra_markup(data, "total", assumptions)[1]))


# The estimator.


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the total parameters by the score of the model alone, and by its list price and its score."""
    return {
        "total_params_by_knowledge": _estimate_alone(case, data, assumptions),
        "total_params_by_price_and_knowledge": _estimate_beside_price(case, data, assumptions),
    }


@undetermined_on_error
def _estimate_alone(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    return _total_params(case, KNOWLEDGE_ALONE, data, assumptions)


@undetermined_on_error
def _estimate_beside_price(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    if case.by_price.value is None or case.by_price.value.hosts:
        return undetermined(assumptions, case.by_price.left_out or "the price of a host, and scores are learnt beside list prices")
    return _total_params(case, PRICE_AND_KNOWLEDGE, data, assumptions)


def _total_params(case: Case, predictors: tuple[str, ...], data: Data, assumptions: Assumptions) -> Estimate:
    """Return the estimate by the benchmark of the largest gain that has a score of the model and passes the gate."""
    names, because = _names(case), "no benchmark of facts has a score of the model"
    for one in knowledge_fits(data, assumptions):
        scores = best_scores(data, one.benchmark)
        score = next((scores[name] for name in names if name in scores), None)
        if score and one.predictors == predictors:
            if one.has_skill(assumptions.least_gain_in_errors):
                return _estimate(case, one, score, data, assumptions)
            because = f"the score on {one.benchmark} adds no more than one standard error to the price"
    return undetermined(assumptions, because)


def _names(case: Case) -> list[str]:
    """Return the possible names of the model in the scores: its own, its aliases, and the name of the open model it sells."""
    listed = case.by_price.value.listed if case.by_price.value else None
    names = (case.sheet.model, *(case.model.aliases if case.model else ()), *([listed.model] if listed else []))
    return [name.casefold() for name in names]


def _estimate(case: Case, used: KnowledgeFit, score: KnowledgeScore, data: Data, assumptions: Assumptions) -> Estimate:
    found = case.by_price.value
    closed, without = bool(found and found.closed), found.listed.price_family if found and found.listed else ""
    rows = _open_models(data, used.benchmark, used.predictors, assumptions, without)
    if len({row.group for row in rows}) < assumptions.least_to_learn:
        raise WrongData(f"knowledge_scores.csv: too few other models have a score on {used.benchmark}")
    one, extra = fit(_grouped(rows, used.predictors, assumptions)), learnt.extra_markup(data, "total", assumptions)[0] if closed else 0.0
    values = {"logit": logit(score.accuracy), "ln_price": log(found.price) - extra if found else 0.0}
    told = Student(
        centre=one.intercept + sum(slope * values[name] for name, slope in zip(used.predictors, one.slopes, strict=True)),
        scale=_scale_of_closed(one, used.predictors, data, assumptions) if closed else one.scale,
        freedom=one.freedom,
    )
    low, median, high = (BILLION * end for end in told.range(assumptions.level))
    extrapolated, refused = values["logit"] > used.highest, (score.refusals or 0.0) > _MANY_REFUSALS
    because = f"{used.in_words}: the score on {used.benchmark}, as sparse open models of this size have it"
    because += ". It refused many questions and may know more" * refused
    because += ". Extrapolated: no open model knows as much" * extrapolated
    of_it = (used.of_closed if closed else None) or used.record
    return replace(interval(assumptions, low, median, high, because, equations=()), record=None if extrapolated else of_it)
