"""What quantities are called elsewhere: each word means one of them, or is refused with all that it could mean."""

import json

import pytest

from derive.errors import AmbiguousName, UnknownName, WrongValue
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, meant_beside, own_unit, quantity
from derive.quantities.aliases import ALIASES, ALSO_CALLED, OWN_UNITS, RENAMED, UNIT_ENDINGS, in_full
from derive.solving.api import solve
from derive.solving.deployments.budgets import split_money_rates
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import spread
from derive.solving.question.questions import question
from derive.units import _read, add_named_unit, named_texts, parse
from tests.tools.commands import call, refused
from tests.tools.renames import NEW_NAMES
from tests.tools.together import in_one_test


@in_one_test(("word", "meant"), ALIASES.items())
def test_a_word_means_quantities_and_is_the_name_of_none(word, meant):
    assert set(meant) <= set(QUANTITIES) and word == word.lower()
    assert word not in QUANTITIES and word not in NAME_OF_SYMBOL and NAME_OF_SYMBOL.get(word.upper(), *meant[:1]) == meant[0]
    if len(meant) == 1:
        assert quantity(word) is quantity(word.upper()) is QUANTITIES[meant[0]]
        return
    with pytest.raises(AmbiguousName) as caught:
        quantity(word)
    assert str(caught.value) == f"quantity {word!r} could mean {' or '.join(meant)}: write the one that is meant"


def test_words_stand_on_either_side_of_a_question():
    """Two seconds, less 0.5 in the queue."""
    assert solve("ttft", queue_time="0.5s", prefill_time="1.5s").answers[0].value == 2
    assert solve("QPS", throughput="1000 token/s", osl=500).answers[0].value == 2
    assert solve("prefill_time", TTFT="2s", queue_time="0.5s").answers[0].value == 1.5


def test_the_time_per_output_token_is_less_than_a_step_where_drafts_are_accepted():
    """3.3616 tokens a step of 6 ms; and 4 stages with 1 ms of hops between."""
    drafted = solve("tpot", step_time="6ms", draft_tokens=4, acceptance_rate=0.8)
    assert drafted.answers[0].value == pytest.approx(6e-3 * (1 - 0.8) / (1 - 0.8**5))
    assert solve("ITL", step_time="6ms", pipeline_stages=4, hop_latency="1ms").answers[0].value == pytest.approx(10e-3)
    assert solve("tokens_per_step", tpot="2ms", step_time="6ms").answers[0].value == pytest.approx(3)


@in_one_test(
    ("word", "name"),
    [
        *(("tokens/s/user", "tokens_per_second_per_user"), ("tok/s/GPU", "decode_rate_per_chip"), ("req/s", "requests_per_second")),
        *(("num_gpus", "chips"), ("expert_count", "experts"), ("number_of_gpus", "chips"), ("min_gpus", "chips"), ("num_seqs", "batch")),
        *(("hbm_bw", "hbm_bandwidth"), ("max-model-len", "context_length"), ("gpu_price", "chip_price"), ("gpu_capex", "chip_capex")),
        *(("memory per chip", "memory_per_chip"), ("E2EL", "request_latency"), ("TDP", "chip_power"), ("GPU cost per hour", "chip_price")),
        *(("memory_bandwidth_utilization", "mbu"), ("operational-intensity", "arithmetic_intensity"), ("output_seq_len", "output_tokens")),
        *(("FLOPs/byte", "arithmetic_intensity"), ("price/kWh", "electricity_price"), ("requests/day", "requests_per_second")),
        *(("cost/MTokens", "cost_per_token"), ("price per million output tokens", "output_price"), ("cost_per_GPU_hr", "chip_price")),
        *(("weight-bits", "bytes_per_weight"), ("ttft_ms", "time_to_first_token"), ("KV_cache_GB", "kv_cache_bytes")),
    ],
)
def test_a_name_may_be_written_otherwise(word, name):
    assert quantity(word).name == name


def test_a_quantity_that_was_renamed_answers_to_its_old_name():
    """Experts: 256 (1 - (1 - 32/256)^8) = 168. The cache of two KV heads lies on eight chips four times."""
    assert {old: new for old, new in NEW_NAMES.items() if old.isidentifier()} == RENAMED
    assert {quantity(old).name for old in RENAMED} == {*RENAMED.values()} <= QUANTITIES.keys()
    found = solve("touched_experts", experts=256, active_experts=32, batch=2, positions_per_step=4)
    assert found.answers[0].value == pytest.approx(256 * (1 - (7 / 8) ** 8))
    assert found.given["tokens_verified_per_step"] == 4
    copied = call("solve", "kv_copies", "--model", "Qwen3-Next-80B-A3B", "tp=8", "--as", "json")
    assert json.loads(copied.out)["answers"][0]["value"] == 4
    asked = question("kv_time", {"chips": 8}, Switches(variants={"kv_copies": "latents"}))
    assert asked.variants == (("kv_replication", "latents"),)


def test_a_word_that_says_a_unit_is_read_in_it():
    """2 USD a million tokens for 3,000 prompt tokens at half of it, and 1,000 that are decoded."""
    prompt = ("isl=3000", "prefill_cost_per_token=1 USD/MTok")
    found = call("solve", "request_cost", "osl=1000", *prompt, "cost_per_mtok=2", "--as", "json").out
    assert json.loads(found)["answers"][0]["value"] == pytest.approx(5e-3)
    assert named_texts(["cost/1M <= 0.05"]) == named_texts(["cost_per_token<=0.05 USD/MTok"])
    assert named_texts(["cost_per_mtok=0.1..0.5:log:4"]) == {"cost_per_token": "0.1..0.5 USD/MTok:log:4"}
    assert parse("requests_per_second", named_texts(["requests_per_day=2M"])["requests_per_second"]) == pytest.approx(2e6 / 86400)


@in_one_test(("word", "unit"), OWN_UNITS.items())
def test_each_unit_that_a_word_says_is_one_of_its_quantity(word, unit):
    many = "M" if unit.startswith("token/") or unit in ("request/month", "request/year") else ""
    for name in ALIASES.get(word) or [quantity(word).name]:
        if QUANTITIES[name].unit == "USD":
            assert split_money_rates([word], {})["deployment_time"] == unit.replace("USD/", "1 ")
            continue
        assert parse(name, f"8{many} {unit}") == pytest.approx(2 * parse(name, f"4{many} {unit}"))


@in_one_test(
    ("asked", "given", "value"),
    [
        ("replicas", ("tokens_per_year=2T", "throughput=3000", "fleet_utilisation=50%"), 2e12 / 31557600 / 3000 / 0.5),
        ("replicas", ("requests_per_day=5M", "requests_per_second=3"), 5e6 / 86400 / 3),
        ("energy_cost", ("gpus=1000", "gpu_power=1kW", "pue=1", "price_per_kwh=0.1", "deployment_time=1 d"), 2400),
        ("training_chips", ("gpu_days=1000", "training_days=20"), 50),
        ("gross_margin", ("price_per_million_output_tokens=4", "cost_per_mtok=1"), 0.75),
        ("chip_price", ("gpu_capex=35040 USD", "amortization=48 months", "gpu_power=1kW", "price_per_kwh=0.1", "pue=1"), 1.1 / 3600),
        ("price_per_million_tokens", ("gross_margin=70%", "cost_per_mtok=0.5"), 0.5e-6 / 0.3),
    ],
)
def test_a_word_that_says_its_unit_is_read_in_it_with_its_suffix(asked, given, value):
    found = call("solve", asked, *given, "--as", "json").out
    assert json.loads(found)["answers"][0]["value"] == pytest.approx(value, rel=1e-3)


@in_one_test(
    ("asked", "given", "value"),
    [
        ("kv_cache_per_token", ("--model", "Llama-3.1-70B", "dtype=fp8"), 2 * 2 * 80 * 8 * 128),
        ("kv_cache_per_token", ("--model", "Llama-3.1-70B", "kv_dtype=fp8"), 2 * 80 * 8 * 128),
        ("weight_memory", ("--model", "Llama-3.1-8B", "quantization=awq"), 8_030_261_248 * (0.5 + 2.5 / 128)),
        ("balance_batch", ("--hardware", "H100:bf16", "--model", "Llama-3.1-8B", "dtype=fp8"), 1979e12 / 3.35e12 / 2),
        ("balance_batch", ("--hardware", "H100:bf16", "--model", "Llama-3.1-8B", "weight_dtype=fp8"), 989e12 / 3.35e12 / 2),
    ],
)
def test_a_data_type_is_of_weights_and_arithmetic_and_never_of_the_cache(asked, given, value):
    found = json.loads(call("solve", asked, *given, "--as", "json").out)["answers"][0]
    assert found["value"] == pytest.approx(value)


def test_several_data_types_beside_a_chip_are_refused_with_the_deployments_that_they_are():
    """Each sets a rate of the chip too: a list of widths alone would be computed at one rate."""
    given = ("step_time", "--model", "Llama-3.1-70B", "ctx=8k", "batch=8")
    said = refused("solve", *given, "--hardware", "8xH100", "dtype=bf16,fp8")
    assert "--hardware 8xH100:bf16,8xH100:fp8" in said
    assert call("solve", *given, "--hardware", "8xH100:bf16,8xH100:fp8").status == 0
    with pytest.raises(WrongValue):
        solve("step_time", hardware="8xH100", model="Llama-3.1-70B", ctx="8k", batch=8, dtype=["bf16", "fp8"])
    assert len(solve("weight_bytes", model="Llama-3.1-70B", dtype=["bf16", "fp8"]).sweep) == 2


def test_a_plain_number_of_python_is_in_the_unit_that_its_word_says():
    assert solve("training_cost", gpu_hours=1e6, gpu_cost_per_hour=2).value == pytest.approx(2e6)
    assert solve("training_cost", chip_hours=3600, chip_price=2 / 3600).value == pytest.approx(2)


def test_a_number_from_python_is_read_in_the_unit_of_its_name():
    """8 chips at 2.50 USD an hour that make 20,000 tokens a second: 20 USD / 72 million tokens; four bits are half a byte."""
    assert solve("cost_per_token", gpu_hour_price=2.5, gpus=8, throughput=20000).answers[0].value == pytest.approx(20 / 72e6)
    assert solve("weight_bytes", total_params="70B", weight_bits=4).answers[0].value == pytest.approx(35e9)
    assert solve("weight_bytes", total_params="70B", weight_bits="4.5-bit").answers[0].value == pytest.approx(70e9 * 4.5 / 8)
    assert named_texts(["GPU hourly price=$2.5/h"]) == {"chip_price": "$2.5/h"}


def test_a_name_may_end_with_the_unit_of_what_it_names():
    """Half of 40 ms; no time is in GB, and a unit beside the number goes before that of the name."""
    assert solve("time_per_output_token", token_latency_ms=40, tokens_per_step=2).answers[0].value == pytest.approx(0.02)
    assert named_texts(["tpot_ms<=20", "ttft_ms=0.5s"]) == {"step_time": "<=20 ms", "time_to_first_token": "0.5s"}
    assert named_texts(["weights_gib=10..20"]) == {"weight_bytes": "10..20 GiB"}
    for word in ("tpot_gb", "batch_ms", "latency_days"):
        with pytest.raises(UnknownName):
            quantity(word)


_SAYING_A_UNIT = {
    # Money by the time is that of a fleet over it: tests/derive/solving/test_budgets.py.
    **{word: (ALIASES[word], unit) for word, unit in OWN_UNITS.items() if word in ALIASES and ALIASES[word] != ("fleet_cost",)},
    **{
        f"{word}_{end}": (meant, unit)
        for word, meant in ALIASES.items()
        for end, (unit, _) in UNIT_ENDINGS.items()
        if f"{word}_{end}" not in ALIASES and own_unit(f"{word}_{end}") == unit
    },
}
_FIGURE = "0.3"


def _ways(unit):
    """A figure beside a name that says its unit, with all, some or none of that unit."""
    above, stroke, below = unit.partition("/")
    yield from (_FIGURE, f"{_FIGURE} {above}", f"{_FIGURE} {unit}", f"{_FIGURE}{unit}" if unit != "bit" else f"{_FIGURE} bits")
    if above == "USD":
        yield from (f"${_FIGURE}", f"${_FIGURE}/{below}")
    elif stroke and above == "request":
        yield from (f"{_FIGURE}/{below}", f"{_FIGURE} req", f"{_FIGURE} requests")


@in_one_test(("word", "meant", "unit"), [(word, *said) for word, said in _SAYING_A_UNIT.items()])
def test_a_name_that_says_a_unit_takes_a_figure_with_all_of_it_a_part_or_none(word, meant, unit):
    for name in meant:
        whole = read(name, f"{_FIGURE} {unit}")
        for way in _ways(unit):
            assert read(name, add_named_unit(word, way)) == pytest.approx(whole), way
            both = spread(name, add_named_unit(word, f"{way}..{way.replace(_FIGURE, '0.9')}"), read)
            assert (both.low, both.high) == pytest.approx((whole, 3 * whole)), way
            several = spread(name, add_named_unit(word, f"{way},{way.replace(_FIGURE, '0.9')}"), read)
            assert several.values == pytest.approx((whole, 3 * whole)), way
            assert read(name, add_named_unit(word, f"<={way}").removeprefix("<=")) == pytest.approx(whole), way


def read(name, text):
    """A figure of one quantity, whatever values of it are met in practice."""
    return _read(QUANTITIES[name], text, binary=False)


@pytest.mark.parametrize(
    ("given", "meant", "value"),
    [
        ("weights_gb=140G", "weight_bytes", 140e9),
        ("kv_cache_gib=40Gi", "kv_cache_bytes", 40 * 2**30),
        ("peak_tflops=1.979P", "peak_flops", 1979e12),
        ("requests_per_day=2M requests", "requests_per_second", 2e6 / 86400),
        ("weight_bits=fp8", "bytes_per_weight", 1),
        ("cost_per_gpu_hour=$2/GPU", "chip_price", 2 / 3600),
        ("chip_price=2 USD", "chip_price", 2 / 3600),
    ],
)
def test_a_suffix_stands_in_the_place_of_the_prefix_that_a_name_says(given, meant, value):
    ((name, text),) = named_texts([given]).items()
    assert (name, parse(name, text)) == (meant, pytest.approx(value))


def test_dollars_that_stand_on_both_ends_of_a_range_are_of_the_usual_unit():
    """8 chips that make 20,000 tokens a second, at 1 to 2 USD an hour."""
    for rent in ("$1..$2", "$1..$2/h", "1 USD/h..2 USD/h", "$1..2 USD"):
        (found,) = solve("cost_per_token", gpus=8, throughput=20000, **named_texts([f"rent={rent}"])).answers
        assert (found.low, found.high) == pytest.approx((8 / 72e6, 16 / 72e6)), rent


def test_what_engines_are_told_to_fill_leaves_the_rest():
    """Nine tenths of 80 GB less 70 GB, over 1 GB a sequence, and what 1 sequence more takes."""
    served = {"hbm_capacity": "80GB", "chips": 2, "weight_bytes": "70GB", "kv_bytes_per_sequence": "1GB", "kv_replication": 1}
    (found,) = solve("sequences_in_flight", **served, gpu_memory_utilization=0.9).answers
    assert found.high == pytest.approx(2 * 80 * 0.9 - 70)
    (found,) = solve("gpu_memory_utilization", **served, sequences_in_flight=75).answers
    assert found.low == pytest.approx((70 + 75) / 160)
    assert solve("mem_fraction_static", reserved_share=0.12).answers[0].value == pytest.approx(0.88)
    said = refused("solve", "memory_capacity", "hbm_capacity=80GB", "gpu_memory_utilization=0.9", "reserved_share=0.3", status=3)
    assert "contradiction: reserved_share = 0.3; memory.usable_share makes it 0.1" in said


def test_tokens_beside_training_are_those_of_pretraining():
    """6 * 8.03e9 * 15e12 FLOP; and back."""
    flops = json.loads(call("solve", "training_flops", "tokens=15T", "active_params=8B", "--as", "json").out)
    back = json.loads(call("solve", "tokens", "training_flops=7.2e23", "active_params=8B", "--as", "json").out)
    assert flops["answers"][0]["value"] == pytest.approx(7.2e23)
    assert (back["unknown"], back["answers"][0]["value"]) == ("pretrain_tokens", pytest.approx(15e12))
    assert "could mean prompt_tokens or output_tokens" in refused("solve", "step_time", "tokens=15T")


def test_the_help_names_short_names_that_are_taken():
    line = next(line for line in call("solve", "--help").out.split("\n\n") if "Short names:" in line)
    words = " ".join(line.split()).removeprefix("Short names: ").partition(".")[0].split(", ")
    assert len(words) >= 10 and all(quantity(word).name != word for word in words)


def test_all_names_that_are_none_are_refused_at_once():
    latency = "quantity 'latency' could mean step_time or time_to_first_token or request_latency: write the one that is meant"
    assert refused("solve", "fooo", "latency=12s", "zork=1", "batch=3").splitlines() == [
        f"backsolve: unknown quantity 'fooo'; {latency}; unknown quantity 'zork'",
        "backsolve: backsolve list WORD searches them",
    ]


@in_one_test(("word", "meant"), ALSO_CALLED.items())
def test_a_word_that_is_no_name_is_hinted_at_with_what_may_be_meant(word, meant):
    assert set(meant) <= set(QUANTITIES) and word not in QUANTITIES and word not in ALIASES and word == in_full(word)
    with pytest.raises(UnknownName) as caught:
        quantity(word)
    assert f"did you mean {' or '.join(map(repr, meant))}" in str(caught.value)


@in_one_test("word", ["gpu_utilization", "fp8_flops", "TTFT_p50", "p99_ttft"])
def test_a_word_with_a_meaning_beside_ours_is_no_alias(word):
    """A unit, a percentile or a share of another whole that it brings along would be lost."""
    with pytest.raises(UnknownName, match="did you mean"):
        quantity(word)


@in_one_test(("word", "meant"), [("contex_length", "context_length"), ("output_tokns", "output_tokens"), ("batch_sise", "batch_size")])
def test_a_misspelt_name_is_answered_with_the_name_and_not_by_its_other_words(word, meant):
    with pytest.raises(UnknownName, match=f"; did you mean {meant!r}"):
        quantity(word)


@in_one_test("word", ["zork", "carbon"])
def test_a_word_that_says_nothing_of_any_quantity_is_given_no_name_by_meaning(word):
    with pytest.raises(UnknownName) as caught:
        quantity(word)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("word", "beside", "meant"),
    [
        ("cost", ["rent", "gpus", "deployment_time"], "fleet_cost"),
        ("cost", ["isl", "osl", "batch"], "cost_per_request"),
        ("time", ["training_chips", "gpu_hours"], "training_time"),
        ("price", ["margin", "batch"], "output_price"),
        ("margin", ["output_price", "cost"], "gross_margin"),
        ("model_size", ["bytes_per_weight"], "weight_bytes"),
        ("days", ["pretrain_tokens", "training_chips"], "training_time"),
        ("months", ["fleet_cost", "rent"], "deployment_time"),
        ("concurrency", ["throughput", "tps_per_user"], "sequences_in_flight"),
        ("concurrency", ["qps", "ttft", "tpot", "osl"], "concurrent_requests"),
        ("tps", ["tpot"], "tokens_per_second_per_user"),
        ("tps", ["cost_per_mtok", "gpus", "rent"], "throughput"),
        ("budget", ["gpus", "rent"], "fleet_cost"),
        ("tokens_per_day", ["fleet_cost", "gpus", "layers"], "fleet_throughput"),
        ("energy", ["output_tokens"], "output_energy"),
        ("energy_cost", ["pretrain_tokens"], "training_electricity_cost"),
        ("utilization", ["cost_per_mtok", "gpus"], "fleet_utilisation"),
        ("fewest GPUs", [], "chips"),
    ],
)
def test_short_words_mean_what_stands_beside_them_says(word, beside, meant):
    assert meant_beside(word, beside) == meant


def test_a_rate_of_all_sequences_or_of_one_is_asked_back_where_both_answer():
    asked = ("throughput", "--hardware", "8xH100:fp8", "--model", "Llama-3.1-70B")
    for more in (("tps=20",), ("tps=20", "batch=8")):
        assert "'tps' could mean throughput or tokens_per_second_per_user" in refused("solve", "chips", *asked[1:], *more)


def test_a_price_that_nothing_settles_is_refused_with_all_it_may_be():
    assert "could mean output_price or input_price or chip_price" in refused("solve", "step_time", "price=2")
    assert "price is an option: write --price rent" in refused("solve", "step_time", "price=rent")


@pytest.mark.parametrize("beside", [{}, {"bytes_per_element": 1}])
@pytest.mark.parametrize("hardware", ["8xH100:fp8", "8xH100:bf16", "8xH100"])
def test_a_data_type_means_the_same_whatever_stands_beside_it(hardware, beside):
    given = {"model": "Llama-3.1-70B", "batch": 8, "context_length": 4000, **beside}
    found = solve("step_time", hardware=hardware, **given, dtype="fp8")
    assert found.provenance["bytes_per_weight"] == "given"
    assert found.value == solve("step_time", hardware="8xH100:fp8", **given).value


@pytest.mark.parametrize(
    ("given", "meant"), [("kv=bf16", "bytes_per_element"), ("kv_cache=FP8,bf16", "bytes_per_element"), ("weights=int4", "bytes_per_weight")]
)
def test_a_word_for_what_is_stored_beside_a_data_type_is_of_that_type(given, meant):
    assert named_texts([given]) == {meant: given.partition("=")[2]}
    assert named_texts(["kv=70kB"]) == {"kv_bytes_per_token": "70kB"}


def test_a_type_that_is_given_in_two_words_is_given_twice():
    assert "bytes_per_element is given twice" in refused("solve", "batch", "kv=fp8", "kv_dtype=bf16")
    cache = {"model": "Llama-3.1-70B", "context_length": 4096}
    assert solve("kv_bytes_per_sequence", **cache, kv="fp8").value == solve("kv_bytes_per_sequence", **cache, bytes_per_element=1).value
    with pytest.raises(WrongValue, match="kv_dtype is given twice"):
        solve("kv_bytes_per_sequence", **cache, kv="fp8", kv_dtype="bf16")
