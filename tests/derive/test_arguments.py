"""What a function takes, as `inspect.signature` has it."""

from functools import partial, wraps
from inspect import signature

from derive.arguments import argument_names
from derive.catalogue import by_id
from derive.records import in_place, solved_claim


def ratio(batch: float, chips: float) -> float:
    """One with a local name beside its parameters."""
    found = batch / chips
    return found


@wraps(ratio)
def around(*arguments: float) -> float:
    return ratio(*arguments)


def test_the_names_are_those_of_the_signature():
    for function in (ratio, around, partial(ratio, 1.0), in_place(ratio, {"chips": 8}), lambda: 1):
        assert argument_names(function) == tuple(signature(function).parameters)
    claim = solved_claim(lambda memory_time, kv_time: (memory_time, kv_time), "kv_time", "memory_time")
    assert argument_names(claim) == ("kv_time", "memory_time")


def test_every_equation_and_requirement_has_those_of_its_signature():
    for row in by_id().values():
        for function in (row.relation, *(one.holds for one in row.requires)):
            assert argument_names(function) == tuple(signature(function).parameters), row.id
