"""One equation, any unknown: points, an interval, or a reason.

The symbolic side is worked out once per (equation, unknown): every regime of the right side, and in it the closed
forms of the unknown. The numbers decide: a root counts only if the whole equation holds there. An unknown
that dropped out of the regime in force is known only by an interval, whose ends are where another term takes over.

Numbers are rounded, so what holds is ranked: for the very numbers given, for numbers that differ from them in the last digits only, or
to a billionth. An answer of the last rank is one only where there is no other. If floating point cannot decide, 50 digits do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import inf, isclose, isfinite, isnan, log
from typing import NamedTuple

from derive.expressions.branches import Branch, branches, turning_points
from derive.expressions.digits import LAST_DIGITS, clamp, has_difference, loses_digits, root_in_50_digits
from derive.expressions.roots import elasticities, has_no_effect, is_in_domain, is_negligible, is_rounding, is_zero, real_roots
from derive.quantities import quantity
from derive.records import HOLDS, Equation, right_side_at, tree_of_function
from derive.solving.engine.legs import Composed
from derive.solving.result import Answer, Reason, WhenRead
from derive.trees import Tree, TreePair, difference, evaluate, names, precise, slopes, terms, text
from derive.units import show

_Row = Equation | Composed
"""An equation of the catalogue, or one that follows from several."""

_Values = Mapping[str, float]

_SETTLED = 1e-5
"""Relative difference up to which the right side no longer moves at the edge of the domain."""

_EXACTLY, _ROUNDED, _NEARLY = 0, 1, 2
"""How well something holds: for these numbers, for numbers with other last digits, to a billionth."""

_DOUBTFUL = 1e-2
"""Relative difference of the sides from which on the nearest number of floating point is no root, unless a formula loses digits."""

_ROUNDING = 1e-15
"""By what share of itself a number may be off for having been worked out in floating point."""

_LOOSE = 1e-3
"""Relative distance beside a root at which it is seen whether an equation holds there too."""


class _Cut(NamedTuple):
    """A value of the unknown at which something changes, its closed form, and the expression that is zero there."""

    value: float
    root: Tree | None
    difference: Tree


class _Found(NamedTuple):
    """An answer, how well it holds, the regime in which it does, and the values with a point in 50 digits."""

    answer: Answer
    rank: int
    branch: Branch
    many_digits: Callable[[], _Values] = dict


def solve_equation(equation: _Row, unknown: str, given: _Values) -> tuple[tuple[Answer, ...], Reason | None]:
    """Return all answers of one equation for one of its quantities at values of the others [SI], or the reason of a refusal."""
    values = {name: given[name] for name in equation.symbols if name != unknown}
    if equation.unmet(values):
        return (), broken_requirement(equation, unknown, [values])
    found = _answers(equation, unknown, values)
    if not found:
        return (), _no_solution(equation, unknown, values)
    places = [{**values, unknown: value_inside(answer)} for answer in found]
    if kept := tuple(answer for answer, there in zip(found, places, strict=True) if not equation.unmet(there)):
        return kept, None
    unmet = broken_requirement(equation, unknown, places)
    return (), replace(unmet, message=unmet.message + _looked_for(equation, unknown))


def residual(equation: _Row, values: _Values) -> float:
    """Return |left - right| over the larger of the two, at numbers for every quantity of the equation."""
    error = _relative(equation.left_side(values), right_side_at(equation, values))
    if not error > LAST_DIGITS:
        return error
    left, right = equation.trees
    return float(_relative(precise(left, values), precise(right, values)))


def sides_agree(equation: _Row, values: _Values, share: float) -> bool:
    """Return whether the sides differ by at most a share of the larger, or by no more than the values' last digits explain."""
    if not _relative(equation.left_side(values), right_side_at(equation, values)) > share or not residual(equation, values) > share:
        return True
    left, right = equation.trees
    at = {name: values[name] for name in equation.symbols}
    return is_zero(difference(left, right), at)


def _relative(left: float, right: float) -> float:
    scale = max(abs(left), abs(right))
    return abs(left - right) / scale if scale else 0.0


def _answers(equation: _Row, unknown: str, values: _Values) -> list[Answer]:
    if equation.sense != "=":
        return _solve_inequality(equation, unknown, values)
    found = (found for branch in branches(equation, unknown) for found in _answers_of_branch(equation, branch, unknown, values))
    return _merge(unknown, values, [*found])


def _answers_of_branch(equation: _Row, branch: Branch, unknown: str, values: _Values) -> list[_Found]:
    """Return the points of a regime, or an interval if the unknown is not in it or its coefficient is zero."""
    if branch.absent:
        return _interval_of_regime(equation, branch, unknown, values)
    found = real_roots(branch.difference, branch.roots, unknown, values)
    points = [point for value, root in found for point in _check_point(equation, branch, unknown, values, value, root)]
    # Of a block, what looks like a root may be the rounding of quantities that were worked out before.
    nothing = (not found or not (points or isinstance(equation, Equation))) and not _is_made_alone(equation, unknown)
    if not (nothing and any(out(branch.difference, unknown, values) for out in (is_rounding, has_no_effect))):
        return points
    # That it drops out is known no better than the numbers its coefficient is made of.
    rank = _residual_without(branch, unknown, values)
    return [one._replace(rank=max(one.rank, rank)) for one in _interval_of_regime(equation, branch, unknown, values)]


def _is_made_alone(equation: _Row, unknown: str) -> bool:
    """Return whether the unknown is the left side alone. Then it equals the right side."""
    left, right = equation.trees
    return left == unknown and unknown not in names(right)


def _residual_without(branch: Branch, unknown: str, values: _Values) -> int:
    """Return how well an equation holds if the unknown drops out of it at these numbers."""
    error = abs(evaluate(branch.difference, at := {**values, unknown: quantity(unknown).high}))
    return _ROUNDED if error <= LAST_DIGITS * max(abs(evaluate(term, at)) for term in terms(branch.difference)) else _NEARLY


def _check_point(equation: _Row, branch: Branch, unknown: str, values: _Values, value: float, root: Tree | None) -> list[_Found]:
    """Return the root as an answer if the whole equation holds there, in this regime."""
    at = {**values, unknown: value}
    loose = _looseness(branch, root, unknown, at)
    if loose > 1 and quantity(unknown).may_be_zero and sides_agree(equation, {**values, unknown: 0.0}, LAST_DIGITS):
        # It is the rounding of a difference that is zero.
        at, loose = {**values, unknown: 0.0}, 0.0
    many_digits = cache(lambda: _root_exactly(branch, root, unknown, at))
    rank = _rank(branch.regime.wins, at, many_digits, loose)
    if rank is None:
        return []
    error = _relative(equation.left_side(at), right_side_at(equation, at))
    lost = any(map(loses_digits, equation.trees)) or (root is not None and has_difference(root) and not _DOUBTFUL < error < inf)
    if not (error <= LAST_DIGITS or lost or is_negligible(lambda at: equation.left_side(at) - right_side_at(equation, at), at, HOLDS)):
        return []
    if loose > HOLDS or not error <= LAST_DIGITS:
        exact = many_digits()
        alike = _rank_equality(equation.trees[0], branch.regime.expression, exact)
        if alike is None or (exact is at and loose > 1):
            # There is none in many digits: rounding alone made it.
            return []
        at = {**values, unknown: float(exact[unknown])}
        rank, error = _rank(branch.regime.wins, at, many_digits, loose), residual(equation, at)
        if rank is not None and (alike == _NEARLY or error > LAST_DIGITS):
            rank = None if _holds_beside(equation, unknown, at) else _NEARLY
        if rank is None:
            return []
    slopes = WhenRead(lambda: elasticities(branch.difference, unknown, at))
    formula = text(root) if root is not None else None
    point = Answer(kind="point", value=at[unknown], regime=branch.regime.label, formula=formula, residual=error, elasticities=slopes)
    return [_Found(point, rank, branch, many_digits)]


def _holds_beside(equation: _Row, unknown: str, at: _Values) -> bool:
    """Return whether the sides are equal to a billionth a thousandth beside a root that is one to a billionth: it may be anywhere then."""
    beside = ({**at, unknown: at[unknown] * (1 + step)} for step in (-_LOOSE, _LOOSE))
    return any(_relative(equation.left_side(moved), right_side_at(equation, moved)) <= HOLDS for moved in beside)


def _root_exactly(branch: Branch, root: Tree | None, unknown: str, at: _Values) -> _Values:
    """Return the values with the root in 50 digits. The unknown is unchanged if no root is near or in its domain."""
    exact = root_in_50_digits(branch.difference, root, unknown, at)
    put = at[unknown] if exact is None else clamp(unknown, exact)
    return {**at, unknown: put} if is_in_domain(unknown, float(put)) else at


def _looseness(branch: Branch, root: Tree | None, unknown: str, at: _Values) -> float:
    """Return the relative error of a root that comes from rounding of its inputs, or 0 if it is not magnified."""
    if not at[unknown] or (root is not None and not has_difference(root)):
        return 0.0
    return _ROUNDING * _room(branch.difference, unknown, at) / at[unknown]


def _room(difference: Tree, unknown: str, at: _Values) -> float:
    """Return by how much a root moves if all inputs move by their own size, or infinity if it has no slope."""
    slope = slopes_at(difference, at)
    return sum(abs(at[name] * by) for name, by in slope.items()) / abs(slope[unknown]) if slope.get(unknown) else inf


def slopes_at(tree: Tree, at: _Values) -> dict[str, float]:
    """Return the slopes of a formula by its quantities, or none outside its domain."""
    try:
        return slopes(tree, at)[1]
    except (ArithmeticError, ValueError, TypeError):
        return {}


def _rank(wins: Iterable[TreePair], at: _Values, many_digits: Callable[[], _Values], loose: float = 0.0) -> int | None:
    """Return how exactly the inequalities of a regime are true, by the worst of them, or None if one is false.

    If an error exceeds the difference of two terms, they are compared in many digits. `loose` is by how much the unknown may be.
    """
    worst = _EXACTLY
    for larger, smaller in wins:
        clear = _is_clearly_larger(larger, smaller, at, loose)
        if clear is None and not precise(larger, many_digits()) >= precise(smaller, many_digits()):
            rank = _rank_equality(larger, smaller, many_digits())
        else:
            rank = None if clear is False else _EXACTLY
        if rank is None:
            return None
        worst = max(worst, rank)
    return worst


def _is_clearly_larger(larger: Tree, smaller: Tree, at: _Values, loose: float) -> bool | None:
    """Return whether a term is the larger one of two, or None if floating point cannot tell."""
    one, other = evaluate(larger, at), evaluate(smaller, at)
    if loses_digits(larger) or loses_digits(smaller):
        return None
    size = max(abs(one), abs(other))
    if loose or has_difference(larger) or has_difference(smaller):
        size = max(size, *(sum(abs(at[name] * by) for name, by in slopes_at(side, at).items()) for side in (larger, smaller)))
    return one > other if abs(one - other) > max(HOLDS, loose) * size else None


def _rank_equality(first: Tree, second: Tree, exact: _Values) -> int | None:
    """Return how well two terms are equal, in 50 digits, or None if they are not."""
    if is_zero(difference(first, second), exact):
        return _ROUNDED
    return _NEARLY if _relative(precise(first, exact), precise(second, exact)) <= HOLDS else None


def _interval_of_regime(equation: _Row, branch: Branch, unknown: str, values: _Values) -> list[_Found]:
    """Return all values that keep the regime in force and meet the requirements, if the equation holds without the unknown."""
    probe = {**values, unknown: quantity(unknown).high}
    rank = _rank_equality(equation.trees[0], branch.regime.expression, probe)
    if rank is None:
        return []
    cuts = [cut for pair in branch.regime.wins for cut in _cuts(pair, unknown, values)]
    low, high = 0.0, inf
    if not branch.absent and not has_no_effect(branch.difference, unknown, values):
        # An effect below the last digits was only looked for where the unknown is found in practice.
        low, high = quantity(unknown).low, quantity(unknown).high
        cuts += [_Cut(end, None, branch.difference) for end in (low, high)]

    def stretches(worst: int) -> list[Answer]:
        def holds(value: float) -> bool:
            at = {**values, unknown: value}
            here = _rank(branch.regime.wins, at, lambda: at) if low <= value <= high else None
            return here is not None and here <= worst

        return _stretches(equation, unknown, values, cuts, holds, branch.regime.label)

    return [_Found(answer, rank, branch) for answer in stretches(_EXACTLY) or stretches(_ROUNDED)]


def _solve_inequality(equation: _Row, unknown: str, values: _Values) -> list[Answer]:
    """Return the intervals of the unknown on which an inequality holds."""
    present = [branch for branch in branches(equation, unknown) if not branch.absent]
    poles = (pole for one in present for pole in turning_points((equation.trees[0], one.regime.expression), unknown)[1:])
    parts = (*poles, *((one.difference, one.roots) for one in present))
    cuts = [_Cut(value, root, part) for part, roots in parts for value, root in real_roots(part, roots, unknown, values)]

    def holds(value: float) -> bool:
        at = {**values, unknown: value}
        left, right = equation.left_side(at), right_side_at(equation, at)
        return left >= right if equation.sense == ">=" else left <= right

    if found := _stretches(equation, unknown, values, cuts, holds, None):
        return found
    # An inequality may leave nothing but the least value of all, or the bound of a requirement.
    ends = {quantity(unknown).floor, *(cut.value for cut in _required_cuts(equation, unknown, values))}
    return [Answer(kind="point", value=end, residual=0.0) for end in sorted(ends) if end > 0 and holds(end)]


def _required_cuts(equation: _Row, unknown: str, values: _Values) -> list[_Cut]:
    """Return the cuts at which the sides of a requirement are equal, or where the larger of two terms changes."""
    compared_trees = (tree_of_function(needed.holds) for needed in equation.requires)
    pairs = (tree[1:] for tree in compared_trees if isinstance(tree, tuple))
    return [cut for pair in pairs for cut in _cuts(pair, unknown, values)]


def _cuts(pair: TreePair, unknown: str, values: _Values) -> list[_Cut]:
    """Return where the larger of a pair may become the smaller: where both are equal, and where a denominator is zero."""
    found = ((part, real_roots(part, roots, unknown, values)) for part, roots in turning_points(pair, unknown))
    return [_Cut(value, root, part) for part, roots in found for value, root in roots]


def _stretches(
    equation: _Row, unknown: str, values: _Values, cuts: list[_Cut], holds: Callable[[float], bool], regime: str | None
) -> list[Answer]:
    """Return the parts of the domain between cuts on which all holds, with neighbours joined."""
    required = _required_cuts(equation, unknown, values)
    floor, ceiling = quantity(unknown).floor, quantity(unknown).ceiling
    by_value = {cut.value: cut for cut in (*cuts, *required) if floor < cut.value < ceiling}
    ends = [floor, *sorted(by_value), ceiling]
    joined: list[tuple[float, float]] = []
    for low, high in pairwise(ends):
        if not all(map(holds, _points_of_interval(unknown, low, high))) or equation.unmet({**values, unknown: _middle(low, high)}):
            continue
        begin = joined.pop()[0] if joined and joined[-1][1] == low else low
        joined.append((begin, high))
    return [_stretch(unknown, values, low, high, by_value, regime) for low, high in joined]


def _stretch(unknown: str, values: _Values, low: float, high: float, cuts: Mapping[float, _Cut], regime: str | None) -> Answer:
    """Return an interval as an answer, with the formula and elasticities of its finite ends."""
    told = [(sign, cuts[end].root) for end, sign in ((low, ">="), (high, "<=")) if end in cuts]
    formula = " and ".join(f"{unknown} {sign} {text(root)}" for sign, root in told if root is not None)
    end = high if high in cuts else low
    slopes = WhenRead(lambda: elasticities(cuts[end].difference, unknown, {**values, unknown: end}) if end in cuts else {})
    top = high if isfinite(high) else None
    return Answer(kind="interval", low=low, high=top, regime=regime, formula=formula or None, residual=0.0, elasticities=slopes)


def _middle(low: float, high: float) -> float:
    """Return a number well inside an interval, which may be unbounded."""
    if isfinite(high):
        return (low + high) / 2
    return 2 * low if low else 1.0


def _points_of_interval(unknown: str, low: float, high: float) -> tuple[float, ...]:
    """Return numbers from one end of an interval to the other. An equation that holds at one end by rounding fails at others."""
    if isfinite(high):
        return tuple(low + share * (high - low) for share in (0.001 if low else 1e-12, 0.5, 0.999))
    row = quantity(unknown)
    return _middle(low, high), max(2 * low, row.low or row.at(0.001)), max(2 * low, row.high)


def value_inside(answer: Answer) -> float:
    """Return the value of a point, or a value well inside an interval."""
    return answer.point if answer.kind == "point" else _middle(answer.least, inf if answer.high is None else answer.high)


def _merge(unknown: str, values: _Values, found: list[_Found]) -> list[Answer]:
    """Return the answers of several regimes, with touching intervals joined and repeated points dropped, the better one first.

    An answer that holds nearly is dropped beside one that holds, and one that holds by rounding is dropped next to one that holds.
    """
    found = [one for one in found if one.rank != _NEARLY] or found
    intervals = _joined([one.answer for one in found if one.answer.kind == "interval"])
    kept: list[_Found] = []
    for one in sorted((one for one in found if one.answer.kind == "point"), key=lambda one: (one.rank, one.answer.residual)):
        value = one.answer.point
        inside = any(i.least * (1 - HOLDS) <= value and (i.high is None or value <= i.high * (1 + HOLDS)) for i in intervals)
        if not inside and not any(_are_one(unknown, values, one, other) for other in kept):
            kept.append(one)
    return [*sorted((one.answer for one in kept), key=lambda answer: answer.point), *intervals]


def _are_one(unknown: str, values: _Values, *found: _Found) -> bool:
    """Return whether two points differ by a billionth at most, or by no more than rounding moves them, and are not two roots in 50 digits.

    A double root may move far.
    """
    places = [one.answer.point for one in found]
    off = sum(_room(one.branch.difference, unknown, {**values, unknown: one.answer.point}) for one in found)
    # A zero is the rounding of a difference.
    exact = all(one.rank == _EXACTLY and one.answer.point for one in found)
    rounded = abs(places[0] - places[1]) <= LAST_DIGITS * off and (off < inf or found[0].rank != _EXACTLY)
    two = exact and len({float(one.many_digits()[unknown]) for one in found}) == len(found)
    return (isclose(*places, rel_tol=HOLDS) or rounded) and not two


def _joined(intervals: list[Answer]) -> list[Answer]:
    joined: list[Answer] = []
    for answer in sorted(intervals, key=lambda a: a.least):
        last = joined[-1] if joined else None
        if last is None or (last.high is not None and answer.least > last.high * (1 + HOLDS)):
            joined.append(answer)
        elif last.high is not None and (answer.high is None or answer.high > last.high):
            joined[-1] = replace(answer, low=last.low, formula=None)
    return joined


def broken_requirement(equation: _Row, unknown: str, at: Sequence[_Values]) -> Reason:
    """Return what is required and not met at all of these values: in words if the equation has them, with the numbers of the first."""
    unmet = {one.text: one for values in at for one in equation.unmet(values)}
    meant = " and ".join(dict.fromkeys(one.meaning for one in unmet.values() if one.meaning))
    ids = dict.fromkeys(one.id for one in unmet.values())
    names = dict.fromkeys(name for one in equation.unmet(at[0]) for name in one.names)
    facts = _listed([f"{name} {'would be' if name == unknown else 'is'} {show(name, at[0][name])}" for name in names])
    required = f"{_listed([*ids])} require{'s' * (len(ids) == 1)} {_listed([*unmet])}"
    message = f"{meant and meant + ': '}{required}{facts and ', but ' + facts}"
    return Reason(code="requirement_violated", violated=tuple(unmet), message=message)


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)


def _no_solution(equation: _Row, unknown: str, values: _Values) -> Reason:
    """Return why no value in the domain is a solution."""
    if not isinstance(equation, Equation) and equation.unmet(known := follow_equations(equation.rows, values)):
        return broken_requirement(equation, unknown, [known])
    left, right = equation.trees
    if open_why := _explain_undecided(equation, unknown, values):
        return Reason(code="not_identified", message=f"{unknown} cannot be decided from these inputs: {open_why}")
    violated = (f"{text(left)} {equation.sense} {text(right)}",)
    return Reason(code="no_solution", violated=violated, look_up=lambda: ((), _tell_no_solution(equation, unknown, values)))


def _tell_no_solution(equation: _Row, unknown: str, values: _Values) -> str:
    """Return the text of the range of the right side against the given left side."""
    row, name = quantity(unknown), equation.symbols[0]
    message = f"no {unknown} {row.domain} satisfies {equation.told}"
    roots = ((branch, evaluate(root, values)) for branch in branches(equation, unknown) for root in branch.roots or ())
    if beyond := [root for branch, root in roots if row.ceiling < root < inf and _is_in_regime(branch, {**values, unknown: root})]:
        return f"{message}: it would have to be {show(unknown, beyond[0])}"
    left, right = equation.trees
    if not isinstance(left, str) or left in names(right):
        bounded = not isinstance(equation, Equation) and equation.sense != "="
        return (bounded and _tell_broken_bound(equation, unknown, values)) or message
    if name == unknown:
        found, zeros = right_side_at(equation, values), [other for other in equation.symbols if values.get(other) == 0]
        if zeros and not isfinite(found):
            return f"with {_listed([f'{other} = 0' for other in zeros])} nothing limits {unknown} in {equation.told}"
        made = ", ".join(f"{other} = {show(other, values[other])}" for other in equation.symbols if other != unknown)
        return f"{message}: it is {show(unknown, found)} from {made}"
    reach = _reach_in_words(name, lambda value: right_side_at(equation, {**values, unknown: value}), _probes(unknown))
    if reach:
        message += f": {name} {reach} over all {unknown}, but it has to be {show(name, values[name])}"
    return message + _looked_for(equation, unknown)


def _tell_broken_bound(equation: _Row, unknown: str, values: _Values) -> str:
    """Return both sides of an inequality as text, at the least or greatest usual value, or an empty text if they do not follow."""
    assert isinstance(equation, Composed), "an inequality of several equations"
    bound, row = equation.rows[-1], quantity(unknown)
    there = (follow_equations(equation.rows, {**values, unknown: end}) for end in (row.low or row.at(_SETTLED), row.high))
    sides = [(bound.left_side(at), right_side_at(bound, at), at[unknown]) for at in there if at.keys() >= {*bound.symbols}]
    some = [one for one in sides if one[0] > 0 and one[1] > 0]
    if not some:
        return ""
    left, right, at = min(some, key=lambda one: abs(log(one[0] / one[1])))
    name, sign = bound.symbols[0], "<" if bound.sense == ">=" else ">"
    both = f"{name} = {show(name, left)} {sign} {text(bound.trees[1])} = {show(name, right)}"
    return f"no {unknown} {row.domain} satisfies {bound.id}: at {unknown} = {show(unknown, at)}, {both}"


def _explain_undecided(equation: _Row, unknown: str, values: _Values) -> str:
    """Return why rounding may hide a root: both sides are nearly equal at some value, or 0 is divided by 0. Else return an empty text."""
    left, right = equation.trees
    if equation.sense != "=" or not isinstance(left, str) or left in names(right):
        return ""
    if left == unknown:
        return f"0 is divided by 0 in {equation.told}" if isnan(right_side_at(equation, values)) else ""
    heights = ((at, right_side_at(equation, {**values, unknown: at})) for at in _probes(unknown))
    near = next((at for at, height in heights if _relative(values[left], height) <= HOLDS), None)
    return "" if near is None else f"{unknown} = {show(unknown, near)} satisfies {equation.told} to one part in a billion"


def _looked_for(equation: _Row, unknown: str) -> str:
    """Return where the unknown was searched for, as text. Return an empty text if it has closed forms."""
    if all(branch.roots is not None for branch in branches(equation, unknown)):
        return ""
    from derive.expressions.curve import search_interval

    low, high = search_interval(unknown)
    return f" (looked for from {show(unknown, low)} to {show(unknown, high)})"


def _is_in_regime(branch: Branch, at: _Values) -> bool:
    return _rank(branch.regime.wins, at, lambda: at) is not None


def follow_equations(rows: Iterable[Equation], values: _Values) -> dict[str, float]:
    """Return these values, and the results of equations in the order in which they were put in."""
    known = dict(values)
    for row in rows:
        if row.sense == "=" and row.symbols[0] not in known and row.inputs <= known.keys():
            known[row.symbols[0]] = right_side_at(row, known)
    return known


def _probes(unknown: str) -> list[float]:
    """Return values over the whole domain: by decades, or for shares evenly and close to both ends."""
    row = quantity(unknown)
    if isfinite(row.ceiling):
        return [0.0] * row.may_be_zero + [1e-12, 1e-6, *(k / 24 for k in range(1, 24)), 1 - 1e-6, 1 - 1e-12, row.ceiling]
    if not row.low:
        return [row.high * k / 24 for k in range(25)]
    decades = (row.low * 10.0**k for k in range(-12, 25))
    return [row.floor] * bool(row.floor) + [value for value in decades if value > row.floor]


def _reach_in_words(name: str, height: Callable[[float], float], probes: list[float]) -> str | None:
    """Return the range of the right side. It is open where it still moves at the edge of an open domain."""
    points = [(number, probe) for probe in probes if isfinite(number := height(probe))]
    if len(points) < 2:
        return None

    def bound(sign: int) -> str | None:
        """Return the least height, or the largest if it is turned upside down."""
        place = min(range(len(points)), key=lambda k: sign * points[k][0])
        end = points[place][0]
        if 0 < place < len(points) - 1:
            lowest = _lowest_height(lambda value: sign * height(value), points[place - 1][1], points[place + 1][1])
            return show(name, sign * min(sign * end, lowest))
        inner, closed = points[1 if place == 0 else -2][0], points[place][1] in (0.0, 1.0)
        return show(name, end) if closed or isclose(end, inner, rel_tol=_SETTLED) else None

    low, high = bound(1), bound(-1)
    if low and high:
        return f"runs from {low} to {high}"
    return f"is {f'at least {low}' if low else f'at most {high}' if high else 'anything'}"


def _lowest_height(height: Callable[[float], float], low: float, high: float) -> float:
    """Return the least height of a curve between two places."""
    import numpy as np
    from scipy.optimize import minimize_scalar

    with np.errstate(all="ignore"):
        found = minimize_scalar(lambda value: height(float(value)), bounds=(low, high), method="bounded", options={"xatol": 1e-12 * high})
    return float(found.fun)
