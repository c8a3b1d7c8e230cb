"""Every entry of the catalogue is complete, legal and unchanged since its version was written down.

`python tests/derive/test_catalogue.py --write` adds the fingerprints of new equations and new versions; it refuses
to change one that stands.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import pytest

from derive.catalogue import CHAPTERS, by_id, cited_equation, equation, equations, variants_of
from derive.catalogue.arithmetic import maximum
from derive.catalogue.retired import RETIRED
from derive.catalogue.sources import TRANSCRIPT
from derive.errors import RetiredName, UnknownName
from derive.quantities import CONSTANTS, QUANTITIES, symbol
from derive.records import (
    BOUND,
    CHAINED_BY_ITSELF,
    CONDITION,
    DEFINITION,
    EMPIRICAL,
    ESTIMATE,
    HEURISTIC,
    LOWER,
    UPPER,
    Equation,
    Requirement,
    Source,
)  # fmt: skip
from derive.show.citation import cite
from derive.show.entry import parents
from derive.solving.question.conventions import Switches
from derive.solving.question.defaults import FOLLOWS
from derive.solving.question.questions import question
from tests.tools.renames import OLD_NAMES
from tests.tools.together import each, in_one_test

ALL = [pytest.param(row, id=row.id) for row in by_id().values()]
FINGERPRINTS = Path(__file__).with_name("fingerprints.json")
END_OF_THE_TALK = 2 * 3600 + 13 * 60

SHEET = {
    *("input_price", "output_price", "cache_read_price", "storage_price", "output_input_ratio", "long_context_threshold"),
    *("premium_in", "premium_out", "cache_read_ratio", "cache_write_premium", "fast_price_ratio"),
}
"""What a seller publishes; everything else is physics or what hardware costs."""

NOT_CONDITIONS = {
    "readings.input_price_cost_ratio": "a name for what lies between the price and the cost",
    "serving.blended_price": "prices against prices, weighed by tokens",
    "serving.mean_input_price": "prices against prices, weighed by tokens",
    "serving.gross_margin": "a name for what lies between the price and the cost",
    "cache.break_even_reads": "prices against prices, for the user",
}
"""Equations over published prices that claim nothing of costs."""


CHECKS: list[Callable[[Equation], None]] = []
"""What holds for every entry: one test an equation makes all of them."""


def of_every_equation(check: Callable[[Equation], None]) -> Callable[[Equation], None]:
    CHECKS.append(check)
    return check


def fingerprint(row: Equation) -> str:
    """Return a hash of the mathematics alone: both sides, the symbols, the sense and the requirements, with names as first published."""
    published = {symbol(new): symbol(new).func(old, **symbol(new).assumptions0) for new, old in OLD_NAMES.items() if new in QUANTITIES}
    left, right = (side.xreplace(published) for side in row.sides)
    required = sorted(str(needed.relation().xreplace(published)) for needed in row.requires)
    symbols = sorted(OLD_NAMES.get(name, name) for name in row.symbols)
    text = "\n".join([f"{left} {row.sense} {right}", " ".join(symbols), *required])
    return hashlib.sha256(text.encode()).hexdigest()


def changed(row: Equation, written: dict[str, str]) -> str | None:
    """What is wrong with the fingerprint of an equation, or None."""
    if row.reference not in written:
        return f"{row.reference} has no fingerprint: run this file with --write"
    if written[row.reference] != fingerprint(row):
        return f"the mathematics of {row.id} changed and its version is still {row.version}: say in `changes` what changed"
    return None


def read() -> dict[str, str]:
    return json.loads(FINGERPRINTS.read_text(encoding="utf-8")) if FINGERPRINTS.exists() else {}


# -- names and shape ------------------------------------------------------------------------------------------------


def test_ids_are_unique_over_the_chapters():
    ids = [row.id for chapter in CHAPTERS for row in import_module(f"derive.catalogue.{chapter}").EQUATIONS]
    assert [id for id in ids if ids.count(id) > 1] == [], "these ids stand twice"
    assert ids == list(by_id())


@in_one_test("chapter", CHAPTERS)
def test_a_chapter_holds_its_own_equations_and_all_of_them(chapter):
    rows = import_module(f"derive.catalogue.{chapter}").EQUATIONS
    assert rows, f"{chapter} is empty"
    assert {row.chapter for row in rows} == {chapter}
    assert equations(chapter=chapter) == tuple(rows)


@of_every_equation
def the_id_is_chapter_and_name(row):
    assert re.fullmatch(r"[a-z]+\.[a-z][a-z0-9]*(_[a-z0-9]+)*", row.id)
    assert row.version >= 1
    assert equation(row.reference) is row


@of_every_equation
def an_equation_speaks_of_known_quantities_only(row):
    unknown = [name for name in row.parameters if name not in QUANTITIES and name not in CONSTANTS]
    asked = {name for requirement in row.requires for name in requirement.names}
    assert not unknown
    assert asked <= set(row.symbols), f"required of {sorted(asked - set(row.symbols))}, which the relation does not hold"


@of_every_equation
def every_parameter_enters_and_the_left_side_is_the_first(row):
    left, right = row.sides
    assert left == symbol(row.parameters[0])
    assert not right.has(left), "the left side stands on the right too"
    assert {part.name for part in right.free_symbols} == set(row.symbols[1:])
    assert not [number for number in right.atoms() if number.is_Float], "a float inside an equation"


@of_every_equation
def kind_sense_and_definition_are_legal(row):
    assert row.kind in (DEFINITION, BOUND, ESTIMATE, CONDITION, HEURISTIC, EMPIRICAL)
    assert row.sense in ("=", "<=", ">=")
    if row.kind == BOUND and row.sense == "=":
        assert row.direction in (LOWER, UPPER), "it is written as an equality: which side may be more?"
    else:
        assert row.direction == "", "only a bound that is written as an equality needs one"
    if row.defines is not None:
        assert row.defines == row.symbols[0]
        asked_for = row.variant is not None and not row.variant.default
        assert row.kind in (DEFINITION, BOUND) or asked_for, "a claim defines nothing, unless as a variant that one asks for"
        assert row.sense == "="


def test_a_quantity_has_one_definition_or_one_group_of_variants():
    defining: dict[str, list[Equation]] = {}
    for row in by_id().values():
        if row.defines:
            defining.setdefault(row.defines, []).append(row)
    for name, rows in defining.items():
        groups = {row.variant and row.variant.group for row in rows}
        assert len(rows) == 1 or (len(groups) == 1 and None not in groups), f"{name}: {[row.id for row in rows]}"


GROUPS = sorted({row.variant.group for row in by_id().values() if row.variant})


@in_one_test("group", GROUPS)
def test_a_group_of_variants_has_one_default_and_distinct_names(group):
    rows = [row for row in by_id().values() if row.variant and row.variant.group == group]
    names = {name for row in rows for name in (row.variant.name, *row.variant.holds_for)}
    leading = variants_of(group)
    follows = group in FOLLOWS
    assert leading.keys() == names and len(names) > (0 if follows else 1)
    assert len({row.defines for row in leading.values()}) == 1, "the first of each name defines the same quantity"
    defaults = {row.variant.name for row in rows if row.variant.default}
    assert len(defaults) == (0 if follows else 1), "exactly one is the default, if the quantity follows no other one by default"
    of_its_name = [leading[row.variant.name].variant.default for row in rows]
    assert of_its_name == [row.variant.default for row in rows], "a name is the default everywhere or nowhere"
    defined = [(row.defines, row.variant.name) for row in rows if row.defines]
    assert len(set(defined)) == len(defined), "one definition of a quantity for each name"


def test_the_bands_are_conditions():
    assert equations(chapter="bands")
    assert {row.kind for row in equations(chapter="bands")} == {CONDITION}


# -- what may be joined without being named -------------------------------------------------------------------------


ESTIMATES = [row for row in by_id().values() if row.kind == ESTIMATE]


@in_one_test("row", ESTIMATES, ids=lambda row: row.id)
def test_an_estimate_joins_only_as_the_variant_that_was_chosen_or_by_name(row):
    assert row.variant and not row.variant.default, "an estimate of no group, or the default of one, would join by itself"
    assert row.id not in {other.id for other in question(row.defines, {}).active}
    by_name = (Switches(variants={row.variant.group: row.variant.name}), Switches(using=(row.id,)))
    for asked in (question(row.defines, {}, switches) for switches in by_name):
        assert [other.id for other in asked.active if other.defines == row.defines] == [row.id]


@of_every_equation
def what_equates_a_price_with_a_cost_is_a_condition(row):
    published = SHEET & set(row.symbols)
    if not published or published == set(row.symbols) or row.kind == CONDITION:
        assert row.id not in NOT_CONDITIONS, "no exemption needed"
        return
    assert row.id in NOT_CONDITIONS, f"{row.id} is a {row.kind} and speaks of {sorted(published)}"
    assert row.symbols[0] not in SHEET, "an exempt equation only names something, or says the same by other givens"


def test_prices_alone_give_nothing_but_prices_and_their_names():
    """Of all that is published, no equation that joins by itself makes a time, a share of the chips, bytes or tokens."""
    names = {"output_input_ratio", "cache_read_ratio", "break_even_reads"}
    known = SHEET | names
    free = [row for row in by_id().values() if row.kind in CHAINED_BY_ITSELF]
    assert not [row.id for row in free for name in {*row.symbols} - known if {*row.symbols} - {name} <= known]


FROM_BOUNDS = {
    "roofline.latency_floor": "a name for the read of the weights alone; nothing overlaps with it",
    "serving.normalised_cost": "the cost of the step of perfect overlap",
}
"""Definitions that follow from a bound and hold whether it is reached or not, or that name what it is at best."""


def above(row: Equation) -> set[Equation]:
    """All that its derivation rests on."""
    found = {equation(id) for id in parents(row)}
    return found.union(*(above(parent) for parent in found))


@of_every_equation
def what_follows_from_a_bound_is_no_definition(row):
    bounds = [other.id for other in above(row) if other.direction or other.kind == ESTIMATE]
    assert row.kind != DEFINITION or not bounds or row.id in FROM_BOUNDS, f"{row.id} follows from {bounds}: a bound too, or say why not"


# -- words and sources ----------------------------------------------------------------------------------------------


@of_every_equation
def the_words_are_there(row):
    assert row.title.strip() and row.title[0].isupper() and not row.title.endswith(".")
    assert row.statement.strip().endswith(".")
    assert all(text.strip() and not text.endswith(".") for text in row.assumptions)
    assert len(set(row.assumptions)) == len(row.assumptions)


@of_every_equation
def the_sources_can_be_looked_up(row):
    assert row.sources
    for source in row.sources:
        assert isinstance(source, Source)
        assert source.kind in ("talk", "web", "book", "paper", "derivation")
        assert all(text.strip() for text in (source.title, source.author, source.said, source.place))
        assert 2000 < source.year <= 2026
        if source.kind == "derivation":
            assert source.url == ""
        else:
            assert source.url.startswith("https://")
        if source.kind == "talk":
            assert source.url == TRANSCRIPT
            assert 0 <= source.start < source.end <= END_OF_THE_TALK
            assert re.fullmatch(r"\d:\d\d:\d\d-\d:\d\d:\d\d", source.place)
        else:
            assert source.start is source.end is None and source.page.strip()


# -- fingerprints ---------------------------------------------------------------------------------------------------


@of_every_equation
def the_mathematics_is_that_of_the_version(row):
    fault = changed(row, read())
    assert fault is None, fault


@of_every_equation
def every_version_after_the_first_says_what_changed(row):
    assert all(said.strip() and not said.endswith(".") for said in row.changes)


@in_one_test("row", ALL)
def test_an_equation_is_complete_legal_and_unchanged(row):
    each((f"{row.id}: {check.__name__}", partial(check, row)) for check in CHECKS)


def test_no_id_was_dropped_and_no_version_went_back():
    for reference in read():
        id, version = reference.split("@")
        assert id in by_id() or id in RETIRED, f"{id} was published and is gone: retire it, and name its successor"
        assert id in RETIRED or int(version) <= by_id()[id].version, f"{id} went back from version {version}"


@in_one_test("id", RETIRED)
def test_a_retired_id_keeps_its_mathematics_and_names_its_successor(id):
    successor, beside, row = RETIRED[id]
    assert id == row.id not in by_id() and successor in by_id()
    assert not {*row.symbols} <= QUANTITIES.keys() or fingerprint(row) == read()[row.reference]
    assert row.title in cite(row.reference) and successor in cite(row.reference)
    for asked in (id, f"{id}@1"):
        with pytest.raises(RetiredName, match=f"'{id}' was retired; its successor is '{successor}'{' with ' * bool(beside)}{beside}"):
            equation(asked)
    with pytest.raises(RetiredName):
        cited_equation(id)


def planted(**changes):
    """An equation with something of its mathematics, or only of its words, changed."""
    whole = {
        "id": "test.planted",
        "title": "Planted",
        "relation": lambda step_time, compute_time, memory_time: (step_time, maximum(compute_time, memory_time)),
        "statement": "Planted.",
        "sources": equation("roofline.step_time").sources,
    }
    return Equation(**(whole | changes))


def test_an_unknown_symbol_is_named():
    with pytest.raises(UnknownName, match="unknown quantity 'memory_tim'; did you mean 'memory_time'"):
        planted(relation=lambda step_time, memory_tim: (step_time, memory_tim)).sides  # noqa: B018


def test_a_fingerprint_sees_mathematics_and_not_words():
    first = planted()
    written = {first.reference: fingerprint(first)}
    assert changed(first, written) is None
    assert changed(planted(title="Other", statement="Other.", assumptions=("other",)), written) is None
    # Order of writing is not mathematics.
    same = planted(relation=lambda step_time, memory_time, compute_time: (step_time, maximum(memory_time, compute_time)))
    assert changed(same, written) is None
    for changes in (
        {"relation": lambda step_time, compute_time, memory_time: (step_time, compute_time + memory_time)},
        {"relation": lambda step_time, compute_time, weight_time: (step_time, maximum(compute_time, weight_time))},
        {"sense": ">="},
        {"requires": (Requirement(holds=lambda compute_time, memory_time: compute_time < memory_time),)},
    ):
        assert "test.planted changed" in changed(planted(**changes), written)
        assert "no fingerprint" in changed(planted(**changes, changes=("for the test",)), written)


def write() -> int:
    """Adds what is new; returns 1 and writes nothing if an equation changed under its version."""
    written = read()
    faults = [changed(row, written) for row in by_id().values() if row.reference in written]
    faults = [fault for fault in faults if fault]
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    written |= {row.reference: fingerprint(row) for row in by_id().values()}
    FINGERPRINTS.write_text(json.dumps(dict(sorted(written.items())), indent=1) + "\n", encoding="utf-8")
    print(f"{len(written)} fingerprints")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/derive/test_catalogue.py --write")
    sys.exit(write())
