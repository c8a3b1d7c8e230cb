"""The registry: every quantity is well formed and used, under names that mean one thing, and found by what words mean."""

import re

import pytest

from derive.catalogue import by_id, equations
from derive.catalogue.retired import RETIRED
from derive.errors import UnknownName
from derive.quantities import CONSTANTS, NEUTRAL_DEFAULTS, QUANTITIES, THEMES, by_meaning, quantity, symbol
from derive.quantities.aliases import ALIASES
from derive.records import argument_names
from tests.tools.together import in_one_test

IN_STEPS = {name for row in by_id().values() for step in row.steps if step.relation for name in argument_names(step.relation)}
"""Quantities of the derivations: some appear on the way and cancel."""


@in_one_test("name", QUANTITIES)
def test_a_quantity_of_the_registry_is_used_and_well_formed(name):
    row = QUANTITIES[name]
    assert equations(symbol=name) or name in IN_STEPS, f"{name} is in no equation and in no derivation"
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name)
    assert row.symbol.isidentifier() and row.latex.strip() and row.meaning.strip()
    assert row.low <= row.high and (row.low > 0 or row.may_be_zero)
    assert (symbol(name).is_positive is None) == row.may_be_zero
    assert symbol(name) == symbol(row.symbol), "an alias is the same symbol"


def test_symbols_are_unique_and_no_symbol_is_another_ones_name():
    symbols = [row.symbol for row in QUANTITIES.values()]
    assert len(symbols) == len(set(symbols))
    shared = {row.symbol for row in QUANTITIES.values() if row.symbol in QUANTITIES and row.symbol != row.name}
    assert not shared
    assert not set(CONSTANTS) & (set(QUANTITIES) | set(symbols))


@in_one_test("name", CONSTANTS)
def test_a_constant_is_exact_has_a_unit_and_is_used(name):
    row = CONSTANTS[name]
    assert isinstance(row.value, int) and row.unit != "1" and row.meaning.strip()
    assert any(name in equation.parameters for equation in (*by_id().values(), *(row for *_, row in RETIRED.values())))


@in_one_test(("name", "value"), NEUTRAL_DEFAULTS.items())
def test_a_neutral_default_is_a_factor_of_one_or_a_term_of_nothing(name, value):
    assert value in (0, 1)
    assert value or QUANTITIES[name].may_be_zero
    assert equations(symbol=name), f"{name} is in no equation"


def test_every_row_of_every_theme_is_in_the_registry_once():
    rows = [row for theme in THEMES for row in theme.ROWS]
    assert len(rows) == len(QUANTITIES) and all(QUANTITIES[row.name] is row for row in rows)


@in_one_test("name", QUANTITIES)
def test_a_part_is_of_a_whole_that_is_a_quantity_of_its_own_unit(name):
    whole = QUANTITIES[name].whole
    assert not whole or (whole != name and QUANTITIES[whole].unit == QUANTITIES[name].unit)


def test_a_quantity_is_found_by_name_and_by_symbol():
    assert quantity("balance_batch") is quantity("B_star") is QUANTITIES["balance_batch"]
    with pytest.raises(UnknownName, match=r"unknown quantity 'balance_bach'; did you mean 'balance_batch'.*; backsolve list WORD"):
        quantity("balance_bach")
    with pytest.raises(UnknownName, match="did you mean 'B_star'"):
        symbol("B_stra")


UNLIKE = [row for row in QUANTITIES.values() if row.unlike]


@in_one_test("row", UNLIKE, ids=lambda row: row.name)
def test_what_is_easily_taken_for_another_says_how_it_differs_and_so_does_the_other(row):
    words = re.findall(r"[a-z_]+", row.unlike)
    others = {word for word in words if word in QUANTITIES and "_" in word}
    assert row.name not in words and QUANTITIES.keys() & {*words}
    assert [name for name in sorted(others) if row.name not in QUANTITIES[name].unlike] == []


def test_the_names_of_how_many_there_are_at_once_are_told_apart():
    near = {"batch", "sequences_in_flight", "concurrent_requests"}
    assert all(set(re.findall(r"[a-z_]+", QUANTITIES[name].unlike)) >= near - {name} for name in near)


def test_the_words_of_its_own_name_lead_to_a_quantity_in_any_order():
    """Of names that say the same of two things, the other may come first."""
    lost = [name for name in QUANTITIES if name not in by_meaning("_".join(reversed(name.split("_"))))[:4]]
    assert not [name for name in lost if len(name) > 4], lost


def test_what_a_quantity_is_also_called_leads_to_it():
    words = {word: meant[0] for word, meant in ALIASES.items() if len(meant) == 1 and "_" in word}
    lost = [word for word, name in words.items() if name not in by_meaning(word)[:6]]
    assert len(lost) <= 0.15 * len(words), lost


def test_words_that_say_little_lead_nowhere():
    assert by_meaning("number_of_all") == by_meaning("zork") == by_meaning("") == []
