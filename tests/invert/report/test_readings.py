"""The readings of one sheet: each with its range and the record of its own estimator."""

from invert.report.readings import readings_table
from invert.result import InferenceTable
from tests.tools.inferred import current


def rows(name: str, run: InferenceTable | None = None) -> dict[str, list[str]]:
    table = run or current()
    return {row[""]: [*row.values()][1:] for row in readings_table(table[name], table).rows}


def test_a_closed_sheet_has_the_three_readings_and_the_better_estimates():
    found = rows("google/gemini-3.1-pro-preview")
    assert found["KV from threshold"] == ["1.7 kB", "at 100 B active", "126x low"]
    assert found["KV from premium"] == ["170 kB", "14 to 2000 kB", "7 of 9"]
    assert found["bandwidth-bound fraction"] == ["83 %", "74 to 89 %", "unknown"]
    assert found["cache tier, by price"] == ["HBM or DDR", "98 % likely", "2 of 2"]
    assert found["active parameters"] == ["63 B", "20 to 190 B", "7 of 7 closed"]
    assert found["price/cost"] == ["28x", "9.2 to 87x", "unknown"]
    assert found["typical KV"] == ["49 kB", "7.3 to 330 kB", "11 of 14"]


def test_a_tier_is_told_by_price_by_duration_and_as_it_is_stated():
    found = rows("anthropic/claude-opus-5")
    assert found["cache tier, by price"][0] == "HBM or DDR" and found["cache tier, by duration"] == ["5 min flash, 1 h disk", "-", "1 of 5"]
    assert found["cache tier, stated"] == ["HBM or DDR", "stated as memory", "-"]
    assert "cache tier, stated" not in rows("openai/gpt-5.4")
    assert rows("moonshotai/kimi-k3")["cache tier, by price"] == ["any", "cost optimality", "1 of 5"]
