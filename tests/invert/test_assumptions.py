"""The assumptions: each says what it is, all of them stand in the record, are passed down, move something, and are listed."""

import io
import json
import pickle
import runpy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.tables.shipped import Tables
from invert.assumptions import FACTS, HELD_FIXED, NOTES, UNLESS_GIVEN, USUAL, Assumptions, Prior, normal_log_density
from invert.compare import infer_against
from invert.databases.pull import same
from invert.estimators.cases import assumptions_of, common_anchors, given_anchors
from invert.inference import infer
from invert.report.changes import CHANGES
from invert.report.contract import CODEC, saved, sheet_records
from invert.report.layout import laid_out
from invert.report.sheet import full_parts
from invert.report.table import glance
from invert.sheets.doubts import doubtful_prices
from invert.sheets.read import load
from invert.sheets.rows import FxRate
from invert.validation.scoreboard import recorded_calibration, storage_rules
from invert.validation.simulation import _SHAPES, simulate
from invert.validation.soundness import released_late
from tests.tools.data import shipped_data
from tests.tools.tables import with_cells
from tests.tools.together import in_one_test, some

DOCS = Path(__file__).parents[2] / "docs"


# -- the record -----------------------------------------------------------------------------------------------------------


@in_one_test("name", NOTES)
def test_every_field_says_what_it_is(name: str):
    note, value = NOTES[name], getattr(USUAL, name)
    assert len(note.why) > 15 and note.source and (note.unit or isinstance(value, str))
    for other in filter(None, (note.prior, note.within)):
        assert other in NOTES
    if note.anchor:
        assert note.unit == QUANTITIES[name].unit and note.varied.startswith("--anchor")


def test_what_is_given_holds_its_prior_fixed_and_is_known_as_given():
    for name in FACTS:
        run = assumptions_of({name: 0.75})
        assert run.facts[name] == 0.75 and common_anchors(run).origin[name] == "given" and run.given == (name,)
        if name in HELD_FIXED:
            assert run.priors[name].spread == 0 and run.priors[name].at(np.array([3.0])) == 0.75
        assert (name in run.without_facts(UNLESS_GIVEN).given) == (name not in UNLESS_GIVEN)
        assert run.without_facts((name,)) == USUAL
    assert assumptions_of({}) == USUAL and hash(assumptions_of({"overlap": 0.5})) != hash(USUAL)


def test_the_ridge_point_is_that_of_the_facts_and_the_sweep_is_sustained():
    run = assumptions_of({"machine_balance_ratio": 150.0, "bytes_per_weight": 2.0})
    assert run.ridge_point == run.priors["ridge_point"].centre == 150.0
    slower = replace(USUAL, sustained_mbu=USUAL.sustained_mbu / 2)
    assert slower.facts["sweep_time"] == pytest.approx(2 * USUAL.facts["sweep_time"])
    assert slower.priors["sweep_time"].centre == pytest.approx(2 * USUAL.priors["sweep_time"].centre)
    assert assumptions_of({"sweep_time": 0.04}, slower).facts["sweep_time"] == 0.04


def test_facts_are_read_on_the_assumptions_of_the_run():
    with pytest.raises(WrongValue, match="it is held at 3 tokens"):
        given_anchors({"tokens_per_step": 2}, replace(USUAL, tokens_per_step=3.0))


def test_the_record_travels_to_other_processes_and_into_what_is_saved():
    run = assumptions_of({"overlap": 0.5})
    assert run.priors and pickle.loads(pickle.dumps(run)) == run
    table = infer(["kimi-k3"], anchors={"overlap": 0.5})
    echoed = json.loads(saved(table))["run"]["assumptions"]
    assert echoed == json.loads(json.dumps(CODEC.encode(run))) and set(echoed) == {"given", *NOTES}


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(DOCS)  # where the script finds its helper when it is run
    return runpy.run_path(str(DOCS / "generate_assumptions.py"))


def test_the_reference_lists_every_field_as_it_is(generator: dict[str, Any]):
    page = generator["PAGE"].read_text(encoding="utf-8")
    assert page == generator["page"](), "run python docs/generate_assumptions.py"
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted(NOTES) and generator["PAGE"] == DOCS / "reference" / "assumptions.md"


# -- each of them moves something -----------------------------------------------------------------------------------------

OWN = "provider,model,component,amount,threshold_tokens\n" + "".join(
    f"acme,{model},{component},{amount},{threshold}\n"
    for model, component, amount, threshold in (
        ("one", "input", 1, ""), ("one", "output", 4, ""),
        ("two", "input", 1, ""), ("two", "output", 4, ""), ("two", "input", 2, 32000), ("two", "output", 8, 32000),
    )
)  # fmt: skip
ONLY_BATCH = """provider,model,service_tier,component,amount,threshold_tokens
acme,three,batch,input,1,
acme,three,batch,output,4,
acme,three,batch,input,2,32000
acme,three,batch,output,8,32000
"""
SHEETS = ("gemini-3.1-pro", "claude-opus-5", "qwen3-coder-plus", "volcengine/deepseek-v4-flash", "acme/one", "acme/two")
"""Storage, lifetimes, a known model of four bands, one that sells storage, sizes known and by price, and sheets of one's own
whose models nobody describes."""
DOUBTFUL = "provider,model,component,amount,retrieved_date\n" + "".join(
    f"{provider},{model},{component},{amount},{day}\n"
    for provider, model, amount, day in (
        ("acme", "one", 2, "2026-11-20"), ("acme", "two", 2, "2026-11-20"), ("acme", "far", 24, "2026-11-20"),
        ("acme", "old", 2, "2022-11-20"), ("pair", "one", 2, "2026-11-20"), ("pair", "far", 50, "2026-11-20"),
    )
    for component in ("input", "output")
) + "acme,one,cache_read,0.00125,2026-11-20\n"  # fmt: skip
"""Prices near to what is asked about, on either side."""
OTHERWISE = {
    "least_neighbours": 2.0,
    "dominant_price": 1.01,
    "rounding_of_change": 1e-3,
    "feasible_share": 0.9,
    "prior_dominated_below": 0.9,
    "rent_chip": "H200-SXM:bf16",
    "nice_numbers": (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0),
    "lifetime_not_stated": 300.0,
    "active_params": 3e10,
    "short_context": 9e3,
    "long_context": 2.2e5,
    "max_context": 4e6,
    "sweep_time": 0.06,
    "kv_bytes_per_token": 4e4,
    "overlap": 0.4,
    "level": 0.8,
    "range_level": 0.8,
    "lecture_batch_multiple": 1.0,
    "typical_kv_horizons": (4.0,),
    "horizon_chosen_before": "2025-06-15",
    "size_prices": (0.1, 1.0),
    "sparse_ratio": 20.0,
    "least_families": 50,
    "least_to_learn": 50,
    "least_freedom": 50,
    "least_gain_in_errors": 5.0,
    "days_sold_before_release": 90.0,
    "same_price_within": 0.03,
    "same_converted_within": 0.3,
    "price_years": (2025,),
}
BESIDE = {"given_kv_spread": {"kv_bytes_per_token": 4e4}}
"""Where half as much again is no other value, or too little to be seen; and what must be given for a spread to be asked for."""


def other(name: str) -> Assumptions:
    """The usual assumptions with one of them another."""
    value = getattr(USUAL, name)
    if name in FACTS:
        return assumptions_of({name: OTHERWISE.get(name, value and 1.5 * value)})
    if isinstance(value, Prior):
        return replace(USUAL, **{name: replace(value, centre=1.5 * value.centre + 0.1 * bool(value.ends), spread=value.spread)})
    return replace(USUAL, **{name: OTHERWISE[name] if name in OTHERWISE else 1.5 * value})


def narrower(name: str) -> Assumptions:
    return replace(USUAL, **{name: replace(getattr(USUAL, name), spread=0.7 * getattr(USUAL, name).spread)})


def told(assumptions: Assumptions) -> Iterator[str]:
    """What a run says of some sheets, how rules score, which estimates are trusted, and which sheets are simulated: the dearest last."""
    table = infer(SHEETS, prices=io.StringIO(OWN), assumptions=assumptions)
    yield json.dumps([{**record, "anchors": None} for record in sheet_records(table)])
    yield str(storage_rules(shipped_data(), assumptions))
    yield str([row["verdict"] for row in recorded_calibration(shipped_data(), assumptions)])
    yield str(simulate(_SHAPES[0], 3, 1, assumptions)[0]["active_params"])
    yield laid_out(full_parts(table.inferences[0], table), 100)
    # A model without a list price has no size by price. Its size is assumed.
    in_batches = infer("acme/three", prices=io.StringIO(ONLY_BATCH), tier="batch", assumptions=assumptions)
    yield json.dumps([{**record, "anchors": None} for record in sheet_records(in_batches)])
    yield glance(table)
    yield str(doubtful_prices(load(io.StringIO(DOUBTFUL)), assumptions))
    yield str(released_late(load(), released_anew(), assumptions))
    yield str(asking_the_same(assumptions))
    _, moved = infer_against("", ["gemini-3.1-pro"], changes={"output": "+50%", "input": "+10%"}, assumptions=assumptions)
    yield CHANGES.text(moved)


def released_anew() -> Tables:
    """The tables that ship, but for one model that is released five weeks after a price of it began."""
    content = shipped_data().tables.content("models.csv").decode()
    late = {"release_date": "2026-11-19"}
    return shipped_data().tables.edited(models=with_cells(content, lambda row: row | late if row["model"] == "kimi-k3" else row))


def asking_the_same(assumptions: Assumptions) -> list[bool]:
    """Whether a price one per cent off, and one that was converted at a rate one sixth off, are that price."""
    asked = load(io.StringIO(OWN)).own[0]
    others = replace(asked, amount=1.01 * asked.amount), replace(asked, amount=1.2 * 7 * asked.amount, currency="CNY")
    rates = {"CNY": (FxRate(currency="CNY", date=date(2026, 1, 1), units_per_usd=7.0),)}
    return [same(asked, other, rates, date(2026, 11, 20), assumptions) for other in others]


@cache
def usually(*given: tuple[str, float]) -> tuple[str, ...]:
    return tuple(told(assumptions_of(dict(given))))


def says_something_else(assumptions: Assumptions, given: Mapping[str, float]) -> bool:
    return any(one != usual for one, usual in zip(told(assumptions_of(given, assumptions)), usually(*given.items()), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", some(NOTES, every=2))
def test_every_assumption_moves_what_is_said(name: str):
    given = BESIDE.get(name, {})
    assert says_something_else(other(name), given)
    if isinstance(getattr(USUAL, name), Prior):
        assert says_something_else(narrower(name), given)


LOG, SHARE = Prior(centre=300.0, spread=0.4), Prior(centre=-1.5, spread=0.8, ends=(0.2, 1.0))
NORMALS = st.floats(-6, 6)


@given(NORMALS, NORMALS)
def test_a_greater_draw_is_a_greater_value_within_the_ends(one: float, other: float):
    low, high = sorted((one, other))
    for prior in (LOG, SHARE):
        assert prior.at(low) <= prior.at(high) and (high - low < 1e-6 or prior.at(low) < prior.at(high))
    assert LOG.at(low) > 0 and 0.2 < SHARE.at(low) <= SHARE.at(high) < 1.0


def test_the_scale_is_that_of_logs_or_of_logits_between_the_ends():
    draws = np.array([-2.0, 0.0, 1.0])
    assert LOG.at(draws) == pytest.approx(300 * np.exp(0.4 * draws), rel=1e-14)
    assert SHARE.at(draws) == pytest.approx(0.2 + 0.8 * expit(-1.5 + 0.8 * draws), rel=1e-14)


@pytest.mark.parametrize("prior", [LOG, SHARE], ids=["logs", "logits"])
def test_a_number_gives_a_number_and_an_array_its_shape(prior: Prior):
    assert type(prior.at(0.5)) is float
    table = prior.at(np.zeros((2, 3)))
    assert table.shape == (2, 3) and table[1, 2] == prior.at(0.0)


def test_the_normal_of_a_prior_is_that_of_its_logs():
    mean, spread = LOG.normal
    assert exp(mean) == pytest.approx(300, rel=1e-14) and spread == 0.4
    assert log(LOG.at(1.0)) == pytest.approx(mean + spread, rel=1e-14)


@given(st.floats(-20, 20), st.floats(-5, 5), st.floats(0.01, 10))
def test_the_density_is_that_of_scipy(value: float, mean: float, spread: float):
    assert normal_log_density(value, mean, spread) == pytest.approx(norm(mean, spread).logpdf(value), rel=1e-12, abs=1e-12)
