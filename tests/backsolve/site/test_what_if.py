"""Readings at other prices: worked out of the trees they are what `infer` says at those prices."""

import pytest

from backsolve.site.what_if import PREMIUM, middle_of_cell, what_if
from derive.trees import value_of
from invert.inference import infer
from invert.result import InferenceTable

ALL = {"input": 2e-6, "output": 12e-6, "cache_read": 2e-7, "cache_storage": 1.25e-9, "input_above": 4e-6, "output_above": 18e-6}
"""The prices of the first sheet [USD/token], and of storage [USD/token/s]."""


def worked_out(data: dict, prices: dict[str, float]) -> dict[str, float]:
    """What the script of the page makes of prices [USD/token], by the words of a reading."""
    found = {}
    rounded = {PREMIUM: middle_of_cell(prices["output_above"] / prices["output"])} if "output_above" in prices else {}
    for reading in data["readings"]:
        values = reading["given"] | {field["name"]: prices[field["name"]] for field in data["fields"]} | rounded
        for leg in reading["legs"]:
            values[leg["makes"]] = value_of(leg["right"], values)
        found[reading["words"]] = values[reading["makes"]]
    return found


def test_at_the_published_prices_it_is_what_is_published(some_sheets: InferenceTable):
    for one in some_sheets:
        data = what_if(one)
        published = {field["name"]: field["price"] for field in data["fields"]}
        assert worked_out(data, published) == pytest.approx(
            {reading["words"]: reading["value"] for reading in data["readings"] if "value" in reading}
        )
        words = {reading["words"] for reading in data["readings"]}
        assert {"bandwidth-bound fraction by output/input", "cache hit price over input price"} <= words and (
            "price/cost" in words or not one.by_price
        )


def test_at_other_prices_it_is_what_infer_says_there(some_sheets: InferenceTable):
    """The size stays what the published price suggests, so it is given."""
    one = some_sheets[0]
    size = one.pairs[0].joint.values["active_params"]
    changed = infer(["gemini-3.1-pro"], changes={"output": "14", "input@200k": "3.5"}, anchors={"active_params": size})[0]
    found = worked_out(what_if(one), ALL | {"output": 14e-6, "input_above": 3.5e-6})
    joint = changed.pairs[0].joint.values
    assert found["KV by both premiums at one price/cost"] == pytest.approx(joint["kv_bytes_per_token"])
    assert found["balance context by both premiums"] == pytest.approx(joint["balance_context"])
    idle = changed.bandwidth_bound.values["bandwidth_bound_fraction"]
    assert found["bandwidth-bound fraction by output/input"] == pytest.approx(idle)


def test_the_size_moves_with_the_input_price_as_infer_has_it(some_sheets: InferenceTable):
    changed = infer(["gemini-3.1-pro"], changes={"input": "4"})[0]
    found = worked_out(what_if(some_sheets[0]), ALL | {"input": 4e-6})
    assert found["active parameters by input price"] == pytest.approx(changed.by_price["active_params"].median)
    assert found["price/cost"] == pytest.approx(changed.by_price["input_price_cost_ratio"].median)


@pytest.mark.parametrize("output", ["10", "13", "15", "16"])
def test_the_premium_is_read_as_rounded(some_sheets: InferenceTable, output: str):
    """The estimate is the median of draws over the rounding cell, and the page has the middle of the cell."""
    changed = infer(["gemini-3.1-pro"], changes={"output": output})[0]
    found = worked_out(what_if(some_sheets[0]), ALL | {"output": float(output) * 1e-6})
    assert found["KV from premium"] == pytest.approx(changed.kv_bytes["from_premium"].median, rel=0.03)


def test_the_tier_follows_the_prices_of_a_cache(some_sheets: InferenceTable):
    storage = next(field for field in what_if(some_sheets[0])["fields"] if field["name"] == "cache_storage")
    changed = infer(["gemini-3.1-pro"], changes={"cache_storage": "9"})[0]
    words = "drain time from storage price and premium, nearest memory"
    before, after = (
        worked_out(what_if(some_sheets[0]), ALL | {"cache_storage": price})[words] for price in (storage["price"], 2 * storage["price"])
    )
    assert before == pytest.approx(some_sheets[0].storage[0].implied_drain_time) and after == pytest.approx(before / 2)
    assert changed.storage[0].implied_drain_time == pytest.approx(after)
    writes = [(field["name"], field["price"]) for field in what_if(some_sheets[1])["fields"]][3:]
    assert writes == [("write_300", pytest.approx(6.25e-6)), ("write_3600", pytest.approx(10e-6))]
