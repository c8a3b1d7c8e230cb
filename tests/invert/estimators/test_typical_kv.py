"""Typical KV against the sums that define it, and against a study of 2026-11-21 by rolling origin."""

from dataclasses import replace
from datetime import date
from math import exp, sqrt

import numpy as np
import pytest
from scipy import stats

from derive.tables.shipped import read
from invert.assumptions import USUAL
from invert.data import Data
from invert.estimators.typical_kv import DAYS, Cache, TypicalKV, judged_since, mean_by_family, typical_kv
from tests.tools.data import shipped_data

KNOWN = typical_kv(shipped_data())
CHOSEN_ON = judged_since()
YEAR_2025_3, YEAR_2025_8 = date(2025, 4, 20), date(2025, 10, 20)


def scored(of, horizon, since, before=date.max):
    typical = replace(KNOWN[of], horizon=horizon)
    judged = typical.judge(typical.caches)
    densities = mean_by_family(typical.caches, judged.log_density, since, before)
    return len(densities), densities.mean(), mean_by_family(typical.caches, held(judged), since, before).mean()


def held(judged):
    return np.where(np.isfinite(judged.nearer), judged.nearer < USUAL.level, np.nan)


@pytest.mark.parametrize(
    ("of", "horizon", "since", "before", "families", "density", "held"),
    [
        ("read", 0.5, YEAR_2025_3, YEAR_2025_8, 7, -1.63, 0.95),
        ("read", 1.0, YEAR_2025_3, YEAR_2025_8, 7, -1.65, 0.95),
        ("read", 0.5, YEAR_2025_8, CHOSEN_ON, 8, -1.56, 0.88),
        ("read", 1.0, YEAR_2025_8, CHOSEN_ON, 8, -1.55, 1.00),
        ("read", 0.5, CHOSEN_ON, date.max, 10, -1.74, 0.87),
        ("read", 1.0, CHOSEN_ON, date.max, 10, -1.84, 0.87),
        ("stored", 0.5, CHOSEN_ON, date.max, 10, -1.51, 0.95),
        ("stored", 1.0, CHOSEN_ON, date.max, 10, -1.52, 0.90),
    ],
)
def test_models_released_later_are_foretold_as_well_as_this(of, horizon, since, before, families, density, held):
    count, found, share = scored(of, horizon, since, before)
    assert (count, found, share) == (families, pytest.approx(density, abs=0.0075), pytest.approx(held, abs=0.0075))


def test_the_horizon_is_chosen_on_earlier_models_alone():
    chosen, text = KNOWN["read"].horizon, read().content("architectures.csv").decode()
    assert chosen == KNOWN["stored"].horizon and chosen in USUAL.typical_kv_horizons
    header, *lines = text.splitlines(keepends=True)
    later = {one.architecture for one in KNOWN["read"].caches if one.released >= CHOSEN_ON}
    tables = read().edited(architectures="".join([header, *(line for line in lines if line.split(",")[0] not in later)]))
    earlier = typical_kv(Data(tables))["read"]
    assert len(earlier.caches) == len(KNOWN["read"].caches) - len(later) and earlier.horizon == chosen
    (_, density, held), (_, stored, _) = (scored(of, chosen, CHOSEN_ON) for of in ("read", "stored"))
    assert density > -1.85 and held >= 0.8 and stored > -1.6


def test_a_model_of_today_has_this_typical_kv():
    of_today = {of: KNOWN[of].at(date(2026, 11, 21))[0].range(0.9) for of in KNOWN}
    assert [round(end / 1e3, 1) for end in of_today["read"]] == pytest.approx([2.8, 20, 140], rel=0.02)
    assert [round(end / 1e3, 1) for end in of_today["stored"]] == pytest.approx([7.9, 44, 244], rel=0.02)


def simulated_market(random: np.random.Generator) -> list[Cache]:
    """Return 30 families, one a month, with one to three models each, about a level that changes slowly, as the shipped caches do."""
    found, level = [], 11.0
    for family in range(30):
        level += random.normal(0, 0.15)
        centre = level + random.normal(0, 1.0)
        for member in range(random.integers(1, 4)):
            day = date.fromordinal(date(2024, 1, 1).toordinal() + 30 * family + member)
            found.append(Cache(architecture=f"{family}.{member}", family=str(family), released=day, ln_kv=centre + random.normal(0, 0.3)))
    return found


@pytest.mark.parametrize(("spread", "votes", "low", "high"), [(1.0, 3.0, 0.87, 0.93), (0.1, 30.0, 0.0, 0.7)])
def test_ranges_cover_what_they_say_where_caches_follow_the_law(spread, votes, low, high):
    """A prior that is sure of a tenth of the spread is too narrow."""
    random, shares = np.random.default_rng(11), []
    for _ in range(60):
        market = TypicalKV(caches=tuple(simulated_market(random)), horizon=0.5, spread=spread, prior_families=votes)
        shares.append(mean_by_family(market.caches, held(market.judge(market.caches)), since=date(2025, 1, 1)).mean())
    assert low < np.mean(shares) < high


RANDOM = np.random.default_rng(9)
SIMULATED = [
    Cache(architecture=str(n), family=f"f{n % 7}", released=date.fromordinal(739_000 + int(day)), ln_kv=float(RANDOM.normal(11, 1)))
    for n, day in enumerate(RANDOM.integers(900, size=25))
]  # fmt: skip
TYPICAL = TypicalKV(caches=tuple(SIMULATED), horizon=0.5, spread=1.0, prior_families=3.0)


def by_hand(target: Cache) -> tuple[float, float, float] | None:
    votes = {}
    for family in {one.family for one in SIMULATED} - {target.family}:
        members = [one for one in SIMULATED if one.family == family and one.released < target.released]
        if members:
            days = [one.released.toordinal() for one in members]
            votes[family] = (np.mean([one.ln_kv for one in members]), (target.released.toordinal() - np.mean(days)) / DAYS)
    if len(votes) < 2:
        return None
    weights = {family: exp(-age / TYPICAL.horizon) for family, (_, age) in votes.items()}
    total = sum(weights.values())
    n = total**2 / sum(weight**2 for weight in weights.values())
    centre = sum(weights[family] * vote for family, (vote, _) in votes.items()) / total
    around = sum(weights[family] * (vote - centre) ** 2 for family, (vote, _) in votes.items()) / total
    return centre, sqrt((n * around + 3) / (n + 2) * (1 + 1 / n)), n + 2


def test_every_prediction_is_what_its_sums_give():
    found, answered = TYPICAL.predict(SIMULATED), 0
    for place, target in enumerate(SIMULATED):
        wanted, got = by_hand(target), (found.centre[place], found.scale[place], found.freedom[place])
        assert np.isnan(got).all() if wanted is None else got == pytest.approx(wanted)
        answered += wanted is not None
    assert answered > 15


def test_densities_and_shares_are_those_of_student():
    found, values = TYPICAL.predict(SIMULATED), np.array([one.ln_kv for one in SIMULATED])
    z, judged = (values - found.centre) / found.scale, found.judge(values)
    there = np.isfinite(z)
    assert judged.log_density[there] == pytest.approx((stats.t.logpdf(z, found.freedom) - np.log(found.scale))[there])
    assert judged.nearer[there] == pytest.approx((2 * stats.t.cdf(np.abs(z), found.freedom) - 1)[there], abs=1e-9)


@pytest.mark.parametrize(("heard", "targets"), [(0, 2), (2, 0), (0, 0)])
def test_without_caches_or_targets_there_is_no_prediction(heard: int, targets: int):
    known = tuple(Cache(architecture=name, family=name, released=date(2025, 1, 1), ln_kv=1.0) for name in "ab")
    found = replace(TYPICAL, caches=known[:heard]).predict(known[:targets])
    for values in (found.centre, found.scale, found.freedom, *found.judge(np.ones(targets))):
        assert values.shape == (targets,) and np.isnan(values).all()
