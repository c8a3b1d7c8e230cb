"""The switches: what an operation is, what a GB is, what is sustained, and that the answer says which."""

import pytest

from derive import symbols
from derive.errors import UnknownName, WrongValue
from derive.preset_rows import AcceleratorFigure, Efficiency
from derive.presets import MODEL_KINDS
from derive.quantities import QUANTITIES
from derive.shipped import rows_of
from derive.solving.api import solve
from derive.solving.conventions import CHOICES, USUAL_CONVENTIONS, Conventions
from derive.units import flop_power, parse
from tests.tools.together import in_one_test

CHIP = {"batch": 64, "active_params": 37e9, "chips": 1}
EFFICIENCIES = rows_of(Efficiency)


def value(unknown, **given):
    (only,) = solve(unknown, **given).answers
    return only.value


@pytest.mark.parametrize("peak", [1e15, "1 PFLOP/s"])
def test_a_multiply_add_is_two_flop(peak):
    flop, mac = (value("compute_time", **CHIP, peak_flops=peak, count=count) for count in ("flop", "mac"))
    assert flop == pytest.approx(2 * 64 * 37e9 / 1e15) and mac == flop / 2


@in_one_test("switch", [{"count": "mac"}, {"bytes": "binary"}])
@in_one_test("unknown", ["ridge_point", "sweep_time", "peak_flops", "hbm_capacity"])
def test_a_table_says_its_units_and_no_switch_rereads_it(unknown, switch):
    """A switch is about figures whose unit a person knows: the rows of hardware.csv are FLOP/s and bytes, whoever asks."""
    chip = {"hardware": "H100:fp8"}
    if unknown in ("ridge_point", "sweep_time"):
        assert value(unknown, **chip, **switch) == value(unknown, **chip)
    else:
        back = {"peak_flops": ("ridge_point", "hbm_bandwidth"), "hbm_capacity": ("sweep_time", "hbm_bandwidth")}[unknown]
        assert solve(back[0], **chip, **switch).given[unknown] == sheet("H100-SXM", unknown).value


@pytest.mark.parametrize("switch", [{"count": "mac"}, {"bytes": "binary"}])
def test_no_switch_lets_a_model_or_a_chip_exceed_its_roof(switch):
    asked = {"model": "Llama-3-70B", "hardware": "H100:fp8", "chips": 8, "bytes_per_element": 1, "context_length": 4096}
    for unknown, more in (("step_time", {"batch": 2000, "anyway": True}), ("compute_time", {"batch": 2000}), ("kv_bytes_per_token", {})):
        assert value(unknown, **asked, **more, **switch) == value(unknown, **asked, **more)
    fits = [solve("sequences_in_flight", **asked, **switches).answers[0].ends for switches in ({}, switch)]
    assert fits[0] == fits[1]


def sheet(name, quantity):
    """The row of hardware.csv that a preset takes."""
    of_chip = (row for row in rows_of(AcceleratorFigure) if (row.accelerator, row.quantity) == (name, quantity) and row.preferred)
    (row,) = (row for row in of_chip if row.dtype in ("", "fp8"))
    return row


def test_what_is_typed_beside_a_preset_is_still_read_by_the_switch():
    typed = {"hardware": "H100:fp8", "peak_flops": "1979T", "hbm_capacity": "80GB"}
    assert value("ridge_point", **typed, count="mac") == 2 * value("ridge_point", **typed)
    assert value("sweep_time", **typed, bytes="binary") == pytest.approx(80 * 2**30 / 3.35e12)


def test_every_unit_with_flop_in_it_is_seen():
    seen = {name for name in QUANTITIES if flop_power(name)}
    assert seen == {name for name, row in QUANTITIES.items() if "FLOP" in row.unit}
    assert {flop_power(name) for name in seen} == {1, -1}
    assert [name for name in seen if flop_power(name) < 0] == ["price_per_flop"]


def test_a_gb_of_memory_may_be_a_gib_and_a_bandwidth_stays_decimal():
    assert parse("hbm_capacity", "80GB", binary=True) == parse("hbm_capacity", "80GiB") == 80 * 2**30
    assert parse("kv_bytes_per_token", "320kB", binary=True) == 327_680
    assert parse("hbm_capacity", "80G", binary=True) == 80 * 2**30
    assert parse("hbm_bandwidth", "3.35TB/s", binary=True) == 3.35e12
    assert parse("active_params", "37B", binary=True) == 37e9
    assert value("sweep_time", hbm_capacity="80GB", hbm_bandwidth="3.35TB/s", bytes="binary") == pytest.approx(80 * 2**30 / 3.35e12)


@in_one_test("row", [pytest.param(row, id=f"{row.run}: {row.quantity}") for row in EFFICIENCIES if row.quantity])
def test_what_is_sustained_is_what_was_measured(row):
    sustained = row.ideal_ms / row.measured_ms
    expected = max(0.0, 1 - sustained) if row.quantity == "exposed_communication_share" else sustained
    assert row.value == pytest.approx(expected, abs=3e-4)


def test_calibrated_is_a_range_of_published_runs_and_says_of_which():
    """Mixtures of experts in decode waited 0.1926 to 0.5671 of a step; dense models up to 0.2663."""
    given = {"compute_time": 0.01, "weight_time": 0.02, "kv_time": 0.01, "efficiency": "calibrated"}
    mixture = solve("step_time", **given, experts=256)
    assert (mixture.spans.low, mixture.spans.high) == pytest.approx((0.03 / (1 - 0.1926), 0.03 / (1 - 0.5671)))
    said = mixture.provenance["exposed_communication_share"]
    assert "7 points of mixtures of experts in decode" in said and "DeepSeek in production, 144 H800" in said
    dense = solve("step_time", **given, total_params=7e10)
    assert (dense.spans.low, dense.spans.high) == pytest.approx((0.03, 0.03 / (1 - 0.2663)))
    either = solve("step_time", **given)
    assert (either.spans.low, either.spans.high) == pytest.approx((0.03, 0.03 / (1 - 0.5671)))
    stated = "efficiency: calibrated, mfu, mbu and exposed communication as measured in published runs, unless given"
    assert all(stated in one.assumptions for one in (mixture, dense, either))


def recorded(solution):
    (text,) = (text for text in solution.assumptions if "of published runs;" in text)
    return text


def test_a_calibrated_answer_has_its_record():
    """Counted in the table: whole steps and prompts whose time the other runs' ranges held."""
    for kind, phase, given in (
        ("dense", "decode", {"unknown": "step_time", "model": "Llama-3-70B", "batch": 8, "context_length": 1000, "bytes_per_element": 2}),
        ("mixture", "prefill", {"unknown": "prefill_time", "model": "DeepSeek-V3", "prompt_tokens": 4096}),
    ):
        whole = [row.held for row in EFFICIENCIES if (row.kind, row.phase) == (kind, phase) and row.held != "part"]
        text = recorded(solve(**given, hardware="H800:fp8", chips=32, efficiency="calibrated"))
        assert f"held {whole.count('inside')} of {len(whole)} published times of {MODEL_KINDS[kind]} in {phase}" in text


@in_one_test(
    ("unknown", "given", "mfu"),
    [
        ("compute_time", {"batch": 8}, (0.3835, 0.5398)),
        ("prefill_compute_time", {"batch": 8, "prompt_tokens": 1000}, (0.1505, 0.3742)),
        ("prompt_tokens", {"batch": 8, "prefill_compute_time": 1}, (0.1505, 0.3742)),
        ("cost_per_request", {"batch": 8, "prompt_tokens": 4000, "output_tokens": 100, "chip_price": 1e-3}, (0.1505, 0.5398)),
        ("step_time", {"batch": 8, "prompt_tokens": 4000, "output_tokens": 100}, (0.3835, 0.5398)),
    ],
)
def test_what_is_sustained_is_that_of_the_phase(unknown, given, mfu):
    given = {"hardware": "H800:fp8", "model": "DeepSeek-V3", "chips": 32, "bytes_per_element": 1, **given}
    assert solve(unknown, **given, efficiency="calibrated").spans.ranges["mfu"] == mfu


@in_one_test(
    ("more", "exposed"),
    [
        ({"chips": 1}, (0.0, 0.5671)),
        ({}, (0.0, 0.5671)),
        ({"chips": 2}, (0.1926, 0.5671)),
        ({"chips": 1, "pipeline_stages": 2}, (0.1926, 0.5671)),
    ],
)
def test_one_chip_exchanges_nothing_and_exposes_launches_at_most(more, exposed):
    """Published steps of one chip took longer than its bandwidth says: launches stay."""
    given = {"hardware": "H200:fp8", "model": "Mixtral-8x7B", "batch": 8, "context_length": 4000, "bytes_per_element": 1, **more}
    solution = solve("step_time", **given, efficiency="calibrated")
    assert solution.spans.ranges["exposed_communication_share"] == exposed
    assert any("one chip exchanges nothing" in text for text in solution.assumptions) == (exposed[0] == 0)


def test_what_rests_on_nothing_measured_is_a_point():
    solution = solve("kv_bytes_per_token", model="DeepSeek-V3", bytes_per_element=1, efficiency="calibrated")
    assert solution.value == 35136 and solution.spans is None


def test_in_a_formula_the_middle_is_taken():
    (answer,) = solve("compute_time", active_params=7e10, peak_flops=1e15, chips=8, batch=symbols.batch, efficiency="calibrated").answers
    assert float(answer.expr.subs(symbols.batch, 64)) == pytest.approx(2 * 64 * 7e10 / (8 * 1e15 * (0.4637 + 0.76) / 2))


def test_lists_and_sweeps_have_a_range_at_each_point():
    given = {"model": "Llama-3-70B", "hardware": "H200:bf16", "chips": 8, "bytes_per_element": 2, "context_length": 8192}
    solution = solve("step_time", **given, batch=[64, 256], efficiency="calibrated")
    singly = [solve("step_time", **given, batch=batch, efficiency="calibrated").spans for batch in (64, 256)]
    found = [answers[0] for _, answers, _ in solution.sweep.rows()]
    assert [(one.low, one.high) for one in found] == [pytest.approx((one.low, one.high)) for one in singly]


def test_what_is_given_goes_before_what_is_calibrated():
    solution = solve("compute_time", **CHIP, peak_flops=1e15, mfu=0.5, efficiency="calibrated")
    assert solution.given["mfu"] == 0.5 and solution.spans is None
    assert "mfu as given, not the 0.4637 to 0.76 of efficiencies.csv mfu" in solution.assumptions
    assert solve("step_time", compute_time=1, memory_time=2, efficiency="calibrated", variants={"overlap": "sum"}).answers[0].value == 3


def test_the_answer_says_which_conventions_it_rests_on():
    said = solve("compute_time", **CHIP, peak_flops=1e15, count="mac").assumptions
    assert any(text.startswith("count: mac") for text in said) and any(text.startswith("efficiency: ideal") for text in said)
    assert not any(text.startswith("bytes:") for text in said)
    sweep = {"hbm_capacity": "80GB", "hbm_bandwidth": "3.35TB/s", "bytes": "binary"}
    assert "bytes: binary, 1 GB of a size is 2^30 bytes, bandwidths stay decimal" in solve("sweep_time", **sweep).assumptions
    assert solve("sparsity", total_params=2e9, active_params=1e9).assumptions == ()
    assert USUAL_CONVENTIONS.stated(["batch"]) == ()


def test_the_answer_says_that_figures_of_presets_keep_their_units():
    said = solve("sweep_time", hardware="H100:fp8", bytes="binary").assumptions
    assert "bytes: binary, 1 GB of a size is 2^30 bytes, bandwidths stay decimal; those of presets are in decimal bytes" in said
    said = solve("ridge_point", hardware="H100:fp8", count="mac").assumptions
    assert "count: mac, figures in FLOP count multiply-adds, each 2 FLOP; those of presets are in FLOP" in said
    said = solve("compute_time", **CHIP, peak_flops=1e15, count="mac").assumptions
    assert "count: mac, figures in FLOP count multiply-adds, each 2 FLOP" in said
    assert USUAL_CONVENTIONS.stated(["peak_flops"], ["peak_flops"]) == ("count: flop, 1 FLOP is an add or a multiply",)


@pytest.mark.parametrize("switch", CHOICES)
def test_a_choice_there_is_not_is_refused_with_those_there_are(switch):
    with pytest.raises(UnknownName, match=f"unknown {switch} 'other'"):
        Conventions(**{switch: "other"})


@pytest.mark.parametrize("wrong", [None, object(), {}])
def test_what_is_neither_number_nor_text_is_named(wrong):
    with pytest.raises(WrongValue, match="batch"):
        USUAL_CONVENTIONS.read("batch", wrong)
