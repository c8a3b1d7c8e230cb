"""The class of KV bytes of a time, held against a study of 2026-11-21 by rolling origin."""

from datetime import date

import numpy as np
import pytest

from derive.tables.shipped import read
from invert.assumptions import USUAL
from invert.data import Data
from invert.estimators.market import kv_class
from invert.estimators.market.kv_class import by_family, judged_since
from invert.estimators.market.recency import Cache, Forgetting, judge_classes
from tests.tools.data import shipped_data

KNOWN = kv_class.known_caches(shipped_data())
CHOSEN_ON = judged_since()
PRIOR = {"spread": 1.0, "votes": 3.0}
YEAR_2025_3, YEAR_2025_8 = date(2025, 4, 20), date(2025, 10, 20)


def scored(of, horizon, since, before=date.max):
    densities, held = by_family(KNOWN[of], judge_classes(KNOWN[of], KNOWN[of], Forgetting(horizon=horizon, **PRIOR)), since, before)
    return len(densities), densities.mean(), held.mean()


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
    way, text = kv_class.forgetting(shipped_data()), read().content("architectures.csv").decode()
    assert way.horizon in USUAL.class_horizons
    header, *lines = text.splitlines(keepends=True)
    later = {one.architecture for one in KNOWN["read"] if one.released >= CHOSEN_ON}
    earlier = Data(read().edited(architectures="".join([header, *(line for line in lines if line.split(",")[0] not in later)])))
    assert len(kv_class.known_caches(earlier)["read"]) == len(KNOWN["read"]) - len(later) and kv_class.forgetting(earlier) == way
    (_, density, held), (_, stored, _) = (scored(of, way.horizon, CHOSEN_ON) for of in ("read", "stored"))
    assert density > -1.85 and held >= 0.8 and stored > -1.6


def test_a_model_of_today_has_this_typical_kv():
    of_today = {of: kv_class.class_at(shipped_data(), of, date(2026, 11, 21), "").range(0.9) for of in KNOWN}
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
    random, shares, way = np.random.default_rng(11), [], Forgetting(horizon=0.5, spread=spread, votes=votes)
    for _ in range(60):
        market = simulated_market(random)
        shares.append(by_family(market, judge_classes(market, market, way), since=date(2025, 1, 1), level=0.9)[1].mean())
    assert low < np.mean(shares) < high
