"""Total parameters from the factual knowledge of a model: ln N = a + b logit(A), or ln N = a + b logit(A) + c ln P.

A is the accuracy of the best variant of a model on a benchmark of facts, P the list price of input [USD/Mtoken]. Each benchmark has its
own fits, to sparse open models of today. A form is used if its gain in log density over the same fit without the score exceeds one
standard error, both with families left out and on models that were released later.
"""

from dataclasses import replace
from math import log

import numpy as np

from derive.errors import WrongData
from derive.tables.problems import Problem
from derive.tables.writing import edited_table
from invert.assumptions import Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import size
from invert.estimators.cases import Case
from invert.estimators.panel import rows_so_far
from invert.estimators.prediction import Student, fit
from invert.records import Estimate, Record, interval, undetermined
from invert.sheets.rows import FileText, KnowledgeScore

_MANY_REFUSALS = 0.2
"""Share of refused questions, above which a model may know more than its accuracy shows."""
IN_WORDS = {True: "price and knowledge", False: "no price used"}
"""The evidence in words, without and with a price."""
_GATES: tuple[size.LeftOut, ...] = ("family", "later")
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
def knowledge_forms(data: Data, assumptions: Assumptions) -> tuple[size.SizeForm, ...]:
    """Return the forms of every benchmark with enough models: first the forms with a price, then by gain."""
    benchmarks = dict.fromkeys(row.benchmark for row in rows_so_far(data, KnowledgeScore))
    forms = [size.SizeForm(params="total_params", priced=priced, benchmark=benchmark) for benchmark in benchmarks for priced in IN_WORDS]
    judged = [form for form in forms if all(_record_if_any(data, form, gate, assumptions) for gate in _GATES)]
    return tuple(sorted(judged, key=lambda form: (not form.priced, -size.size_record(data, form, "family", assumptions).gain)))


def _record_if_any(data: Data, form: size.SizeForm, left_out: size.LeftOut, assumptions: Assumptions) -> Record | None:
    """Return the record of a form, or None if too few models have a score."""
    try:
        return size.size_record(data, form, left_out, assumptions)
    except WrongData:
        return None


def passes_gate(data: Data, form: size.SizeForm, assumptions: Assumptions) -> bool:
    """Return whether the gain of a form exceeds its error, with families left out and on later models."""
    errors = assumptions.least_gain_in_errors
    return all(size.size_record(data, form, left_out, assumptions).has_skill(errors) for left_out in _GATES)


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the total parameters by the score of the model alone, and by its list price and its score."""
    return {
        "total_params_by_knowledge": _total_params(case, False, data, assumptions),
        "total_params_by_price_and_knowledge": _total_params(case, True, data, assumptions),
    }


def _total_params(case: Case, priced: bool, data: Data, assumptions: Assumptions) -> Estimate:
    """Return the estimate by the benchmark with the largest gain, among those that have a score of the model and pass the tests."""
    if priced and (case.by_price is None or case.by_price.hosts):
        return undetermined(assumptions, case.no_size or "a host's price. The scores are fitted with prices of makers")
    # The possible names of the model in the scores: its own, its aliases, and the name of the open model that it sells.
    listed = case.by_price.listed if case.by_price else None
    known = (case.sheet.model, *(case.model.aliases if case.model else ()), *([listed.model] if listed else []))
    names = [name.casefold() for name in known]
    because = "the model has no score on a benchmark of facts"
    for form in knowledge_forms(data, assumptions):
        scores = size.best_scores(data, form.benchmark)
        score = next((scores[name] for name in names if name in scores), None)
        if score and form.priced == priced:
            if passes_gate(data, form, assumptions):
                return _estimate(case, form, score, data, assumptions)
            because = f"the score on {form.benchmark} improves the estimate by price by less than one standard error"
    return undetermined(assumptions, because)


def _estimate(case: Case, form: size.SizeForm, score: KnowledgeScore, data: Data, assumptions: Assumptions) -> Estimate:
    found = case.by_price
    closed, without = bool(found and found.closed), found.listed.price_family if found and found.listed else ""
    rows = size.size_table(data, form, assumptions, without)
    values = np.array([[1.0, *size.predictors_of(form, log(found.price) if found else 0.0, score)]])
    extra = np.array(size.extra_price_cost_ratio(data, "total_params", assumptions) if closed else (0.0, 0.0))
    one = size.predict_closed(fit(rows), form, values, extra)
    told = Student(centre=float(one.centre[0]), scale=float(one.scale[0]), freedom=float(one.freedom))
    low, median, high = (size.BILLION * end for end in told.range(assumptions.level))
    highest = size.size_table(data, form, assumptions).predictors[:, -1].max()
    extrapolated, refused = bool(values[0, -1] > highest), (score.refusals or 0.0) > _MANY_REFUSALS
    because = f"{IN_WORDS[form.priced]}: the size of sparse open models with this score on {form.benchmark}"
    because += ". The model refused many questions, so it may be larger" * refused
    because += ". Extrapolated: every open model has a lower score" * extrapolated
    of_closed = _record_if_any(data, form, "closed vendor", assumptions) if closed else None
    of_it = of_closed or size.size_record(data, form, "family", assumptions)
    return replace(interval(assumptions, low, median, high, because, equations=()), record=None if extrapolated else of_it)
