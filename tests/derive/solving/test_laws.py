"""Laws that no chain may break, at random deployments; and that they see a wrong answer."""

from collections.abc import Sequence

import pytest

from campaigns import laws
from campaigns.laws import LAWS, Deployment, Law

SERVING = Deployment(
    tuple(
        {
            **{"active_params": 20e9, "total_params": 160e9, "experts": 128.0, "active_experts": 8.0, "bytes_per_weight": 1.0},
            **{"kv_bytes_per_token": 5e4, "context_length": 4000.0, "attention_flops_per_pair": 1e6, "batch": 3000.0},
            **{"chips": 8.0, "pipeline_stages": 2.0, "peak_flops": 1e15, "hbm_bandwidth": 4e12, "hbm_capacity": 1e11},
            **{"chip_price": 1e-3, "acceptance_rate": 0.7, "draft_tokens": 3.0, "draft_cost_ratio": 0.05, "mfu": 0.9, "mbu": 0.8},
        }.items()
    )
)
"""Drafts, experts, attention and stages, all at once, in memory that just holds them."""


@pytest.mark.slow
def test_no_law_is_broken_by_drafts_experts_attention_and_stages_at_once():
    assert not _broken(SERVING)


@pytest.mark.slow
def test_a_claim_beyond_a_roof_that_is_answered_is_seen(monkeypatch):
    right = laws.ask
    monkeypatch.setattr(laws, "ask", lambda one, unknown: right(one.without("token_latency"), unknown))
    assert _broken(SERVING, [laws.claimed]) == {"claimed"}


@pytest.mark.slow
def test_more_sequences_than_fit_are_seen(monkeypatch):
    alone = SERVING.at(pipeline_stages=1.0, chips=16.0)
    assert not _broken(alone)
    right = laws.most
    monkeypatch.setattr(laws, "most", lambda one, unknown: 1.1 * right(one, unknown))
    assert _broken(alone) == {"edge"}
    monkeypatch.setattr(laws, "cache_held", lambda one: 1e12)
    assert "capacity" in _broken(alone)


def _broken(one: Deployment, among: Sequence[Law] = LAWS) -> set[str]:
    return {law.__name__ for law in among for claim in law(one) if not claim.holds}
