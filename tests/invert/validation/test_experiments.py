"""One model at two prices: what rests on no price does not move, and what is read off prices moves by what the estimates say."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import log

import pytest

from derive.tables.shipped import rows_of
from invert.data import read_data
from invert.inference import infer
from invert.records import Estimate
from invert.sheets.assemble import sheets
from invert.sheets.places import Place
from invert.sheets.read import load
from invert.sheets.tables import NaturalExperiment
from invert.validation.experiments import Retest, experiment_rows, retests


@cache
def rows() -> dict[str, dict[str, object]]:
    return {str(row["estimate"]): row for row in experiment_rows(read_data())}


@pytest.mark.slow
def test_both_sheets_of_every_experiment_can_be_read():
    assert rows()["bandwidth_bound_fraction"]["experiments"] == len(rows_of(NaturalExperiment)) >= 17


@pytest.mark.slow
def test_what_rests_on_no_price_does_not_move_and_what_does_moves():
    assert rows()["typical KV"]["rms"] == 0.0 and str(rows()["typical KV"]["most"]) == "0.0"
    assert rows()["typical KV"]["held"] is None and rows()["typical KV"]["of"] == "no price that changed"
    assert rows()["memory_time_share"]["held"] == 17
    assert all(float(str(rows()[name]["rms"])) > 0.3 for name in ("active_params, by price", "KV from all prices"))


def test_a_move_is_that_of_the_two_sheets():
    """gpt-5.6-luna at a fifth of its price: input at rent falls by ln 5 where the size by price does not take part."""
    day = date(2026, 7, 30)
    before, after = (infer("gpt-5.6-luna", as_of=of)[0].estimates["active_params_times_markup"] for of in (day - timedelta(days=1), day))
    (row,) = [row for row in rows_of(NaturalExperiment) if (row.model, row.date) == ("gpt-5.6-luna", day)]
    (found,) = [one for one in retests([row], read_data()) if one.quantity == "active_params_times_markup"]
    assert found.moved == pytest.approx(log(after.median / before.median)) == pytest.approx(-log(5), abs=0.1)


def test_held_and_moved_are_of_medians_and_of_the_first_range():
    (row, *_) = rows_of(NaturalExperiment)
    wide, narrow = Estimate(kind="interval", median=2.0, low=1.0, high=4.0), Estimate(kind="interval", median=5.0, low=4.0, high=6.0)
    assert (
        Retest(quantity="q", experiment=row, before=wide, after=narrow).moved == pytest.approx(log(2.5))
        and not Retest(quantity="q", experiment=row, before=wide, after=narrow).held
    )
    assert Retest(quantity="q", experiment=row, before=wide, after=replace(narrow, median=3.9)).held
    bound = Estimate(kind="upper", high=2.0)
    assert (
        Retest(quantity="q", experiment=row, before=wide, after=bound).moved is None
        and not Retest(quantity="q", experiment=row, before=bound, after=wide).held
    )


# -- what the table says of each change -----------------------------------------------------------------------------------

Amounts = Mapping[Place, float]
SHARES = {"a tenth": 0.1, "a fifth": 0.2, "a quarter": 0.25, "half": 0.5}
INPUT, OUTPUT, READ = (("input", 0, None), ("output", 0, None), ("cache_read", 0, None))
NEAR = 0.04
"""What a share in words leaves open: a list price is rounded to cents."""


def times(old: Amounts, new: Amounts, *factors: float) -> bool:
    """Whether input and output of the first band changed by these factors, by one where one is given."""
    return all(
        new[at] / old[at] == pytest.approx(by, rel=NEAR) for at, by in zip((INPUT, OUTPUT), factors * (3 - len(factors)), strict=False)
    )


def premium_ends(old: Amounts, new: Amounts, thousands: str) -> bool:
    return {at for _, at, _ in old} == {0, 1000 * int(thousands)} and {at for _, at, _ in new} == {0}


SAID: dict[str, Callable[..., bool]] = {
    r"the premium above (\d+)k tokens ends": lambda old, new, at: premium_ends(old, new, at) and times(old, new, 1),
    r"cache reads (a \w+) of those at launch": lambda old, new, share: times(old, new, 1)
    and new[READ] / old[READ] == pytest.approx(SHARES[share]),
    r"cache reads at (a \w+) of input, (a \w+) before": lambda old, new, share, before: new[READ] / new[INPUT]
    == pytest.approx(SHARES[share])
    and old[READ] / old[INPUT] == pytest.approx(SHARES[before], rel=NEAR),
    r"new list with peak and off-peak hours": lambda old, new: not times(old, new, 1),
    r"a promotion of (\d+) percent, later made permanent": lambda old, new, off: times(old, new, 1 - int(off) / 100),
    r"the promotion at launch ends": lambda old, new: new[INPUT] > old[INPUT] and new[OUTPUT] > old[OUTPUT],
    r"(half) of the list price": lambda old, new, share: times(old, new, SHARES[share]),
    r"(a \w+) of the price at launch": lambda old, new, share: times(old, new, SHARES[share]),
    r"(a \w+) off": lambda old, new, share: times(old, new, 1 - SHARES[share]),
    r"output ([\d.]+) to ([\d.]+) USD": lambda old, new, *said: old[INPUT] == new[INPUT]
    and [old[OUTPUT], new[OUTPUT]] == [float(one) for one in said],
    r"input ([\d.]+) to ([\d.]+) USD, output ([\d.]+) to ([\d.]+) USD": lambda old, new, *said: [
        old[INPUT], new[INPUT], old[OUTPUT], new[OUTPUT],
    ] == [float(one) for one in said],
    r"less than (half), and no premium above (\d+)k tokens": lambda old, new, share, at: premium_ends(old, new, at)
    and all(new[one] < SHARES[share] * old[one] for one in (INPUT, OUTPUT)),
}  # fmt: skip


@cache
def amounts(provider: str, model: str, day: date) -> Amounts:
    (sheet,) = [one for one in sheets(load(), day)[0] if (one.provider, one.model) == (provider, model)]
    return {place: price.amount for place, price in sheet.prices.items()}


def holds(row: NaturalExperiment) -> bool:
    """Whether the prices before and on the day are what the row says of them, by the one form of words that it has."""
    old, new = (amounts(row.provider, row.model, day) for day in (row.date - timedelta(days=1), row.date))
    ((found, rule),) = [(form, rule) for words, rule in SAID.items() if (form := re.fullmatch(words, row.change))]
    return rule(old, new, *found.groups())


def test_what_is_said_of_a_change_is_what_the_prices_are():
    assert [(row.model, row.change) for row in rows_of(NaturalExperiment) if not holds(row)] == []
    assert all(any(re.fullmatch(words, row.change) for row in rows_of(NaturalExperiment)) for words in SAID)
