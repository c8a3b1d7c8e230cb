"""Rules of a premium: a vendor who sets it by one of them is found out by the same one, on a cost that is known."""

from collections.abc import Callable, Mapping

import pytest

from derive.catalogue import equation

SCALE = 400e3
PLACES = {"long_context_threshold": 200e3, "short_context": 20e3, "long_context": 300e3, "max_context": 1e6}


def cost(context: float) -> float:
    """That of a vendor, which doubles over SCALE."""
    return 7.0 + 7.0 * context / SCALE


@pytest.mark.parametrize(
    ("rule", "premium"),
    [
        ("threshold", lambda at: cost(at["long_context_threshold"]) / cost(0)),
        ("upper_end", lambda at: cost(at["max_context"]) / cost(at["long_context_threshold"])),
        ("band_means", lambda at: cost(at["long_context"]) / cost(at["short_context"])),
        # The mean above is as far from the threshold as the one below.
        ("lloyd_max", lambda at: cost(2 * at["long_context_threshold"] - at["short_context"]) / cost(at["short_context"])),
    ],
)
def test_a_premium_that_was_set_by_a_rule_gives_the_scale_of_the_cost_by_it(rule: str, premium: Callable[[Mapping[str, float]], float]):
    row, given = equation(f"bands.rule_{rule}"), {**PLACES, "premium_out": premium(PLACES)}
    assert row.applies(given) and row.right_side(given) == pytest.approx(SCALE)


@pytest.mark.parametrize("rule", ["threshold", "upper_end", "band_means", "lloyd_max"])
def test_no_scale_has_a_premium_of_nothing_or_one_that_the_contexts_cannot_reach(rule: str):
    row = equation(f"bands.rule_{rule}")
    assert row.violated({**PLACES, "premium_out": 1.0})
    # A cost that is all context grows as the contexts do, and the threshold alone may cost any multiple of nothing read.
    assert bool(row.violated({**PLACES, "premium_out": 100.0})) is (rule != "threshold")


def test_a_cost_that_doubles_at_a_context_reads_there_in_the_time_of_its_base():
    """A chip of 600 TFLOP/s and 2 TB/s, of which half and four fifths are sustained, with a model of 100 G parameters."""
    given = {"flop_per_weight": 2.0, "active_params": 100e9, "ridge_point": 300.0, "mfu": 0.5, "mbu": 0.8}
    found = equation("bands.kv_bytes_from_scale").right_side({**given, "base_cost": 1.5, "cost_context_scale": SCALE})
    base, reads = 1.5 * 2 * 100e9 / (600e12 * 0.5), found * SCALE / (2e12 * 0.8)
    assert reads == pytest.approx(base)


def test_a_memory_bound_base_is_what_its_tokens_are_sold_for():
    """Output at six times the input, from steps of 1.5 tokens at twice the arithmetic of prefill: 4.5 compute times a step."""
    given = {"output_input_ratio": 6.0, "tokens_per_step": 1.5, "one_token": 1.0, "prefill_decode_flops_ratio": 2.0}
    assert equation("bands.base_cost_memory_bound").right_side(given) == pytest.approx(6.0 / 2.0 * 1.5)
