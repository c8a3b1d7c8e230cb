"""What the posterior of one mark-up says beside KV bytes, and the facts that it rests on."""

import pytest

from invert.estimators.one_markup import anchors_of_posterior
from invert.inference import infer
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
