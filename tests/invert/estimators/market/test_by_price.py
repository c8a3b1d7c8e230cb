"""Which fit reads a sheet, and what is said where its price tells no size."""

from dataclasses import replace

import pytest

from invert import infer
from invert.assumptions import USUAL
from invert.estimators.market.by_price import record_of_size, size_at_price, size_by_price
from tests.tools.data import shipped_data


def case(name):
    (one,) = infer([name]).inferences
    return one


def told(found):
    """The sizes of a price, and their records."""
    return [
        by(found, params, shipped_data(), USUAL) for by in (size_at_price, record_of_size) for params in ("active_params", "total_params")
    ]


def test_a_vendor_nobody_knows_is_taken_for_a_closed_one():
    sheet = case("gpt-6-sol").sheet
    known, unknown = (size_by_price(sheet, model, shipped_data(), USUAL).value for model in (case("gpt-6-sol").model, None))
    assert told(unknown) == told(known) and known.closed and unknown.closed
    assert unknown.because.startswith(f"{known.because}. ") and "counts as closed" in unknown.because


def test_the_weights_of_an_open_model_are_nobody_elses_mark_up():
    """MiMo-V2.5-Pro is open: its price is read as a list price, without an extra price/cost and without its own family."""
    one = case("mimo-v2.5-pro")
    found = size_by_price(one.sheet, one.model, shipped_data(), USUAL).value
    closed = size_by_price(one.sheet, None, shipped_data(), USUAL).value
    assert not found.closed and closed.closed and told(found)[0].median < told(closed)[0].median


@pytest.mark.parametrize(("amount", "beyond"), [(0.05, True), (0.1, False), (3.0, False), (4.0, True)])
def test_prices_that_few_open_models_have_are_said_to_be_extrapolated(amount, beyond):
    sheet = case("gpt-6-sol").sheet
    base = sheet.bands[0]
    changed = replace(sheet, bands=(replace(base, input=replace(base.input, amount=amount, usd_per_token=amount / 1e6)), *sheet.bands[1:]))
    found = size_by_price(changed, None, shipped_data(), USUAL).value
    assert (found.extrapolated, "Extrapolated" in found.because) == (beyond, beyond)


def test_a_price_for_haste_or_of_one_host_tells_no_size():
    sheet = case("gpt-6-sol").sheet
    hasty = size_by_price(replace(sheet, service_tier="priority"), None, shipped_data(), USUAL)
    assert hasty.value is None and "priority price" in hasty.left_out
    hosted = case("volcengine/glm-5.2")
    alone = size_by_price(hosted.sheet, hosted.model, shipped_data(), USUAL)
    assert alone.value is None and "one host" in alone.left_out


def test_the_input_price_is_heard_once():
    """Of a model whose size it tells it enters no likelihood; of one whose size is stated it does."""
    closed, stated = case("gpt-6-sol"), case("qwen3-coder-plus")
    assert closed.anchors.origin["active_params"] == "market" and not closed.price_data.level_tells
    assert stated.anchors.origin["active_params"].startswith("models.csv") and stated.price_data.level_tells
    given = infer(["gpt-6-sol"], anchors={"active_params": "50B"}).inferences[0]
    assert given.anchors.values["active_params"] == 5e10 and given.price_data.level_tells
