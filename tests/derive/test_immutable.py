"""Records behave as frozen dataclasses do."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from functools import cached_property

import pytest

from derive.catalogue import by_id
from derive.immutable import immutable
from derive.quantities import CONSTANTS, QUANTITIES


@immutable
class Pair:
    """Two numbers, a note that is not compared, and a list of its own."""

    first: int
    second: int = 2
    note: str = field(default="", compare=False)
    more: list[int] = field(default_factory=list)

    @cached_property
    def total(self) -> int:
        return self.first + self.second


@immutable(kw_only=False)
class Place:
    """A point that is given by place or by name."""

    x: float
    y: float = 0.0


@immutable(eq=False)
class Thing:
    """A record that equals itself alone."""

    name: str


@immutable
class Longer(Pair):
    """A record with one field more than another."""

    third: int

    def __post_init__(self) -> None:
        if self.third < 0:
            raise ValueError("third")


def test_a_function_is_a_default_and_no_method():
    @immutable
    class Rule:
        turn: Callable[[int], int] = lambda one: -one

    assert Rule().turn(2) == -2 == Rule(turn=lambda one: -one).turn(2)


def test_records_are_equal_by_value_and_never_change():
    one = Place(1.0)
    assert one == Place(1.0) and hash(one) == hash(Place(1.0)) and one != Place(2.0) and one != (1.0, 0.0)
    assert Pair(first=1, note="a") == Pair(first=1, note="b") and Thing(name="a") != Thing(name="a")
    assert Pair(first=1) != Longer(first=1, third=3)
    for change in (lambda: setattr(one, "x", 2.0), lambda: setattr(one, "z", 2.0), lambda: delattr(one, "x")):
        with pytest.raises(FrozenInstanceError):
            change()


def test_arguments_that_are_wrong_are_named():
    for wrong, name in ((Pair, "first"), (lambda: Pair(first=1, secnod=2), "secnod"), (lambda: Place(1.0, 2.0, 3.0), "Place")):
        with pytest.raises(TypeError, match=name):
            wrong()


def test_the_functions_of_dataclasses_work():
    one = Longer(first=1, third=3)
    assert one.total == 3 and is_dataclass(one) and [part.name for part in fields(one)] == ["first", "second", "note", "more", "third"]
    moved = replace(one, first=5)
    assert moved.total == 7 and asdict(moved) == {"first": 5, "second": 2, "note": "", "more": [], "third": 3}
    with pytest.raises(ValueError, match="third"):
        replace(one, third=-1)
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one and other.total == 3


def test_every_row_has_all_arguments_that_it_needs_and_no_other():
    rows = [*by_id().values()]
    inner = [part for row in rows for part in (row.variant, *row.sources, *row.requires) if part]
    for one in (*rows, *inner, *QUANTITIES.values(), *CONSTANTS.values()):
        known = {part.name: part.init and part.default is part.default_factory is MISSING for part in fields(one)}
        needed, given = {name for name, missing in known.items() if missing}, vars(one).keys()
        derived = {name for name in given if isinstance(getattr(type(one), name, None), cached_property)}
        assert needed <= given and given - derived <= known.keys(), one
