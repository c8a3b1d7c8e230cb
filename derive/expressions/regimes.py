"""What SymPy makes of a formula: its smooth regimes, each with the inequalities under which it holds, and the closed forms in each.

SymPy cannot solve equations that hold a Max. Replacing innermost ones first by each of their arguments leaves
smooth expressions that it can solve; the inequalities say which argument won.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from derive.trees import Tree, tree_of

if TYPE_CHECKING:
    from sympy import Expr


LARGE = 60
"""Operations of an expression beyond which its roots are left to numbers: SymPy may take minutes to hold a root against it."""


@dataclass(frozen=True, slots=True)
class Smooth:
    """A smooth expression, and the (larger, smaller) pairs that make it the value of the whole."""

    expression: "Expr"
    wins: "tuple[tuple[Expr, Expr], ...]" = ()

    @property
    def label(self) -> str | None:
        """The inequalities in words of the registry, or None where the whole is smooth.

        >>> from derive.catalogue import equation
        >>> [regime.label for regime in regimes(equation("experts.scale_out_slowdown").sides[1])][0]
        '1/racks >= scale_out_bandwidth_ratio*(racks - 1)/racks'
        """
        return in_words(self.wins)


@cache
def in_words(wins: "tuple[tuple[Expr, Expr], ...]") -> str | None:
    """The inequalities of a regime in words of the registry; None where it has none."""
    return " and ".join(dict.fromkeys(f"{larger} >= {smaller}" for larger, smaller in wins)) or None


@cache
def regimes(expression: "Expr") -> tuple[Smooth, ...]:
    """All smooth regimes of an expression; one without Max or Min is its own.

    A Max and a Min of the same terms are decided together, so that no regime contradicts itself.
    """
    return tuple(dict.fromkeys(_split(expression, ())))


def _split(expression: "Expr", wins: "tuple[tuple[Expr, Expr], ...]") -> Iterator[Smooth]:
    from sympy import Max, Min, postorder_traversal

    node = next((part for part in postorder_traversal(expression) if isinstance(part, (Max, Min))), None)
    if node is None:
        yield Smooth(expression, wins)
        return
    for chosen in sorted(node.args, key=str):
        others = [other for other in node.args if other is not chosen]
        pairs = tuple((chosen, other) if isinstance(node, Max) else (other, chosen) for other in others)
        if not any((smaller, larger) in wins for larger, smaller in pairs):
            yield from _split(expression.xreplace({node: chosen}), tuple(dict.fromkeys(wins + pairs)))


@cache
def as_tree(expression: "Expr") -> Tree:
    """An expression as the tree that it is printed as.

    >>> from derive.quantities import symbol
    >>> as_tree(symbol("batch") / symbol("chips") - 1)
    ('+', ('/', 'batch', 'chips'), ('-', 1))
    """
    return tree_of(str(expression))


def trees_of_roots(difference: "Expr", x: "Expr") -> tuple[Tree, ...] | None:
    """The closed forms of x as trees."""
    roots = closed_forms(difference, x)
    return None if roots is None else tuple(map(as_tree, roots))


@cache
def turning_points(difference: "Expr", x: "Expr") -> tuple[tuple[Tree, tuple[Tree, ...] | None], ...]:
    """What is zero where a difference changes sign, with the closed forms of where that is: it itself, and what it is divided by."""
    from sympy import fraction, together

    parts = (difference, fraction(together(difference))[1])
    return tuple((as_tree(part), trees_of_roots(part, x)) for part in parts if part.has(x))


@cache
def closed_forms(difference: "Expr", x: "Expr") -> "tuple[Expr, ...] | None":
    """The roots of a smooth expression in closed form, or None where none is known to elementary functions.

    Where it is linear in the unknown or in its reciprocal, the root keeps the shape in which it was written. Cubics
    and beyond are left to numbers: their closed forms pass through complex ones.
    """
    found = one_root(difference, x)
    if found is not None or _tangled(difference, x):
        return found
    numerator, coefficients = _polynomial(difference, x)
    if len(coefficients) > 3 or numerator.count_ops() > LARGE or _mixes_powers(numerator, x):
        return None
    return _solved(numerator, x)


@cache
def one_root(difference: "Expr", x: "Expr") -> "tuple[Expr, ...] | None":
    """The same where there is at most one root, by its shape; None where there may be more, or it takes more than that to see."""
    from sympy import Pow, diff

    # A power of a sum that holds the unknown is linear in neither, and its derivative takes long.
    if not any(power.base.is_Add and power.base.has(x) for power in difference.atoms(Pow)):
        slope = diff(difference, x)
        if not slope.has(x):
            height = _at_zero(difference, slope, x)
            return (_tidy(-height / slope),) if slope else ()
        reciprocal = difference.subs(x, 1 / x)
        slope = diff(reciprocal, x)
        if not slope.has(x):
            height = _at_zero(reciprocal.expand(power_base=False, power_exp=False), slope, x)
            return (_tidy(-slope / height),) if height else ()
    isolated = _under_one_power(difference, x)
    isolated = _in_one_logarithm(difference, x) if isolated is None else isolated
    if isolated is not None:
        return isolated
    if _tangled(difference, x):
        return None
    numerator, coefficients = _polynomial(difference, x)
    if len(coefficients) == 1:
        # The unknown only seemed to be there.
        return ()
    if len(coefficients) == 2:
        return (_tidy(-coefficients[1] / coefficients[0]),)
    return _solved(numerator, x) if len(coefficients) > 2 and not any(coefficients[1:-1]) and not _mixes_powers(numerator, x) else None


@cache
def _polynomial(difference: "Expr", x: "Expr") -> "tuple[Expr, tuple[Expr, ...]]":
    """The expression over one line, and its coefficients if that is a polynomial in x; else none."""
    from sympy import Poly, PolynomialError, fraction, together

    numerator = fraction(together(difference))[0]
    try:
        return numerator, tuple(Poly(numerator, x).all_coeffs())
    except PolynomialError:
        return numerator, ()


def _solved(numerator: "Expr", x: "Expr") -> "tuple[Expr, ...] | None":
    """All roots: of a square by its coefficients, of what else there is by SymPy, if it has them and they are elementary."""
    from sympy import solve

    _, coefficients = _polynomial(numerator, x)
    if len(coefficients) == 3:
        return _roots_of_square(*coefficients)
    try:
        roots = solve(numerator, x)
    except NotImplementedError:
        return None
    return tuple(_tidy(root) for root in roots) if roots and all(_elementary(root) for root in roots) else None


def _roots_of_square(square: "Expr", line: "Expr", height: "Expr") -> "tuple[Expr, ...]":
    """The roots of a x**2 + b x + c in the shape in which they are read; equal ones once. `solve` takes seconds to simplify them."""
    from sympy import Abs, expand, factor_terms, sqf, sqrt

    if square.could_extract_minus_sign():
        square, line, height = -square, -line, -height
    # Of a whole square either root will do, as both are taken: the size of it would only be read less easily.
    parted = factor_terms(sqrt(sqf(expand(line**2 - 4 * square * height)))).replace(Abs, lambda inner: inner)
    # The line in its single terms, so that where digits are lost between them and the square root is seen.
    shared = ((sign * parted - expand(line)).primitive() for sign in (-1, 1))
    return tuple(dict.fromkeys(_tidy(rest / factor_terms(2 * square / share)) for share, rest in shared))


def _at_zero(line: "Expr", slope: "Expr", x: "Expr") -> "Expr":
    """What is left of a line at x = 0; where x stands above and below a fraction, it has to be cancelled before 0 is put in."""
    from sympy import cancel, nan, together, zoo

    height = line.subs(x, 0)
    return cancel(together(line - slope * x)) if height.has(nan, zoo) else height


def _under_one_power(difference: "Expr", x: "Expr") -> "tuple[Expr, ...] | None":
    """The root where the unknown stands in one power with a symbol for exponent, in a form that does not overflow.

    Powers inside that power are left to its base, and whole ones outside it to what is above and below the line.
    """
    from sympy import Dummy, Pow, fraction, log, together

    holding = [part for part in difference.atoms(Pow) if part.has(x) and not part.exp.is_Integer]
    powers = [part for part in holding if not any(other != part and other.has(part) for other in holding)]
    if len(powers) != 1 or powers[0].exp.is_Number or (powers[0].base.has(x) and powers[0].exp.has(x)):
        return None
    height = Dummy(positive=True)
    outside = difference.xreplace({powers[0]: height})
    if outside.diff(height).has(height):
        # Below the line it may be as good as above it.
        outside = fraction(together(outside))[0]
    if outside.has(x) or outside.diff(height).has(height):
        return None
    value = -outside.subs(height, 0) / outside.diff(height)
    base, exponent = powers[0].args
    if exponent.has(x) and value.is_zero:
        # No power comes to nothing, whatever its exponent.
        return ()
    return closed_forms(exponent - log(value) / log(base) if exponent.has(x) else base - value ** (1 / exponent), x)


def _in_one_logarithm(difference: "Expr", x: "Expr") -> "tuple[Expr, ...] | None":
    """The root where the unknown stands in one logarithm alone, of which `solve` takes seconds to simplify the exponential."""
    from sympy import Dummy, exp, log

    logarithms = [part for part in difference.atoms(log) if part.has(x)]
    if len(logarithms) != 1:
        return None
    height = Dummy(real=True)
    outside = difference.xreplace({logarithms[0]: height})
    slope = outside.diff(height)
    if outside.has(x) or slope.has(height):
        return None
    return one_root(logarithms[0].args[0] - exp(-outside.subs(height, 0) / slope), x)


def _tangled(difference: "Expr", x: "Expr") -> bool:
    """Whether x stands in a logarithm or a power with a symbol for exponent, and elsewhere too: SymPy takes minutes, in vain."""
    from sympy import Dummy, Pow, log

    parts = [part for part in difference.atoms(Pow, log) if part.has(x) and not (part.is_Pow and part.exp.is_Number)]
    return len(parts) > 1 or (len(parts) == 1 and difference.xreplace({parts[0]: Dummy()}).has(x))


def _mixes_powers(numerator: "Expr", x: "Expr") -> bool:
    """Whether a root or an exponential of x stands beside another function of it: SymPy takes long over those, in vain."""
    from sympy import Dummy, Pow

    parts = [
        part for part in numerator.atoms(Pow) if part.exp.has(x) or (part.base == x and part.exp.is_Rational and not part.exp.is_Integer)
    ]
    return len(parts) > 1 or (len(parts) == 1 and numerator.xreplace({parts[0]: Dummy()}).has(x))


def _tidy(root: "Expr") -> "Expr":
    """The same root with common factors outside and no needless minus signs."""
    from sympy import factor_terms, fraction

    numerator, denominator = fraction(root)
    if denominator.could_extract_minus_sign():
        numerator, denominator = -numerator, -denominator
    numerator, denominator = factor_terms(numerator), factor_terms(denominator)
    if numerator.as_coeff_Mul()[0] < 0:
        above, below = _turned(-numerator), _turned(denominator)
        return above / denominator if above is not None else -numerator / (-denominator if below is None else below)
    return numerator / denominator


def _turned(product: "Expr") -> "Expr | None":
    """Minus the product, its sign put into a sum it has for a factor: a (b - c) as a (c - b)."""
    from sympy import Mul

    total = next((factor for factor in Mul.make_args(product) if factor.is_Add), None)
    return None if total is None else product / total * -total


def _elementary(root: "Expr") -> bool:
    from sympy import Function, exp, log
    from sympy.polys.rootoftools import RootOf

    return not root.has(RootOf) and all(isinstance(part, (exp, log)) for part in root.atoms(Function))
