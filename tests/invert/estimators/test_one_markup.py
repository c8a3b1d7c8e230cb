"""What the posterior of one mark-up says beside KV bytes, and the facts that it rests on."""

import pytest

from derive.errors import WrongData
from invert.assumptions import USUAL
from invert.estimators.cases import case_of
from invert.estimators.one_markup import anchors_of_posterior, posterior_of
from invert.inference import infer
from tests.tools.data import shipped_data
from tests.tools.inferred import everything


def test_the_batch_is_bounded_from_below_alone():
    for found in infer(provider=["google", "alibaba"]).inferences:
        assert found.estimates["batch_multiple"].kind == "lower" and found.estimates["batch_multiple"].low > 0
        at_most = found.summary.marginals["weight_compute_ratio"].at_most
        assert found.estimates["batch_multiple"].low == pytest.approx(1 / at_most, rel=1e-12)


def test_a_sheet_rests_on_the_facts_of_what_it_sells():
    """Storage takes a sweep and its price, a long band a mean context of its own."""
    for found in everything():
        names, sold = {*anchors_of_posterior(found.price_data)}, found.price_data.cells
        assert ("long_context" in names) == ("premium_out" in sold) == bool(found.pairs)
        assert ("sweep_time" in names) == ("holding_cost_ratio" in names) == ("storage_ratio" in sold)
        assert {"active_params", "overlap", "short_context", "kv_bytes_per_token"} <= names


def test_where_no_posterior_was_drawn_there_is_none():
    found = infer("gemini-3.1-pro")[0]
    with pytest.raises(WrongData, match=r"google/gemini-3\.1-pro-preview: no posterior was drawn"):
        posterior_of(case_of(found.sheet, found.model, shipped_data(), USUAL))
