"""Figures in the catalogue's own prose are what the program computes.

The prose is what we wrote: titles, statements, assumptions, what we encode where a source differs, derivations. What a
source said is its own. In the tables below a figure stands in brackets inside a piece of the text around it.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest

from derive.catalogue import equation
from derive.errors import BacksolveError
from derive.presets import hardware_names, model, model_names
from derive.solving.api import solve
from derive.tables.shipped import rows_of
from invert.inference import infer
from tests.tools.asked import value_of
from tests.tools.fits import BESIROGLU, HOFFMANN, HOFFMANN_UNROUNDED, LECTURE_MODEL, without_floor
from tests.tools.inferred import current
from tests.tools.tables import RECORDS
from tests.tools.together import in_one_test

WORDS = {"five": 5.0}
MARKED = re.compile(r"\[([^]]+)\]")


class Figure(NamedTuple):
    """A piece of an equation's prose, its figures in brackets, and what each comes to in the unit it is printed in.

    A figure of several things at once has a list. `digits` are the significant ones, by default all that are printed.
    """

    id: str
    snippet: str
    compute: Callable[[], tuple]
    digits: int | None = None


# -- what the figures are computed by -------------------------------------------------------------------------------


def idle(ratio: float) -> float:
    return value_of("bandwidth_bound_fraction", "readings.bandwidth_bound_fraction", output_input_ratio=ratio)


def rho(chip: str, **given) -> float:
    return value_of("machine_balance_ratio", hardware=chip, **given)


@cache
def sweeps() -> tuple[float, ...]:
    """Sweep times [ms] of all accelerators that ship, data types aside."""
    found = []
    for name in hardware_names():
        for dtype in ("fp8", "bf16", "fp4", "int8"):
            try:
                found.append(1e3 * value_of("sweep_time", hardware=f"{name}:{dtype}"))
                break
            except BacksolveError:
                continue
    return tuple(found)


@cache
def attention_contexts() -> tuple[float, ...]:
    """Contexts of equal attention and weight FLOPs [k tokens] of the models with grouped-query attention in every layer."""
    found = []
    for name in model_names():
        try:
            if model(name).variants.get("attention_flops_per_pair") != "gqa":
                continue
        except BacksolveError:
            continue
        solution = solve("attention_context", model=name)
        found += [one.value / 1e3 for one in solution.answers]
    return tuple(found)


def cell(name: str, column: str, **where: str) -> float:
    (row,) = [row for row in rows_of(RECORDS[name]) if all(getattr(row, key) == wanted for key, wanted in where.items())]
    return float(getattr(row, column))


def disclosed(provider: str, quantity: str, model: str = "") -> float:
    return cell("disclosures", "value", provider=provider, model=model, quantity=quantity)


def ratios() -> list[float]:
    return [found.observables.output_input_ratio.value for found in current().inferences]


LECTURE = {"active_params": "100B", "machine_balance_ratio": 300, "long_context_threshold": "200k"}
H100 = {"hardware": "H100:fp8", "active_params": "100B", "chip_price": "2 USD/h", "tier_price": "2 USD/h", "tier_capacity": "80GB"}
MLA_PREFILL = "architecture.attention_flops_mla"


def from_threshold(bytes_per_weight: float) -> float:
    return value_of("kv_bytes_per_token", "readings.threshold_is_crossover", bytes_per_weight=bytes_per_weight, **LECTURE)


def too_high(batch_multiple: float) -> float:
    """The plain reading over the one with weights kept."""
    kept = value_of("kv_bytes_per_token", "readings.threshold_with_weights", bytes_per_weight=1, batch_multiple=batch_multiple, **LECTURE)
    return from_threshold(1) / kept


def storage_reading(side: str) -> float:
    """KV [kB] behind Gemini Pro's 4.5 USD/MTok/h at one end of what HBM of an H100 rents for [USD/GB/h]."""
    price = cell("memory_tiers", side, tier="hbm", device="rented with H100", quantity="holding_price")
    (gemini,) = infer(["gemini-3.1-pro"]).inferences
    given = {"storage_price": gemini.observables.storage_price.value, "tier_price": price * 80 / 3600, "tier_capacity": "80GB"}
    return value_of("kv_bytes_per_token", "cache.storage_price_is_hold_cost", **given) / 1e3


def share_at_the_base(ratio: float) -> float:
    """Memory share by the bands at an output/input ratio, no attention, perfect overlap."""
    ids = ("bands.memory_time_share", "bands.decode_cost_short", "bands.output_input_ratio")
    given = {"output_input_ratio": ratio, "attention_flops_per_pair": 0, "active_params": "100B", "short_context": "20k", "overlap": 1}
    return value_of("memory_time_share", *ids, prompt_position=0.5, prefill_decode_flops_ratio=1, **given)


def price_over_cost(input_price: str) -> float:
    given = {name: H100[name] for name in ("hardware", "active_params", "chip_price")}
    return value_of("input_price_cost_ratio", input_price=input_price, **given)


def overtraining(tokens: float) -> float:
    return value_of("overtraining_ratio", "training.chinchilla", active_params="100B", pretrain_tokens=tokens)


def inference_over_pretraining(fit: dict[str, float]) -> float:
    return value_of("inference_pretrain_ratio", "training.fixed_loss_optimum", **without_floor(fit), **LECTURE_MODEL)


def stored(name: str) -> float:
    return cell("architectures", "kv_values_stored_per_token", model=name)


COMPUTED = [
    # -- roofline
    # -- batching
    Figure(
        "batching.machine_balance_ratio", "about [300] on an H100 and on a B200", lambda: ([rho("H100:bf16"), rho("B200:bf16")],), digits=1
    ),
    Figure("batching.machine_balance_ratio", "H100 and B200 ([295], [281])", lambda: (rho("H100:bf16"), rho("B200:bf16"))),
    Figure(
        "batching.machine_balance_ratio",
        "A100 has [153] to [201]",  # 80 GB at 2,039 GB/s, as shipped, and 40 GB at the 1,555 GB/s of its data sheet
        lambda: (rho("A100-SXM-80GB:bf16"), rho("A100-SXM-80GB:bf16", hbm_bandwidth="1555GB/s")),
    ),
    Figure("batching.machine_balance_ratio", "H200 [206]", lambda: (rho("H200:bf16"),)),
    Figure(
        "batching.machine_balance_ratio",
        "B300 in fp4 [422] to [469]",  # 13.5 PFLOP/s, as shipped, and the 15 of other data sheets
        lambda: (rho("B300:fp4"), rho("B300:fp4", peak_flops=15e15)),
    ),
    Figure(
        "batching.machine_balance_ratio",
        "which is [295] for bf16 on an H100 and [591] for fp8",
        lambda: (value_of("ridge_point", hardware="H100:bf16"), value_of("ridge_point", hardware="H100:fp8")),
    ),
    Figure(
        "batching.sparsity",
        "DeepSeek-V3 has [671]/[37] = [18]",
        lambda: (
            model("DeepSeek-V3").givens["total_params"] / 1e9,
            model("DeepSeek-V3").givens["active_params"] / 1e9,
            value_of("sparsity", model="DeepSeek-V3"),
        ),
    ),
    Figure(
        "batching.compute_utilisation_of_step",
        "The [50] percent is the limit of a large batch",
        lambda: (100 * value_of("compute_utilisation", balance_batch=1, batch=1e8, context_length="200k", balance_context="100k"),),
    ),
    Figure(
        "batching.fast_mode_batch_ratio",
        "[15] for [6]x at [2.5]x",
        lambda: (
            value_of(
                "normal_batch",
                "batching.fast_mode_batch_ratio",
                fast_batch=1,
                fast_price_ratio=disclosed("anthropic", "fast_price_ratio", "claude-opus-4-6"),
                fast_speed_ratio=disclosed("anthropic", "fast_speed_ratio", "claude-opus-4-6"),
            ),
            disclosed("anthropic", "fast_price_ratio", "claude-opus-4-6"),
            disclosed("anthropic", "fast_speed_ratio", "claude-opus-4-6"),
        ),
    ),
    # -- scheduling and context
    Figure("scheduling.sweep_time", "[13] to", lambda: (min(sweeps()),)),
    Figure("scheduling.sweep_time", "to [81] ms on the chips in use", lambda: (max(sweeps()),)),
    Figure(
        "scheduling.throughput",
        "a step of [15.6] ms",
        lambda: (1e3 * value_of("step_time", throughput=128_000, batch=2000, tokens_per_step=1),),
    ),
    Figure(
        "context.attention_context",
        "the lecture's small cache ([7.5] M)",
        lambda: (value_of("attention_context", active_params="100B", kv_bytes_per_token=from_threshold(1), attention_intensity=16) / 1e6,),
    ),
    Figure("context.attention_context", "[54] k for Llama-3-70B", lambda: (value_of("attention_context", model="Llama-3-70B") / 1e3,)),
    Figure(
        "context.attention_context",
        "[14.8] k in prefill and [4.4] k in decode for DeepSeek-V3",
        lambda: (
            value_of("attention_context", MLA_PREFILL, model="DeepSeek-V3") / 1e3,
            value_of("attention_context", model="DeepSeek-V3") / 1e3,
        ),
    ),
    # -- serving and architecture
    Figure(
        "serving.fleet_cost_per_token",
        "a mean of 226.75 nodes in use and a peak of 278: [0.816] of what the peak needs",
        lambda: (1 / value_of("fleet_cost_per_token", cost_per_token=1e-6, fleet_utilisation=226.75 / 278) * 1e-6,),
    ),
    Figure(
        "architecture.kv_bytes_gqa",
        "([2,048] bytes at one byte each)",
        lambda: (value_of("kv_bytes_per_token", layers=1, kv_heads=8, head_dim=128, bytes_per_element=1),),
    ),
    Figure("architecture.attention_flops", "from [8] k", lambda: (min(attention_contexts()),)),
    Figure("architecture.attention_flops", "to [100] k tokens", lambda: (max(attention_contexts()),), digits=1),
    Figure(
        "architecture.attention_intensity",
        "[16] for groups of [8] in fp8",
        lambda: (
            value_of("attention_intensity", model="Llama-3-70B", bytes_per_element=1),
            model("Llama-3-70B").givens["query_heads"] / model("Llama-3-70B").givens["kv_heads"],
        ),
    ),
    Figure(
        "architecture.attention_intensity",
        "[242] for DeepSeek-V3 decode in bf16",
        lambda: (value_of("attention_intensity", model="DeepSeek-V3", bytes_per_element=2),),
    ),
    # -- readings
    Figure(
        "readings.threshold_is_crossover",
        "[1,667] is one byte per weight, [833] is fp4, [3,333] is bf16",
        lambda: (from_threshold(1), from_threshold(0.5), from_threshold(2)),
    ),
    Figure("readings.threshold_with_weights", "[1.5] to [2] times too high", lambda: (too_high(3), too_high(2))),
    Figure("readings.price_ratio", "[2] to [8] on current sheets", lambda: (min(ratios()), max(ratios()))),
    Figure(
        "readings.output_input_ratio",
        "at two balance batches it is at most [1.5] at the threshold",
        lambda: (value_of("normalised_cost", balance_batch=2400, batch=4800, context_length="200k", balance_context="200k"),),
    ),
    Figure(
        "readings.tier_coverage",
        "it covers [300] k",
        lambda: (
            value_of("covered_context", "readings.tier_coverage", premium_out=1.5, balance_context="200k", long_context_threshold="200k")
            / 1e3,
        ),
    ),
    Figure(
        "readings.tier_coverage",
        "1 M costs [five] times",
        lambda: (
            value_of("premium_out", "readings.tier_coverage", covered_context="1M", balance_context="200k", long_context_threshold="200k"),
        ),
    ),
    Figure("readings.input_price_cost_ratio", "dollars are [89] times", lambda: (price_over_cost("5 USD/MTok"),)),
    # -- training
    Figure(
        "training.tokens_served",
        "a tenth for two months is [259] T",
        lambda: (value_of("inference_tokens", fleet_throughput=5e8 / 10, deployment_time="60d") / 1e12,),
    ),
    Figure("training.overtraining", "[50] to [130] by the published", lambda: (overtraining(100e12), overtraining(259.2e12))),
    Figure(
        "training.fixed_loss_optimum",
        "[1.04] by the first fit and [4.0] by the second",
        lambda: (inference_over_pretraining(HOFFMANN), inference_over_pretraining(BESIROGLU)),
    ),
    Figure("training.fixed_loss_optimum", "With four digits they give [1.4]", lambda: (inference_over_pretraining(HOFFMANN_UNROUNDED),)),
    # -- bands
    Figure(
        "bands.memory_time_share",
        "[0.833] at R = 5 without attention, where 1 - 1/R is [0.8]",
        lambda: (share_at_the_base(5), idle(5)),
    ),
    # -- cache
    Figure(
        "cache.break_even",
        "[81] minutes for [1,667] bytes and 100 B on a full H100",
        lambda: (value_of("break_even_time", kv_bytes_per_token=from_threshold(1), **H100) / 60, from_threshold(1)),
    ),
    Figure(
        "cache.write_premium_is_hold_cost",
        "a premium of 1 for an hour gives [2.2] kB at 100 B parameters on an H100",
        lambda: (value_of("kv_bytes_per_token", "cache.write_premium_is_hold_cost", cache_write_premium=1, ttl="1h", **H100) / 1e3,),
    ),
    Figure(
        "cache.storage_price_is_hold_cost",
        "the storage price of Gemini's Pro sheets gives [72] to [277] kB in rented HBM",
        lambda: (storage_reading("high"), storage_reading("low")),
    ),
    Figure(
        "cache.storage_price_is_hold_cost",
        "whose KV differs by a factor of [55]",  # GLM-4.7 and DeepSeek-V4-Flash, at one price by Volcengine
        lambda: (stored("GLM-4.7") / stored("DeepSeek-V4-Flash"),),
    ),
]

# -- the prose ------------------------------------------------------------------------------------------------------


def prose(id: str) -> list[str]:
    """What we wrote about an equation, piece by piece."""
    row = equation(id)
    encoded = [source.encoded for source in row.sources]
    derived = [source.said for source in row.sources if source.kind == "derivation"]
    return [text for text in (row.title, row.statement, *row.assumptions, *encoded, *derived) if text]


def printed(figure: str) -> float:
    return WORDS[figure] if figure in WORDS else float(figure.replace(",", ""))


def significant(figure: str) -> int:
    return 3 if figure in WORDS else len(figure.replace(",", "").replace(".", "").lstrip("0"))


@in_one_test(
    "row",
    [pytest.param(row, id=f"{row.id}: {row.snippet}") for row in COMPUTED],
)
def test_a_figure_is_what_it_is_computed_to_be(row: Figure):
    figures = MARKED.findall(row.snippet)
    values = row.compute()
    assert len(figures) == len(values)
    for figure, found in zip(figures, values, strict=True):
        digits = row.digits or significant(figure)
        for one in found if isinstance(found, list) else [found]:
            assert float(f"{one:.{digits}g}") == printed(figure), (figure, one)


@in_one_test(("id", "snippet"), [row[:2] for row in COMPUTED], ids=lambda text: text[:60])
def test_a_snippet_stands_in_the_prose_of_its_equation(id: str, snippet: str):
    assert MARKED.search(snippet) and any(MARKED.sub(r"\1", snippet) in text for text in prose(id))
