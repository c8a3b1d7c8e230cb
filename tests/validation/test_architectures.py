"""KV bytes of published models from their configurations, by the equation of each model's attention.

The configuration (layers, heads, widths) and the count of values stored for a token are two independent columns of
architectures.csv: the first from the model's published configuration, the second counted by hand.
"""

import pytest

from derive import presets
from derive.catalogue import by_id
from derive.chain import solve
from derive.presets import KV_INPUTS
from derive.solving import solve_equation

TABLE = presets.table("architectures")
GRADES = ("verified", "secondary")
COVERED = [pytest.param(row, id=row["model"]) for row in TABLE if row["kv_formula"] and row["verification"] in GRADES]
EQUATIONS = {row.variant[1]: row for row in by_id().values() if row.defines == "kv_bytes_per_token"}
BYTES = {"bf16": 2, "fp8": 1}

PUBLISHED = [
    # model, data type, bytes, where from
    ("Llama-3-70B", "bf16", 327_680, "2 x 80 layers x 8 heads x 128 x 2 bytes, its configuration"),
    ("Llama-3-70B", "fp8", 163_840, "half of it"),
    ("DeepSeek-V3", "bf16", 70_272, "61 layers x (512 + 64) x 2 bytes, its report and the scaling book, section 16"),
    ("DeepSeek-V3", "fp8", 35_136, "half of it"),
    ("Llama-3.1-405B", "bf16", 516_096, "2 x 126 layers x 8 heads x 128 x 2 bytes, its report"),
]


def test_every_formula_of_the_table_is_covered_and_every_grade_counted():
    assert len(COVERED) >= 30
    assert set(EQUATIONS) == set(KV_INPUTS) == {row.values[0]["kv_formula"] for row in COVERED}
    for formula, row in EQUATIONS.items():
        assert set(KV_INPUTS[formula]) == set(row.symbols) - {"kv_bytes_per_token", "bytes_per_element"}


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("row", COVERED)
def test_kv_bytes_follow_from_the_configuration(row, dtype):
    formula = EQUATIONS[row["kv_formula"]]
    given = {name: float(row[name]) for name in KV_INPUTS[row["kv_formula"]]} | {"bytes_per_element": BYTES[dtype]}
    (answer,), _ = solve_equation(formula, "kv_bytes_per_token", given)
    assert answer.value == int(row["kv_values_stored_per_token"]) * BYTES[dtype]


@pytest.mark.parametrize("row", COVERED)
def test_the_preset_takes_the_same_way(row):
    solution = solve("kv_bytes_per_token", model=row["model"], bytes_per_element=2)
    assert solution.answers[0].value == 2 * int(row["kv_values_stored_per_token"])
    assert solution.equations == (EQUATIONS[row["kv_formula"]].reference,)


@pytest.mark.parametrize("row", COVERED)
def test_a_covered_model_reads_what_it_stores(row):
    """The equations speak of stored bytes; a model that reads less than it stores is not theirs to cover."""
    assert row["kv_values_stored_per_token"] == row["kv_values_read_per_context_token"]


@pytest.mark.parametrize(("model", "dtype", "expected", "source"), PUBLISHED)
def test_published_figures(model, dtype, expected, source):
    assert solve("kv_bytes_per_token", model=model, bytes_per_element=BYTES[dtype]).answers[0].value == expected, source


def test_what_other_tools_got_wrong_is_not_in_the_formulas():
    """Query heads for KV heads, every layer of a hybrid, a latent without its rotary key."""
    assert not any("query_heads" in row.symbols for row in EQUATIONS.values())
    for formula in ("hybrid", "mla_hybrid"):
        assert "layers" not in EQUATIONS[formula].symbols
    for formula in ("mla", "mla_hybrid"):
        assert "rope_dim" in EQUATIONS[formula].symbols and "kv_heads" not in EQUATIONS[formula].symbols
