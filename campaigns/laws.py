"""Laws that no chain of equations may break, whatever is asked: random deployments, asked through the public door.

    python -m campaigns.laws --count 5000 --seed 1

It prints every broken law with the commands that show it. Exit status 1 if there is one. Each law is plain arithmetic beside the
answers: what is computed, read and stored against what the chips can do. The catalogue gives only what a sequence stores, reads and
computes if a preset describes the model. That answers agree with each other is tested by campaigns/generated_questions.py.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from math import ceil, exp, isclose, log
from random import Random
from shlex import quote
from typing import NamedTuple

from derive import presets, solve
from derive.errors import BacksolveError
from derive.preset_record import BYTES_PER_WEIGHT, HARDWARE_GIVENS, PARAMETERS, Preset
from derive.preset_rows import AcceleratorFigure, Architecture
from derive.solving.result import Solution
from derive.tables.shipped import rows_of

SLACK = 1e-9
"""Relative difference that rounding may make."""

TOUCHED, SHARDED, RESIDENT = "experts.weight_time_touched", "roofline.weight_time", "roofline.weight_time_resident"
WITH_PROMPTS = "serving.requests_per_second_with_prompts"
WIDTHS = ("expert_bytes_per_weight", "shared_bytes_per_weight")
"""Bytes of a weight in the experts and beside them, where they are not those of all."""
SPARSE, FIXED = "context.sparse_attention", "context.kv_time_fixed"
OVERLAPS = ("max", "sum", "kv_plus_max", "network", "exposed")

BACKWARDS = (("throughput", "batch", 0.9), ("token_latency", "batch", 1.1), ("step_time", "chips", 1.5), ("cost_per_token", "batch", 1.1))
"""Results, what is asked back of them, and which share of the result."""

UP, DOWN = 1, -1
MONOTONE = (
    ("step_time", "batch", UP),
    ("step_time", "context_length", UP),
    ("step_time", "chips", DOWN),
    ("step_time", "hbm_bandwidth", DOWN),
    ("step_time", "peak_flops", DOWN),
    ("throughput", "batch", UP),
    ("throughput", "context_length", DOWN),
    ("cost_per_token", "batch", DOWN),
    ("cost_per_token", "context_length", UP),
    ("kv_cache_bytes", "context_length", UP),
    ("kv_bytes_per_sequence", "context_length", UP),
    ("latency_floor", "chips", DOWN),
)
"""Which way a result goes, or stays, when one of the givens is doubled."""


@dataclass(frozen=True)
class Deployment:
    """What is known of chips, model and schedule: all of a question but the unknown."""

    given: tuple[tuple[str, float], ...]
    hardware: str | None = None
    model: str | None = None
    overlap: str = "max"
    using: tuple[str, ...] = ()

    def at(self, **more: float) -> "Deployment":
        """With other values."""
        return replace(self, given=tuple(sorted({**dict(self.given), **more}.items())))

    def without(self, *names: str) -> "Deployment":
        """With less known."""
        return replace(self, given=tuple((name, value) for name, value in self.given if name not in names))

    def command(self, unknown: str) -> str:
        """The question as somebody types it."""
        words = ["backsolve", "solve", unknown, *(f"{name}={value!r}" for name, value in self.given)]
        words += [word for id in self.using for word in ("--using", id)]
        for option in ("hardware", "model", "overlap"):
            if said := getattr(self, option):
                words += [f"--{option}", said]
        return " ".join(map(quote, words))


class Claim(NamedTuple):
    """What a law says of one deployment, whether it holds, and what to read where it does not."""

    holds: bool
    told: str


Law = Callable[[Deployment], Iterator[Claim]]


@lru_cache(maxsize=4096)
def ask(one: Deployment, unknown: str) -> Solution | None:
    """The answer; None where the question is refused as wrong."""
    known = {name: value for name, value in one.given if name != unknown}
    try:
        variants = {"overlap": one.overlap}
        return solve(unknown, hardware=one.hardware, model=one.model, using=one.using, variants=variants, strict=True, **known)
    except BacksolveError:
        return None


def value(one: Deployment, unknown: str) -> float | None:
    """The one point that is answered, or None."""
    solution = ask(one, unknown)
    if solution is None or [answer.kind for answer in solution.answers] != ["point"]:
        return None
    return solution.answers[0].value


def most(one: Deployment, unknown: str) -> float | None:
    """The upper end of the interval that is answered, or None."""
    solution = ask(one, unknown)
    if solution is None or [answer.kind for answer in solution.answers] != ["interval"]:
        return None
    return solution.answers[0].high


@lru_cache(maxsize=512)
def facts(one: Deployment) -> Mapping[str, float]:
    """What is known, presets and neutral values included, and from it the plain numbers that the laws rest on."""
    neutral = ("chips", "pipeline_stages", "mfu", "mbu", "kv_replication", "attention_rate_ratio")
    nothing = Preset(givens={}, provenance={}, variants={})
    chip, model = presets.hardware(one.hardware) if one.hardware else nothing, presets.model(one.model) if one.model else nothing
    stored = presets.as_published(replace(chip, published=model.published))
    known = {**dict.fromkeys(neutral, 1.0), **stored.givens, **model.givens, **dict(one.given)}
    known.setdefault("microbatches", known["pipeline_stages"])
    known["all_chips"] = known["chips"] * known["pipeline_stages"]
    known["in_flight"] = known["microbatches"] * known["batch"]
    accepted, drafted = known.get("acceptance_rate"), known.get("draft_tokens")
    drafts = accepted is not None and drafted is not None
    known["positions"] = drafted + 1 if drafts else known.get("tokens_verified_per_step", 1.0)
    known["tokens"] = sum(accepted**n for n in range(int(drafted) + 1)) if drafts else known.get("tokens_per_step", 1.0)
    return known


def flops_of_a_token(one: Deployment) -> float:
    """Arithmetic of one position of a sequence [FLOP], attention as long as it would take at the rate of the weights."""
    known = facts(one)
    attention = value(one, "attention_flops_per_sequence")
    if attention is None:
        attention = (value(one, "attention_flops_per_pair") or known.get("attention_flops_per_pair", 0.0)) * known["context_length"]
    return 2 * known["active_params"] + attention / known["attention_rate_ratio"]


def cache_read(one: Deployment) -> float:
    """KV bytes that one sequence reads in one pass, of all chips."""
    known = facts(one)
    if "kv_read_bytes_per_sequence" in known or one.model:
        read = known.get("kv_read_bytes_per_sequence") or value(one, "kv_read_bytes_per_sequence") or cache_held(one)
    elif SPARSE in one.using:
        tokens = known["sparse_attention_coefficient"] * known["context_length"] ** known["sparse_attention_exponent"]
        read = tokens * known["kv_bytes_per_token"]
    else:
        read = known["context_length"] * known["kv_bytes_per_token"]
    return read * known["kv_replication"]


def cache_held(one: Deployment) -> float:
    """KV bytes that one sequence holds, copies left out."""
    known = facts(one)
    if one.model:
        held = value(one, "kv_bytes_per_sequence")
        return held if held is not None else (value(one, "kv_bytes_per_token") or 0.0) * known["context_length"]
    return known["context_length"] * known["kv_bytes_per_token"]


def weights_held(one: Deployment) -> float:
    """Bytes of the weights in the memory of all chips."""
    known = facts(one)
    if RESIDENT in one.using:
        return known["resident_weight_bytes_per_chip"] * known["all_chips"]
    return known["total_params"] * known["bytes_per_weight"]


def weights_read(one: Deployment) -> float:
    """Bytes of the weights that a pass through all stages reads: of experts, those that somebody needs."""
    known = facts(one)
    experts, active = known.get("experts"), known.get("active_experts")
    if {SHARDED, RESIDENT} & {*one.using} or experts is None or active is None or active >= experts:
        return weights_held(one)
    routed = (known["total_params"] - known["active_params"]) / (1 - active / experts)
    share = 1 - (1 - active / experts) ** (known["batch"] * known["positions"])
    widths = dict.fromkeys(WIDTHS, known["bytes_per_weight"])
    if TOUCHED not in one.using:
        widths |= {name: known[name] for name in WIDTHS if name in known}
    of_experts, of_others = widths.values()
    return (known["total_params"] - routed) * of_others + routed * share * of_experts


def at_most(left: float, right: float, said: str, one: Deployment, *unknowns: str) -> Claim:
    """That one number is no more than another, but for rounding."""
    return Claim(left <= right + SLACK * abs(right), told(f"{said}: {left:.9g} is more than {right:.9g}", one, *unknowns))


def equal(left: float, right: float, said: str, one: Deployment, *unknowns: str) -> Claim:
    """That two numbers are one, but for rounding."""
    return Claim(isclose(left, right, rel_tol=SLACK), told(f"{said}: {left:.9g} is not {right:.9g}", one, *unknowns))


def told(said: str, one: Deployment, *unknowns: str) -> str:
    """A broken law, with the commands that show it."""
    return "\n    ".join((said, *(one.command(unknown) for unknown in unknowns)))


def arithmetic(one: Deployment) -> Iterator[Claim]:
    """No more FLOP/s than the peak: each pass computes all its positions, and each token is at least one of them."""
    rate = value(one, "throughput")
    if rate is None:
        return
    known = facts(one)
    peak = known["all_chips"] * known["peak_flops"] * known["mfu"]
    for positions, said in ((known["positions"] / known["tokens"], "FLOP/s of all positions"), (1.0, "FLOP/s of the tokens alone")):
        yield at_most(rate * positions * flops_of_a_token(one), peak, f"{said} beside the peak", one, "throughput")


def traffic(one: Deployment) -> Iterator[Claim]:
    """No more bytes a second than the bandwidth."""
    rate = value(one, "throughput")
    if rate is None:
        return
    known = facts(one)
    passes = rate / (known["batch"] * known["tokens"])
    used = passes * (weights_read(one) + known["batch"] * cache_read(one))
    there = known["all_chips"] * known["hbm_bandwidth"] * known["mbu"]
    yield at_most(used, there, "bytes a second beside the bandwidth", one, "throughput")


def capacity(one: Deployment) -> Iterator[Claim]:
    """What is answered without a word of it fits into the memory."""
    solution, known = ask(one, "throughput"), facts(one)
    if not (solution and solution.answers) or any("does not fit" in text for text in solution.warnings) or "hbm_capacity" not in known:
        return
    held = weights_held(one) + known["in_flight"] * cache_held(one) * known["kv_replication"]
    yield at_most(held, known["all_chips"] * known["hbm_capacity"], "bytes held beside the memory", one, "throughput")


def backwards(one: Deployment) -> Iterator[Claim]:
    """A batch or chips that a result takes hold what they have to hold."""
    for result, unknown, share in BACKWARDS:
        here = value(one, result)
        if here is None or "hbm_capacity" not in facts(one):
            continue
        there = one.without(unknown).at(**{result: share * here})
        solution, found = ask(there, unknown), value(there, unknown)
        if found is None or any("does not fit" in text for text in solution.warnings):
            continue
        at = one.at(**{unknown: found})
        known = facts(at)
        held = weights_held(at) + known["in_flight"] * cache_held(at) * known["kv_replication"]
        yield at_most(held, known["all_chips"] * known["hbm_capacity"], f"bytes held at that {unknown} beside the memory", there, unknown)


def claimed(one: Deployment) -> Iterator[Claim]:
    """A result beyond what the arithmetic and the weights allow is answered with nothing, whatever is asked."""
    known = facts(one)
    if "chips" not in dict(one.given):
        return
    most_tokens = known["peak_flops"] * known["mfu"] / (2 * known["active_params"])
    replica = most_tokens * known["all_chips"]
    reading = weights_read(one) / (known["chips"] * known["hbm_bandwidth"] * known["mbu"])
    claims = (
        ("decode_rate_per_chip", {"throughput": 1.01 * replica}),
        ("cost_per_token", {"throughput": 1.01 * replica}),
        ("throughput", {"cost_per_token": known["chip_price"] / (1.01 * most_tokens)}),
        ("throughput", {"decode_rate_per_chip": 1.01 * most_tokens}),
        ("throughput", {"token_latency": 0.99 * reading}),
    )
    bare = one.without("context_length")
    for unknown, claim in claims:
        for there in (one.at(**claim), bare.at(**claim)):
            solution = ask(there, unknown)
            yield Claim(solution is None or not solution.answers, told(f"answered beyond a roof, with {claim}", there, unknown))


def edge(one: Deployment) -> Iterator[Claim]:
    """As many sequences as are said to fit do, and no more."""
    known = facts(one)
    high = most(one.without("batch", "microbatches"), "sequences_in_flight")
    if high is None or high < 1 or "chips" not in dict(one.given):
        return
    for share, fits in ((0.999, True), (1.001, False)):
        there = one.at(batch=share * high / known["microbatches"])
        solution = ask(there, "step_time")
        if solution is None or not (solution.answers or solution.reason.code == "does_not_fit"):
            continue
        text = f"{high:.9g} sequences are said to fit, {share:g} of them {'do not' if fits else 'do too'}"
        yield Claim(bool(solution.answers) == fits, told(text, there, "step_time", "sequences_in_flight"))


def roofs(one: Deployment) -> Iterator[Claim]:
    """A step is no shorter than its arithmetic, than its reads, than the floor; and the floor knows no batch."""
    step, known = value(one, "step_time"), facts(one)
    if step is not None:
        computing = known["batch"] * known["positions"] * flops_of_a_token(one) / (known["chips"] * known["peak_flops"] * known["mfu"])
        reading = (weights_read(one) + known["batch"] * cache_read(one)) / (known["chips"] * known["hbm_bandwidth"] * known["mbu"])
        yield at_most(computing, step, "the arithmetic beside the step", one, "step_time")
        yield at_most(reading, step, "the reads beside the step", one, "step_time")
    floor, alone = value(one, "latency_floor"), one.at(batch=1.0)
    if floor is None:
        return
    for there in (one, alone):
        if (step := value(there, "step_time")) is not None:
            yield at_most(floor, step, "the floor beside a step", there, "latency_floor", "step_time")
    if (again := value(alone, "latency_floor")) is not None:
        yield equal(again, floor, "the floor at one sequence beside that of the batch", one, "latency_floor")


def prompts(one: Deployment) -> Iterator[Claim]:
    """Prompts take one time, whoever asks: of chips of their own or of those that decode, as a rate, a share of the time or a cost."""
    context, known = dict(one.given).get("context_length"), facts(one)
    if context is None:
        return
    tokens, output = float(ceil(0.8 * context)), float(ceil(0.4 * context))
    there = one.without("context_length").at(prompt_tokens=tokens, output_tokens=output)
    both = replace(there, using=(*there.using, WITH_PROMPTS))
    ratio, rate = value(there, "prefill_decode_chip_ratio"), value(there, "requests_per_second")
    if ratio is None or rate is None:
        return
    pairs = (
        ("requests_per_second", both, rate / (1 + ratio)),
        ("throughput", there, rate * output),
        ("throughput", both, rate * output / (1 + ratio)),
        ("prompt_time_share", there, ratio / (1 + ratio)),
        ("prefill_throughput", there, tokens * rate / ratio),
        ("prefill_time", there, ratio / rate * known["pipeline_stages"]),
        ("cost_per_token", both, known["all_chips"] * known["chip_price"] * (1 + ratio) / (rate * output)),
        ("cost_per_request", there, known["all_chips"] * known["chip_price"] * (1 + ratio) / rate),
        ("rematerialisation_cost", there, known["all_chips"] * known["chip_price"] * ratio / (rate * tokens)),
    )
    for name, asked, expected in pairs:
        if (found := value(asked, name)) is not None:
            yield equal(found, expected, f"{name} beside prefill_decode_chip_ratio", asked, name, "prefill_decode_chip_ratio")
    if (each := value(there, "prefill_rate_per_chip")) is not None:
        most_tokens = known["peak_flops"] * known["mfu"] / (2 * known["active_params"])
        yield at_most(each, most_tokens, "prompt tokens of a chip beside its peak", there, "prefill_rate_per_chip")


def monotone(one: Deployment) -> Iterator[Claim]:
    """More work takes longer, more chips do not; a larger batch is never dearer a token."""
    known = facts(one)
    for unknown, name, way in MONOTONE:
        here, there = value(one, unknown), one.at(**{name: 2 * known[name]})
        after = value(there, unknown)
        if here is not None and after is not None:
            low, high = (here, after) if way is UP else (after, here)
            said = f"{unknown} as {name} doubles, from {here:.9g} to {after:.9g}"
            yield at_most(low, high, said, one, unknown)
    bare = one.without("batch", "microbatches")
    here, after = (most(each, "sequences_in_flight") for each in (bare, bare.at(context_length=2 * known["context_length"])))
    if here is not None and after is not None:
        yield at_most(after, here, "sequences that fit as context_length doubles", bare, "sequences_in_flight")


LAWS: tuple[Law, ...] = (arithmetic, traffic, capacity, backwards, claimed, edge, roofs, prompts, monotone)


def deployments(random: Random) -> Iterator[Deployment]:
    """One deployment after another: by hand, by presets, by one of each, about half of them near the limit of the memory."""
    chips, models = _chips(), _models()
    while True:
        hardware = random.choice(chips) if random.random() < 0.6 else None
        model = random.choice(models) if random.random() < 0.6 else None
        yield _drawn(random, hardware, model)


@lru_cache(maxsize=1)
def _chips() -> tuple[str, ...]:
    rates = [row for row in rows_of(AcceleratorFigure) if row.quantity == "peak_flops" and row.dtype in BYTES_PER_WEIGHT]
    named = dict.fromkeys(f"{row.accelerator}:{row.dtype}" for row in rates)
    return tuple(name for name in named if presets.hardware(name).givens.keys() >= {*HARDWARE_GIVENS})


@lru_cache(maxsize=1)
def _models() -> tuple[str, ...]:
    named = (row.model for row in rows_of(Architecture) if row.kv_formula)
    return tuple(name for name in named if presets.model(name).givens.keys() >= {*PARAMETERS})


def _drawn(random: Random, hardware: str | None, model: str | None) -> Deployment:
    def between(low: float, high: float) -> float:
        return float(f"{exp(random.uniform(log(low), log(high))):.4g}")

    def perhaps(share: float) -> bool:
        return random.random() < share

    given: dict[str, float] = {"batch": ceil(between(1, 1e4)), "context_length": ceil(between(100, 1e6)), "chip_price": between(1e-4, 5e-3)}
    using: list[str] = []
    if hardware is None:
        given |= {"peak_flops": between(1e14, 2e16), "hbm_bandwidth": between(1e12, 3e13), "hbm_capacity": between(4e10, 4e11)}
        given |= {"bytes_per_weight": random.choice((0.5, 1.0, 2.0))}
    given |= _by_hand(random, between) if model is None else {"bytes_per_element": random.choice((1.0, 2.0))}
    if perhaps(0.7):
        given |= {"mfu": random.uniform(0.2, 1), "mbu": random.uniform(0.3, 1)}
    if perhaps(0.3):
        given |= {"pipeline_stages": float(random.randint(2, 8))}
        given |= {"microbatches": float(random.randint(1, 16))} if perhaps(0.6) else {}
        given |= {"hop_latency": between(1e-5, 1e-2)} if perhaps(0.5) else {}
    if perhaps(0.4):
        given |= {"acceptance_rate": random.uniform(0.1, 0.95), "draft_tokens": float(random.randint(1, 8))}
        given |= {"draft_cost_ratio": between(0.01, 0.5)} if perhaps(0.7) else {}
    elif perhaps(0.1):
        given |= {"tokens_per_step": random.uniform(1, 3)}
    if perhaps(0.2):
        given |= {"kv_replication": float(random.randint(2, 8))}
    if perhaps(0.3):
        given |= {"attention_rate_ratio": random.choice((0.5, 2.0))}
    overlap = random.choice(OVERLAPS) if perhaps(0.5) else "max"
    if overlap == "exposed":
        given |= {"exposed_communication_share": random.uniform(0.05, 0.7)}
    if overlap == "network":
        given |= {"moe_layers": 58.0, "model_dim": 7168.0, "link_bandwidth": between(1e10, 1e12)}
        given |= {"dispatch_bytes_per_element": 1.0, "combine_bytes_per_element": 2.0}
        given |= {} if model else {"active_experts": given.get("active_experts", 8.0)}
    if model is None and "attention_flops_per_pair" not in given and perhaps(0.4):
        using.append(random.choice((SPARSE, FIXED)))
        if using == [SPARSE]:
            given |= {"sparse_attention_coefficient": between(1, 30), "sparse_attention_exponent": random.uniform(0.4, 0.6)}
        else:
            given |= {"kv_read_bytes_per_sequence": given["kv_bytes_per_token"] * given["context_length"] * random.uniform(0.01, 1)}
    one = _sized(random, Deployment(tuple(sorted(given.items())), hardware, model, overlap, tuple(using)), between)
    known = facts(one)
    if perhaps(0.1):
        each = known["total_params"] * known["bytes_per_weight"] / known["all_chips"] * random.uniform(1, 4)
        return replace(one.at(resident_weight_bytes_per_chip=each), using=(*using, RESIDENT))
    if perhaps(0.1):
        return replace(one, using=(*using, SHARDED))
    if perhaps(0.5) and known.get("active_experts", 1.0) < known.get("experts", 0.0):
        return replace(one, using=(*using, TOUCHED))
    return one


def _by_hand(random: Random, between: Callable[[float, float], float]) -> dict[str, float]:
    """A model in numbers: dense, or a mixture whose experts are known or not."""
    active = between(1e9, 5e11)
    found = {"active_params": active, "total_params": active, "kv_bytes_per_token": between(1e3, 5e5)}
    if random.random() < 0.5:
        found["attention_flops_per_pair"] = between(2, 500) * found["kv_bytes_per_token"]
    if random.random() < 0.6:
        count = float(random.choice((8, 16, 64, 128, 256, 512)))
        chosen = float(random.randint(1, int(min(16, count / 4))))
        shared = active * random.uniform(0.1, 0.9)
        found["total_params"] = shared + (active - shared) * count / chosen
        found |= {"experts": count, "active_experts": chosen} if random.random() < 0.7 else {}
    return found


def _sized(random: Random, one: Deployment, between: Callable[[float, float], float]) -> Deployment:
    """Chips that hold the weights, and of every second deployment a batch near the most that fits beside them."""
    known = facts(one)
    least = known["total_params"] * known["bytes_per_weight"] / (known["hbm_capacity"] * known["pipeline_stages"])
    sized = one.at(chips=float(ceil(least * between(1.02, 10)))) if random.random() < 0.95 else one
    high = most(sized.without("batch", "microbatches"), "sequences_in_flight") if random.random() < 0.5 else None
    if high is None:
        return sized
    return sized.at(batch=float(max(1, int(high / known["microbatches"] * random.uniform(0.2, 1.1)))))


def claims(number: int, seed: int, laws: Sequence[Law] = LAWS) -> Iterator[tuple[str, Claim]]:
    """What the laws say of so many random deployments, with the name of each law."""
    for one in islice(deployments(Random(seed)), number):
        for law in laws:
            for claim in law(one):
                yield law.__name__, claim


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--law", choices=[law.__name__ for law in LAWS], action="append", help="only this one; may be repeated")
    asked = parser.parse_args()
    judged, failed = Counter[str](), Counter[str]()
    for name, claim in claims(asked.count, asked.seed, [law for law in LAWS if not asked.law or law.__name__ in asked.law]):
        judged[name] += 1
        if not claim.holds:
            failed[name] += 1
            print(f"{name}: {claim.told}", flush=True)
    print({"seed": asked.seed, "judged": dict(judged), "broken": dict(failed)})
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
