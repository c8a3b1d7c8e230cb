"""Outside facts: each moves every reading and estimate that says it rests on it, and no other; given KV bytes are the headline."""

from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from derive.errors import UnknownName, WrongData
from derive.tables import shipped
from invert import infer
from invert.assumptions import FACTS, USUAL
from invert.estimators.cases import rental
from invert.report.columns import name_of
from invert.report.sheet import anchors_by_label
from invert.result import Inference
from tests.tools.data import shipped_data
from tests.tools.tables import reading
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("tiered_sonnet")


SHEETS = ("gemini-3.1-pro", "qwen3-coder-plus", "claude-sonnet-4-5", "claude-opus-5", "kimi-k3")
"""Two bands and storage, four bands, two bands and two lifetimes, one band and lifetimes, and one whose lifetimes make no tariff."""
OTHER = {  # a value of each that is neither the default nor what is assumed
    "active_params": "60B", "machine_balance_ratio": 150, "bytes_per_weight": 2, "prompt_position": 0.8,
    "prefill_decode_flops_ratio": 1.4, "overlap": 0.3, "sweep_time": "40ms", "holding_cost_ratio": 3, "short_context": "9k",
    "long_context": "70k", "kv_bytes_per_token": "40kB",
}  # fmt: skip
STARTS = {"nothing given": {}, "KV given": {"kv_bytes_per_token": "70kB"}, "contexts given": {"short_context": "5k", "long_context": "90k"}}
LONGER = ("gemini-3.1-pro", "claude-sonnet-4-5")
"""Those whose threshold lies at 200k."""


@cache
def read(**anchors: float | str) -> dict[str, Inference]:
    """Every sheet by its model; 70k as the mean of its long band is 470k where the threshold lies at 200k."""
    found = {one.sheet.model: one for one in infer(SHEETS, anchors=anchors).inferences}
    if "long_context" in anchors:
        anchors["long_context"] = f"4{anchors['long_context']}"
        found |= {one.sheet.model: one for one in infer(LONGER, anchors=anchors).inferences}
    return found


def numbers(one: Inference) -> dict[str, tuple[object, ...]]:
    """What is printed of every reading and estimate that says what it rests on."""
    first = one.pairs[0] if one.pairs else None
    readings = {"KV from threshold": first.lecture, "KV joint": first.joint} if first else {}
    found = {name: (reading.values.get("kv_bytes_per_token"),) for name, reading in readings.items()}
    estimates = {name_of(*name): estimate for name, estimate in one.named_estimates.items()}
    assert len(estimates) == len(one.named_estimates)
    found |= {name: (e.kind, e.median, e.low, e.high, e.contraction) for name, e in estimates.items()}
    by_price = one.storage[0].by_price if one.storage else None
    return found | ({"tier by price": tuple(by_price.probabilities.values()) if by_price else ()} if one.storage else {})


def same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(a == pytest.approx(b, rel=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
               for a, b in zip(one, other, strict=True))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("start", "anchor"), some(product(STARTS, FACTS), every=2))
def test_an_anchor_moves_what_rests_on_it_and_nothing_else(start: str, anchor: str):
    before, after = read(**STARTS[start]), read(**{**STARTS[start], anchor: OTHER[anchor]})
    assert before.keys() == after.keys() and len(before) == len(SHEETS)
    for model, one in before.items():
        usual, moved, resting = numbers(one), numbers(after[model]), anchors_by_label(one)
        assert usual.keys() == moved.keys() == resting.keys()
        found = {name for name in usual if not same(usual[name], moved[name])}
        assert found == {name for name, anchors in resting.items() if anchor in anchors}, (model, anchor)


def test_every_anchor_is_tried_and_moves_something():
    assert tuple(OTHER) == FACTS
    for anchor in FACTS:
        assert any(anchor in names for one in read().values() for names in anchors_by_label(one).values()), anchor


# -- KV bytes that are given ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@in_one_test(("name", "given"), some(product(SHEETS, ("70kB", "254 kB/token", 1.5)), every=4))
def test_given_kv_bytes_are_the_typical_kv_and_are_not_estimated(name: str, given: str | float):
    table = infer([name], anchors={"kv_bytes_per_token": given})
    (one,), (usual,) = table.inferences, infer([name]).inferences
    value = table.given["kv_bytes_per_token"]
    for key in ("typical", "from_all_prices"):
        found = one.kv_bytes[key]
        assert (found.kind, found.median, found.low, found.high) == ("given", value, value, value)
        assert found.anchors == ("kv_bytes_per_token",) and found.contraction is None and not found.prior_dominated
    # What rental cost pays for does not rest on it: it stays a reading of the price.
    assert one.kv_bytes["from_premium_at_cost"] == usual.kv_bytes["from_premium_at_cost"]
    assert "KV given" in one.flags and "KV PRIOR-DOMINATED" not in one.flags


def test_the_rent_is_the_disclosed_one_and_says_so():
    anchors = rental(shipped_data())
    assert anchors.values["chip_price"] == pytest.approx(2 / 3600) and anchors.origin["chip_price"].startswith("disclosures.csv deepseek")
    assert anchors.values["price_per_hbm_byte"] == pytest.approx(2 / 3600 / 3.35e12)
    assert anchors.values["price_per_flop"] == pytest.approx(2 / 3600 / 989e12)
    assert set(anchors.values) == set(anchors.origin)


def test_a_rent_that_nobody_disclosed_is_a_fault_of_the_table():
    lines = [line for line in shipped.read().content("disclosures.csv").decode().splitlines() if ",chip_price," not in line]
    without = shipped.read().edited(disclosures="\n".join(lines))
    with reading(without), pytest.raises(WrongData, match=r"disclosures\.csv: no chip_price"):
        rental(shipped_data())
    with pytest.raises(UnknownName, match="accelerator"):
        rental(shipped_data(), replace(USUAL, rent_chip="H1000:bf16"))
