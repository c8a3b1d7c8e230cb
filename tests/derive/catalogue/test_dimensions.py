"""Every equation adds and compares like with like: pint checks it, over base units of our own."""

from importlib import import_module
from inspect import signature
from pkgutil import iter_modules

import pint
import pytest

from derive import catalogue
from derive.catalogue import by_id
from derive.quantities import CONSTANTS, QUANTITIES
from derive.records import Requirement
from tests.tools.dimensions import UNITS, check, check_requirement, same, sample, unit
from tests.tools.together import in_one_test

ALL = [pytest.param(row, id=row.id) for row in by_id().values()]
WRONG = (pint.DimensionalityError, AssertionError)


@pytest.fixture(autouse=True)
def extremes_with_units(monkeypatch):
    """`maximum` and `minimum` as the chapters know them, over quantities with units."""
    for found in iter_modules(catalogue.__path__):
        module = import_module(f"derive.catalogue.{found.name}")
        monkeypatch.setattr(module, "maximum", lambda *terms: max(same(terms)), raising=False)
        monkeypatch.setattr(module, "minimum", lambda *terms: min(same(terms)), raising=False)


@in_one_test("name", [*QUANTITIES, *CONSTANTS])
def test_the_unit_is_made_of_base_units(name):
    assert UNITS.Quantity(1, unit(name)).to_root_units().magnitude == 1
    assert set(UNITS.Quantity(1, unit(name)).dimensionality) <= {"[time]", "[information]", "[arithmetic]", "[text]", "[money]", "[energy]"}


@in_one_test("row", ALL)
def test_an_equation_adds_like_to_like(row):
    check(row.relation)


STEPS = [pytest.param(step, id=f"{row.id}#{number}") for row in by_id().values() for number, step in enumerate(row.steps, 1)]


@in_one_test("step", STEPS)
def test_a_step_adds_like_to_like_and_replaces_like_by_like(step):
    if step.relation:
        check(step.relation)
    for name, value in ((name, value) for premise in step.premises for name, value in premise.point.items()):
        if isinstance(value, str):
            assert unit(value).dimensionality == unit(name).dimensionality
        elif callable(value):
            found = value(*(sample(other) for other in signature(value).parameters))
            assert (UNITS.Quantity(1, "") * found).dimensionality == unit(name).dimensionality


REQUIREMENTS = [pytest.param(asked, id=f"{row.id}-{number}") for row in by_id().values() for number, asked in enumerate(row.requires)]


@in_one_test("requirement", REQUIREMENTS)
def test_a_requirement_compares_like_with_like(requirement):
    check_requirement(requirement)


def extreme(*terms):
    return import_module("derive.catalogue.roofline").maximum(*terms)


PLANTED = {
    "a bare 2 for FLOP per weight": lambda compute_time, batch, active_params, chips, peak_flops, mfu: (
        compute_time,
        2 * batch * active_params / (chips * peak_flops * mfu),
    ),
    "seconds added to one": lambda normalised_cost, step_time: (normalised_cost, 1 + step_time),
    "the largest of a time and a number": lambda step_time, compute_time, batch: (step_time, extreme(compute_time, batch)),
    "upside down": lambda sweep_time, hbm_capacity, hbm_bandwidth: (sweep_time, hbm_bandwidth / hbm_capacity),
}


@in_one_test("relation", [pytest.param(relation, id=name) for name, relation in PLANTED.items()])
def test_a_planted_error_is_seen(relation):
    with pytest.raises(WRONG):
        check(relation)


def test_a_planted_comparison_is_seen():
    with pytest.raises(pint.DimensionalityError):
        check_requirement(Requirement(holds=lambda context_length, step_time: context_length < step_time))


def test_the_planted_errors_are_near_misses():
    """The same relations, put right, pass: it is the error that is seen and not the planting."""
    check(lambda step_time, compute_time, memory_time: (step_time, extreme(compute_time, memory_time)))
    check(lambda normalised_cost, batch: (normalised_cost, 1 + batch))
    check(lambda sweep_time, hbm_capacity, hbm_bandwidth: (sweep_time, hbm_capacity / hbm_bandwidth))
