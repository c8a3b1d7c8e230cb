"""Every regime of an equation is solved for every quantity, or says that there is no closed form."""

import pytest

from derive.catalogue import by_id
from derive.catalogue.arithmetic import maximum
from derive.expressions.branches import branches
from derive.records import Equation, Source
from derive.trees import names


def equation(relation) -> Equation:
    source = Source(kind="web", title="Made up", author="The tests", url="https://example.org", said="nothing", page="1")
    return Equation(id="test.regimes", title="Made up", relation=relation, statement="Made up.", sources=(source,))


SEARCHED = {
    "roofline.grid_latency": {"chips"},
    "roofline.minimum_latency": {"layers", "allreduces_per_layer", "hop_latency"},
    "serving.speculative_tokens": {"acceptance_rate"},
    "serving.speculative_speedup": {"acceptance_rate", "draft_tokens"},
    "batching.speculative_speedup_at_batch": {"acceptance_rate", "draft_tokens"},
    "serving.speculative_operations": {"acceptance_rate", "draft_tokens"},
    "experts.touched_experts": {"experts"},
    "experts.busiest_chip": {"expert_parallel"},
    "serving.prefill_weight_compute_ratio_touched": {"batch"},
    "prefill.weight_time_touched": {"prefill_passes"},
    "serving.free_prefill_chunk_touched": {"free_prefill_chunk"},
    "experts.reached_chips": {"expert_parallel"},
    "experts.reached_racks": {"rack_limit"},
    "training.tradeoff_cost": {"tradeoff_variable"},
    "training.fixed_loss_optimum": {"size_loss_exponent", "data_loss_exponent"},
    "training.compute_optimal_size": {"size_loss_exponent", "data_loss_exponent"},
}
"""Unknowns under powers that elementary functions cannot undo, in one regime at least: found by a search."""


@pytest.mark.slow
def test_branches_of_every_catalogue_equation_are_solved_or_absent():
    """Each regime that holds the unknown has at least one closed form, but for those that have to be searched.

    That the forms are right is tested at draws, in tests/derive/solving/test_any_unknown.py.
    """
    for row in by_id().values():
        for name in row.symbols:
            unsolved = [branch.regime.label for branch in branches(row, name) if not branch.absent and not branch.roots]
            assert bool(unsolved) == (name in SEARCHED.get(row.id, ())), (row.id, name, unsolved)
            for branch in branches(row, name):
                assert branch.absent == (name not in names(branch.difference))
                for root in branch.roots or ():
                    assert name not in names(root)


def test_an_unknown_absent_from_a_regime_is_marked():
    row = equation(lambda step_time, compute_time, batch: (step_time, maximum(compute_time, 2 * batch)))
    found = {branch.regime.label: (branch.absent, branch.roots) for branch in branches(row, "batch")}
    assert found == {
        "compute_time >= 2*batch": (True, ()),
        "2*batch >= compute_time": (False, (("/", "step_time", 2),)),
    }
