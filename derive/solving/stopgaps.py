"""The answer to a question that would have none, without what a row of `STOPGAPS` leaves out."""

from dataclasses import replace

from derive.catalogue import equation
from derive.quantities import QUANTITIES
from derive.solving.checks.contradicted_defaults import consistent_answer
from derive.solving.explain.refusals import results_made_of
from derive.solving.question.questions import Question
from derive.solving.result import Solution
from derive.suppositions import MOST, STOPGAPS, Stopgap


def answer_with_stopgap(asked: Question, refused: Solution) -> Solution | None:
    """Return a bound of the unknown, which leaves out the quantity of a row of `STOPGAPS`, or None if no row fits."""
    for row in STOPGAPS:
        if _stopgap_fits(row, asked, refused):
            value = QUANTITIES[row.quantity].limits()[1] if row.value == MOST else float(row.value)
            known, provenance = {row.quantity: value, **asked.known}, {row.quantity: "it is not given", **asked.provenance}
            found, _ = consistent_answer(replace(asked, known=known, provenance=provenance, silent=row.hidden))
            if len(found.answers) == 1 and (found.answers[0].bound or found.answers[0].kind == "interval"):
                hidden = {row.quantity} if row.hidden else set[str]()
                return replace(
                    found.warn("stopgap", row.text),
                    given={name: one for name, one in found.given.items() if name not in hidden},
                    route=tuple(step for step in found.route if not any(hidden & equation(id).names for id in step.equations)),
                )
    return None


def _stopgap_fits(row: Stopgap, asked: Question, refused: Solution) -> bool:
    """Return whether a row fits: the question mentions none of the quantities that it leaves out."""
    if asked.unknown not in row.unknowns or not asked.known.keys().isdisjoint(row.absent):
        return False
    lacks_it_alone = refused.reason is not None and {*refused.reason.missing} == {row.quantity}
    return (lacks_it_alone or not row.lacking) and not (row.no_results and results_made_of(asked, asked.unknown))
