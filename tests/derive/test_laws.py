"""Laws that no chain may break, at random deployments; and that they see a wrong answer."""

import laws
import pytest
from laws import LAWS, Deployment, broken

COUNT, SEEDS = 16, (1, 2, 3, 4, 5)

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
@pytest.mark.parametrize("seed", SEEDS)
def test_no_law_is_broken(seed):
    found, judged = broken(COUNT, seed)
    assert not found, "\n" + "\n".join(found)
    assert judged.keys() == {law.__name__ for law in LAWS}, "each law had something to judge"


@pytest.mark.parametrize(
    ("name", "factor", "seen"),
    [
        ("throughput", 1.001, {"flow", "bill", "drafting", "agreement"}),
        ("cost_per_token", 0.999, {"bill", "agreement"}),
        ("tokens_per_step", 1.001, {"drafting"}),
        ("latency_floor", 100.0, {"roofs"}),
        ("fetched_params", 100.0, {"experts"}),
        ("compute_utilisation", 1.5, {"shares"}),
    ],
)
def test_a_wrong_answer_is_seen(monkeypatch, name, factor, seen):
    assert {law.__name__ for law in LAWS for claim in law(SERVING) if not claim.holds} == set()
    right = laws.value
    monkeypatch.setattr(laws, "value", lambda one, unknown: _times(right(one, unknown), factor if unknown == name else 1.0))
    assert seen <= {law.__name__ for law in LAWS for claim in law(SERVING) if not claim.holds}


def _times(found: float | None, factor: float) -> float | None:
    return None if found is None else found * factor


def test_a_question_is_told_as_a_command_that_can_be_run():
    one = Deployment((("batch", 8.0), ("context_length", 4000.0)), "H100-SXM:fp8", "Llama-3-70B", "sum", ("roofline.weight_time",))
    assert one.command("step_time") == (
        "backsolve solve step_time batch=8.0 context_length=4000.0 --using roofline.weight_time"
        " --hardware H100-SXM:fp8 --model Llama-3-70B --overlap sum"
    )
