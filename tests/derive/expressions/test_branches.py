"""Every regime of an equation is solved for every quantity, or says that there is no closed form. A Max is cut into its regimes."""

from math import isnan
from random import Random

import pytest

from derive.catalogue import by_id
from derive.catalogue.arithmetic import maximum
from derive.expressions.algebra import Regime, smooth_cases
from derive.expressions.branches import branches, closed_roots, regimes_of
from derive.quantities import quantity
from derive.records import Equation, Source
from derive.trees import evaluate, names, text, tree_of


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


def test_every_equation_has_as_many_regimes_as_sympy_finds_and_is_one_of_them_anywhere():
    random = Random(3)
    for row in by_id().values():
        right = row.trees[1]
        found = smooth_cases(right)
        assert len(found) <= len(regimes_of(row)), row.id
        at = {name: quantity(name).at(random.uniform(0.2, 0.8)) for name in sorted(names(right))}
        there = [one for one in found if not any(evaluate(larger, at) < evaluate(smaller, at) for larger, smaller in one.wins)]
        whole = evaluate(right, at)
        assert isnan(whole) or evaluate(there[0].expression, at) == pytest.approx(whole, rel=1e-9), row.id


def test_no_regime_contradicts_itself():
    found = smooth_cases(tree_of("Max(batch, chips) - Min(batch, chips)"))
    assert {one.wins for one in found} == {(("batch", "chips"),), (("chips", "batch"),)}
    assert smooth_cases(tree_of("batch*chips")) == (Regime(tree_of("batch*chips")),)


ROOTS = [  # height, of which quantity, where it is nothing
    ("batch*chips - chips - replicas", "chips", ["replicas/(batch - 1)"]),
    ("mfu/batch - chips", "batch", ["mfu/chips"]),
    ("batch**2 - 8*chips*batch + 12*chips**2", "batch", ["2*chips", "6*chips"]),
    ("batch**2 - 2*chips*batch + chips**2", "batch", ["chips"]),
    ("batch*(batch - chips)", "batch", ["0", "chips"]),
    ("mfu*sqrt(batch) - chips", "batch", ["chips**2/mfu**2"]),
    ("experts*(1 - mfu**batch) - chips", "batch", ["log((-chips + experts)/experts)/log(mfu)"]),
    ("mfu*log(batch) - chips", "batch", ["exp(chips/mfu)"]),
    ("mfu*exp(batch) - chips", "batch", ["log(chips/mfu)"]),
    ("(1 + batch)**mfu - chips", "batch", ["chips**(1/mfu) - 1"]),
    ("batch**3 - chips", "batch", ["chips**(1/3)"]),
    ("batch + sqrt(batch) - chips", "batch", None),
    ("batch**3 + batch - chips", "batch", None),
    ("batch**batch - chips", "batch", None),
    ("chips - mfu", "batch", []),
]  # fmt: skip


@pytest.mark.parametrize(("height", "unknown", "expected"), ROOTS)
def test_where_a_formula_is_nothing(height, unknown, expected):
    found = closed_roots(tree_of(height), unknown)
    assert (found if found is None else [text(simple) for simple in found]) == expected
