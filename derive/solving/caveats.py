"""What has to be said before a number is read: of each doubt one function, which says it or nothing."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from types import MappingProxyType

from derive.answers import BOUGHT, KEPT_FREE, NO_WHOLE_ONE, SEQUENCES_FIT, next_whole
from derive.catalogue import by_id, definitions, equation
from derive.immutable import immutable
from derive.presets import ATTENTION_DTYPE, HARDWARE, sparsest_router, usual, usual_attention_rate
from derive.records import LOWER, Equation
from derive.requirements import HOLDS
from derive.solving.chip_links import EXCHANGED, OUT, SUMMED, of_rings
from derive.solving.defaults import FOLLOWS, in_numbers
from derive.solving.fit import shortage, worked_out
from derive.solving.propagation import followed, leading_to
from derive.solving.questions import BY_HEADS, OF_TRAINING, Question, copies_of, shards_of, standing_beside
from derive.solving.refusals import made_of
from derive.solving.result import Answer
from derive.solving.speed_limits import beyond_one_domain, chips_for_copies, result_with
from derive.units import show


@immutable(kw_only=False)
class Doubt:
    """What is said, and the quantities it rests on beside those of the answer."""

    text: str
    rests: frozenset[str] = frozenset()


_Caveat = Callable[[Question, Mapping[str, float], Sequence[Equation]], Doubt | str | None]
"""A doubt: from the question, all values on the way to its answer, and the equations that were used."""

_OTHER_SHARE = {"mfu": "mbu", "mbu": "mfu"}
"""The share of a peak that the time of reads goes with, by that of arithmetic, and the other way round."""
_CACHED = "bytes_per_element"
"""What the data type of a cache sets."""
_IN_BF16 = f"is taken in {ATTENTION_DTYPE}"
"""What is said of a chip whose data type is that of a cache of which nobody gave one."""
_RATE = "peak_flops"
_ASIDE = 1.001
"""How far beside an answer it is looked how a result moves with it."""
_HALF, _FASTER = 0.5, 2.0
"""What the next narrower data type has of the bytes, and of the rate."""
_MEMORY = "hbm_capacity"
_HELD = ("memory_demand", "memory_capacity")
_READ_TOO_MUCH, _UNEVEN = 1.1, 1.3
"""From where on it is said that weights may be read in vain, what data types were taken, or what a pass adds up; and of all else how far
off it may be."""
_NEXT_TO_NOTHING = 0.05
"""Share of the memory below which what is left is next to nothing."""
_OF_MEMORY = ("memory_demand", "memory_capacity", "memory_per_chip", "kv_cache_bytes", "weight_bytes")
"""What is of memory itself, and needs no room beside it."""
_PASSES = {"prefill_compute_time": ("batch", "new_tokens_per_pass"), "prefill_time": ("prefill_batch", "uncached_tokens")}
"""Times of a pass over prompts, with the sequences and the tokens of each that it is of."""
_CHUNKS = {"serving.mixed_memory_time_touched": "prefill_chunk", "serving.free_prefill_chunk_touched": "free_prefill_chunk"}
"""Equations of decode steps with tokens of a prompt on board, and what says how many."""
_SEEN_BY_ONE = ("serving.request_latency", "serving.tokens_per_second_per_user")
"""What a request sees of a replica on which prompts of others may be computed."""
_TRAINED = "data_parallel"
_PROMPTS_TAKE = "prompt_time_share"
"""What prompts take where they are computed on the chips that decode."""
_STEP, _TOKEN = "step_time", "time_per_output_token"
"""What a step takes, and what a user waits for a token, prompts of others between."""
_NODE = 8
"""Chips of an ordinary server: what links more of them is a rack."""
_SEQUENCES = ("batch", "microbatch_size", "sequences_in_flight")
_ONE_AFTER_ANOTHER = ("sum", "kv_plus_max", "network")
"""Ways to add up a step in which arithmetic does not hide behind reads."""
_WITHOUT_NETWORK = ("max", "sum", "kv_plus_max")
"""Ways to add up a step that leave the network out."""
_OF_EXCHANGE = ("experts.sequences_per_chip", "experts.reached_chips", "experts.racks")
_COPIES = "kv_replication"
_ROOM = (SEQUENCES_FIT, "memory.tokens_that_fit")
"""What memory leaves room for, over the bytes of one and its copies."""
_IN_ROOM = ("kv_cache_tokens", "sequences_in_flight", "batch", "microbatch_size")
"""What there are the fewer of, the more often a cache lies on the chips."""
_OF_CACHES = (
    *("kv_cache_bytes", "kv_cache_tokens", "kv_time", "memory_demand", "memory_per_chip"),
    *("sequences_in_flight", "context_length", "batch"),
)
"""Results that copies of the cache multiply."""
_OF_ONE_SEQUENCE = ("grid_latency", "minimum_latency", "latency_floor")
"""Times that rest on the weights that one sequence reads."""
_READING = ("mixed_step_time", "step_time", "memory_time", "weight_time", *_OF_ONE_SEQUENCE)
"""Times of a pass that rest on how wide the weights are that it reads, the whole of it first."""
_ATTENDING = (
    *("mixed_step_time", "step_time", "prefill_compute_time"),
    *("attention_time", "prefill_attention_factor", "attention_compute_ratio"),
)
"""What is longer where attention runs slower, the whole of it first."""
_LENGTHS = (("context_length",), ("prompt_tokens", "output_tokens"), ("cached_tokens", "new_tokens_per_pass"))
"""Tokens that one sequence has together."""

_OF_JOBS = ("output_energy", "output_electricity_cost")


def caveats(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> dict[str, Doubt]:
    """All that is doubtful of an answer, by the name of the doubt."""
    values = {**_led(asked, values), **values}
    if asked.limits and asked.unknown in BOUGHT:
        values[asked.unknown] = next_whole(values[asked.unknown], LOWER)
    said = {caveat.__name__: _said(caveat, asked, values, used) for caveat in _CAVEATS}
    return {name: one if isinstance(one, Doubt) else Doubt(one) for name, one in said.items() if one}


def _led(asked: Question, values: Mapping[str, float]) -> dict[str, float]:
    """Defaults that are what another quantity is, now that what was asked for and what is on the way to it are found."""
    return in_numbers({name: value for name, value in asked.defaults.items() if name in FOLLOWS}, values)


def _said(caveat: _Caveat, asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | str | None:
    """A doubt, unless it cannot be reckoned at these numbers: an answer is no less true for that."""
    try:
        return caveat(asked, values, used)
    except (ArithmeticError, ValueError):
        return None


def less_than_one(unknown: str, answers: Sequence[Answer]) -> dict[str, str]:
    """A number of sequences of which there is no whole one."""
    most = max(math.inf if one.bound == LOWER or one.ends[1] is None else one.ends[1] for one in answers)
    return {NO_WHOLE_ONE: "there is not room for one whole sequence"} if unknown in _SEQUENCES and most < 1 else {}


def data_types_unsaid(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """The data type of chips and cache where nobody gave either, both are taken alike, and an answer moves with each."""
    chip = _of_chip(asked, values, used)
    if _IN_BF16 not in chip or not _cache_moves(asked, values, used):
        return None
    return f"{chip.replace(_IN_BF16, f'{_IN_BF16}, and so are caches')} bytes_per_element=fp8"


def chip_type_unsaid(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A data type of chips or weights that nobody gave, where an answer moves with it."""
    return None if data_types_unsaid(asked, values, used) else _of_chip(asked, values, used) or None


def _of_chip(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str:
    spoken = {name for row in used for name in row.symbols} - {_CACHED}
    text = "; ".join(dict.fromkeys(text for name, text in asked.unsaid.items() if name in spoken))
    narrower = {name: _FASTER if name == _RATE else _HALF for name in asked.unsaid if name != _CACHED}
    return text if text and _moves_with(narrower, asked, values, used) else ""


def may_be_a_slip(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Givens that may be slips, where an answer rests on them."""
    spoken = {name for row in used for name in row.symbols}
    return "; ".join(text for name, text in asked.doubtful.items() if name in spoken) or None


def counted_in_parts(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Parts of what there is only in whole ones, where an answer rests on them."""
    spoken = {name for row in used for name in row.symbols}
    parts = [f"{name} = {asked.known[name]:.12g}" for name in asked.in_parts if name in spoken and name in asked.known]
    return "; ".join(f"{part} is no whole number, and is taken as it is" for part in parts) or None


def cache_type_unsaid(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A data type of the cache that nobody gave, where an answer moves with it."""
    return asked.unsaid[_CACHED] if _cache_moves(asked, values, used) and not data_types_unsaid(asked, values, used) else None


def left_to_assumptions(asked: Question, touched: Set[str], doubts: Mapping[str, Doubt]) -> Iterator[str]:
    """What was taken of data types that nobody gave, where an answer rests on it and hardly moves with it."""
    for name, text in asked.unsaid.items():
        alone = cache_type_unsaid if name == _CACHED else chip_type_unsaid
        if name in touched and doubts.keys().isdisjoint((alone.__name__, data_types_unsaid.__name__)):
            yield text


def _cache_moves(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> bool:
    spoken = any(_CACHED in row.symbols for row in used)
    return _CACHED in asked.unsaid and spoken and _moves_with({_CACHED: _HALF}, asked, values, used)


def _moves_with(times: Mapping[str, float], asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> bool:
    """Whether an answer may be so much another where some of what it rests on is so many times as much."""
    if targets := made_of(asked, asked.unknown):
        # What memory has room for beside a result moves with it too.
        held = any("hbm_capacity" in row.symbols for row in used)
        return held or any(_moves_back(name, times, asked, values) for name in targets)
    rows, known = leading_to((asked.unknown,), asked.active), {**standing_beside(asked, asked.known), **asked.known}
    other = {name: known[name] * factor for name, factor in times.items() if name in known}
    before, after = (followed(rows, {**known, **more}).get(asked.unknown) for more in ({}, other))
    return not before or not after or max(before / after, after / before) > _READ_TOO_MUCH


def _moves_back(name: str, times: Mapping[str, float], asked: Question, values: Mapping[str, float]) -> bool:
    """The same of what was asked back from a result: by how much the result moves, over how much it does with what was asked for."""
    place = values.get(asked.unknown)
    known = {**standing_beside(asked, asked.known), **asked.known}
    other = {one: known[one] * factor for one, factor in times.items() if one in known}
    if not place:
        return True
    here, there, beside = (
        result_with(asked, name, {asked.unknown: place * factor, **more}) for factor, more in ((1.0, {}), (1.0, other), (_ASIDE, {}))
    )
    if not here or not there or not beside or beside == here:
        return True
    slope = math.log(beside / here) / math.log(_ASIDE)
    return abs(math.log(there / here) / slope) > math.log(_READ_TOO_MUCH)


def one_of_a_rack(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A chip that is named for its rack, and nobody said of how many the answer is."""
    size = values.get("scale_up_size", 0.0)
    if size <= _NODE or "chips" in (asked.unknown, *asked.known) or not any("chips" in row.symbols for row in used):
        return None
    return f"chips is not given: this is of one chip, and a rack has {size:.0f}; for all of them give chips={size:.0f}"


def at_the_peak(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A training run at all of the peak, which none ever sustained, whatever is sustained of it in serving."""
    of_training = not {asked.unknown, *asked.known}.isdisjoint(OF_TRAINING)
    if not of_training or "mfu" in (asked.unknown, *asked.known) or "mfu" not in values or not any("mfu" in row.symbols for row in used):
        return None
    measured = "; --efficiency calibrated is of serving: the table has no run of training"
    alone = "mfu is not given: this is at the peak of the chips, which no run sustains; give mfu"
    return f"{alone}{measured if asked.conventions.efficiency == 'calibrated' else ''}"


def prompts_elsewhere(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A rate of requests of decode alone, where a prompt is spoken of: how many times the chips it takes with prompts on board."""
    apart, together = (equation(f"serving.requests_per_second{ending}") for ending in ("", "_with_prompts"))
    rests = apart in used or apart.symbols[0] in asked.known or _leaves_prompts_out(asked, used)
    if "prompt_tokens" not in asked.known or not rests or not _takes_part(apart, asked):
        return None
    told, both = "for decode alone: prompts need chips of their own", f"both on the same chips: --using {together.id}"
    share = _anew((_PROMPTS_TAKE,), asked, values, used).get(_PROMPTS_TAKE)
    if share is None:
        return f"{told}, not counted here; on these, their prefill time comes on top, and the rate is lower; {both}"
    more = 1 / (1 - share)
    single = "" if "prefill_batch" in asked.known else ", one prompt a pass (prefill_batch = 1)"
    takes = f"on the same ones they take {share:.0%} of the time, and the rate takes {more:.3g} times the chips at this batch{single}"
    return f"{told}, {more - 1:.3g} times as many, not counted here; {takes}: --using {together.id}"


def _leaves_prompts_out(asked: Question, used: Sequence[Equation]) -> bool:
    """Whether an answer for requests is another with their prompts on the same chips, and counts nothing of prompts.

    A step is asked for by the words for what a user waits, and that is the same.
    """
    elsewhere = equation(_SEEN_BY_ONE[0]).variant
    rests = any(row.variant == elsewhere for row in used if row.id not in _SEEN_BY_ONE)
    counted = any(name.startswith("prefill_") for row in used for name in row.symbols)
    return rests and "output_tokens" in asked.known and asked.unknown != _STEP and not counted


def prompts_unsaid(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Chips for a rate of requests of which nobody says how long their prompts are."""
    rests = asked.unknown in BOUGHT and any(row.id == "serving.requests_per_second" for row in used)
    if not rests or "prompt_tokens" in asked.known:
        return None
    return "prompts are not counted, as nobody says how long they are: give prompt_tokens"


def prompts_of_others_elsewhere(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """What one request sees as if no other had a prompt: what it is where the prompts of all are computed on its chips."""
    return next(filter(None, (_with_prompts_of_others(id, asked, values, used) for id in _SEEN_BY_ONE)), None)


def _with_prompts_of_others(id: str, asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    row, together = equation(id), equation(f"{id}_with_prompts")
    name = row.symbols[0]
    rests = _takes_part(row, asked) and (row in used or name in asked.known)
    if not rests or "prompt_tokens" not in asked.known or any(one.defines == "mixed_step_time" for one in used):
        return None
    wanted = (name, _PROMPTS_TAKE)
    made = {other: value for other, value in values.items() if other not in wanted}
    alone, beside = (_anew(wanted, asked, made, used, others) for others in ((), (together.id,)))
    if not {*wanted} <= {*alone} & {*beside} or max(beside[name] / alone[name], alone[name] / beside[name]) <= _UNEVEN:
        return None
    told = "prompts of other requests are taken to be computed on chips of their own"
    takes = f"on these, they take {beside[_PROMPTS_TAKE]:.0%} of the time, and {name} is {show(name, beside[name])}"
    return f"{told}: {takes}; for both on the same chips --using {together.id}"


def step_of_decode_alone(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A step that is held to a time or asked for, where prompts on the same chips come between steps: what a user waits for a token."""
    together = equation("serving.tokens_per_second_per_user_with_prompts")
    if _STEP not in (asked.unknown, *asked.known) or not _takes_part(together, asked):
        return None
    step, token = values.get(_STEP), _anew((_TOKEN,), asked, values, used).get(_TOKEN)
    if not step or not token or token <= step * (1 + HOLDS):
        return None
    return f"{_STEP} is of decode alone: with prompts between, {_TOKEN} is {show(_TOKEN, token)}; for what a user waits limit {_TOKEN}"


def _takes_part(row: Equation, asked: Question) -> bool:
    """Whether an equation, and not another variant of it, may be used."""
    return any(one.id == row.id for one in asked.active)


def either_may_bind(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A share of a peak as if its time bound, where at both peaks the other one does: what the other share is if it is that which binds."""
    other = _OTHER_SHARE.get(asked.unknown)
    if other is None or other not in asked.defaults or other in asked.known or _overlap(used) != "max" or "step_time" not in values:
        return None
    peaks = {asked.unknown: 1.0, other: 1.0}
    step, slower = (result_with(asked, "step_time", {**peaks, **more}) for more in ({}, {other: 0.5}))
    if not step or not slower or slower <= step * (1 + HOLDS):
        return None
    least = f"only that it is at least {show(asked.unknown, values[asked.unknown])}"
    bound = "memory-bound" if other == "mbu" else "compute-bound"
    instead = f"{other} = {show(other, step / values['step_time'])}, and of {asked.unknown} it is known {least}"
    return f"at both peaks this step is {bound}: if it is so here, {instead}; give {other} to settle it"


def experts_unknown(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A mixture of experts of which all weights are read for want of its router: by how much that may be too long."""
    if not _reads("sharded", used) or values.keys() >= {"experts", "active_experts"}:
        return None
    if not values.keys() >= {"total_params", "active_params"}:
        return None
    total, active = values["total_params"], values["active_params"]
    if not total > active:
        return None
    # No router is less sparse than the model as a whole; where no batch is said, it is one sequence.
    router = {"experts": max(sparsest_router(), equation("batching.sparsity").right_side(values)), "active_experts": 1.0}
    known = {"batch": 1.0, "tokens_verified_per_step": 1.0, **values, **router}
    for name in ("routed_params", "shared_params", "activated_experts", "fetched_params"):
        known[name] = definitions()[name].right_side(known)
    times = total / known["fetched_params"]
    if times <= _READ_TOO_MUCH:
        return None
    return f"expert counts are unknown: the weight read may be up to {times:.3g} times too long; give experts and active_experts"


def busiest_chip(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """Activated experts taken to lie evenly on the chips: how many more the busiest chip reads."""
    row, touched = equation("experts.busiest_chip"), _touched(values, used)
    if touched is None or "chips" not in values or "expert_imbalance" in (asked.unknown, *asked.known) or row in used:
        return None
    # A number of chips that was asked back may be one but for rounding.
    chips = values.get("expert_parallel", max(1.0, min(values["chips"], values["experts"])))
    known = {**values, "expert_parallel": chips, "activated_experts": touched}
    if not row.applies(known) or (times := row.right_side(known)) <= _UNEVEN:
        return None
    told = f"where whole experts lie on chips, the busiest of {chips:.4g} chips reads about {times:.3g} times the mean"
    said = f"{told} of the activated experts, not counted; give expert_imbalance, or expert_parallel and --using {row.id}"
    return Doubt(said, frozenset(("expert_parallel",)))


def _touched(values: Mapping[str, float], used: Sequence[Equation]) -> float | None:
    """Experts that the tokens of the largest pass touch on which an answer rests, those of prefill on board among them."""
    ids = {row.id for row in used}
    known = dict(values)
    if "serving.prefill_weight_compute_ratio_touched" in ids:
        found = equation("experts.prefill_touched_experts")
    elif chunk := next((values[name] for id, name in _CHUNKS.items() if id in ids), 0.0):
        found, known["prefill_chunk"] = equation("experts.mixed_touched_experts"), chunk
    else:
        return values.get("activated_experts") if _reads("touched", used) or _reads("mixed", used) else None
    return found.right_side(known) if found.inputs <= known.keys() else None


def chunk_not_free(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A chunk whose arithmetic the reads hide, but which reads experts of its own: how much longer the step is for it."""
    if not any(row.id == "serving.free_prefill_chunk_touched" for row in used):
        return None
    known = {**in_numbers(asked.defaults, values), **values, "prefill_chunk": values["free_prefill_chunk"]}
    longer = equation("serving.mixed_memory_time_touched").right_side(known) / values["memory_time"]
    if longer <= _UNEVEN:
        return None
    return f"only the arithmetic of the chunk is for nothing: with the experts that it reads, the step takes {longer:.3g} times as long"


def overlap_presumed(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """An answer for perfect overlap where another way to add up the step was asked for, which it does not speak of."""
    overlap = _overlap(asked.active)
    ids = [row.id for row in used if "perfect overlap" in row.assumptions and not _overlap([row])]
    if overlap not in _ONE_AFTER_ANOTHER or not ids:
        return None
    return f"{ids[0]} is for perfect overlap, not for overlap {overlap}: so added up, all arithmetic makes the step longer"


def drafts_for_nothing(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | str | None:
    """Drafts of which nobody said what they cost, or how many of them there are beside those that are accepted."""
    if values.get("draft_tokens", 0) > 0:
        return "drafting is taken to take no time; give draft_cost_ratio" if _stands("draft_cost_ratio", used) else None
    tokens = values.get("tokens_per_step", 1.0)
    no_time = _stands("drafting_time", used) or _stands("drafting_compute_ratio", used)
    none_refused = _stands("tokens_verified_per_step", used)
    if tokens <= 1 or not (no_time or none_refused):
        return None
    taken = " and ".join([*(["to take no time"] if no_time else []), *(["to be all accepted"] if none_refused else [])])
    give = f"give draft_tokens{' and draft_cost_ratio' if no_time else ''}"
    return Doubt(f"the drafts of a step of {tokens:.4g} tokens are taken {taken}; {give}", frozenset(("tokens_per_step",)))


def latent_attention_left_out(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Latent attention whose FLOPs are not counted for want of its heads: over a one-byte cache they can outlast its read."""
    left_out = "latent_dim" in values and (_stands("attention_time", used) or _stands("attention_compute_ratio", used))
    return "the FLOPs of latent attention are left out, and may take longer than its reads; give query_heads" if left_out else None


def attention_rate_unknown(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A chip of which the rate is known in narrow weights alone: how much longer it takes where attention runs in wider numbers."""
    place = asked.provenance.get("peak_flops", "").partition(": ")[0].split()
    time = next((name for name in _ATTENDING if any(row.defines == name for row in used)), None)
    # A chip whose table has that rate brings it along; one that computes in it needs none.
    if not _stands("attention_rate_ratio", used) or time is None or len(place) != 4 or place[0] != f"{HARDWARE}.csv":
        return None
    _, chip, _, dtype = place
    if dtype == ATTENTION_DTYPE:
        return None
    ratio = usual_attention_rate(dtype)
    slow, fast = (_anew((time,), asked, values, used, instead=more).get(time) for more in ({"attention_rate_ratio": ratio}, {}))
    if not slow or not fast or slow <= _UNEVEN * fast:
        return None
    told = f"{HARDWARE}.csv has no {ATTENTION_DTYPE} rate of {chip}, and attention is taken to run as fast as {dtype}"
    return f"{told}: at {ratio:g} of that, as on most chips, {time} is {slow / fast:.3g} times as large; give attention_rate_ratio"


def attention_in_bf16(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """Attention that the table takes to run in wider numbers than the weights: what comes of it where it runs in theirs."""
    ratio, place = "attention_rate_ratio", asked.provenance.get("attention_rate_ratio", "").partition(": ")[0].split()
    if values.get(ratio, 1.0) == 1 or place[:1] != [f"{HARDWARE}.csv"]:
        return None
    alike, dtype = {ratio: 1.0}, place[-1]
    if targets := made_of(asked, asked.unknown):
        there = {asked.unknown: values[asked.unknown]}
        pairs = {name: [result_with(asked, name, {**there, **more}) for more in ({}, alike)] for name in targets}
    else:
        pairs = {asked.unknown: [_anew((asked.unknown,), asked, values, used, instead=more).get(asked.unknown) for more in ({}, alike)]}
    for name, (taken, other) in pairs.items():
        if taken and other and max(taken / other, other / taken) > _READ_TOO_MUCH:
            told = f"attention is taken to run in {ATTENTION_DTYPE}, at {values[ratio]:.2g} of the {dtype} rate"
            at = f" at {asked.unknown} = {show(asked.unknown, values[asked.unknown])}" if targets else ""
            return Doubt(f"{told}; in {dtype} {name} is {show(name, other)}{at}: give {ratio}=1", frozenset((ratio,)))
    return None


def cache_copied(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """A cache taken to be sharded that tensor parallelism copies: how much longer the step may be, or larger the cache."""
    row = copies_of(dict(asked.variants))
    if not row.inputs <= values.keys() or not _stands(_COPIES, used):
        return None
    if asked.unknown == "chips" and values.keys() >= {"memory_capacity", "weight_bytes", "kv_cache_bytes"} and not _overlap(used):
        return _copies_held(row, values)
    # A chip computes one query head at least.
    chips = min(values["chips"], values.get("query_heads", math.inf))
    most = row.right_side({**values, "chips": chips})
    if most <= _UNEVEN:
        return None
    told = f"a cache that is not sharded by sequences lies up to {most:.3g} times on the chips, under tensor parallelism over {chips:.4g}"
    give = f"give kv_replication, or --using {row.id}" if chips == values["chips"] else "give kv_replication"
    rests = row.inputs | {"query_heads"}
    if (moved := _with_other_copies(asked, values, used, most)) is not None:
        return Doubt(f"{told}, and then {_comes_to(asked.unknown, moved)}; {give}", rests)
    once, often = (_anew((*_HELD, "kv_cache_bytes"), asked, values, used, instead=copies) for copies in ({}, {_COPIES: most}))
    if once.keys() >= {*_HELD} and once["memory_demand"] <= once["memory_capacity"] < often["memory_demand"]:
        return Doubt(f"{told}, and then it does not fit{_of_which_fit(values, once, most)}; {give}", rests)
    time = "mixed_step_time" if any(row.defines == "mixed_step_time" for row in used) else "step_time"
    backwards = bool(made_of(asked, asked.unknown)) and "kv_time" not in values
    if not _overlap(used) or ("kv_time" not in values and not backwards):
        return Doubt(f"{told}, which is not counted; {give}", rests) if asked.unknown in _OF_CACHES else None
    if backwards:
        at = {asked.unknown: values[asked.unknown]}
        step, with_copies = (result_with(asked, time, {**at, **copies}) for copies in ({}, {_COPIES: most}))
    else:
        step, with_copies = (_anew((time,), asked, values, used, instead=copies).get(time) for copies in ({}, {_COPIES: most}))
    if not step or not with_copies or with_copies <= _READ_TOO_MUCH * step:
        return None
    return Doubt(f"{told}, and the step may take up to {with_copies / step:.3g} times as long; {give}", rests)


def cache_cut_by_heads(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """A cache that lies on the chips as often as tensor parallelism over them makes it: what it is where it lies there once."""
    if asked.supposed.get(_COPIES) != BY_HEADS or not any(_COPIES in row.symbols for row in used):
        return None
    told = f"under tensor parallelism over {values['chips']:.4g} chips the cache lies {values[_COPIES]:.3g} times on them"
    if made_of(asked, asked.unknown):
        return Doubt(f"{told}; where it is sharded by sequences give kv_replication=1", frozenset((_COPIES,)))
    now, once = values.get(asked.unknown), _with_other_copies(asked, values, used, 1.0)
    once = once or _anew((asked.unknown,), asked, values, used, instead={_COPIES: 1.0}).get(asked.unknown)
    if not now or not once or max(once / now, now / once) <= _READ_TOO_MUCH:
        return None
    return Doubt(f"{told}; sharded by sequences, {_comes_to(asked.unknown, once)}: give kv_replication=1", frozenset((_COPIES,)))


def _of_which_fit(values: Mapping[str, float], held: Mapping[str, float], copies: float) -> str:
    """Of sequences whose cache does not fit so often how many do, where it is known how many there are."""
    batch, cache = values.get("batch"), held.get("kv_cache_bytes")
    if not batch or not cache:
        return ""
    room = held["memory_capacity"] - held["memory_demand"] + cache
    return f", and {math.floor(batch * room / (cache * copies) * (1 + HOLDS))} of {math.floor(batch * (1 + HOLDS))} sequences do"


def _comes_to(name: str, value: float) -> str:
    """What a quantity is then, a number of sequences in whole ones."""
    return f"{name} is {math.floor(value * (1 + HOLDS)) if name in _SEQUENCES and value >= 1 else show(name, value)}"


def _with_other_copies(asked: Question, values: Mapping[str, float], used: Sequence[Equation], copies: float) -> float | None:
    """What memory leaves room for where a cache lies on the chips so often, of an answer that memory alone bounds."""
    if not any(row.id in _ROOM for row in used) or _overlap(used) or not _is_in_room(asked.unknown, values):
        return None
    return values[asked.unknown] * values.get(_COPIES, 1.0) / copies


def _is_in_room(name: str, values: Mapping[str, float]) -> bool:
    """Whether there is the less of it, the more often a cache lies on the chips; windows and states hold no more in a longer context."""
    if name != "context_length":
        return name in _IN_ROOM
    return math.isclose(values.get("kv_bytes_per_sequence", 0.0), values[name] * values.get("kv_bytes_per_token", 0.0))


def _copies_held(row: Equation, values: Mapping[str, float]) -> Doubt | None:
    """How many chips hold a cache that tensor parallelism copies, where they are more than hold it once."""
    heads, least = shards_of(row, values), int(next_whole(values["chips"], LOWER))
    most = chips_for_copies(values, row, values.get("query_heads", math.inf))
    if most == least:
        return None
    shared = values.get("query_heads")
    none = "no number of chips holds it" if shared is None else f"none of up to {shared:.0f} chips, a head each, hold it"
    takes = none if most is None else f"it takes {most} chips"
    over = f"tensor parallelism over more than {heads:.0f} chip{'s' * (heads != 1)}"
    told = f"a cache that is not sharded by sequences is copied under {over}: with its copies {takes}; give kv_replication"
    return Doubt(told, row.inputs | {"query_heads"})


def exchange_left_out(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """Experts on several chips in a step without a network: how much longer it may be for what goes to them and back."""
    if not _decodes_on_several(values, used):
        return None
    chips = values.get("expert_parallel", min(values["chips"], values.get("experts", math.inf)))
    row, links = _way_of_exchange(chips, values)
    supposed = {name: value for name, value in {**EXCHANGED, "expert_parallel": chips, **links}.items() if name not in values}
    counted, bare = (equation(f"roofline.step_time_{name}") for name in ("network", "serial"))
    wanted, others = (*counted.symbols, *bare.symbols), (*_OF_EXCHANGE, row.id)
    known = _anew(wanted, asked, {**values, **supposed}, used, others)
    if not {*wanted} <= known.keys() or not known["step_time"]:
        return None
    step, with_network = known["step_time"], counted.right_side(known)
    longer = 1 + (with_network - bare.right_side(known)) / step
    if longer <= _UNEVEN:
        return None
    took = show("all_to_all_time", known["all_to_all_time"], 3)
    at = ", ".join(f"{name} = {show(name, value)}" for name, value in supposed.items())
    told = f"the exchange between experts, {took}{f' with {at}' if at else ''}, is not counted: where nothing hides it the step takes"
    serial = "" if math.isclose(longer, with_network / step) else f", and {with_network / step:.3g} times where nothing overlaps"
    text = f"{told} about {longer:.3g} times as long{serial}; give {'these, ' if at else ''}--overlap network and --using {row.id}"
    rests = frozenset(name for one in _leading_to((row.symbols[0],), asked.active, others) for name in one.symbols)
    return Doubt(text, rests | {"scale_up_size"})


def _decodes_on_several(values: Mapping[str, float], used: Sequence[Equation]) -> bool:
    """Whether an answer rests on a decode step on several chips that is added up without a network."""
    prefills = any(row.defines == "prefill_normalised_cost" for row in used)
    return not prefills and _overlap(used) in _WITHOUT_NETWORK and values.get("chips", 1.0) > 1


def sums_left_out(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """A dense model on several chips in a pass without a network: how much longer it is for what they add up in every layer."""
    dense = "total_params" in values and values["total_params"] == values.get("active_params")
    if not dense or not values.get("chips", 1.0) > 1 or (link := _slowest_link(values["chips"], values)) is None:
        return None
    prefill = _prefill(asked, values, used)
    if not prefill and not _decodes_on_several(values, used):
        return None
    row = equation("network.tensor_parallel_time")
    supposed = {name: value for name, value in SUMMED.items() if name not in values}
    # The tokens of a pass, as sequences of one more token each.
    tokens = {"batch": prefill[1], "tokens_verified_per_step": 1.0} if prefill else {}
    known = _anew((row.symbols[0], "step_time"), asked, {**values, **tokens, **supposed, "link_bandwidth": link}, used, (row.id,))
    bare = prefill[0] if prefill else known.get("step_time")
    if row.symbols[0] not in known or not bare:
        return None
    longer = 1 + known[row.symbols[0]] / bare
    # No way to add up a pass counts them, as one does of a step.
    if longer <= (_READ_TOO_MUCH if prefill else _UNEVEN):
        return None
    at = " and ".join(f"{name} = {show(name, value)}" for name, value in supposed.items())
    took = f"{show(row.symbols[0], known[row.symbols[0]], 3)}{f' with {at}' if at else ''}"
    told = f"what {values['chips']:.4g} chips add up in every layer, {took} over links of {show('link_bandwidth', link)}, is not counted"
    text = f"{told}: where nothing hides it the {'pass' if prefill else 'step'} takes about {longer:.3g} times as long"
    give = "give an mfu that was measured" if prefill else "--overlap exposed counts it, or give exposed_communication_share"
    return Doubt(f"{text}; {give}", frozenset((*row.symbols, "scale_up_link_bandwidth", "scale_up_size")) - tokens.keys())


def _slowest_link(chips: float, values: Mapping[str, float]) -> float | None:
    """What so many chips add up over: the links in a domain, or rings over all between domains, the usual ones where not known."""
    inside = values.get("scale_up_link_bandwidth")
    if "link_bandwidth" in values or inside is None:
        return values.get("link_bandwidth")
    size = _or_usual("scale_up_size", values)
    return inside if chips <= size else of_rings(chips, size, inside, _or_usual(OUT, values))


def _or_usual(link: str, values: Mapping[str, float]) -> float:
    """What is known of a link; else what most accelerators have, for which their table is read."""
    return values[link] if link in values else usual(link)


def _prefill(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> tuple[float, float] | None:
    """A pass over prompts at the peak of the chips, and its tokens, where an answer rests on that, and on no decode beside a request's."""
    name = next((name for name in _PASSES if any(row.defines == name for row in used)), None)
    if "mfu" in asked.known or name is None or (name == "prefill_time" and _decodes_on_several(values, used)):
        return None
    known = {**in_numbers(asked.defaults, values), **values}
    time, (sequences, tokens) = _anew((name,), asked, values, used).get(name), _PASSES[name]
    return (time, known[sequences] * known[tokens]) if time and {sequences, tokens} <= known.keys() else None


def _way_of_exchange(chips: float, values: Mapping[str, float]) -> tuple[Equation, Mapping[str, float]]:
    """How the exchange between experts on so many chips is counted, and what is supposed of links that are not known."""
    out = "scale_out_link_bandwidth"
    if "link_bandwidth" in values or "scale_up_link_bandwidth" not in values:
        return equation("experts.all_to_all_time_one_copy"), {"link_bandwidth": _or_usual(out, values)}
    size, inside = {"scale_up_size": _or_usual("scale_up_size", values)}, values["scale_up_link_bandwidth"]
    if chips <= size["scale_up_size"]:
        return equation("experts.all_to_all_time_one_rack"), size
    return equation("experts.all_to_all_time_racks"), {**size, out: min(inside, usual(out))}


def hops_left_out(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """Several stages between which nothing is said to take time, so that none waits."""
    stages = values.get("pipeline_stages", 1.0)
    left_out = stages > 1 and (_stands("hop_latency", used) or _stands("idle_fraction", used))
    told = f"hops between {stages:.4g} stages are taken to take no time, in which a stage waits; give hop_latency"
    return Doubt(told, frozenset(("pipeline_stages",))) if left_out else None


def chips_of_one_part(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """Chips of one of several stages, or of one of several copies in training: how many, in whole ones, all have together."""
    if not any("chips" in row.symbols for row in used):
        return None
    stages = 1.0 if asked.unknown == "pipeline_stages" else values.get("pipeline_stages", 1.0)
    counted = {"training_chips", _TRAINED} & {asked.unknown} or "training_chips" in values
    copies = 1.0 if counted else asked.known.get(_TRAINED, 1.0)
    chips = int(next_whole(values["chips"], LOWER))
    of_all = f"{stages:.4g} stages of {chips} have {stages * chips:.4g}" if stages > 1 else ""
    if copies > 1:
        of_stage = "a stage of one copy" if stages > 1 else "one copy of the model"
        whole = f"{copies:.4g} copies of {stages * chips:.4g} have {copies * stages * chips:.4g}"
        more = "" if chips % copies else f"; where {chips} are all there are, give the {chips / copies:.4g} of a copy"
        return Doubt(f"chips are those of {of_stage}: {whole}{more}", frozenset((_TRAINED,)))
    return Doubt(f"chips are those of one stage: {of_all}", frozenset(("pipeline_stages",))) if of_all else None


def prefill_attention_left_out(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | str | None:
    """Prefill of a model whose attention is known, without the length of its prompts, or as if nothing stood before a pass."""
    if _stands("prefill_attention_factor", used):
        if values.keys().isdisjoint(("query_heads", "kv_heads", "latent_dim")):
            return None
        lacking = "prompt_tokens" if "query_heads" in values else "query_heads"
        return f"attention over the prompt is left out, which long prompts multiply; give {lacking}"
    if not _stands("uncached_tokens", used) or not values.keys() >= {"new_tokens_per_pass", "context_length", "prefill_attention_factor"}:
        return None
    factor, new, context = (values[name] for name in ("prefill_attention_factor", "new_tokens_per_pass", "context_length"))
    behind = {"cached_tokens": context, "uncached_tokens": new}
    longer = _anew(("prefill_attention_factor",), asked, values, used, instead=behind).get("prefill_attention_factor", factor) / factor
    if context <= new or longer <= _UNEVEN:
        return None
    told = f"the pass is taken for a whole prompt: behind a context it would take up to {longer:.3g} times the arithmetic"
    return Doubt(f"{told}; give cached_tokens, or prompt_tokens", frozenset(("context_length",)))


def reads_outlast_prefill(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """The arithmetic of a pass that waits for the weights: how much longer the pass is."""
    if not any(row.defines == "prefill_compute_time" for row in used):
        return None
    wanted = ("prefill_normalised_cost", "prefill_attention_factor")
    # Ways to add up a step that there are not for a pass over prompts: as if all of it overlapped.
    added_up = () if any(row.defines in wanted[:1] for row in asked.active) else ("serving.prefill_normalised_cost",)
    known = _anew(wanted, asked, values, used, added_up, {"kv_compute_ratio": 0.0})
    if not {*wanted} <= known.keys():
        return None
    longer = known["prefill_normalised_cost"] / known["prefill_attention_factor"]
    if longer <= _UNEVEN:
        return None
    return f"this is arithmetic alone: with the weights that it has to read, the pass takes {longer:.3g} times as long"


def little_room_left(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Weights and caches that leave next to nothing for what engines hold beside them, where an answer is held against memory."""
    known = {**asked.known, **in_numbers(asked.defaults, values), **values}
    short = None if asked.anyway or asked.unknown in _OF_MEMORY else shortage(asked, known, tuple(used))
    room = worked_out(asked, ("memory_capacity",), known).get("memory_capacity")
    reserved = known.get("reserved_share") or worked_out(asked, ("reserved_share",), known).get("reserved_share")
    if short is None or not room or reserved or not -_NEXT_TO_NOTHING * room < short <= room * HOLDS:
        return None
    return f"weights and caches take {1 + short / room:.1%} of the memory: engines need room for activations and buffers too"


def heads_undivided(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> Doubt | None:
    """Chips that do not divide the heads, as tensor parallelism does, and the next number of them that does."""
    known = {**asked.known, **values}
    chips = known.get("chips", 1.0)
    name = next((one for one in ("query_heads", "kv_heads") if chips < known.get(one, chips) and known[one] % chips), "")
    heads = known.get(name, 1.0)
    if not name or (chips, heads) != (round(chips), round(heads)):
        return None
    # Mixtures of experts are spread over chips by other parts than heads, unless somebody says tensor parallelism.
    by_heads = "experts" not in known or asked.conventions.tensor_parallel
    if not by_heads or not any("chips" in row.symbols for row in used):
        return None
    following = next(count for count in range(int(chips) + 1, int(heads) + 1) if heads % count == 0)
    what = f"{heads:.0f} {'KV ' * (name == 'kv_heads')}heads"
    told = f"{what} cannot be shared evenly by {chips:.0f} chips, as tensor parallelism shares them: {following} chips can"
    return Doubt(told, frozenset((name,)))


def memory_nearly_full(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Caches that fill up all that weights leave: how many fewer there are where something else takes room too."""
    row, known = equation(SEQUENCES_FIT), {**in_numbers(asked.defaults, values), **values}
    if not any(one.id == row.id for one in used) or not row.inputs <= known.keys() or known["reserved_share"]:
        return None
    less = {**known, "reserved_share": KEPT_FREE}
    told = "weights and caches take all of the memory: with a tenth of it left for activations and buffers"
    if not row.applies(less):
        return f"{told}, no cache fits; give reserved_share"
    times = row.right_side(known) / row.right_side(less)
    if times <= _UNEVEN:
        return None
    then = f", and then {_comes_to(asked.unknown, values[asked.unknown] / times)}" if _is_in_room(asked.unknown, values) else ""
    return f"{told}, caches have {times:.3g} times less room{then}; give reserved_share={KEPT_FREE}"


def part_of_a_replica(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Replicas that were worked out on the way, and are no whole number."""
    replicas = values.get("replicas")
    if asked.unknown == "replicas" or replicas is None or "replicas" in asked.known or not any("replicas" in row.symbols for row in used):
        return None
    whole = math.ceil(replicas * (1 - HOLDS))
    if whole <= replicas * (1 + HOLDS):
        return None
    return f"replicas = {show('replicas', replicas)} on the way: of whole ones, give replicas={whole} in place of the rate of all"


def chip_always_in_use(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """An owned chip whose second in use is priced as if it never waited."""
    row = equation("serving.chip_price_from_capex")
    always = any(one.id == row.id and "fleet_utilisation" in one.put_in for one in used)
    return "the price is that of a second in use, and the chip is taken never to wait; give fleet_utilisation" if always else None


def wider_beside_the_experts(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A step that reads few experts, at the mean of narrow experts and wider weights beside them: how much longer it may be."""
    mixed = [one for one in asked.published if one.of_others > one.of_experts and one.bytes_per_weight == values.get("bytes_per_weight")]
    if not mixed or "total_params" not in asked.known:
        return None
    one, time = mixed[0], next((name for name in _READING if any(row.defines == name for row in used)), None)
    if time is None or not (time in _OF_ONE_SEQUENCE or _reads("touched", used)):
        return None
    row, touched = equation("experts.fetched_bytes_per_weight"), _touched(values, used)
    reads = {"expert_bytes_per_weight": one.of_experts, "shared_bytes_per_weight": one.of_others}
    if time in _OF_ONE_SEQUENCE:
        reads["fetched_params"] = values["active_params"]
    elif touched is not None:
        reads["activated_experts"] = touched
    wide = _anew((row.symbols[0],), asked, values, used, (row.id,), reads).get(row.symbols[0])
    if wide is None:
        return None
    as_read, at_the_mean = (_anew((time,), asked, values, used, instead=width)[time] for width in ({"bytes_per_weight": wide}, {}))
    longer = as_read / at_the_mean
    if longer <= _UNEVEN:
        return None
    widths = f"{show('bytes_per_weight', one.of_others)} each, the mean of all is {show('bytes_per_weight', one.bytes_per_weight)}"
    return f"weights beside the experts take {widths}: with the few experts that are read here, it takes {longer:.3g} times as long"


def longer_than_the_model(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Sequences longer than the context that a model was published with."""
    # The tokens of a job are those of many sequences.
    spoken = {name for row in used if row.defines not in _OF_JOBS for name in row.symbols}
    longest = max(sum(values.get(name, 0.0) for name in names if name in spoken) for names in _LENGTHS)
    for one in asked.published:
        if longest > one.max_context:
            limit = f"{one.model} was published for {show('context_length', one.max_context)}"
            return f"longer than the model's context: {show('context_length', longest)}, and {limit}"
    return None


def another_variant(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """What somebody gave and none of the equations takes, but another variant would than the one used by default."""
    taken = {name for row in used for name in (*row.symbols, *row.put_in)}
    left = [name for name, source in asked.provenance.items() if source == "given" and name not in taken]
    defaults = [row for row in used if row.variant and row.variant.default]
    pairs = [(row, other) for row in defaults if left for other in by_id().values() if _instead(row, other)]
    would = {(row.id, other.id): [name for name in left if name in other.inputs] for row, other in pairs if other.inputs <= values.keys()}
    takes: dict[tuple[str, str], list[str]] = {}
    for (row, other), names in would.items():
        if names:
            takes.setdefault((row, " and ".join(names)), []).append(other)
    ends = {1: ("takes", "it")}
    said = [
        f"{row} was used; {', '.join(others)} {verb} {names}: name {which} with --using"
        for (row, names), others in takes.items()
        for verb, which in [ends.get(len(others), ("take", "one"))]
    ]
    return "; ".join(said) or None


def _instead(row: Equation, other: Equation) -> bool:
    """Whether they are two variants that define the same."""
    return other.variant is not None and row.variant is not None and other.defines == row.defines and other.variant.name != row.variant.name


def _stands(name: str, used: Sequence[Equation]) -> bool:
    """Whether an equation that was used rests on a default."""
    return any(name in row.put_in for row in used)


def _overlap(used: Sequence[Equation]) -> str | None:
    """How the parts of the step were added up on which an answer rests; None where it rests on none, or a measured one."""
    return next((row.variant.name for row in used if row.variant and row.variant.group == "overlap"), None)


def _anew(
    wanted: tuple[str, ...],
    asked: Question,
    values: Mapping[str, float],
    used: Sequence[Equation],
    others: tuple[str, ...] = (),
    instead: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """What quantities come to where some of what they rest on is another: by the catalogue, without a default put in."""
    made = {row.defines for row in used}
    inputs = {name: value for name, value in values.items() if name not in made}
    defaults = in_numbers(asked.defaults, {**values, **instead})
    return followed(_leading_to(wanted, asked.active, others), {**defaults, **inputs, **instead})


@lru_cache(maxsize=256)
def _leading_to(wanted: tuple[str, ...], active: tuple[Equation, ...], others: tuple[str, ...]) -> tuple[Equation, ...]:
    """The definitions of these quantities and of all they rest on, those of `others` before those that take part."""
    made = {row.defines: row for row in (*(equation(row.id) for row in active), *map(equation, others)) if row.defines}
    found, queue = {}, [*wanted]
    while queue:
        row = made.get(queue.pop())
        if row and row.id not in found:
            found[row.id] = row
            queue += row.symbols[1:]
    return tuple(found.values())


def _reads(variant: str, used: Sequence[Equation]) -> bool:
    """Whether the weight read was that of a variant."""
    return any(row.defines == "weight_time" and row.variant.name == variant for row in used if row.variant)


_CAVEATS: tuple[_Caveat, ...] = (may_be_a_slip, counted_in_parts, either_may_bind,
    prompts_elsewhere, prompts_unsaid, prompts_of_others_elsewhere, step_of_decode_alone, wider_beside_the_experts,
    data_types_unsaid, chip_type_unsaid, cache_type_unsaid, attention_in_bf16,
    beyond_one_domain, one_of_a_rack, at_the_peak, experts_unknown,
    busiest_chip, chunk_not_free, overlap_presumed,
    drafts_for_nothing, latent_attention_left_out, attention_rate_unknown, cache_copied, cache_cut_by_heads,
    exchange_left_out, sums_left_out,
    chips_of_one_part, hops_left_out, prefill_attention_left_out, reads_outlast_prefill,
    memory_nearly_full,
    little_room_left, heads_undivided,
    part_of_a_replica, chip_always_in_use, another_variant, longer_than_the_model)  # fmt: skip
