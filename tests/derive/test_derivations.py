"""Every derivation of the catalogue, step by step; and that a wrong one is seen."""

from collections.abc import Callable
from functools import partial

import pytest

from derive.catalogue import by_id, equation
from derive.errors import UnknownName
from derive.quantities import CONSTANTS, QUANTITIES
from derive.quantities.formula import as_expression
from derive.records import BOUND, DEFINITION, ESTIMATE, Equation, Step, argument_names, at
from derive.show.entry import conclusion, names_before, owner, parents, point, referenced_by, sides_at_point
from derive.trees import names, text
from tests.tools import derivation_check
from tests.tools.derivation_check import DoesNotFollow, check
from tests.tools.together import each, in_one_test, some

DERIVED = [row for row in by_id().values() if row.steps]
OF_STEPS: list[Callable[[Equation, int], None]] = []
OF_DERIVATIONS: list[Callable[[Equation], None]] = []
"""What holds for every step and for every derivation: one test an equation makes all of them."""


def of_every_step(check: Callable[[Equation, int], None]) -> Callable[[Equation, int], None]:
    OF_STEPS.append(check)
    return check


def of_every_derivation(check: Callable[[Equation], None]) -> Callable[[Equation], None]:
    OF_DERIVATIONS.append(check)
    return check


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in some(DERIVED, 12)])
def test_a_derivation_holds(row):
    steps = ((f"{row.id}#{number}", check, (row, number)) for number in range(1, len(row.steps) + 1) for check in OF_STEPS)
    checks = [*steps, *((row.id, check, (row,)) for check in OF_DERIVATIONS)]
    each((f"{name}: {check.__name__}", partial(check, *about)) for name, check, about in checks)


# -- every step -----------------------------------------------------------------------------------------------------


@of_every_step
def a_step_follows_from_its_premises_and_from_no_fewer(row, number):
    check(row, number)


@of_every_step
def a_step_speaks_of_the_registry_and_says_what_it_does(row, number):
    step = row.steps[number - 1]
    assert step.operation.strip() and step.operation[0].islower() and not step.operation.endswith(".")
    spoken = [*step.eliminated, *step.stationary]
    spoken += [name for premise in step.premises for name in premise.point]
    spoken += argument_names(step.relation) if step.relation else ()
    assert set(spoken) <= set(QUANTITIES) | set(CONSTANTS)
    assert (step.relation is None) == (number == len(row.steps)), "the last step, and no other, comes to the equation itself"
    left, _ = conclusion(row, number)
    assert isinstance(left, str)


@of_every_step
def a_premise_exists_and_a_point_replaces_what_it_holds(row, number):
    for premise in row.steps[number - 1].premises:
        source, place = owner(row, premise)
        assert place < number or source is not row, "a step starts from itself or a later one"
        sides = conclusion(source, place) if place else source.trees
        assert set(point(premise)) <= {name for side in sides for name in names(side)}


@of_every_step
def what_is_shown_is_what_sympy_proves(row, number):
    pairs = [(conclusion(row, number), derivation_check.conclusion(row, number))]
    pairs += [(sides_at_point(row, one), derivation_check.premise_sides(row, one)) for one in row.steps[number - 1].premises]
    for shown, proved in pairs:
        assert all((as_expression(text(tree)) - side).expand() == 0 for tree, side in zip(shown, proved, strict=True))
    proved = derivation_check.assumed(row, number)
    assert names_before(row, number) == {part.name for sides in proved for side in sides for part in side.free_symbols}


@of_every_derivation
def a_step_without_premises_only_says_what_a_word_means(row):
    """It cannot smuggle in physics: of a definition it speaks of the quantity defined, and only claims claim more."""
    for number, step in enumerate(row.steps, 1):
        if not step.premises and row.kind in (DEFINITION, BOUND, ESTIMATE):
            left, _ = conclusion(row, number)
            assert left == row.symbols[0]
            assert number < len(row.steps), "nothing follows from it"


@of_every_derivation
def every_step_is_used_later(row):
    used = {owner(row, premise)[1] for step in row.steps for premise in step.premises if owner(row, premise)[0] is row}
    assert used == set(range(1, len(row.steps)))


def ancestors(id: str, way: tuple[str, ...] = ()) -> set[str]:
    assert id not in way, f"{' -> '.join((*way, id))}: a loop"
    found = parents(equation(id))
    return set(found).union(*(ancestors(parent, (*way, id)) for parent in found))


@of_every_derivation
def no_equation_is_derived_from_itself(row):
    assert row.id not in ancestors(row.id)


def test_parents_and_children_are_the_same_lines_read_both_ways():
    assert parents(equation("training.equal_cost_rl")) == ("training.pretrain_cost", "training.rl_cost")
    assert referenced_by("batching.balance_batch")[0] == "batching.weight_compute_ratio", "by a step of its derivation"
    assert referenced_by("energy.output_energy") == () != referenced_by("serving.cost_per_token")


@in_one_test("row", [pytest.param(row, id=row.id) for row in by_id().values() if not row.steps])
def test_what_is_not_derived_says_why(row):
    """A definition or a bound says what its quantity is; anything else says what it idealises."""
    assert row.defines or row.assumptions, f"{row.id} is a {row.kind}, neither derived nor a definition, and assumes nothing"


@in_one_test("row", [pytest.param(row, id=row.id) for row in by_id().values() if row.kind != DEFINITION])
def test_what_is_no_definition_says_what_it_idealises(row):
    assert row.assumptions


# -- a wrong step is seen -------------------------------------------------------------------------------------------


def planted(*steps: Step, id: str = "training.equal_cost_rl", **changes) -> Equation:
    """An equation of the catalogue with another derivation."""
    row = equation(id)
    whole = {name: getattr(row, name) for name in ("id", "title", "kind", "relation", "statement", "sources", "requires")}
    return Equation(**(whole | changes), derivation=lambda: steps)


FIRST, SECOND = at("training.pretrain_cost", pretrain_flops="rl_flops"), at("training.rl_cost")
GOOD = Step(operation="right", premises=(FIRST, SECOND), eliminated=("rl_flops",))


def test_the_right_derivation_passes():
    check(planted(GOOD), 1)


def one_percent_off(pretrain_tokens, rl_multiplier, rl_tokens, decode_efficiency):
    return pretrain_tokens, 101 * rl_multiplier * rl_tokens / (600 * decode_efficiency)


SPARE = Step(operation="long", premises=(FIRST, SECOND, at("batching.sparsity")), eliminated=("rl_flops",))
ELSEWHERE = Step(operation="at the wrong point", premises=(at("training.rl_cost", rl_flops="pretrain_flops", active_params="mfu"),))


@in_one_test(
    ("row", "said"),
    [
        (planted(GOOD, relation=one_percent_off), "off by"),
        (planted(SPARE), "holds without its premise 3"),
        (planted(Step(operation="kept", premises=(FIRST, SECOND), eliminated=("decode_efficiency",))), "does not eliminate"),
        (planted(ELSEWHERE), "which no premise holds"),
    ],
    ids=["one percent off", "a premise to spare", "not eliminated", "another point"],
)
def test_a_planted_error_is_seen(row, said):
    with pytest.raises(DoesNotFollow, match=said):
        check(row, 1)


def test_a_premise_that_does_not_exist_is_named():
    with pytest.raises(UnknownName, match=r"batching\.ridgepoint.*did you mean 'batching\.ridge_point'"):
        names_before(planted(Step(operation="typo", premises=(FIRST, at("batching.ridgepoint")), eliminated=("rl_flops",))), 1)
    with pytest.raises(UnknownName, match=r"step 'batching\.balance_batch#3'"):
        names_before(planted(Step(operation="typo", premises=(at("batching.balance_batch#3"),))), 1)
    with pytest.raises(UnknownName, match="quantity 'band_width'"):
        names_before(planted(Step(operation="typo", premises=(at("batching.ridge_point", band_width="mfu"),))), 1)
