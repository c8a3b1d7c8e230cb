"""Readings at other prices: worked out of the trees they are what `infer` says at those prices."""

import pytest

from backsolve.site.what_if import USD_PER_MTOK, what_if
from derive.trees import value_of
from invert.inference import infer
from invert.table import InferenceTable


def worked_out(data: dict, prices: dict[str, float]) -> dict[str, float]:
    """What the script of the page makes of prices [USD/MTok], by the words of a reading."""
    found = {}
    for reading in data["readings"]:
        values = reading["given"] | {field["name"]: prices[field["name"]] * USD_PER_MTOK for field in data["fields"]}
        for leg in reading["legs"]:
            values[leg["makes"]] = value_of(leg["right"], values)
        found[reading["words"]] = values[reading["makes"]]
    return found


def test_at_the_published_prices_it_is_what_is_published(some_sheets: InferenceTable):
    for one in some_sheets:
        data = what_if(one)
        published = {field["name"]: field["value"] for field in data["fields"]}
        assert worked_out(data, published) == pytest.approx({reading["words"]: reading["value"] for reading in data["readings"]})
        assert len(data["readings"]) == (4 if one.pairs else 1)


def test_at_other_prices_it_is_what_infer_says_there(some_sheets: InferenceTable):
    """The size stays what the published price suggests, so it is given."""
    one = some_sheets[0]
    size = one.pairs[0].joint.values["active_params"]
    changed = infer(["gemini-3.1-pro"], changes={"output": "14", "input@200k": "3.5"}, anchors={"active_params": size})[0]
    found = worked_out(what_if(one), {"input": 2.0, "output": 14.0, "input_above": 3.5, "output_above": 18.0})
    joint = changed.pairs[0].joint.values
    assert found["KV bytes per token, by both premiums at one mark-up"] == pytest.approx(joint["kv_bytes_per_token"])
    assert found["balance context, likewise"] == pytest.approx(joint["balance_context"])
    idle = changed.bandwidth_bound.values["bandwidth_bound_fraction"]
    assert found["bandwidth-bound fraction, as the lecture reads it"] == pytest.approx(idle)


def test_prices_are_as_they_are_asked(some_sheets: InferenceTable):
    assert [field["value"] for field in what_if(some_sheets[1])["fields"]] == [5.0, 25.0]
