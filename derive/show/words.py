"""Say in words the value of an answer and what limits it, with the share of each part: "memory-bound: weights 82 %, KV 18 %"."""

import re
from collections.abc import Iterator, Mapping, Set
from functools import cache

from derive.answers import BOUGHT, COUNTED, LIMITS_BIND, MEMORY_FITS, OR, Answer, bound_side, next_whole
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, UPPER
from derive.trees import Tree, difference, evaluate, is_negative, names, negated, slopes, sum_of, terms, text, tree_of
from derive.units import show

_READS = (
    *("memory_time", "mixed_memory_time", "kv_time", "weight_time", "plain_weight_time", "prefill_weight_time"),
    *("kv_compute_ratio", "weight_compute_ratio", "prefill_weight_compute_ratio", "memory_ratio_short", "memory_ratio_long"),
    "hbm_bandwidth",
)
"""Times of memory reads, ratios of such times to the time of arithmetic, and the bandwidth of reads that were put together."""

_ARITHMETIC = ("compute_time", "attention_time", "attention_compute_ratio", "prefill_attention_factor", "attention_flops_per_pair")
"""Times of arithmetic, and ratios of such times to the time of the weights."""

MEMORY_BOUND, COMPUTE_BOUND, CAPACITY_BOUND = "memory-bound", "compute-bound", "bound by memory capacity"

_PROMPTS = "prompts "
"""Prefix of the words for what limits a prefill pass."""

_BOUNDS = (MEMORY_BOUND, COMPUTE_BOUND, CAPACITY_BOUND)
_AND = " and "

WAITING, BUSY = "stages wait for microbatches", "no stage waits"
"""Regimes of a pipeline: too few microbatches to keep every stage at work, and enough."""

_LINKS_OUT = {"scale_out_link_bandwidth", "scale_out_bandwidth_ratio"}
"""Quantities of the links between racks. No link inside a rack depends on them."""

_BETWEEN, _INSIDE = "links between racks bind", "links inside a rack bind"
SEVERAL_RACKS, ONE_RACK = "experts on several racks", "experts on one rack"

_SPOKEN, _READ_AT_ONCE = r"[a-z][a-z_]+", 2
_INVOLVED = r"\b(?:sqrt|log|exp)\(|\*\*"

_READ_PARTS = (("weights", ("weight_time", "plain_weight_time")), ("KV", ("kv_time",)))
_READ_RATIOS = (("weights", ("weight_compute_ratio",)), ("KV", ("kv_compute_ratio",)))
_UNHIDDEN_PARTS = (("drafting", ("drafting_time",)), ("time per layer", ("overhead_time",)))
"""Times of a step in which neither arithmetic nor reads run."""


def plain_regime(regime: str) -> str:
    """Return a regime in plain words: memory-bound or compute-bound, and other inequalities without minus signs.

    >>> plain_regime("memory_time >= attention_time + compute_time"), plain_regime("1 >= chips/kv_heads")
    ('memory-bound', 'chips/kv_heads <= 1')
    """
    return _AND.join(_regime_words(regime))


def brief_regime(answer: Answer, equations: tuple[str, ...] = ()) -> str:
    """Return the regime of an answer in few words, for a cell of a table. An inequality is shown only if nothing else is said.

    >>> brief_regime(Answer(kind="interval", high=117.0, regime="context_length >= window_tokens"), ("memory.sequences_that_fit@1",))
    'bound by memory capacity'
    """
    if not answer.regime:
        return ""
    said = _regime_words(answer.regime)
    if any(one.startswith(MEMORY_FITS) for one in equations) and not {*_BOUNDS}.intersection(said):
        said = [CAPACITY_BOUND, *said]
    return _AND.join([one for one in said if not _is_inequality(one)] or said)


def _is_inequality(words: str) -> bool:
    return " >= " in words or " <= " in words


def _regime_words(regime: str) -> list[str]:
    """Return the parts of a regime: first the limit of the answer, then only inequalities that are easy to read.

    Inequalities with roots, logarithms or powers are left out. An inequality of more than two quantities is shown only if it is alone.

    >>> _regime_words("memory_time >= compute_time and routed_params >= expert_imbalance*(fetched_params - shared_params)")
    ['memory-bound']
    """
    words = sorted(dict.fromkeys(map(_inequality_words, regime.split(_AND))), key=lambda one: one not in _BOUNDS)
    plain = [one for one in words if not re.search(_INVOLVED, one)]
    return [one for one in plain if not _is_inequality(one) or len({*re.findall(_SPOKEN, one)}) <= _READ_AT_ONCE] or plain


@cache
def _inequality_words(said: str) -> str:
    if " >= " not in said:
        return {"memory binds": CAPACITY_BOUND}.get(said, said)
    first, last = map(tree_of, said.split(" >= "))
    larger, smaller = _bound_of_side(first), _bound_of_side(last)
    spoken = names(first) | names(last)
    if larger and smaller and larger != smaller:
        return f"{_PROMPTS}{larger}" if "prefill_weight_time" in spoken else larger
    if {"peak_flops", "arithmetic_intensity"} <= spoken:
        return MEMORY_BOUND if "peak_flops" in names(first) else COMPUTE_BOUND
    if {"microbatches", "pipeline_stages"} <= spoken:
        tree = difference(last, first)
        _, found = slopes(tree, dict.fromkeys(names(tree), 1.0))
        return WAITING if found["microbatches"] > 0 else BUSY
    return _rack_words(names(first), names(last)) or _move_minus_terms(first, last)


def _rack_words(above: Set[str], below: Set[str]) -> str:
    """Return in words whether the experts are on one rack, or which links are slower. Return "" for any other inequality."""
    if (above | below) & _LINKS_OUT:
        return _BETWEEN if above & _LINKS_OUT else _INSIDE
    if above | below == {"expert_parallel", "scale_up_size"}:
        return SEVERAL_RACKS if "expert_parallel" in above else ONE_RACK
    return ""


def _bound_of_side(side: Tree) -> str | None:
    """Return whether one side of an inequality is a time of reads or of arithmetic. The number 1 is the time of the weights over itself."""
    spoken = names(side)
    if not spoken.isdisjoint(_READS):
        return MEMORY_BOUND
    return COMPUTE_BOUND if not spoken.isdisjoint(_ARITHMETIC) or side == 1 or spoken == {"tokens_verified_per_step"} else None


def _move_minus_terms(larger: Tree, smaller: Tree) -> str:
    """Return an inequality without minus signs: each term is on the side on which it is positive. A plain number comes last."""
    all_terms = terms(difference(larger, smaller))
    above = sum_of([term for term in all_terms if not is_negative(term)])
    below = sum_of([negated(term) for term in all_terms if is_negative(term)])
    return f"{text(above)} >= {text(below)}" if names(above) else f"{text(below)} <= {text(above)}"


def limit_in_words(answer: Answer, values: Mapping[str, float], equations: tuple[str, ...] = ()) -> str:
    """Return what limits an answer at these values, with the shares of its parts. Return "" if the answer has a single regime.

    >>> times = {"weight_time": 8e-3, "kv_time": 2e-3, "memory_time": 10e-3, "compute_time": 1e-3}
    >>> limit_in_words(Answer(kind="point", value=0.01, regime="memory_time >= compute_time"), times)
    'memory-bound: weights 80 %, KV 20 %; arithmetic takes 10 % of that time'
    """
    if answer.regime and answer.regime.startswith(LIMITS_BIND):
        return answer.regime.replace(LIMITS_BIND, "limited by ").replace(", ", _AND)
    held = _shares_of_part(CAPACITY_BOUND, "", values) if any(one.startswith(MEMORY_FITS) for one in equations) else ""
    capacity = f"{CAPACITY_BOUND}: {held}" if held else ""
    if not answer.regime:
        return capacity
    parts = {_inequality_words(part): part for part in answer.regime.split(_AND)}
    steps = [words for words in parts if words in (MEMORY_BOUND, COMPUTE_BOUND)]
    found = {words: _shares_of_part(words, part, values) for words, part in parts.items() if words not in steps or len(steps) == 1}
    said = _regime_words(answer.regime)
    if not any(found.values()):
        return "; ".join(filter(None, (capacity, _AND.join(said))))
    return "; ".join(f"{words}: {shares}" if (shares := found.get(words)) else words for words in said)


def _shares_of_part(words: str, regime: str, values: Mapping[str, float]) -> str:
    """Return the shares of the parts of one inequality of a regime, or "" if a value for them is unknown or zero."""
    try:
        if words == CAPACITY_BOUND:
            held = values["weight_bytes"] / (values["chips"] * values["pipeline_stages"] * values["hbm_capacity"])
            reserve = values.get("reserved_share", 0.0)
            rest = f", reserve {_percent(reserve)}" if reserve else ""
            return f"weights {_percent(held)}, KV {_percent(abs(round(1 - held - reserve, 9)))}{rest}"
        if words.startswith(_PROMPTS):
            return _prefill_shares(words.removeprefix(_PROMPTS), values, regime)
        return _shares(words, values, regime) if words in (MEMORY_BOUND, COMPUTE_BOUND) else ""
    except (KeyError, ZeroDivisionError):
        return ""


def _prefill_shares(bound: str, values: Mapping[str, float], regime: str) -> str:
    """Return the shares of weights and attention in a prefill pass, and the ratio of the shorter to the longer time."""
    ratio = _ratio(regime, values)
    if bound == MEMORY_BOUND:
        return f"arithmetic takes {_percent(ratio)} of that time"
    factor = values["prefill_attention_factor"]
    return f"{_list_shares([('weights', 1.0), ('attention', factor - 1)], factor)}; reads take {_percent(ratio)} of that time"


def _ratio(regime: str, values: Mapping[str, float]) -> float:
    """Return the ratio of the smaller to the larger side of a regime at these values."""
    larger, smaller = (evaluate(tree_of(side), values) for side in regime.split(" >= "))
    return smaller / larger


def _shares(bound: str, values: Mapping[str, float], regime: str) -> str:
    """Return the share of each part in the longer time, and the ratio of the other time to it."""
    times = [*_parts(_READ_PARTS, values)]
    if "mixed_memory_time" in values and len(times) == len(_READ_PARTS):
        times = [("weights", values["mixed_memory_time"] - times[1][1]), times[1]]
    ratios = [*_parts(_READ_RATIOS, values)]
    attention = values.get("attention_time", values.get("attention_compute_ratio", 0.0) * values.get("compute_time", 0.0))
    if len(times) == len(_READ_PARTS) and "compute_time" in values:
        reads, arithmetic = times, [("weights", values["compute_time"]), ("attention", attention)]
    elif len(ratios) == len(_READ_RATIOS):
        reads, arithmetic = ratios, [("weights", 1.0), ("attention", values.get("attention_compute_ratio", 0.0))]
    else:
        return ""
    positions = values.get("tokens_verified_per_step", 1.0)
    read, worked = sum(time for _, time in reads), positions * sum(time for _, time in arithmetic)
    if "prefill_chunk" in values:
        ratio = _ratio(regime, values)
        # What a step does beside decoding is the arithmetic of its chunk.
        whole = read * (ratio if bound == MEMORY_BOUND else 1 / ratio)
        arithmetic = [("decoding", worked / positions), ("the chunk", (whole - worked) / positions)]
        worked = whole
    arithmetic = [(label, positions * part) for label, part in arithmetic]
    longer, shorter, parts = (read, worked, reads) if bound == MEMORY_BOUND else (worked, read, arithmetic)
    unit = values["compute_time"] if reads is ratios and "compute_time" in values else 1.0
    unhidden = [(label, part / unit) for label, part in _parts(_UNHIDDEN_PARTS, values)]
    others = sum(part for _, part in unhidden)
    takes = "arithmetic takes" if bound == MEMORY_BOUND else "reads take"
    of_what = f"the time of {'reads' if bound == MEMORY_BOUND else 'arithmetic'}" if others else "that time"
    shares = _list_shares([*parts, *unhidden], longer + others)
    return f"{shares}; {takes} {_percent(shorter / longer)} of {of_what}" if shorter else shares


def _parts(wanted: tuple[tuple[str, tuple[str, ...]], ...], values: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    for label, spelled in wanted:
        yield from [(label, values[name]) for name in spelled if name in values][:1]


def _list_shares(parts: list[tuple[str, float]], whole: float) -> str:
    return ", ".join(f"{label} {_percent(part / whole)}" for label, part in parts if part)


def _percent(share: float) -> str:
    """Return a share in whole percent, or with two digits if whole percent would be 0 or 100."""
    percent = 100 * share
    return f"{percent:.0f} %" if 1 <= percent <= 99 or share in (0, 1) else f"{percent:.2g} %" if percent < 1 else f"{percent:.3g} %"


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
    """Return the value of an answer, rounded to a whole number if it is a bound on what is counted, or if the quantity is bought."""
    if answer.kind == "point":
        if answer.bound:
            return _bound_in_words(unknown, answer.point, answer.bound)
        shown = show(unknown, answer.point)
        if unknown not in BOUGHT or answer.point == round(answer.point):
            return shown
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
    if end := one_end(answer):
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
    if unknown not in COUNTED or not whole or abs(end - whole) <= HOLDS * whole:
        return f"{show(unknown, end)}{OR[side]}"
    exact = show(unknown, end)
    has_parts = exact.partition(".")[2].isdigit()
    return f"{whole:.0f}{OR[side]}{f' (from {exact})' if has_parts else ''}"


def _whole_ones(unknown: str, answer: Answer) -> str:
    """Return the whole numbers within bounds on a counted quantity, if the bounds are not whole."""
    if unknown not in COUNTED or not answer.low or answer.high is None:
        return ""
    least, most = next_whole(answer.low, LOWER), next_whole(answer.high, UPPER)
    is_whole = abs(answer.low - least) <= HOLDS * least and abs(answer.high - most) <= HOLDS * most
    return "" if is_whole else f" (so {least:.0f} to {most:.0f} whole one{'s' * (most != 1)})"


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
