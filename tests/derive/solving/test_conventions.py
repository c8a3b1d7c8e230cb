"""The switches: what an operation is, what a GB is, what is sustained, and that the answer says which."""

import pytest

from derive.errors import UnknownName
from derive.preset_rows import AcceleratorFigure
from derive.presets import calibrated
from derive.solving.api import solve
from derive.solving.question.conventions import CHOICES, Conventions
from derive.tables.shipped import rows_of
from derive.units import parse
from tests.tools.together import in_one_test

CHIP = {"batch": 64, "active_params": 37e9, "chips": 1}


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


def sheet(name, quantity):
    """The row of hardware.csv that a preset takes."""
    of_chip = (row for row in rows_of(AcceleratorFigure) if (row.accelerator, row.quantity) == (name, quantity) and row.preferred)
    (row,) = (row for row in of_chip if row.dtype in ("", "fp8"))
    return row


def test_what_is_typed_beside_a_preset_is_still_read_by_the_switch():
    typed = {"hardware": "H100:fp8", "peak_flops": "1979T", "hbm_capacity": "80GB"}
    assert value("ridge_point", **typed, count="mac") == 2 * value("ridge_point", **typed)
    assert value("sweep_time", **typed, bytes="binary") == pytest.approx(80 * 2**30 / 3.35e12)


def test_a_gb_of_memory_may_be_a_gib_and_a_bandwidth_stays_decimal():
    assert parse("hbm_capacity", "80GB", binary=True) == parse("hbm_capacity", "80GiB") == 80 * 2**30
    assert parse("kv_bytes_per_token", "320kB", binary=True) == 327_680
    assert parse("hbm_capacity", "80G", binary=True) == 80 * 2**30
    assert parse("hbm_bandwidth", "3.35TB/s", binary=True) == 3.35e12
    assert parse("active_params", "37B", binary=True) == 37e9
    assert value("sweep_time", hbm_capacity="80GB", hbm_bandwidth="3.35TB/s", bytes="binary") == pytest.approx(80 * 2**30 / 3.35e12)


STEP = {"hardware": "H800:fp8", "bytes_per_element": 1, "batch": 8, "context_length": 4000, "efficiency": "calibrated"}


@in_one_test(
    ("model", "chips", "group"),
    [
        ("Llama-3-70B", 8, ("dense", "one node")),
        ("DeepSeek-V3", 72, ("mixture", "several nodes")),
    ],
)
def test_calibrated_is_the_range_of_runs_of_such_a_model_on_so_many_chips(model, chips, group):
    solution = solve("step_time", **STEP, model=model, chips=chips, anyway=True)
    assert solution.spans.ranges == calibrated(kinds=group[:1], deployments=group[1:]).ranges
    assert any(f"({group[0]}, {group[1]}, decode)" in text for text in solution.said)
    assert "efficiency: calibrated, mfu, mbu and the time of a layer as fitted to published runs, unless given" in solution.assumptions


def test_what_is_given_goes_before_what_is_calibrated():
    solution = solve("compute_time", **CHIP, peak_flops=1e15, mfu=0.5, efficiency="calibrated")
    assert solution.given["mfu"] == 0.5 and solution.spans is None
    assert any(text.startswith("mfu as given, not the ") and "efficiency_fit.csv" in text for text in solution.assumptions)


@pytest.mark.parametrize("switch", CHOICES)
def test_a_choice_there_is_not_is_refused_with_those_there_are(switch):
    with pytest.raises(UnknownName, match=f"unknown {switch} 'other'"):
        Conventions(**{switch: "other"})
