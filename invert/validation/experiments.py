"""Natural experiments: every estimate of one model before and after a change of its price, with the same weights.

The truth did not change. So the change of an estimate is its error between two prices, for any truth.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from math import log, sqrt

from derive.errors import BacksolveError
from derive.immutable import immutable
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimate_text import kv_heading
from invert.inference import run_of
from invert.records import Estimate
from invert.result import Inference
from invert.sheets.rows import NaturalExperiment, grouped

_Row = dict[str, object]


@immutable
class Retest:
    """One estimate of a model at the old price and at the new one."""

    quantity: str
    experiment: NaturalExperiment
    before: Estimate
    after: Estimate

    @property
    def moved(self) -> float | None:
        """Change of its median [nat], or None if one of the two is missing."""
        return log(self.after.median / self.before.median) if self.before.median and self.after.median else None

    @property
    def right(self) -> bool:
        """Whether the median at the new price lies in the range at the old one."""
        low, median, high = self.before.low, self.after.median, self.before.high
        return low is not None and high is not None and median is not None and low <= median <= high


@cache_with_data
def experiment_rows(data: Data, assumptions: Assumptions = USUAL) -> list[_Row]:
    """Return the change of every estimate between two prices of one model [nat], the smallest first."""
    found = grouped((one.quantity, one) for one in retests(data.tables.rows_of(NaturalExperiment), data, assumptions))
    rows = [_row(quantity, of_one) for quantity, of_one in found.items() if any(one.moved is not None for one in of_one)]
    return sorted(rows, key=lambda row: float(str(row["rms"])))


def retests(experiments: Iterable[NaturalExperiment], data: Data, assumptions: Assumptions = USUAL) -> list[Retest]:
    """Return every estimate at both prices of every experiment with two readable sheets."""
    found = []
    for experiment in experiments:
        name = f"{experiment.provider}/{experiment.model}"
        days = (experiment.date - timedelta(days=1), experiment.date)
        try:
            before, after = (run_of(name, data=data, as_of=day, assumptions=assumptions)[2][0] for day in days)
        except (BacksolveError, IndexError):
            continue
        old, new = estimates_of(before), estimates_of(after)
        both = [name for name in old if name in new]
        found += [Retest(quantity=name, experiment=experiment, before=old[name], after=new[name]) for name in both]
    return found


def estimates_of(one: Inference) -> Mapping[str, Estimate]:
    """Return every printed estimate of a sheet with a range, by name. Price/cost is named with its size."""
    of_kv = {kv_heading(name): estimate for name, estimate in one.kv_bytes.items()}
    by = {"input_price_cost_ratio": "by known size"} if one.size_stated else {}
    of_size = {f"{name}, {by.get(name, 'by price')}": estimate for name, estimate in one.by_price.items()}
    return {**of_size, **of_kv, **one.estimates}


def _row(quantity: str, retested: list[Retest]) -> _Row:
    """Return an estimator's scatter between prices. `right` counts medians inside the first range, `lost` those without a second range."""
    moved = [(one, by) for one in retested if (by := one.moved) is not None]
    farthest, most = max(moved, key=lambda pair: abs(pair[1]))
    return {
        "estimate": quantity,
        "experiments": len(moved),
        "models": len({one.experiment.model for one, _ in moved}),
        "rms": round_nats(sqrt(sum(by * by for _, by in moved) / len(moved))),
        "most": round_nats(most),
        "of": f"{farthest.experiment.model} {farthest.experiment.date}" if most else "no price that changed",
        "right": sum(one.right for one, _ in moved) if most else None,
        "lost": sum(bool(one.before.median) and not one.after.median for one in retested),
    }


def round_nats(value: float, digits: int = 2) -> float:
    """Round a number, without a sign for 0."""
    return round(value, digits) + 0.0
