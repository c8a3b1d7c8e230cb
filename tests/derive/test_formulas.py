"""The table of formulas is what SymPy makes of the catalogue, and nothing of it is taken for an equation that has changed."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from derive.catalogue import by_id, equation
from derive.expressions.branches import as_stated, branches, formulas, regimes_of
from derive.formulas import PATH, Formulas, found, key, of_json
from derive.make_formulas import line, lines_of, ways
from derive.records import key_of_claim
from derive.solving.defaults import with_defaults
from tests.tools.together import some

LINES = dict(one.split("\t", 1) for one in Path(PATH).read_text(encoding="utf-8").splitlines()[1:])
SOME = some(by_id(), every=12)
"""Equations that are made again in the quick tests; all are in the slow ones."""


def test_every_equation_has_a_line_for_each_way_in_which_defaults_are_put_in():
    keys = {key(id, with_defaults(equation(id), way).put_in) for id in by_id() for way in ways(id)}
    claims = [row.relation.claim for row in by_id().values() if hasattr(row.relation, "claim")]
    assert keys | {key_of_claim(claim, names[0]) for claim, names in claims} == LINES.keys() and len(claims) == 5


@pytest.mark.parametrize("id", SOME)
def test_what_sympy_makes_of_it_is_what_stands_there(id: str):
    put_in = dict([*ways(id)][-1])
    assert line(id, put_in).split("\t", 1)[1] == LINES[key(id, put_in)]


@pytest.mark.slow
def test_a_third_of_the_table_made_again_is_what_stands_there():
    """The whole of it is made again by `.ci/long`."""
    made = dict(one.split("\t", 1) for id in some(by_id(), every=3, first=1) for one in lines_of(id))
    assert made == {key: LINES[key] for key in made} and len(made) > len(LINES) / 5


def test_an_equation_that_was_changed_is_worked_out_anew_and_that_is_said_once(caplog: pytest.LogCaptureFixture):
    row = equation("batching.ridge_point")
    changed = replace(row, relation=lambda ridge_point, peak_flops, hbm_bandwidth: (ridge_point, 3 * peak_flops / hbm_bandwidth))
    with caplog.at_level(logging.WARNING):
        for unknown in ("peak_flops", "hbm_bandwidth", "ridge_point"):
            (branch,) = branches(changed, unknown)
            (root,) = branch.roots
            assert "3" in str(root) and formulas(changed) is None and formulas(row)
    assert [one.getMessage().split(" is not ")[0] for one in caplog.records] == ["batching.ridge_point"]


def test_an_equation_of_ones_own_is_not_in_the_table():
    assert found("test.made_up") is None and found("batching.ridge") is None


def test_a_line_says_what_it_was_made_from():
    line = found("batching.sparsity")
    assert line.stated() == as_stated(equation("batching.sparsity")) and isinstance(line, Formulas)
    assert line.right_side() == ("/", "total_params", "active_params")
    assert line.roots_of("active_params") == ((("/", "total_params", "sparsity"),),)
    assert line.turns_of("total_params", ("total_params", "active_params"))[0][1] == ("active_params",)
    assert line.turns_of("total_params", ("sparsity", "active_params")) is None
    assert of_json(["+", "a", ["-", 1]]) == ("+", "a", ("-", 1))


def test_regimes_out_of_the_table_are_those_of_sympy():
    row = equation("roofline.step_time")
    from derive.expressions.regimes import as_tree, regimes

    assert [one.expression for one in regimes_of(row)] == [as_tree(one.expression) for one in regimes(row.sides[1])]
