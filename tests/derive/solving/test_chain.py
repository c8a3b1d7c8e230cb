"""Several equations, any unknown: the route, what it assumes, and every way of having none."""

import subprocess
import sys
from math import exp, inf, log

import pytest

from derive.arithmetic import maximum
from derive.catalogue import equation
from derive.errors import NotCovered, WrongValue
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import Equation, Source
from derive.show.text import rendered
from derive.solving.api import solve
from derive.solving.chain import answer
from derive.solving.questions import Question
from tests.tools.together import in_one_test, some

SOURCE = Source(kind="web", title="Made up", author="The tests", url="https://example.org", said="nothing", page="1")
STEP = {"hardware": "H100:fp8", "model": "DeepSeek-V3", "batch": 2048, "context_length": 4000, "bytes_per_element": 1, "chips": 16}
CROSSOVER = {
    **{"active_params": "100B", "bytes_per_weight": 1, "machine_balance_ratio": 300, "ridge_point": 600},
    **{"long_context_threshold": "200k", "context_length": "200k"},
}


def value(solution):
    assert solution.reason is None, solution.reason
    (only,) = solution.answers
    assert only.kind == "point"
    return only.value


# -- routes ---------------------------------------------------------------------------------------------------------


def test_the_route_runs_from_givens_to_the_unknown_and_nothing_else():
    solution = solve("step_time", **STEP)
    assert solution.equations == tuple(step.equation for step in solution.route)
    assert set(solution.equations) == {
        *("roofline.compute_time@1", "architecture.kv_bytes_mla@1"),
        *("experts.touched_experts@2", "experts.routed_params@1", "experts.shared_params@1"),
        *("experts.fetched_params@1", "experts.weight_time_touched@3"),
        *("architecture.attention_flops_mla_absorbed@1", "architecture.attention_flops_of_context@1", "roofline.attention_time@2"),
        *("roofline.kv_time@2", "roofline.memory_time@1", "roofline.step_time@2"),
    }
    known = set(solution.given)
    for step in solution.route:
        row = equation(step.equation)
        assert set(row.symbols) - {step.unknown} <= known, "a step uses what is not known yet"
        known.add(step.unknown)
    assert solution.route[-1].unknown == solution.unknown == "step_time"
    assert solution.route[-1].value == solution.answers[0].value
    assert set(solution.given) == known - {step.unknown for step in solution.route}, "a given that was not used is listed"
    assert solution.unit == "s"


def test_the_numbers_of_a_route_are_those_of_the_formulas():
    """16 H100 at 3.35 TB/s and 1,979 TFLOP/s, 671 B and 37 B in fp8, 61 layers of 512 + 64 values."""
    memory = (671e9 + 2048 * 4000 * 61 * 576) / (16 * 3.35e12)
    compute = 2 * 2048 * 37e9 / (16 * 1979e12)
    assert memory > compute
    assert value(solve("step_time", **STEP)) == pytest.approx(memory, rel=1e-12)
    assert value(solve("compute_time", **STEP)) == pytest.approx(compute, rel=1e-12)
    assert value(solve("throughput", **STEP)) == pytest.approx(2048 / memory, rel=1e-12)
    assert value(solve("cost_per_token", **STEP, chip_price="2 USD/h")) == pytest.approx(16 * 2 / 3600 * memory / 2048, rel=1e-12)
    assert value(solve("normalised_cost", **STEP)) == pytest.approx(memory / compute, rel=1e-12)
    assert value(solve("compute_utilisation", **STEP)) == pytest.approx(compute / memory, rel=1e-12)


@in_one_test(
    ("unknown", "given"),
    [
        # each is the same deployment with one number taken away and a result put in its place
        ("kv_bytes_per_token", {"memory_time": "step_time"}),
        ("context_length", {"kv_time": "kv_time"}),
        ("total_params", {"weight_time": "weight_time"}),
        ("hbm_bandwidth", {"weight_time": "weight_time"}),
        ("active_params", {"compute_time": "compute_time"}),
        ("bytes_per_element", {"memory_time": "memory_time"}),
        ("chip_price", {"cost_per_token": "cost_per_token"}),
    ],
)
def test_a_number_taken_away_comes_back_through_the_chain(unknown, given):
    whole = {**STEP, "chip_price": 2 / 3600}
    replaced = {name: value(solve(result, **whole)) for name, result in given.items()}
    truth = {**whole, "kv_bytes_per_token": 61 * 576, "total_params": 671e9, "hbm_bandwidth": 3.35e12, "active_params": 37e9}
    left = {name: known for name, known in whole.items() if name != unknown}
    # The preset's own value of what is asked is dropped, so that the question is one.
    assert value(solve(unknown, **left, **replaced)) == pytest.approx(truth[unknown], rel=1e-9)


def test_equations_that_would_have_given_it_too_are_named():
    solution = solve("step_time", compute_time=0.01, memory_time=0.02, batch=2000, throughput=1e5)
    assert value(solution) == 0.02
    assert solution.route[-1].alternatives == ()
    solution = solve("step_time", compute_time=0.01, memory_time=0.02, compute_utilisation=0.5)
    assert solution.route[-1].equation == "roofline.step_time@2"
    assert solution.route[-1].alternatives == ("batching.compute_utilisation_of_step",)
    solution = solve("token_latency", step_time=0.02, batch=2000, throughput=1e5, tokens_per_step=1)
    assert solution.route[-1].equation == "pipeline.hop_latency@3"
    assert solution.route[-1].alternatives == ("scheduling.throughput",)


TWO_WAYS = {
    **{"layers": 10, "kv_heads": 8, "head_dim": 128, "bytes_per_element": 1},
    **{"kv_time": 2.048e-3, "batch": 100, "context_length": 1000, "chips": 1, "hbm_bandwidth": 1e12, "mbu": 1},
}
"""20,480 bytes a token by the architecture, and by the time it takes to read them."""


@pytest.mark.parametrize(("unknown", "more"), [("kv_bytes_per_token", {}), ("attention_intensity", {"attention_flops_per_pair": 40960})])
def test_the_equation_that_defines_a_quantity_is_preferred(unknown, more):
    """Also on the way, and although the other one comes first in the catalogue."""
    solution = solve(unknown, **TWO_WAYS, **more)
    (step,) = [step for step in solution.route if step.unknown == "kv_bytes_per_token"]
    assert (step.equation, step.value) == ("architecture.kv_bytes_gqa@1", 20480)
    assert step.alternatives == ("roofline.kv_time",)
    without = {name: known for name, known in TWO_WAYS.items() if name != "layers"}
    assert solve(unknown, **without, **more).route[0].equation == "roofline.kv_time@2"


def test_an_inequality_answers_but_never_serves_on_the_way():
    (only,) = solve("balance_batch", using=["batching.users_needed"], concurrent_sequences=2400).answers
    assert (only.kind, only.low, only.high) == ("interval", 0, 2400)
    for using in ([], ["batching.users_needed"]):
        solution = solve("weight_compute_ratio", using=using, concurrent_sequences=2400, batch=100)
        assert solution.answers == () and solution.reason.code == "missing_givens"
    solution = solve(
        "kv_bytes_per_token",
        using=["bands.cache_read_price"],
        **{"cache_read_price": 2e-7, "input_price": 2e-6, "prefill_decode_flops_ratio": 1, "prefill_cost_ratio": 1},
        **{"active_params": 1e11, "ridge_point": 600},
    )
    assert solution.answers == () and solution.reason.code in ("missing_givens", "simultaneous")


def test_what_was_given_or_named_and_is_not_needed_is_listed():
    solution = solve("balance_batch", machine_balance_ratio=300, sparsity=8, head_dim=128, using=["scheduling.train_period_rule"])
    assert value(solution) == 2400
    assert solution.unused == ("head_dim",)
    assert "scheduling.train_period_rule was named and is not needed" in solution.assumptions
    assert sum("not needed" in note for note in solution.assumptions) == 1
    assert "head_dim" not in solution.given
    preset = solve("machine_balance_ratio", hardware="H100:fp8")
    assert not any("hbm_capacity" in note for note in preset.assumptions), "nobody gave what a preset brings"


def test_conditions_and_heuristics_join_only_when_named():
    given = {"sweep_time": 0.02}
    assert solve("worst_latency", **given).reason.code == "missing_givens"
    solution = solve("worst_latency", using=["scheduling.train_period_rule"], **given)
    assert value(solution) == 0.04
    assert "scheduling.train_period_rule is a heuristic, joined by name" in solution.assumptions
    assert solve("kv_bytes_per_token", **CROSSOVER).reason.code == "missing_givens"
    solution = solve("kv_bytes_per_token", using=["readings.threshold_is_crossover"], **CROSSOVER)
    assert value(solution) == pytest.approx(5000 / 3, rel=1e-12)
    assert "readings.threshold_is_crossover is a condition, joined by name" in solution.assumptions


def test_an_unknown_that_only_conditions_speak_of_says_which():
    reason = solve("premium_in", input_price=2e-6).reason
    assert reason.code == "missing_givens" and "bands.premium_in" in reason.message


# -- several points on the way --------------------------------------------------------------------------------------


def made_up(id, relation):
    return Equation(id=id, title="Made up", relation=relation, statement="Made up.", sources=(SOURCE,))


V = made_up("test.v", lambda step_time, batch, compute_time, memory_time: (step_time, maximum(compute_time / batch, memory_time * batch)))
TIMES = made_up("test.times", lambda throughput, batch, context_length: (throughput, batch * context_length))
ABOVE = made_up("test.above", lambda kv_time, batch, weight_time: (kv_time, batch - weight_time))
TWICE = made_up("test.twice", lambda worst_latency, batch: (worst_latency, 2 * batch))
TIP = {"step_time": 6.0, "compute_time": 2.0, "memory_time": 3.0}
"""batch is 1/3 or 2."""


def test_two_points_on_the_way_give_two_answers():
    solution = answer(Question("throughput", {**TIP, "context_length": 100.0}, (V, TIMES)))
    assert [one.value for one in solution.answers] == pytest.approx([100 / 3, 200])
    assert [one.elasticities["step_time"] for one in solution.answers] == pytest.approx([-1, 1])


def test_a_point_that_leads_nowhere_is_dropped():
    solution = answer(Question("kv_time", {**TIP, "weight_time": 1.0}, (V, ABOVE)))
    assert [one.value for one in solution.answers] == pytest.approx([1.0])


def test_the_route_is_that_of_the_answer():
    solution = answer(Question("kv_time", {**TIP, "weight_time": 1.0}, (V, ABOVE)))
    assert [step.value for step in solution.route] == pytest.approx([2.0, 1.0])


def test_a_point_that_contradicts_a_given_is_dropped_and_not_the_question():
    solution = answer(Question("throughput", {**TIP, "context_length": 100.0, "worst_latency": 4.0}, (V, TIMES, TWICE)))
    assert [one.value for one in solution.answers] == pytest.approx([200])


def test_no_point_agrees_with_a_given():
    solution = answer(Question("throughput", {**TIP, "context_length": 100.0, "worst_latency": 5.0}, (V, TIMES, TWICE)))
    assert solution.answers == () and solution.reason.code == "contradiction"


# -- presets, defaults, variants ------------------------------------------------------------------------------------


def test_provenance_covers_every_given():
    solution = solve("step_time", **STEP)
    assert set(solution.provenance) == set(solution.given)
    assert solution.provenance["batch"] == "given"
    assert solution.provenance["peak_flops"].startswith("hardware.csv H100-SXM peak_flops fp8")
    assert solution.provenance["total_params"].startswith("architectures.csv DeepSeek-V3 total_params")
    assert solution.provenance["mfu"] == "default"


USES = {
    # a default, and an equation that speaks of it
    "pipeline_stages": "pipeline.layers_per_stage",
    "chips": "serving.cost_from_throughput",
    "mfu": "cache.rematerialisation_cost",
    "mbu": "roofline.weight_time_resident",
    "replicas": "scheduling.fleet_throughput",
    "prefill_batch": "prefill.cost_per_token",
    "prefill_passes": "prefill.weight_time",
    "prefill_weight_time": "prefill.time",
    "reserved_share": "memory.capacity",
    "shared_experts": "architecture.total_params_moe",
    "queue_time": "prefill.time_to_first_token",
    "tokens_per_step": "scheduling.throughput",
    "positions_per_step": "experts.touched_experts",
    "expert_imbalance": "experts.weight_time_touched",
    "kv_copies": "context.kv_time_fixed",
    "fleet_utilisation": "serving.chip_price_from_capex",
    "attention_rate_ratio": "serving.prefill_attention_factor",
    "prefill_attention_factor": "serving.prefill_compute_time",
    "prefill_decode_flops_ratio": "bands.base_cost_memory_bound",
    "cache_hit_share": "serving.prefill_decode_chip_ratio",
    "cached_tokens": "architecture.prefill_attention_of_prompt",
    "microbatches": "scheduling.throughput",
    "hop_latency": "pipeline.idle_fraction",
    "idle_fraction": "batching.compute_utilisation_of_rate",
    "attention_time": "roofline.memory_time_share",
    "attention_compute_ratio": "batching.balance_batch_with_kv",
    "draft_cost_ratio": "serving.speculative_speedup",
    "drafting_time": "roofline.step_time",
    "drafting_compute_ratio": "serving.normalised_cost",
    "verification_ratio": "serving.speculative_speedup",
}


@in_one_test("name", NEUTRAL_DEFAULTS)
def test_a_default_that_was_used_is_listed_and_one_that_was_given_is_not(name):
    row = equation(USES[name])
    given = {other: (quantity(other).low * quantity(other).high) ** 0.5 for other in row.symbols[1:] if other != name}
    unasked = solve(row.symbols[0], using=[row.id], **given)
    assert unasked.equations == (row.reference,)
    default = NEUTRAL_DEFAULTS[name]
    assert f"{name} = {default:g} (default)" in unasked.assumptions
    assert unasked.given[name] == default
    told = solve(row.symbols[0], using=[row.id], **given, **{name: default})
    assert not any(f"{name} = " in note for note in told.assumptions)
    assert value(told) == value(unasked)


def test_drafting_that_was_measured_is_no_contradiction_of_drafts_that_cost_nothing():
    """10 ms of drafts before 20 ms of reads."""
    assert value(solve("step_time", compute_time=0.01, memory_time=0.02, drafting_time=0.01)) == pytest.approx(0.03)


def test_no_default_is_taken_where_the_givens_will_do():
    solution = solve("sweep_time", hbm_capacity="80GB", hbm_bandwidth="3.35TB/s")
    assert not any("default" in text for text in solution.assumptions)
    assert set(solution.given) == {"hbm_capacity", "hbm_bandwidth"}


@in_one_test(
    ("variant", "expected"),
    [(None, 3.0), ("max", 3.0), ("sum", 5.0), ("kv_plus_max", 4.5)],
)
def test_the_overlap_is_chosen_by_name(variant, expected):
    chosen = {"variants": {"overlap": variant}} if variant else {}
    solution = solve("step_time", compute_time=2, weight_time=0.5, kv_time=2.5, **chosen)
    assert value(solution) == pytest.approx(expected)
    assert any(note.startswith(f"overlap: {variant or 'max'} (roofline.step_time") for note in solution.assumptions)


def test_a_variant_may_be_chosen_by_its_id():
    solution = solve("step_time", compute_time=2, memory_time=3, using=["roofline.step_time_serial"])
    assert value(solution) == 5 and solution.equations == ("roofline.step_time_serial@2",)
    resident = solve("weight_time", hardware="H100:fp8", resident_weight_bytes_per_chip="22GB", using=["roofline.weight_time_resident"])
    assert value(resident) == pytest.approx(22 / 3350)


@in_one_test(
    ("model", "bytes_per_element", "formula", "expected"),
    [
        # configurations as architectures.csv has them
        ("Llama-3-70B", 2, "gqa", 2 * 80 * 8 * 128 * 2),
        ("DeepSeek-V3", 2, "mla", 61 * (512 + 64) * 2),
        ("Llama-4-Scout", 2, "hybrid", 2 * 12 * 8 * 128 * 2),
        ("Kimi-K3", 1, "mla_hybrid", 24 * (512 + 64)),
        ("DeepSeek-V3.2", 1, "mla_indexed", 61 * (512 + 64) + 61 * 128),
    ],
)
def test_the_model_chooses_the_formula_of_its_cache(model, bytes_per_element, formula, expected):
    solution = solve("kv_bytes_per_token", model=model, bytes_per_element=bytes_per_element, indexer_bytes_per_element=1)
    assert value(solution) == expected
    assert solution.equations == (equation(f"architecture.kv_bytes_{formula}").reference,)
    assert any(note.startswith(f"kv_bytes_per_token: {formula} (") for note in solution.assumptions)


def test_a_model_without_an_equation_is_refused_by_name():
    with pytest.raises(NotCovered, match=r"GLM-5\.3-Flash: .* pools 16 keys into one"):
        solve("kv_bytes_per_token", model="GLM-5.3-Flash", bytes_per_element=1)


def test_the_kv_time_of_a_model_that_selects_is_that_of_what_it_reads():
    """DeepSeek-V3.2, 32 sequences of 100 k tokens on 16 H100: indexer keys of every token, 2048 latents in every layer."""
    given = {"hardware": "H100:fp8", "model": "DeepSeek-V3.2", "bytes_per_element": 1, "indexer_bytes_per_element": 1, "chips": 16}
    solution = solve("kv_time", batch=32, context_length="100k", **given)
    assert value(solution) == pytest.approx(32 * 61 * (100_000 * 128 + 2048 * 576) / (16 * 3.35e12))
    assert solution.equations[-1] == "context.kv_time_fixed@2"
    assert value(solve("step_time", batch=32, context_length="100k", **given)) > value(solution)


@pytest.mark.parametrize(
    ("unknown", "left_out"),
    [
        ("balance_context", "context.balance_context"),
        ("attention_flops_per_pair", "architecture.attention_flops"),
        ("attention_intensity", "architecture.attention_intensity"),
    ],
)
def test_what_holds_of_dense_attention_only_is_refused_for_a_model_that_selects(unknown, left_out):
    given = {"model": "MiniMax-M3", "hardware": "H100:fp8", "bytes_per_element": 1, "batch": 32, "context_length": "100k"}
    given |= {"indexer_bytes_per_element": 1}
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.reason.code == "missing_givens"
    first, *_ = solution.reason.message.splitlines()
    assert "; left out, as not all that this model reads grows with its context: " in first and first.endswith(left_out)


def test_attention_flops_are_those_of_the_models_own_layers():
    """Kimi-K3: 24 latent layers of 93, 96 heads; decode absorbs the latent of 512 + 64, prefill expands it to 128 + 64 and 128."""
    solution = solve("attention_flops_per_pair", model="Kimi-K3")
    assert value(solution) == 2 * 24 * 96 * (2 * 512 + 64)
    assert solution.equations == ("architecture.attention_flops_mla_hybrid_absorbed@1",)
    prefill = solve("attention_flops_per_pair", model="Kimi-K3", using="architecture.attention_flops_mla_hybrid")
    assert value(prefill) == 2 * 24 * 96 * (128 + 64 + 128)


def test_the_intensity_of_decode_attention_is_that_of_decode():
    """DeepSeek-V3 in bf16: 128 heads x (576 + 512) x 2 FLOP over 576 x 2 bytes."""
    assert value(solve("attention_intensity", model="DeepSeek-V3", bytes_per_element=2)) == pytest.approx(128 * 1088 / 576)


# -- no answer ------------------------------------------------------------------------------------------------------


@in_one_test(
    ("unknown", "given", "missing"),
    [
        ("balance_batch", {}, {"peak_flops", "hbm_bandwidth", "total_params", "active_params"}),
        ("sweep_time", {"hbm_capacity": 8e10}, {"hbm_bandwidth"}),
        ("sparsity", {}, {"total_params", "active_params"}),
        ("weight_time", {"total_params": 7e10, "bytes_per_weight": 1}, {"hbm_bandwidth"}),
        ("kv_bytes_per_token", {}, {"layers", "kv_heads", "head_dim"}),
        ("kv_time", {"model": "DeepSeek-V3", "hbm_bandwidth": 3.35e12}, {"batch", "context_length"}),
        ("worst_latency", {}, {"train_period"}),
        ("cost_per_token", {"batch": 2000, "step_time": 0.02}, {"chip_price"}),
    ],
)
def test_what_is_missing_is_listed(unknown, given, missing):
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.equations == () and solution.route == ()
    assert solution.reason.code == "missing_givens"
    assert set(solution.reason.missing) == missing
    assert all(name in solution.reason.message for name in missing)
    assert solution.given.keys() >= given.keys() - {"model"}


@pytest.mark.parametrize(
    ("unknown", "given", "missing"),
    [
        ("balance_batch", {"hardware": "H100:fp8"}, {"total_params", "active_params"}),
        ("balance_context", {"hardware": "H100:fp8", "active_params": "100B"}, {"layers", "kv_heads", "head_dim"}),
        ("step_time", {name: known for name, known in STEP.items() if name != "context_length"}, {"context_length"}),
    ],
)
def test_what_follows_from_the_givens_is_not_missing(unknown, given, missing):
    reason = solve(unknown, **given).reason
    assert reason.code == "missing_givens" and set(reason.missing) == missing


def test_giving_what_was_missing_answers_the_question():
    given = {"bytes_per_weight": 1, "total_params": 7e10}
    reason = solve("weight_time", **given).reason
    assert value(solve("weight_time", **given, **dict.fromkeys(reason.missing, 3.35e12))) == pytest.approx(7e10 / 3.35e12)


@pytest.mark.parametrize(
    ("given", "violated"),
    [
        ({"compute_time": 1.0, "memory_time": 2.0, "batch": 2000, "step_time": 0.02}, "step_time = Max(compute_time, memory_time)"),
        (
            {"batch": 2000, "step_time": 0.02, "total_params": 1e11, "active_params": 1e10, "sparsity": 8},
            "sparsity = total_params/active_params",
        ),
    ],
)
def test_givens_that_contradict_each_other_are_reported(given, violated):
    reason = solve("throughput", **given).reason
    assert reason.code == "contradiction" and violated in reason.violated
    left = violated.split(" ")[0]
    assert reason.message.startswith(f"contradiction: {left} = ") and "makes it" in reason.message


def test_givens_that_agree_are_no_contradiction():
    given = {"batch": 2000, "step_time": 2.0, "compute_time": 1.0, "memory_time": 2.0 * (1 + 1e-9)}
    assert value(solve("throughput", **given)) == 1000


@in_one_test(("off", "agree"), [(1e-5, False), (-1e-5, False), (1e-7, True), (-1e-7, True)])
def test_givens_agree_up_to_a_millionth(off, agree):
    reason = solve("throughput", batch=2000, step_time=2.0, compute_time=1.0, memory_time=2.0 * (1 + off)).reason
    assert (reason is None) == agree
    assert agree or reason.code == "contradiction"


@in_one_test(
    ("unknown", "given"),
    [
        # right sides off their domain: a division by zero in what the givens lead to
        ("sparsity", {"total_params": "671B", "active_params": "37B", "attention_flops_per_pair": 0, "attention_context": "100k"}),
        ("compute_utilisation", {"batch": 4800, "balance_batch_with_kv": 5000, "context_length": "100k", "balance_context": "100k"}),
        (
            "compute_utilisation",
            {"batch": 4800, "balance_batch": 2400, "balance_batch_with_kv": 5000, "context_length": "100k", "balance_context": "100k"},
        ),
    ],
)
def test_impossible_givens_are_a_reason_and_no_exception(unknown, given):
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.reason.code in ("contradiction", "requirement_violated")
    assert solution.reason.violated and all(text in solution.reason.message for text in solution.reason.violated)


def test_more_active_than_total_parameters_are_refused():
    with pytest.raises(WrongValue, match="active_params = 671B: no more than total_params = 37B"):
        solve("sparsity", total_params="37B", active_params="671B")
    assert value(solve("sparsity", total_params="70B", active_params="70B")) == 1


def test_a_given_against_what_follows_from_the_others_is_a_contradiction():
    """L* of 200 k by the threshold and R = 5 at two balance batches cannot both be (E3 against E8 of tests/validation/notes.csv)."""
    reason = solve(
        "batch",
        using=["readings.output_input_ratio", "batching.practical_batch"],
        **{"batch_multiple": 2, "machine_balance_ratio": 300, "sparsity": 8, "output_input_ratio": 5},
        **{"context_length": 2e5, "balance_context": 2e5},
    ).reason
    assert reason.code == "contradiction"


def test_an_unknown_that_does_not_bind_is_an_interval():
    (only,) = solve("memory_time", step_time=1, compute_time=1).answers
    assert (only.kind, only.low, only.high) == ("interval", 0, 1)
    users = {"using": ["batching.users_needed"], "machine_balance_ratio": 300, "sparsity": 8}
    (only,) = solve("concurrent_sequences", **users).answers
    assert (only.kind, only.low, only.high) == ("interval", 2400, None)
    assert only.elasticities == pytest.approx({"machine_balance_ratio": 1, "sparsity": 1, "mfu": 1, "mbu": -1})


def test_bounds_carry_through_the_equations_that_rest_on_them():
    """The read may take up to the time of the arithmetic, so the cache may have up to so many bytes a token."""
    (only,) = solve(
        "kv_bytes_per_token", step_time=1, compute_time=1, weight_time=0.2, batch=10, context_length=1e3, hbm_bandwidth=1e12
    ).answers
    assert (only.kind, only.low, only.high) == ("interval", 0, pytest.approx(0.8 * 1e12 / (10 * 1e3)))
    (only,) = solve("peak_flops", step_time=0.02, memory_time=0.02, batch=1000, active_params=37e9, chips=16).answers
    assert (only.kind, only.low, only.high) == ("interval", pytest.approx(2 * 1000 * 37e9 / (16 * 0.02)), None)


def test_a_compute_bound_band_does_not_identify_the_balance_context():
    """R = 1 and no input premium: decode costs what prefill does, so any memory ratio up to 1 will do."""
    bands = ("premium_in", "output_input_ratio", "premium_out", "decode_cost_short", "decode_cost_long", "balance_context")
    solution = solve(
        "balance_context",
        using=[f"bands.{name}" for name in bands],
        **{"premium_in": 1, "premium_out": 1.5, "output_input_ratio": 1, "short_context": 1e5, "long_context": 4e5},
        **{"prompt_position": 0.5, "o": 1, "prefill_decode_flops_ratio": 1, "active_params": 1e11},
    )
    assert not [one for one in solution.answers if one.kind == "point"]


def test_a_violated_requirement_reaches_the_answer():
    reason = solve("balance_batch_with_kv", balance_batch=2400, context_length=3e5, balance_context=2e5).reason
    assert reason.code == "requirement_violated" and reason.violated == ("kv_compute_ratio < 1",)
    reason = solve("memory_time", step_time=1, compute_time=2).reason
    assert reason.code == "no_solution"


def test_readings_named_together_that_contradict_are_reported_whatever_is_asked():
    solution = solve(
        "kv_bytes_per_token",
        using=["readings.threshold_is_crossover", "readings.output_input_ratio", "batching.practical_batch"],
        **CROSSOVER,
        **{"batch_multiple": 2, "sparsity": 8, "output_input_ratio": 5, "mfu": 1, "mbu": 1},
    )
    assert solution.answers == () and solution.reason.code == "contradiction"


# -- elasticities through a chain -----------------------------------------------------------------------------------


@in_one_test(
    ("unknown", "variants", "using"),
    [
        ("step_time", {}, []),
        ("step_time", {"overlap": "sum"}, []),
        ("cost_per_token", {"overlap": "sum"}, []),
        ("normalised_cost", {}, []),
        ("memory_time_share", {}, []),
        ("balance_batch_with_kv", {}, []),
        ("cost_per_token", {}, ["roofline.step_time_kv_plus_max"]),
        ("readings", {}, []),
    ],
)
def test_elasticities_through_a_chain_are_those_of_finite_differences(unknown, variants, using):
    given = {
        **{"batch": 900.0, "context_length": 1500.0, "active_params": 37e9, "total_params": 671e9, "bytes_per_weight": 1.0},
        **{"layers": 61.0, "kv_heads": 2.0, "head_dim": 128.0, "bytes_per_element": 1.0, "chips": 16.0, "mfu": 0.4, "mbu": 0.8},
        **{"peak_flops": 1979e12, "hbm_bandwidth": 3.35e12, "chip_price": 5.6e-4},
    }
    if unknown == "readings":
        unknown, using = "kv_bytes_per_token", ["readings.joint_slope"]
        given = {
            **{"output_input_ratio": 6.0, "premium_out": 1.5, "long_context": 4e5, "short_context": 1e5},
            **{"active_params": 1e11, "peak_flops": 1979e12, "hbm_bandwidth": 3.35e12, "mfu": 0.4, "mbu": 0.8},
        }
    solution = solve(unknown, variants=variants, using=using, **given)
    assert len(solution.route) > 2
    slopes = solution.answers[0].elasticities
    h = 1e-5
    for name in given:
        if given[name] * exp(h) > 1 and name in ("mfu", "mbu"):
            continue
        ends = [value(solve(unknown, variants=variants, using=using, **{**given, name: given[name] * exp(s * h)})) for s in (-1, 1)]
        measured = (log(ends[1]) - log(ends[0])) / (2 * h)
        assert slopes.get(name, 0.0) == pytest.approx(measured, abs=1e-6), name
    assert set(slopes) <= set(solution.given), "elasticities are with respect to what was given"


# -- import walls ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@in_one_test(
    ("program", "forbidden"),
    [
        ("import derive", "sympy numpy scipy pandas"),
        ("import derive.solving.chain", "sympy numpy scipy pandas"),
        ("from derive.catalogue import equations; [row.title for row in equations()]", "sympy numpy scipy pandas"),
        ("from derive.catalogue import equations; [row.symbols for row in equations(symbol='batch')]", "sympy numpy scipy pandas"),
        ("from derive.presets import hardware_names; hardware_names()", "sympy numpy scipy pandas"),
        ("from derive.solving.api import solve; solve('B_star', rho=300, s=8)", "scipy pandas"),
        ("from derive.solving.api import solve; solve('step_time', compute_time=1, memory_time=2)", "scipy pandas invert"),
    ],
)
def test_a_fresh_process_imports_no_more_than_it_needs(program, forbidden):
    report = f"{program}\nimport sys\nprint(*sorted(set({forbidden.split()!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-W", "error", "-c", report], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == []


SERVED = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:fp8", "chips": 8}
WORK_DONE = 2 * 70e9 / (8 * 1979e12)


@in_one_test(
    "besides",
    [
        {},
        {"context_length": "8k"},
        {"bytes_per_element": 1},
        {"context_length": "8k", "bytes_per_element": 1},
        {"batch": 64},
    ],
    ids=str,
)
def test_the_share_of_the_peak_is_the_work_done_whatever_else_is_known(besides):
    """2 N FLOP a token: 4,000 token/s are 3.5 % of eight chips, and no regime makes them all of it."""
    assert value(solve("compute_utilisation", **SERVED, throughput=4000, **besides)) == pytest.approx(WORK_DONE * 4000)


def test_the_share_of_the_peak_follows_from_a_rate_a_chip_and_from_a_price_too():
    assert value(solve("compute_utilisation", **SERVED, decode_rate_per_chip=500)) == pytest.approx(WORK_DONE * 4000)
    price = {"cost_per_token": "1 USD/MTok", "chip_price": "2 USD/h"}
    assert value(solve("compute_utilisation", **SERVED, **price)) == pytest.approx(WORK_DONE * 8 * 2 / 3600 / 1e-6)


@pytest.mark.parametrize("throughput", [1.001 / WORK_DONE, 900_000])
def test_a_rate_above_the_roof_has_no_share_of_it(throughput):
    solution = solve("compute_utilisation", **SERVED, throughput=throughput)
    assert solution.answers == () and solution.reason.code == "no_solution"


@pytest.mark.parametrize("peak_flops", [1e12, 1e15, 1e17])
def test_what_is_said_to_cancel_can_be_given_and_changes_nothing(peak_flops):
    given = {
        **{"total_params": 70e9, "active_params": 70e9, "kv_bytes_per_token": 163840, "bytes_per_weight": 1},
        **{"ridge_point": 590, "context_length": 4000, "batch": 100},
    }
    alone = solve("memory_time_share", **given)
    assert any(note.startswith("peak_flops cancels") for note in alone.assumptions)
    beside = solve("memory_time_share", **given, peak_flops=peak_flops)
    assert value(beside) == pytest.approx(value(alone))


def test_a_result_that_was_given_is_not_passed_over_for_what_fits_in_memory():
    """GLM-5 does not read all that it stores: its balance context is left out, and what was said of it says nothing."""
    given = {"model": "GLM-5", "hardware": "H200-SXM:fp8", "chips": 16, "batch": 8, "indexer_bytes_per_element": 1, "context_length": 1e6}
    assert solve("bytes_per_element", **given).answers[0].kind == "interval"
    solution = solve("bytes_per_element", **given, balance_context=1000)
    assert solution.answers == () and solution.reason.code == "not_identified"
    assert "balance_context = 1000" in solution.reason.message and "context.balance_context" in solution.reason.message


def test_the_ratio_of_two_times_holds_of_any_attention():
    """GLM-5 in fp8: 78 indexer keys of 128 for every token, 78 x 2,048 latents of 576 beside them; 2 x 40e9 FLOP at ridge 1979/4.8."""
    given = {"model": "GLM-5", "hardware": "H200-SXM:fp8", "chips": 16, "batch": 8, "bytes_per_element": 1, "indexer_bytes_per_element": 1}
    bytes_in_the_time = 2 * 40e9 * 4.8 / 1979
    expected = (bytes_in_the_time - 78 * 2048 * 576) / (78 * 128)
    assert value(solve("context_length", **given, kv_compute_ratio=1)) == pytest.approx(expected)


def test_what_was_not_used_is_said_below_the_answer_and_a_batch_that_is_in_flight_was_used():
    given = {"model": "Llama-3.3-70B", "hardware": "H200-SXM:fp8", "chips": 16, "batch": 128, "bytes_per_element": 1}
    lines = rendered(solve("context_length", **given, ttl="5 min"), "table").splitlines()
    assert "not used    ttl" in lines[:4]
    solution = solve("context_length", **given)
    assert solution.unused == () and solution.given["batch"] == 128
    assert "pipeline.batch_of_a_pass@2" in solution.equations and "microbatches = 1 (default)" in solution.assumptions
    (staged,) = solve("context_length", **given | {"chips": 4}, pipeline_stages=4).answers
    assert staged.high == pytest.approx(solution.answers[0].high / 4), "four stages hold four batches"


MISLED = {
    "a Max that takes one of its terms at most values": (
        ("prefill_normalised_cost", {"overlap": "network", "kv_time": "sparse"}, 4.075472366546323),
        {"mfu": 0.04186225982168247, "peak_flops": 8.825870418195792e16, "new_tokens_per_pass": 179.99836267856375,
         "prefill_compute_time": 20.92060349397326, "balance_context": 85.55885244285415, "chips": 11.584111893839435,
         "balance_batch": 50.29815501295939, "active_params": 13592639805.359787},
    ),
    "two equations that say the same": (
        ("weight_time", {"overlap": "sum"}, 0.0002134117576963515),
        {"memory_time": 0.00021383192322608493, "chips": 169.89175839728424, "new_tokens_per_pass": 9.931707170444747,
         "mbu": 1.0, "total_params": 299729534763.3869, "mfu": 0.05448570571528176, "batch": 253.21120218202165,
         "prefill_normalised_cost": 1.5142200678787392, "context_length": 57.89861171729295,
         "active_params": 186383830.7108854, "peak_flops": 717144404584896.2},
    ),
    "a regime that ends at a pole": (
        ("sequences_per_chip", {}, 40.0 / 2802.3592685891335),
        {"compute_utilisation": 1.0, "machine_balance_ratio": 6.007941827239091, "mbu": 1.0, "mfu": 1.0,
         "balance_batch": 7.306851536115738, "context_length": 1424.752827773699, "balance_context": 2000.0,
         "chips": 2802.3592685891335, "hbm_bandwidth": 4361996770077.373},
    ),
    "both sides the same for any value": (
        ("prefill_chunk", {}, 57625.458081205914),
        {"memory_time": 44.46021725784429, "batch": 479375.1508413988, "mfu": 1.0, "peak_flops": 91012823986649.38,
         "decode_rate_per_chip": 3194.8397322047026, "mixed_step_time": 168.08373938433212,
         "prefill_rate_per_chip": 3194.8397322047026},
    ),
    "a rate and a cost that say the same, behind stages": (
        ("step_time", {}, 564 / 22963.550061512826 - 6 * 2.879e-05),
        {"batch": 94, "chips": 2, "pipeline_stages": 6, "hop_latency": 2.879e-05, "throughput": 22963.550061512826,
         "chip_price": 0.0004495, "cost_per_token": 2.3489399441946068e-07},
    ),
    "the last digits decide": (
        ("batch", {}, 1442.2941897749392),
        {"fetched_params": 18529027079.102203, "experts": 69.34867420760975, "total_params": 18529027079.10221,
         "active_params": 7344705118.302478, "active_experts": 1.6730716802428824},
    ),
    "a chain through a difference of what is all but equal": (
        ("rack_hop_ratio", {}, 79.07534654512614),
        {"total_params": 20659722635.183292, "fetched_params": 20659722635.181293, "batch": 184.6210675169415,
         "layers": 73.21643304111544, "experts": 362.8130817134629, "pipeline_stages": 5.0468612161841095,
         "scale_out_bandwidth_ratio": 19.181676142574354, "active_params": 15551267903.601765},
    ),
    "a quantity that cancels only with what was worked out before": (
        ("kv_time", {"overlap": "kv_plus_max"}, 3.8793149530069946e-05),
        {"step_time": 0.10648624662022428, "tokens_per_step": 1.0653285634717873, "mbu": 1.0, "chips": 3.9357085194020764,
         "price_per_flop": 2.5622704138417016e-19, "chip_price": 0.00039710567069709034,
         "decode_rate_per_chip": 31.382656212644576, "compute_time": 0.0008055946189823626,
         "compute_utilisation": 0.007565245696521348, "hbm_bandwidth": 4999125080590.136, "ridge_point": 310.01815249831714,
         "context_length": 500.8043388193935},
    ),
    "a root next to the edge of where an expression is defined": (
        ("hop_latency", {"weight_time": "resident"}, 1.273112775579228e-07),
        {"minimum_latency": 8.434485731557682e-05, "layers": 7.815823195190851, "hbm_bandwidth": 52312876328297.37,
         "grid_latency": 0.0006048409065688138, "chips": 4668.576646160072, "synchronisations_per_layer": 4.511808179627586},
    ),
}  # fmt: skip
"""Questions about states that were once answered wrongly: the unknown, variants, the value of the state, and what is given."""


@in_one_test("case", some(MISLED.values(), 3), ids=some(MISLED, 3))
def test_what_once_misled_has_the_value_of_the_state_or_none(case):
    (unknown, variants, truth), given = case
    solution = solve(unknown, variants=variants, **given)
    assert not solution.answers or any(
        one.value == pytest.approx(truth) if one.kind == "point" else one.low <= truth <= (one.high or inf) for one in solution.answers
    )


FULL = {"compute_utilisation": 1.0, "balance_batch": 8, "context_length": 1500}


@in_one_test(
    ("unknown", "given", "low", "high"),
    [
        # arithmetic binds where 8/batch + 1500/balance_context <= 1
        ("batch", {"balance_context": 2000}, 8 / (1 - 1500 / 2000), None),
        ("batch", {"balance_context": 1500.015}, 8 / (1 - 1500 / 1500.015), None),
        ("balance_context", {"batch": 32}, 1500 / (1 - 8 / 32), None),
        ("balance_context", {"batch": 8.0001}, 1500 / (1 - 8 / 8.0001), None),
        ("balance_batch", {"batch": 32, "balance_context": 2000, "balance_batch": None}, 0, 32 * (1 - 1500 / 2000)),
        ("batch", {"balance_context": 1500}, None, None),
        ("batch", {"balance_context": 1000}, None, None),
        ("balance_context", {"batch": 8}, None, None),
    ],
)
def test_a_regime_ends_at_its_pole_and_is_not_beyond_it(unknown, given, low, high):
    solution = solve(unknown, **{name: value for name, value in {**FULL, **given}.items() if value is not None})
    if low is None:
        assert solution.answers == () and solution.reason.code == "no_solution"
        return
    (found,) = solution.answers
    assert (found.kind, found.low) == ("interval", pytest.approx(low, rel=1e-9)) and found.high == (high and pytest.approx(high, rel=1e-9))


def test_all_that_defines_a_quantity_is_one_block_of_which_more_equations_than_unknowns_make_no_case():
    """Bounds of a leg are carried through the legs that rest on it; a block among them has more unknowns than its own."""
    given = {"fleet_throughput": 1236.8, "mixed_step_time": 0.9, "prefill_chunk": 100, "batch": 50, "replicas": 2, "chips": 4}
    solution = solve("active_params", **given, peak_flops=1e15, tokens_per_step=1, mfu=0.5)
    assert bool(solution.answers) != bool(solution.reason)


ROOF = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:fp8", "bytes_per_element": 1, "chips": 8, "mfu": 0.7}
LINEAR, ATTENTION = 2 * 70e9, 4 * 80 * 64 * 128 * 200
AT_THE_ROOF = 8 * 0.7 * 1979e12 / LINEAR
"""token/s at which the arithmetic of eight chips at 70 % is all there is: any batch from the balance batch on has it."""

WITH_ATTENTION = 8 * 0.7 * 1979e12 / (LINEAR + 1979 / 989 * ATTENTION)
"""The same with the attention to 200 tokens, which runs at the 989 TFLOP/s of bf16."""


@in_one_test(
    ("unknown", "given", "truth"),
    [
        ("step_time", {"context_length": 200, "throughput": WITH_ATTENTION}, 2000 / WITH_ATTENTION),
        ("batch", {"context_length": 200, "throughput": WITH_ATTENTION}, 2000.0),
        ("sequences_per_chip", {"context_length": 200, "throughput": WITH_ATTENTION}, 250.0),
        ("context_length", {"memory_time": "10ms", "throughput": AT_THE_ROOF, "attention_time": 0}, 200.0),
        ("context_length", {"kv_time": "8ms", "throughput": AT_THE_ROOF, "attention_time": 0}, 200.0),
    ],
)
def test_at_the_roof_a_rate_does_not_say_which_batch_has_it(unknown, given, truth):
    (found,) = solve(unknown, **ROOF, **given).answers
    assert found.kind == "interval" and found.low <= truth <= (found.high or inf)


def test_at_the_roof_attention_says_which_context_it_is():
    assert value(solve("context_length", **ROOF, memory_time="10ms", throughput=WITH_ATTENTION)) == pytest.approx(200)


@pytest.mark.slow
@in_one_test("unknown", ["chips", "hbm_capacity", "sequences_in_flight"])
@in_one_test("result", ["compute_utilisation", "normalised_cost"])
def test_what_only_bounds_a_quantity_is_no_bound_on_what_would_fit(unknown, result):
    """At full use the context is at most so long: the memory it would take then says nothing of what there is."""
    given = {name: value for name, value in ROOF.items() if name not in ("mfu", unknown)}
    solution = solve(unknown, **given, batch=2000, **{result: 1})
    fits = {"chips": 8.0, "hbm_capacity": 80e9, "sequences_in_flight": 2000.0}[unknown]
    assert all(one.value == fits if one.kind == "point" else one.low <= fits <= (one.high or inf) for one in solution.answers)


OVERSTATED = {"hardware": "8xH200:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 1, "batch": 64}
"""A step of 2.9 ms at least, so that 22 thousand tokens a second are the most."""


@pytest.mark.parametrize(
    ("unknown", "more"),
    [
        *(("step_time", {}), ("token_latency", {}), ("cost_per_token", {"chip_price": "2 USD/h"})),
        *((unknown, {"prompt_tokens": 4000, "output_tokens": 500}) for unknown in ("request_latency", "prompt_time_share")),
    ],
)
@pytest.mark.parametrize("throughput", ["45k", "100k", "900k"])
def test_a_throughput_above_the_roofline_is_a_contradiction_whatever_is_asked(unknown, more, throughput):
    """Nobody spoke of drafts, and a default is not taken to be what no deployment without them is."""
    length = {} if "prompt_tokens" in more else {"context_length": 4000}
    reason = solve(unknown, **OVERSTATED, **length, **more, throughput=throughput).reason
    assert reason.code == "contradiction" and "tokens_per_step" not in reason.message.splitlines()[0]


def test_what_a_default_was_found_from_is_not_said_to_be_unused():
    solution = solve("step_time", **OVERSTATED, context_length=4000, throughput="15k")
    assert any(text.startswith("mbu = ") for text in solution.assumptions) and solution.unused == ()
