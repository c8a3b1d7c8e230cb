"""Print the value of an answer in words: on its own line, and as a cell of a table."""

from derive.answers import BOUGHT, COUNTED, OR, Answer, bound_side, next_whole
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER
from derive.show.binding import COMPUTE_BOUND, MEMORY_BOUND, plain_regime
from derive.units import show

_ROUNDING = 1e-9


def answer_line(unknown: str, answer: Answer, regime: bool = True, after: str = "") -> str:
    """Return one answer as a line: the value, its remark, and its conditions."""
    where = ""
    if answer.regime and regime:
        words = plain_regime(answer.regime)
        says_less = {*words.split(" and ")} & {MEMORY_BOUND, COMPUTE_BOUND}
        where = f"   where {words}{f' ({answer.regime})' if says_less else ''}"
    unit = f" [{QUANTITIES[unknown].unit}]" if answer.kind == "symbolic" and QUANTITIES[unknown].unit != "1" else ""
    is_range = answer.kind in ("interval", "loose") and one_end(answer) is None
    return f"{unknown}{unit}{':' if is_range else ' ='} {value_in_words(unknown, answer)}{after}{where}"


def value_in_words(unknown: str, answer: Answer) -> str:
    """Return the value of an answer, rounded to whole numbers if the quantity is bought."""
    if answer.kind == "point":
        shown = show(unknown, answer.point)
        if unknown not in BOUGHT or answer.bound == UPPER or answer.point == round(answer.point):
            return f"{shown}{OR[answer.bound]}"
        if answer.bound:
            return _bound_in_words(unknown, answer.point, answer.bound)
        whole = answer.whole_ones or 0.0
        most = " at most" if whole < answer.point else ""
        return shown + (f" (so {whole:.0f} whole one{'s' * (whole != 1)}{most})" if f"{whole:.0f}" != shown else "")
    if answer.kind == "symbolic":
        return f"{answer.formula}{OR[answer.bound]}"
    if (end := one_end(answer)) is not None:
        return _bound_in_words(unknown, end, bound_side(answer))
    if answer.loose_low is not None:
        return f"{_ranges_in_words(unknown, answer)}{OR[answer.bound]}"
    return f"{_bounds_in_words(unknown, answer.least, answer.high)}{OR[answer.bound]}{_whole_ones(unknown, answer)}"


def text_of(unknown: str, answer: Answer, bound: bool = True) -> str:
    """Return the value of an answer as a cell of a table, without its bound if the table says it elsewhere."""
    suffix = OR[answer.bound] if bound else ""
    if answer.kind == "point":
        return show(unknown, answer.point) + suffix
    if answer.kind == "symbolic":
        return f"{answer.formula}{suffix}"
    low, high = answer.ends if answer.kind == "loose" else (answer.low, answer.high)
    if (end := one_end(answer)) and suffix in ("", OR[bound_side(answer)]):
        whole = next_whole(end, bound_side(answer)) if unknown in COUNTED else end
        return f"{show(unknown, whole or end)}{OR[bound_side(answer)]}"
    if answer.kind == "interval" and not low and high is None:
        return "any value"
    ends = " to ".join(show(unknown, end) if end else mark for end, mark in ((low, "0"), (high, "unbounded"))) + suffix
    return f"{ends}, but not everywhere" if answer.kind == "loose" else ends


def one_end(answer: Answer) -> float | None:
    """Return the end of an interval that has only one end, as a bound. An end at 0 is the bound of the domain.

    >>> [one_end(Answer(kind="interval", low=low, high=high)) for low, high in ((0.0, 55.1), (4.7, None), (1.0, 2.0))]
    [55.1, 4.7, None]
    """
    if answer.kind != "interval" or answer.loose_low is not None or answer.bound not in (None, bound_side(answer)):
        return None
    return answer.high if not answer.low else answer.low if answer.high is None else None


def _bound_in_words(unknown: str, end: float, side: str) -> str:
    """Return a bound, with the number that it is rounded from if the quantity is counted."""
    whole = next_whole(end, side)
    if unknown not in COUNTED or not whole or abs(end - whole) <= _ROUNDING * whole:
        return f"{show(unknown, end)}{OR[side]}"
    exact, shown = show(unknown, end), f"{whole:.0f}"
    return f"{shown}{OR[side]}{f' (from {exact})' if exact != shown else ''}"


def _whole_ones(unknown: str, answer: Answer) -> str:
    """Return the whole numbers within bounds on a counted quantity, if the bounds are not whole."""
    low, high = answer.least, answer.high
    ends = [next_whole(low, LOWER) if low else None, None if high is None else next_whole(high, UPPER)]
    pairs = [(end, count) for end, count in zip((low, high), ends, strict=True) if end and count]
    if unknown not in COUNTED or not any(abs(end - count) > _ROUNDING * count for end, count in pairs):
        return ""
    return f" (so {' to '.join(f'{count:.0f}' for _, count in pairs)} whole one{'s' * (pairs[-1][1] != 1)})"


def _bounds_in_words(unknown: str, low: float, high: float | None) -> str:
    """Return bounds in words. 0 is the bound of the domain."""
    if high is None:
        return f"at least {show(unknown, low)}" if low else "any value"
    return f"between {show(unknown, low)} and {show(unknown, high)}" if low else f"at most {show(unknown, high)}"


def _ranges_in_words(unknown: str, answer: Answer) -> str:
    """Return what is true at all points of the given ranges, then the range of each bound."""
    least, most = answer.ends
    if answer.kind == "loose":
        return f"no value holds over all of the ranges; {_bounds_in_words(unknown, least, most)} somewhere in them"
    within = _bounds_in_words(unknown, answer.least, answer.high)
    pairs = [(least, answer.least), *([] if answer.high is None else [(answer.high, most)])]
    moving = [pair for pair in pairs if pair[0] != pair[1]]
    if not moving:
        return within
    runs = [f"{show(unknown, low)} to {'unbounded' if high is None else show(unknown, high)}" for low, high in moving]
    return f"{within} is {'enough' if answer.high is None else 'safe'} everywhere ({' and '.join(runs)} over the ranges)"
