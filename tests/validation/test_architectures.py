"""KV bytes of published models, stored, read and fixed, from their configurations by the equations of their attention.

The configuration (layers, heads, widths, windows, states, selections) and the counts of values stored and read are
independent columns of architectures.csv: the first from the model's published configuration, the second counted by hand.
"""

import pytest

from derive.catalogue import variants_of
from derive.preset_record import KV_INPUTS
from derive.preset_rows import FIXED_PARTS, Architecture
from derive.presets import SELECTING
from derive.solving.api import solve
from derive.tables.shipped import is_known, rows_of
from tests.tools.together import in_one_test, some

TABLE = rows_of(Architecture)
GRADES = ("verified", "secondary")
COVERED = [pytest.param(row, id=row.model) for row in TABLE if row.kv_formula and row.verification in GRADES]
BYTES = {"bf16": 2, "fp8": 1}
LONG = 1e6
"""A context that fills all windows and selections."""
COUNTS = {
    "kv_bytes_per_token": "kv_values_stored_per_token",
    "kv_read_bytes_per_token": "kv_values_read_per_context_token",
    "fixed_kv_bytes_per_sequence": "fixed_values_per_sequence",
}
CONFIGURATION = {name for formula in KV_INPUTS.values() for name in formula} | {name for part in FIXED_PARTS.values() for name in part}


def alike(width):
    """One data type for all that is cached, so that bytes are values times its width."""
    return dict.fromkeys(("bytes_per_element", "indexer_bytes_per_element", "state_bytes_per_element"), width)


EQUATIONS = variants_of("kv_bytes_per_token")

PUBLISHED = [
    # model, data type, bytes, where from
    ("Llama-3-70B", "bf16", 327_680, "2 x 80 layers x 8 heads x 128 x 2 bytes, its configuration"),
    ("Llama-3-70B", "fp8", 163_840, "half of it"),
    ("DeepSeek-V3", "bf16", 70_272, "61 layers x (512 + 64) x 2 bytes, its report and the scaling book, section 16"),
    ("DeepSeek-V3", "fp8", 35_136, "half of it"),
    ("Llama-3.1-405B", "bf16", 516_096, "2 x 126 layers x 8 heads x 128 x 2 bytes, its report"),
]


def test_no_verified_row_is_left_out():
    graded = [row for row in TABLE if row.verification in GRADES]
    assert [row.model for row in graded if not row.kv_formula] == []
    assert [row.model for row in graded if not all(is_known(row, count) for count in COUNTS.values())] == []
    assert len(COVERED) == len(graded) >= 50


def test_every_formula_of_the_table_is_covered():
    assert set(EQUATIONS) == set(KV_INPUTS) == {row.values[0].kv_formula for row in COVERED}
    for formula, row in EQUATIONS.items():
        assert set(KV_INPUTS[formula]) <= {*row.symbols, "layers", "head_dim"}
    assert set(variants_of("selected_entry_width")) == set(SELECTING)


@in_one_test(("quantity", "count"), COUNTS.items())
@in_one_test("row", COVERED)
def test_stored_read_and_fixed_follow_from_the_configuration_alone(row, quantity, count):
    """Cells of the configuration and a byte an element are all that is given; what the model has no layers for is zero."""
    given = {name: float(getattr(row, name)) for name in CONFIGURATION if is_known(row, name)}
    given |= alike(BYTES["fp8"]) | {"context_length": LONG}
    formula = row.kv_formula
    names = {"selected_entry_width": formula} if formula in SELECTING else {}
    solution = solve(quantity, variants={"kv_bytes_per_token": formula, **names}, **given)
    (answer,) = solution.answers
    assert answer.value == getattr(row, count) * BYTES["fp8"]


@in_one_test(("quantity", "count"), COUNTS.items())
@in_one_test("row", some(COVERED, 4))
def test_the_preset_takes_the_same_way(row, quantity, count):
    solution = solve(quantity, model=row.model, **alike(2), context_length=LONG)
    assert solution.answers[0].value == 2 * getattr(row, count)
    if quantity == "kv_bytes_per_token":
        assert solution.equations == (EQUATIONS[row.kv_formula].reference,)


@in_one_test("row", COVERED)
def test_a_model_that_reads_less_than_it_stores_is_one_that_selects(row):
    stored, read = (getattr(row, COUNTS[name]) for name in ("kv_bytes_per_token", "kv_read_bytes_per_token"))
    assert read <= stored
    assert (read < stored) == (row.kv_formula in SELECTING)


@in_one_test("row", COVERED)
def test_layers_of_all_kinds_add_up(row):
    """Full, windowed and linear layers are all the layers; a compressed cache has a window beside its entries in each."""
    full, windowed, linear = (getattr(row, name) or 0 for name in ("kv_layers", "window_layers", "linear_layers"))
    if row.kv_formula == "compressed":
        assert windowed == row.layers and linear == 0
        assert row.sparse_layers + row.heavily_compressed_layers == full
    else:
        assert full + windowed + linear == row.layers


def test_a_sequence_stores_its_selection_once():
    """DeepSeek-V3.2 at 100 k tokens in fp8: what is selected is part of what grows; a step reads keys and the selection."""
    given = {"model": "DeepSeek-V3.2", **alike(1), "context_length": "100k"}
    assert solve("kv_bytes_per_sequence", **given).answers[0].value == 100_000 * 61 * (576 + 128)
    assert solve("kv_read_bytes_per_sequence", **given).answers[0].value == 100_000 * 61 * 128 + 61 * 2048 * 576


def test_a_sequence_stores_its_windows_and_states():
    """gpt-oss-120b and Qwen3-Next at 100 k tokens in bf16; a step reads them, and writes states back."""
    given = {**alike(2), "context_length": "100k"}
    windows = 2 * (100_000 * 18 * 2 * 8 * 64 + 18 * 128 * 2 * 8 * 64)
    states = 2 * (100_000 * 12 * 2 * 2 * 256 + 36 * 32 * 128 * 128)
    written = 2 * 36 * 32 * 128 * 128
    for model, expected, more in (("gpt-oss-120b", windows, 0), ("Qwen3-Next-80B-A3B", states, written)):
        for quantity, moved in (("kv_bytes_per_sequence", expected), ("kv_read_bytes_per_sequence", expected + more)):
            assert solve(quantity, model=model, **given).answers[0].value == moved


def test_attention_flops_of_unequal_widths():
    """MiMo-V2-Flash: 64 query heads in 9 full layers, keys of 192 and values of 128."""
    assert solve("attention_flops_per_pair", model="MiMo-V2-Flash").answers[0].value == 2 * 9 * 64 * (192 + 128)


@in_one_test(("model", "dtype", "expected", "source"), PUBLISHED)
def test_published_figures(model, dtype, expected, source):
    assert solve("kv_bytes_per_token", model=model, bytes_per_element=BYTES[dtype]).answers[0].value == expected, source


def test_what_other_tools_got_wrong_is_not_in_the_formulas():
    """Query heads for KV heads, every layer of a hybrid, a latent without its rotary key."""
    assert not any("query_heads" in row.symbols for row in EQUATIONS.values())
    assert not any("layers" in row.symbols for row in EQUATIONS.values())
    for formula in ("mla", "mla_hybrid", "mla_indexed"):
        assert "rope_dim" in EQUATIONS[formula].symbols and "kv_heads" not in EQUATIONS[formula].symbols
