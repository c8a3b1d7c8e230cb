"""What quantities are called elsewhere: each word means one of them, or is refused with all that it could mean."""

import json

import pytest

from derive.errors import AmbiguousName, UnknownName
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, meant_beside, own_unit, quantity
from derive.quantities.aliases import ALIASES, ALSO_CALLED, OWN_UNITS, RENAMED, UNIT_ENDINGS, in_full
from derive.solving.api import solve
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import split_money_rates, spread
from derive.solving.question.questions import question
from derive.units import _read, add_named_unit, named_texts, parse
from tests.tools.commands import call, refused
from tests.tools.renames import NEW_NAMES
from tests.tools.together import in_one_test, some


@in_one_test(("word", "meant"), ALIASES.items())
def test_a_word_means_quantities_and_is_the_name_of_none(word, meant):
    assert set(meant) <= set(QUANTITIES) and word == word.lower()
    assert word not in QUANTITIES and word not in NAME_OF_SYMBOL and NAME_OF_SYMBOL.get(word.upper(), *meant[:1]) == meant[0]
    if len(meant) == 1:
        assert quantity(word) is quantity(word.upper()) is QUANTITIES[meant[0]]
        return
    with pytest.raises(AmbiguousName) as caught:
        quantity(word)
    assert str(caught.value) == f"quantity {word!r} could mean {' or '.join(meant)}: use one of these"


@in_one_test(
    ("word", "name"),
    [
        *(("tokens/s/user", "tokens_per_second_per_user"), ("tok/s/GPU", "decode_rate_per_chip"), ("req/s", "requests_per_second")),
        *(("num_gpus", "chips"), ("expert_count", "experts"), ("number_of_gpus", "chips"), ("min_gpus", "chips"), ("num_seqs", "batch")),
        *(("hbm_bw", "hbm_bandwidth"), ("max-model-len", "context_length"), ("gpu_price", "chip_price"), ("gpu_capex", "chip_capex")),
        *(("memory_bandwidth_utilization", "mbu"), ("operational-intensity", "arithmetic_intensity"), ("output_seq_len", "output_tokens")),
        *(("FLOPs/byte", "arithmetic_intensity"), ("price/kWh", "electricity_price"), ("requests/day", "requests_per_second")),
        *(("weight-bits", "bytes_per_weight"), ("ttft_ms", "time_to_first_token"), ("KV_cache_GB", "kv_cache_bytes")),
    ],
)
def test_a_name_may_be_written_otherwise(word, name):
    assert quantity(word).name == name


def test_a_quantity_that_was_renamed_answers_to_its_old_name():
    """Experts: 256 (1 - (1 - 32/256)^8) = 168. The cache of two KV heads lies on eight chips four times."""
    assert {old: new for old, new in NEW_NAMES.items() if old.isidentifier() and new in QUANTITIES} == RENAMED
    assert {quantity(old).name for old in RENAMED} == {*RENAMED.values()} <= QUANTITIES.keys()
    found = solve("touched_experts", experts=256, active_experts=32, batch=2, positions_per_step=4)
    assert found.answers[0].value == pytest.approx(256 * (1 - (7 / 8) ** 8))
    assert found.given["tokens_verified_per_step"] == 4
    copied = call("solve", "kv_copies", "--model", "Qwen3-Next-80B-A3B", "tp=8", "--as", "json")
    assert json.loads(copied.out)["answers"][0]["value"] == 4
    asked = question("kv_time", {"chips": 8}, Switches(variants={"kv_copies": "latents"}))
    assert asked.variants == (("kv_replication", "latents"),)


@in_one_test(("word", "unit"), OWN_UNITS.items())
def test_each_unit_that_a_word_says_is_one_of_its_quantity(word, unit):
    many = "M" if unit.startswith("token/") or unit in ("request/week", "request/month", "request/year") else ""
    for name in ALIASES.get(word) or [quantity(word).name]:
        if QUANTITIES[name].unit == "USD":
            assert split_money_rates([word], {"chip_price": 1})["deployment_time"] == unit.replace("USD/", "1 ")
            continue
        assert parse(name, f"8{many} {unit}") == pytest.approx(2 * parse(name, f"4{many} {unit}"))


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
    **{word: (ALIASES[word], unit) for word, unit in OWN_UNITS.items() if word in ALIASES and "fleet_cost" not in ALIASES[word]},
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


@in_one_test(("word", "meant", "unit"), some([(word, *said) for word, said in _SAYING_A_UNIT.items()], 4))
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
        ("cost_per_gpu_hour=$2/GPU", "chip_price", 2 / 3600),
    ],
)
def test_a_suffix_stands_in_the_place_of_the_prefix_that_a_name_says(given, meant, value):
    ((name, text),) = named_texts([given]).items()
    assert (name, parse(name, text)) == (meant, pytest.approx(value))


def test_the_help_names_short_names_that_are_taken():
    line = next(line for line in call("solve", "--help").out.split("\n\n") if "Short names:" in line)
    words = " ".join(line.split()).removeprefix("Short names: ").partition(".")[0].split(", ")
    assert len(words) >= 10 and all(quantity(word).name != word for word in words)


def test_all_names_that_are_none_are_refused_at_once():
    latency = "quantity 'latency' could mean step_time or time_to_first_token or request_latency: use one of these"
    assert refused("solve", "fooo", "latency=12s", "zork=1", "batch=3").splitlines() == [
        f"backsolve: unknown quantity 'fooo'; {latency}; unknown quantity 'zork'",
        "backsolve: backsolve list WORD searches them",
    ]


@in_one_test(("word", "meant"), some(ALSO_CALLED.items(), 4))
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


@pytest.mark.parametrize(
    ("word", "beside", "meant"),
    [
        ("cost", ["rent", "gpus", "deployment_time"], "fleet_cost"),
        ("cost", ["isl", "osl", "batch"], "cost_per_request"),
        ("margin", ["output_price", "cost"], "gross_margin"),
        ("concurrency", ["qps", "ttft", "tpot", "osl"], "concurrent_requests"),
        ("tps", ["cost_per_mtok", "gpus", "rent"], "throughput"),
        ("utilization", ["cost_per_mtok", "gpus"], "fleet_utilisation"),
        ("utilization", ["gpus", "qps", "tpot"], "fleet_utilisation"),
        ("utilization", ["training_time", "gpus"], "mfu"),
        ("cost_per_hour", ["gpus", "rent"], "fleet_cost"),
        ("hourly_cost", ["gpus", "qps", "tpot"], "fleet_cost"),
        ("fewest GPUs", [], "chips"),
        ("dp", ["training_chips", "tp", "pp"], "data_parallel"),
        ("tokens_per_day", ["requests_per_minute", "osl"], "throughput"),
        ("tokens_per_day", ["requests_per_minute", "osl", "replicas"], "fleet_throughput"),
    ],
)
def test_short_words_mean_what_stands_beside_them_says(word, beside, meant):
    assert meant_beside(word, beside) == meant
