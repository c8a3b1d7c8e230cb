"""The table of blocks is what eliminating comes to, and is read only for the very equations that it was made from."""

from dataclasses import replace

import pytest

from derive.catalogue import equation
from derive.expressions.branches import branches, regimes_of
from derive.requirements import Requirement
from derive.solving import blocks
from derive.solving.blocks import PATH, check_sum, joint, key_of_block, key_of_bound, that_cancel, with_definitions
from derive.solving.elimination import eliminated
from derive.solving.matching import Structure
from tests.tools.blocks import line_again

LINES = dict(line.split("\t", 1) for line in PATH.read_text(encoding="utf-8").splitlines()[1:])
FEWEST = [key for key in LINES if key.count(";") == 1]
"""Blocks of two equations, which take SymPy least."""


@pytest.mark.parametrize("key", FEWEST[::8])
def test_what_stands_there_is_what_sympy_makes_of_it(key: str):
    assert line_again(key).split("\t", 1)[1] == LINES[key]


@pytest.mark.slow
def test_blocks_made_again_are_as_they_stand():
    """All of them are made again by `.ci/long`."""
    assert [key for key in [*LINES][::9] if line_again(key).split("\t", 1)[1] != LINES[key]] == []


def first_block() -> tuple[Structure, str]:
    """A block of the table, as the solver has it."""
    key = next(key for key in LINES if "bound" not in key and ";" in key)
    ids, names, free, unknown = key.split(" | ")
    rows = tuple(equation(one.split()[0]) for one in ids.split("; "))
    return Structure(rows, tuple(names.split()), tuple(free.split())), unknown


def test_a_block_out_of_the_table_is_the_one_that_was_eliminated():
    structure, unknown = first_block()
    assert key_of_block(structure, unknown) in LINES
    stored, made = joint(structure, unknown), eliminated(structure, unknown)
    assert [(one.sides, one.wins, one.regime, one.open, one.idle, one.symbols) for one in stored] == [
        (one.sides, one.wins, one.regime, one.open, one.idle, one.symbols) for one in made
    ]
    for one, other in zip(stored, made, strict=True):
        if one.solved:
            assert branches(one, unknown) == branches(other, unknown) and regimes_of(one) == regimes_of(other)
    assert that_cancel(structure, unknown) <= {*structure.free}


def test_a_block_of_changed_equations_is_not_looked_for():
    structure, unknown = first_block()
    row, *rest = structure.rows
    changed = (replace(row, requires=(*row.requires, Requirement(holds=lambda chips: chips > 3))), *rest)
    assert blocks._stored(structure.rows, key_of_block(structure, unknown)) is not None
    assert blocks._stored(changed, key_of_block(structure, unknown)) is None
    assert check_sum(structure.rows) != check_sum((*rest, row))


def test_a_bound_has_its_definitions_put_in():
    bound, row = equation("memory.fits"), equation("memory.demand")
    whole = with_definitions(bound, (row,), "hbm_capacity")
    assert whole.sense == bound.sense and "memory_demand" not in whole.symbols
    assert key_of_bound(bound, (row,), "hbm_capacity").endswith(" | bound | hbm_capacity")
