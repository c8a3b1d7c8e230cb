"""The class of a time against the sums that define it, one target after the other."""

from datetime import date
from math import exp, sqrt

import numpy as np
import pytest
from scipy import stats

from invert.estimators.market.recency import DAYS, Cache, Forgetting, classes

WAY = Forgetting(horizon=0.5, spread=1.0, votes=3.0)
RANDOM = np.random.default_rng(9)
KNOWN = [
    Cache(architecture=str(n), family=f"f{n % 7}", released=date.fromordinal(739_000 + int(day)), ln_kv=float(RANDOM.normal(11, 1)))
    for n, day in enumerate(RANDOM.integers(900, size=25))
]  # fmt: skip


def by_hand(target: Cache) -> tuple[float, float, float] | None:
    votes = {}
    for family in {one.family for one in KNOWN} - {target.family}:
        members = [one for one in KNOWN if one.family == family and one.released < target.released]
        if members:
            days = [one.released.toordinal() for one in members]
            votes[family] = (np.mean([one.ln_kv for one in members]), (target.released.toordinal() - np.mean(days)) / DAYS)
    if len(votes) < 2:
        return None
    weights = {family: exp(-age / WAY.horizon) for family, (_, age) in votes.items()}
    total = sum(weights.values())
    n = total**2 / sum(weight**2 for weight in weights.values())
    centre = sum(weights[family] * vote for family, (vote, _) in votes.items()) / total
    around = sum(weights[family] * (vote - centre) ** 2 for family, (vote, _) in votes.items()) / total
    return centre, sqrt((n * around + 3) / (n + 2) * (1 + 1 / n)), n + 2


def test_every_class_is_what_its_sums_make_of_it():
    found, answered = classes(KNOWN, KNOWN, WAY), 0
    for place, target in enumerate(KNOWN):
        wanted, got = by_hand(target), (found.centre[place], found.scale[place], found.freedom[place])
        assert np.isnan(got).all() if wanted is None else got == pytest.approx(wanted)
        answered += wanted is not None
    assert answered > 15


def test_densities_and_shares_are_those_of_student():
    found, values = classes(KNOWN, KNOWN, WAY), np.array([one.ln_kv for one in KNOWN])
    z, judged = (values - found.centre) / found.scale, found.judge(values)
    there = np.isfinite(z)
    assert judged.log_density[there] == pytest.approx((stats.t.logpdf(z, found.freedom) - np.log(found.scale))[there])
    assert judged.nearer[there] == pytest.approx((2 * stats.t.cdf(np.abs(z), found.freedom) - 1)[there], abs=1e-9)


@pytest.mark.parametrize(("heard", "targets"), [(0, 2), (2, 0), (0, 0)])
def test_of_nothing_there_is_no_class(heard: int, targets: int):
    known = [Cache(architecture=name, family=name, released=date(2025, 1, 1), ln_kv=1.0) for name in "ab"]
    found = classes(known[:heard], known[:targets], Forgetting(horizon=1.0, spread=1.0, votes=3.0))
    for values in (found.centre, found.scale, found.freedom, *found.judge(np.ones(targets))):
        assert values.shape == (targets,) and np.isnan(values).all()
