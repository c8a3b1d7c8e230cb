"""Polynomials are added, multiplied and divided as their values are."""

from fractions import Fraction
from math import prod
from random import Random

from derive.expressions.polynomials import (
    add,
    coefficients_by_power,
    common_divisor,
    divide,
    multiply,
    negate,
    product_of,
    split_content,
)

NAMES = ("batch", "chips", "mfu")


def drawn(random: Random, least: int = 0):
    """A polynomial of a few terms; powers below nothing where `least` is."""
    term = lambda: product_of((), tuple((name, random.randint(least, 2)) for name in NAMES))  # noqa: E731
    return {term(): random.choice((-6, -4, -1, 2, 3, 12)) for _ in range(random.randint(2, 4))}


def value(one, at):
    return sum(count * prod(at[name] ** power for name, power in term) for term, count in one.items())


def test_what_is_done_with_polynomials_is_done_with_their_values():
    random = Random(7)
    for _ in range(40):
        one, other = drawn(random, -2), drawn(random)
        at = {name: Fraction(random.randint(1, 9), random.randint(1, 9)) for name in NAMES}
        assert value(add(one, other), at) == value(one, at) + value(other, at)
        assert value(multiply(one, other), at) == value(one, at) * value(other, at)
        assert add(one, negate(one)) == {}
        content, rest = split_content(one)
        assert value(multiply({content: 1}, rest), at) == value(one, at) and split_content(rest)[0] == ()
        assert sum(at["chips"] ** power * value(part, at) for power, part in coefficients_by_power(one, "chips").items()) == value(one, at)


def test_what_was_multiplied_in_is_divided_out_and_nothing_else():
    random = Random(8)
    for _ in range(40):
        one, other = drawn(random, -2), split_content(drawn(random))[1]
        number = common_divisor(other)
        other = {term: count // number for term, count in other.items()}
        assert divide(multiply(one, other), other) == one
        assert divide(add(multiply(one, other), {(("odd", 1),): 1}), other) is None or len(other) == 1
