"""Faults that were found by running other tools, each looked for here.

The number that a tool with the fault gives stands in each test, as what must not come out.
"""

import pytest

from derive import presets
from derive.preset_rows import AcceleratorFigure, Architecture
from derive.solving.api import solve
from derive.tables.shipped import rows_of
from tests.tools.asked import value_of
from tests.tools.together import in_one_test

NODE = {"chips": 8, "context_length": 8192, "batch": 256, "bytes_per_element": 2}
LLAMA = {"model": "Llama-3-70B", "hardware": "H200-SXM:bf16", **NODE}
DOES_NOT_FIT = {**LLAMA, "hardware": "H100-SXM:bf16", "hbm_capacity": "80GB"}  # 141 GB of weights and 687 GB of KV in 640 GB


def preferred(quantity):
    """The rows that presets use, by accelerator and data type."""
    rows = [row for row in rows_of(AcceleratorFigure) if row.quantity == quantity and row.preferred]
    return {(row.accelerator, row.dtype): row.value for row in rows}


MLA = [row.model for row in rows_of(Architecture) if row.kv_formula.startswith("mla")]


@in_one_test("model", MLA)
def test_a_latent_is_kept_with_its_rotary_key(model):
    """The key of 64 is a ninth of what DeepSeek-V3 keeps: without it 62,464 bytes, and without 3 dense layers too 59,392."""
    given = {"model": model, "bytes_per_element": 2, "indexer_bytes_per_element": 2}
    config = presets.model(model).givens
    with_one, with_two = (value_of("kv_bytes_per_token", **given, rope_dim=times * config["rope_dim"]) for times in (1, 2))
    assert value_of("kv_bytes_per_token", **given) == with_one
    assert with_two - with_one == 2 * config.get("kv_layers", config.get("layers")) * config["rope_dim"] > 0
    if model == "DeepSeek-V3":
        assert (config["rope_dim"], config["layers"], with_one) == (64, 61, 70_272)
        assert 2 * with_one - with_two == 62_464 != with_one != 59_392


SPARSE = {  # [TFLOP/s] with 2:4 sparsity, as vendors print them; dense is half
    "A100-SXM-80GB": {"bf16": 624, "int8": 1248},
    "H100-SXM": {"bf16": 1979, "fp8": 3958},
    "H200-SXM": {"bf16": 1979, "fp8": 3958},
    "B200-SXM": {"bf16": 4500, "fp8": 9000, "fp4": 18000},
    "GB200-NVL72": {"bf16": 5000, "fp8": 10000, "fp4": 20000},
    "B300-SXM": {"bf16": 4500, "fp8": 9000},
    "GB300-NVL72": {"bf16": 5000, "fp8": 10000},
    "MI300X": {"bf16": 2615, "fp8": 5230},
    "MI325X": {"bf16": 2615, "fp8": 5230},
    "MI355X": {"bf16": 5033, "fp8": 10066},
}


@in_one_test(("chip", "dtype"), [(chip, dtype) for chip, rates in SPARSE.items() for dtype in rates])
def test_rates_of_hardware_are_dense(chip, dtype):
    """A sparse rate in a dense column halves every compute time: no rival row has one either."""
    sparse = SPARSE[chip][dtype] * 1e12
    rates = [row.value for row in rows_of(AcceleratorFigure) if (row.accelerator, row.dtype) == (chip, dtype)]
    assert rates and all(rate == pytest.approx(sparse / 2, rel=0.002) for rate in rates)
    assert presets.hardware(f"{chip}:{dtype}").givens["peak_flops"] in rates


def test_bf16_rates_of_all_hardware_lie_where_dense_ones_do():
    """At most 350 FLOP for a byte of bandwidth, where sparse ones of HBM chips have 400 and more; some are built otherwise.

    Cards have a slower memory than modules of their generation (GDDR6 in L4, L40S and RTX 6000 Ada), Trillium and Gaudi 3 little bandwidth.
    """
    bandwidth = {chip: value for (chip, _), value in preferred("hbm_bandwidth").items()}
    ridges = {chip: rate / bandwidth[chip] for (chip, dtype), rate in preferred("peak_flops").items() if dtype == "bf16"}
    assert {chip for chip, ridge in ridges.items() if ridge > 350} == {"TPU-v6e", "Gaudi3", "H100-PCIe", "L4", "L40S", "RTX-6000-Ada"}


@in_one_test("unknown", ["step_time", "kv_time", "memory_time"])
@in_one_test("given", [{}, {"overlap": "sum"}, {"overlap": "kv_plus_max"}])
def test_what_does_not_fit_is_refused_and_answered_anyway_with_a_warning(unknown, given):
    """Others answer it silently with 34.4 ms, or with a warning that a program does not see."""
    solution = solve(unknown, **DOES_NOT_FIT, variants=given)
    assert solution.answers == () and solution.reason.code == "does_not_fit"
    assert "188.3 GB short" in solution.reason.message and "batch at most 185," in solution.reason.message
    anyway = solve(unknown, **DOES_NOT_FIT, variants=given, anyway=True)
    assert anyway.reason is None and any("188.3 GB short" in line for line in anyway.warnings)


def test_a_cache_given_as_a_number_is_refused_too():
    """Beside a size of elements that nothing needs: the refusal must not look for the configuration."""
    given = {"total_params": 70e9, "active_params": 70e9, "kv_bytes_per_token": 327_680, **NODE}
    assert solve("step_time", hardware="H100-SXM:bf16", **given).reason.code == "does_not_fit"


@in_one_test("row", [row for row in rows_of(Architecture) if row.kv_formula], ids=lambda row: row.model)
def test_a_name_is_its_own_model(row):
    """llama-3.1-70b must not be llama-2-70b: what a name gives is from the row of that name, whichever way it is written."""
    for spelled in (row.model, row.model.lower(), row.hf_id, row.hf_id.lower(), *row.aliases):
        origins = presets.model(spelled).provenance.values()
        assert origins and all(origin.startswith(f"architectures.csv {row.model} ") for origin in origins), spelled


@pytest.mark.parametrize(
    ("chip", "right", "wrong"),
    [
        pytest.param("GB200-NVL72", 8.0e12, 13.4e12, id="GB200"),  # one GPU of the pair
        pytest.param("H100-SXM", 3.35e12, 3.072e12, id="H100"),
    ],
)
def test_memory_bandwidths_that_were_wrong_elsewhere(chip, right, wrong):
    assert preferred("hbm_bandwidth")[chip, ""] == presets.hardware(f"{chip}:fp8").givens["hbm_bandwidth"] == right != wrong
    rivals = [row.value for row in rows_of(AcceleratorFigure) if (row.accelerator, row.quantity) == (chip, "hbm_bandwidth")]
    assert wrong not in rivals
