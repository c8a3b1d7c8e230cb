"""What binds in an answer, in words, and what each part has of it: "memory-bound: weights 82 %, KV 18 %"."""

import re
from collections.abc import Iterator, Mapping, Set
from functools import cache

from derive.answers import LIMITS_BIND, SEQUENCES_FIT, Answer
from derive.evaluate import evaluate
from derive.trees import Tree, difference, is_negative, names, negated, slopes, sum_of, terms, text, tree_of

_READS = (
    *("memory_time", "mixed_memory_time", "kv_time", "weight_time", "plain_weight_time", "prefill_weight_time"),
    *("kv_compute_ratio", "weight_compute_ratio", "prefill_weight_compute_ratio", "memory_ratio_short", "memory_ratio_long"),
)
"""Times of reads, and these over the time of arithmetic."""

_ARITHMETIC = ("compute_time", "attention_time", "attention_compute_ratio", "prefill_attention_factor", "attention_flops_per_pair")
"""Times of arithmetic, and these over that of the weights."""

MEMORY_BOUND, COMPUTE_BOUND, CAPACITY_BOUND = "memory-bound", "compute-bound", "bound by memory capacity"

_PROMPTS = "prompts "
"""What stands before what binds in a pass over prompts."""

_BOUNDS = (MEMORY_BOUND, COMPUTE_BOUND, CAPACITY_BOUND)
_AND = " and "

WAITING, BUSY = "stages wait for microbatches", "no stage waits"
"""Of a pipeline, with fewer microbatches than keep all of its stages at work, and with as many."""

_LINKS_OUT = {"scale_out_link_bandwidth", "scale_out_bandwidth_ratio"}
"""What the time of links between racks goes with, and not that of links inside one."""

_BETWEEN, _INSIDE = "links between racks bind", "links inside a rack bind"
SEVERAL_RACKS, ONE_RACK = "experts on several racks", "experts on one rack"

_SPOKEN, _READ_AT_ONCE = re.compile(r"[a-z][a-z_]+"), 2
_INVOLVED = re.compile(r"\b(?:sqrt|log|exp)\(|\*\*")

_READ_PARTS = (("weights", ("weight_time", "plain_weight_time")), ("KV", ("kv_time",)))
_READ_RATIOS = (("weights", ("weight_compute_ratio",)), ("KV", ("kv_compute_ratio",)))
_DRAFT_PARTS = (("drafting", ("drafting_time", "drafting_compute_ratio")),)
"""What a step takes before its reads and its arithmetic, as a time or over that of the weights."""


def plain_regime(regime: str) -> str:
    """A regime as people say it: which of reads and arithmetic binds, and other inequalities with all terms above zero.

    >>> plain_regime("memory_time >= attention_time + compute_time"), plain_regime("1 >= chips/kv_heads")
    ('memory-bound', 'chips/kv_heads <= 1')
    >>> plain_regime("-microbatches/pipeline_stages + 1 >= 0"), plain_regime("mfu*peak_flops >= arithmetic_intensity*hbm_bandwidth*mbu")
    ('stages wait for microbatches', 'memory-bound')
    >>> plain_regime("expert_parallel/scale_up_size >= 1"), plain_regime("leaving_copies*scale_out_bandwidth_ratio/active_experts >= 1")
    ('experts on several racks', 'links between racks bind')
    """
    return _AND.join(_in_words(regime))


def in_brief(answer: Answer, equations: tuple[str, ...] = ()) -> str:
    """Where an answer holds as a cell of a table has room for: what binds, and inequalities as they are only where there are no words.

    >>> in_brief(Answer(kind="interval", high=117.0, regime="context_length >= window_tokens"), ("memory.sequences_that_fit@1",))
    'bound by memory capacity'
    """
    if not answer.regime:
        return ""
    said = _in_words(answer.regime)
    if any(one.startswith(SEQUENCES_FIT) for one in equations) and not {*_BOUNDS}.intersection(said):
        said = [CAPACITY_BOUND, *said]
    return _AND.join([one for one in said if not _is_inequality(one)] or said)


def _is_inequality(words: str) -> bool:
    return " >= " in words or " <= " in words


def _in_words(regime: str) -> list[str]:
    """The parts of a regime, what binds first, and of inequalities those that can be read off a line.

    None is left of roots, logarithms and powers, and of more than two quantities only what nothing is said beside.

    >>> _in_words("memory_time >= compute_time and routed_params >= expert_imbalance*(fetched_params - shared_params)")
    ['memory-bound']
    """
    words = sorted(dict.fromkeys(map(_inequality, regime.split(_AND))), key=lambda one: one not in _BOUNDS)
    plain = [one for one in words if not _INVOLVED.search(one)]
    return [one for one in plain if not _is_inequality(one) or len({*_SPOKEN.findall(one)}) <= _READ_AT_ONCE] or plain


@cache
def _inequality(said: str) -> str:
    if " >= " not in said:
        return {"memory binds": CAPACITY_BOUND}.get(said, said)
    first, last = map(tree_of, said.split(" >= "))
    larger, smaller = _side(first), _side(last)
    spoken = names(first) | names(last)
    if larger and smaller and larger != smaller:
        return f"{_PROMPTS}{larger}" if "prefill_weight_time" in spoken else larger
    if {"peak_flops", "arithmetic_intensity"} <= spoken:
        return MEMORY_BOUND if "peak_flops" in names(first) else COMPUTE_BOUND
    if {"microbatches", "pipeline_stages"} <= spoken:
        return WAITING if _grows(difference(last, first)) else BUSY
    return _of_racks(names(first), names(last)) or _without_minus(first, last)


def _of_racks(above: Set[str], below: Set[str]) -> str:
    """Whether experts lie on one rack, and which links take longer; nothing of what is not of racks."""
    if (above | below) & _LINKS_OUT:
        return _BETWEEN if above & _LINKS_OUT else _INSIDE
    if above | below == {"expert_parallel", "scale_up_size"}:
        return SEVERAL_RACKS if "expert_parallel" in above else ONE_RACK
    return ""


def _grows(tree: Tree) -> bool:
    """Whether it is larger with more microbatches."""
    _, found = slopes(tree, dict.fromkeys(names(tree), 1.0))
    return bool(found["microbatches"] > 0)


def _side(side: Tree) -> str | None:
    """Whether one side is time of reads or of arithmetic; a plain number is the arithmetic of the weights over itself."""
    spoken = names(side)
    if not spoken.isdisjoint(_READS):
        return MEMORY_BOUND
    return COMPUTE_BOUND if not spoken.isdisjoint(_ARITHMETIC) or side == 1 or spoken == {"tokens_verified_per_step"} else None


def _without_minus(larger: Tree, smaller: Tree) -> str:
    """The inequality with every term on the side on which it is added; a plain number comes last."""
    all_terms = terms(difference(larger, smaller))
    above = sum_of([term for term in all_terms if not is_negative(term)])
    below = sum_of([negated(term) for term in all_terms if is_negative(term)])
    return f"{text(above)} >= {text(below)}" if names(above) else f"{text(below)} <= {text(above)}"


def binds(answer: Answer, values: Mapping[str, float], equations: tuple[str, ...] = ()) -> str:
    """What binds at these values, and by how much; nothing of an answer that is smooth.

    >>> times = {"weight_time": 8e-3, "kv_time": 2e-3, "memory_time": 10e-3, "compute_time": 1e-3}
    >>> binds(Answer(kind="point", value=0.01, regime="memory_time >= compute_time"), times)
    'memory-bound: weights 80 %, KV 20 %; arithmetic takes 10 % of that time'
    """
    if answer.regime and answer.regime.startswith(LIMITS_BIND):
        return answer.regime
    held = _of_capacity(values) if any(one.startswith(SEQUENCES_FIT) for one in equations) else ""
    capacity = f"{CAPACITY_BOUND}: {held}" if held else ""
    if not answer.regime:
        return capacity
    parts = {_inequality(part): part for part in answer.regime.split(_AND)}
    steps = [words for words in parts if words in (MEMORY_BOUND, COMPUTE_BOUND)]
    found = {words: _of_part(words, part, values) for words, part in parts.items() if words not in steps or len(steps) == 1}
    said = _in_words(answer.regime)
    if not any(found.values()):
        words = _AND.join(said)
        return "; ".join(filter(None, (capacity, words))) if capacity and parts.keys().isdisjoint(_BOUNDS) else words
    return "; ".join(f"{words}: {shares}" if (shares := found.get(words)) else words for words in said)


def _of_part(words: str, regime: str, values: Mapping[str, float]) -> str:
    """What each has of that which binds in one of the inequalities of a regime."""
    if words == CAPACITY_BOUND:
        return _of_capacity(values)
    if words.startswith(_PROMPTS):
        return _of_prompts(words.removeprefix(_PROMPTS), values, regime)
    return _shares(words, values, regime) if words in (MEMORY_BOUND, COMPUTE_BOUND) else ""


def _of_prompts(bound: str, values: Mapping[str, float], regime: str) -> str:
    """What a pass over prompts spends on weights and on attention, and the shorter time over the longer."""
    ratio, factor = _ratio(regime, values), values.get("prefill_attention_factor")
    if ratio is None:
        return ""
    if bound == MEMORY_BOUND:
        return f"arithmetic takes {_percent(ratio)} of that time"
    parts = f"{_listed([('weights', 1.0), ('attention', factor - 1)], factor)}; " if factor else ""
    return f"{parts}reads take {_percent(ratio)} of that time"


def _ratio(regime: str, values: Mapping[str, float]) -> float | None:
    """The smaller side of a regime over the larger at these values; None where they do not say."""
    sides = [*map(tree_of, regime.split(" >= "))] if " >= " in regime else []
    if not sides or not all(names(side) <= values.keys() for side in sides):
        return None
    larger, smaller = (evaluate(side, values) for side in sides)
    return smaller / larger


def _of_capacity(values: Mapping[str, float]) -> str:
    """Of a bound by memory what the weights leave of it."""
    if not values.keys() >= {"chips", "pipeline_stages", "hbm_capacity", "weight_bytes"}:
        return ""
    held = values["weight_bytes"] / (values["chips"] * values["pipeline_stages"] * values["hbm_capacity"])
    return f"weights {_percent(held)}, KV {_percent(1 - held)}"


def _shares(bound: str, values: Mapping[str, float], regime: str) -> str:
    """What each part has of the longer time, and the other time over it."""
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
    if not read or not worked:
        return ""
    if "prefill_chunk" in values:
        ratio = _ratio(regime, values)
        if not ratio:
            return ""
        # What a step does beside decoding is the arithmetic of its chunk.
        whole = read * (ratio if bound == MEMORY_BOUND else 1 / ratio)
        arithmetic = [("decoding", worked / positions), ("the chunk", (whole - worked) / positions)]
        worked = whole
    arithmetic = [(label, positions * part) for label, part in arithmetic]
    longer, shorter, parts = (read, worked, reads) if bound == MEMORY_BOUND else (worked, read, arithmetic)
    drafts = next((part for _, part in _parts(_DRAFT_PARTS, values)), 0.0)
    takes = "arithmetic takes" if bound == MEMORY_BOUND else "reads take"
    of_what = f"the time of {'reads' if bound == MEMORY_BOUND else 'arithmetic'}" if drafts else "that time"
    return f"{_listed([*parts, ('drafting', drafts)], longer + drafts)}; {takes} {_percent(shorter / longer)} of {of_what}"


def _parts(wanted: tuple[tuple[str, tuple[str, ...]], ...], values: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    for label, spelled in wanted:
        name = next((name for name in spelled if name in values), None)
        if name:
            yield label, values[name]


def _listed(parts: list[tuple[str, float]], whole: float) -> str:
    return ", ".join(f"{label} {_percent(part / whole)}" for label, part in parts if part)


def _percent(share: float) -> str:
    """A share to the whole percent, to two digits where that says nothing."""
    percent = 100 * share
    return f"{percent:.0f} %" if 1 <= percent <= 99 or share in (0, 1) else f"{percent:.2g} %" if percent < 1 else f"{percent:.3g} %"
