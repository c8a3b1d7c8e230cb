"""DeepSeek-V3 in production, per chip: the published decode step, part by part, and what each bound makes of it.

The figures are those of the scaling book's 2026 continuation, section 16, from DeepSeek's own disclosure: 144 H800 chips
decode 88 sequences each at a mean context of 4,989 tokens; 22 GB of weights are resident on every chip.
"""

import pytest

from derive.solving.api import solve

CHIP = {"batch": 88, "context_length": 4989, "hbm_bandwidth": "3.35TB/s", "active_params": "37B"}
PARTS = [
    # unknown, the equation that must be used, what it takes besides, published [ms]
    ("weight_time", "roofline.weight_time_resident", {"resident_weight_bytes_per_chip": "22GB", "hbm_bandwidth": "3.35TB/s"}, 6.6),
    ("kv_time", "roofline.kv_time", {**CHIP, "kv_bytes_per_token": 35136}, 4.6),
    ("compute_time", "roofline.compute_time", {**CHIP, "peak_flops": 1979e12}, 3.3),
    (
        "attention_time",
        "roofline.attention_time",
        {**CHIP, "peak_flops": 989e12, "attention_flops_per_pair": None},
        7.5,
    ),
    (
        "all_to_all_time",
        "experts.all_to_all_time",
        {
            **{"moe_layers": 58, "sequences_per_chip": 88, "active_experts": 8, "model_dim": 7168},
            **{"dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2, "link_bandwidth": "40GB/s"},
        },
        22.0,
    ),
]
SUM_OF_THE_PUBLISHED_PARTS, MEASURED = 44.0, 48.0


def attention_flops():
    """Absorbed latent attention of DeepSeek-V3, by its configuration."""
    return solve("attention_flops_per_pair", model="DeepSeek-V3").answers[0].value


def milliseconds(unknown, id, given):
    given = {name: attention_flops() if value is None else value for name, value in given.items()}
    solution = solve(unknown, using=[id], **given)
    assert solution.reason is None, solution.reason
    assert solution.equations[-1].startswith(f"{id}@")
    return 1e3 * solution.answers[0].value


TIMES = {unknown: (id, given) for unknown, id, given, _ in PARTS}


def step(overlap, **more):
    times = {unknown: milliseconds(unknown, *of) / 1e3 for unknown, of in TIMES.items()}
    memory = times.pop("weight_time") + times.pop("kv_time")
    return 1e3 * solve("step_time", variants={"overlap": overlap}, memory_time=memory, **times).answers[0].value


@pytest.mark.parametrize(("unknown", "id", "given", "published"), PARTS, ids=[part[0] for part in PARTS])
def test_a_part_of_the_published_step(unknown, id, given, published):
    assert milliseconds(unknown, id, given) == pytest.approx(published, rel=0.02)


def test_the_sum_of_the_parts_beside_the_measured_step():
    """All that is published, one after another, is a tenth short of what was measured."""
    assert step("network") == pytest.approx(SUM_OF_THE_PUBLISHED_PARTS, rel=0.01)
    assert step("network") / MEASURED == pytest.approx(0.92, abs=0.005)


def test_the_roofline_is_four_times_too_fast_and_no_overlap_two():
    """Reads of 6.6 + 4.6 ms and arithmetic of 3.3 + 7.5 ms, attention counted: nearly even, so that half of their sum overlaps."""
    assert MEASURED / step("max") == pytest.approx(48 / (6.6 + 4.6), rel=0.01) == pytest.approx(4.3, rel=0.01)
    assert step("sum") == pytest.approx(6.6 + 4.6 + 3.3 + 7.5, rel=0.01)
    assert MEASURED / step("sum") == pytest.approx(48 / 22, rel=0.01)
    assert step("max") <= step("sum") <= 2 * step("max")


def test_at_resident_bytes_the_batch_was_half_the_balance_batch():
    """On paper 2.33 balance batches; with the weights that really lie on a chip, half of one."""
    weight, compute = (milliseconds(name, *TIMES[name]) for name in ("weight_time", "compute_time"))
    assert compute / weight == pytest.approx(0.50, abs=0.01)


def test_the_published_cost_of_a_token():
    found = solve("cost_per_token", chips=8, chip_price="2 USD/h", throughput=14_800).answers[0].value
    assert 1e6 * found == pytest.approx(0.30, rel=0.01)
