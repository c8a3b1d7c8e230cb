"""The table of all sheets: the columns that fit, no cell cut, and below it what the numbers rest on and are worth."""

import re
from dataclasses import replace

import pytest

from invert.estimators.names import KV_NAMES
from invert.inference import infer
from invert.records import Estimate
from invert.report.columns import WIDE_KEYS, column_of, in_order, kv_range
from invert.report.table import count, footer, summary, worth
from invert.result import Inference
from invert.table import InferenceTable
from tests.tools.inferred import current
from tests.tools.together import in_one_test


def cells(one: Inference) -> dict[str, str]:
    """One sheet as the text of every column of the wide table."""
    return {column.heading: column.text(one) for column in map(column_of, WIDE_KEYS)}


def test_the_wide_table_has_all_columns_and_no_cell_is_cut():
    heading, rule, *rows = summary(current()).split("\n\n")[0].splitlines()
    assert re.split(r"\s{2,}", heading.strip()) == list(cells(current()[0]))
    assert len(rows) == len(current()) and set(rule) == {"─"} and "…" not in summary(current())


def test_prices_of_the_base_are_in_dollars_whatever_the_list_asks():
    (sheet,) = infer(["glm-4.7"])
    row, base = cells(sheet), sheet.sheet.bands[0]
    assert base.input.currency == "CNY" and float(row["output USD/MTok"]) == pytest.approx(base.output.usd_per_token * 1e6, rel=5e-3)
    assert float(row["input USD/MTok"]) == pytest.approx(base.input.usd_per_token * 1e6, rel=5e-3)


def test_region_and_service_tier_stand_with_the_model(run: InferenceTable):
    sheet = replace(run[0].sheet, region="eu", service_tier="batch")
    assert cells(replace(run[0], sheet=sheet))["model"] == f"{run[0].sheet.model} [eu] (batch)"


@in_one_test(
    ("estimate", "text"),
    [
        (Estimate(kind="interval", median=155e3, low=42.2e3, high=547e3), "155 kB (42.2 kB to 547 kB)"),
        (Estimate(kind="upper", median=None, low=None, high=312e3), "< 312 kB"),
        (Estimate(kind="given", median=70e3, low=70e3, high=70e3), "70 kB (given)"),
        (Estimate(kind="undetermined"), "undetermined"),
    ],
)
def test_an_estimate_in_a_cell(estimate: Estimate, text: str):
    assert kv_range(estimate) == text


def test_what_the_readings_are_worth_counts_ranges_that_hold_the_known_cache(run: InferenceTable):
    one = run["alibaba/qwen3-coder-plus"]
    low, high = (replace(one, known=replace(one.known, read=size)) for size in (1.0, 1e12))
    inside = replace(one, known=replace(one.known, read=one.kv_bytes["increment"].median))

    def said(*sheets: Inference) -> str:
        return worth(replace(run, inferences=sheets))

    heading = KV_NAMES["increment"].heading
    assert f"{heading} 1 of 1" in said(inside) and f"{heading} 0 of 2" in said(low, high)
    assert f"{heading} 1 of 3" in said(low, inside, high) and "on 3 sheets with two bands" in said(low, inside, high)
    assert said(run["anthropic/claude-opus-5"]) == (
        "Worth: no sheet here has both a long-context band and a public architecture to hold the readings against."
    )


def test_the_footer_names_day_changes_and_what_was_given(run: InferenceTable):
    assert count(run) == "5 sheets" and count(replace(run, inferences=run.inferences[:1])) == "1 sheet"
    assert footer(run)[0] == "5 sheets, prices of 2026-11-20."
    changed = footer(replace(run, changes={"output": "20"}))[0]
    assert changed.endswith("What if: output = 20, in place of the published amounts.")
    added = infer(["gemini-3.1-pro"], changes={"input@400k": "10", "output": "20"})
    assert "What if: output = 20, in place of the published amounts; input@400k = 10, where none is published." in footer(added)[0]
    assert "what if: input@400k = 10, where none is published" in str(added[0])
    given = " ".join(footer(infer(["gemini-3.1-pro"], anchors={"kv_bytes_per_token": "70kB", "active_params": "60B"})))
    assert "active_params 60B (given)" in given and "KV is given, 70 kB: that is the headline" in given


def test_a_size_that_somebody_states_stands_beside_the_one_by_price_or_in_its_place(run: InferenceTable):
    coder = run["alibaba/qwen3-coder-plus"]
    row = cells(coder)
    assert row["active known"] == "35B (assumed)" and row["active by price"].startswith("42B (")
    assert cells(run["google/gemini-3.1-pro-preview"])["active known"] == "-"
    assert "35B (assumed)" in summary(run) and row["active by price"] in summary(run)
    given = cells(infer(["gemini-3.1-pro"], anchors={"active_params": "60B"})[0])
    assert given["active known"] == "60B (given)" and given["active by price"] != given["active known"]


def test_the_record_of_sizes_is_of_a_sheet_that_has_one(run: InferenceTable):
    (beyond,) = infer(["gpt-6-astra"]).inferences
    within = run["google/gemini-3.1-pro-preview"]
    (alone,), (beside,) = (
        [line for line in footer(replace(run, inferences=of)) if line.startswith("Size: ")] for of in ((beyond,), (beyond, within))
    )
    assert alone.endswith("its cost at rent.") and "Of 42 open models in " in beside and beside.endswith("No closed one is among them.")


def test_one_record_of_the_headline_is_printed(run: InferenceTable):
    said = " ".join(footer(run))
    assert "such ranges held" in said and "Ranges here that hold the true cache: KV from all prices" in said
    assert ", read " not in worth(run)


def test_a_tier_by_price_is_a_range_over_cases_and_lifetimes(run: InferenceTable):
    (sold,) = run["google/gemini-3.1-pro-preview"].storage
    low, high = sold.undisclosed_ranges["hbm"]
    assert cells(run["google/gemini-3.1-pro-preview"])["tier by price"] == f"HBM {100 * low:.0f} to {high:.0%}"
    kimi = run["moonshotai/kimi-k3"]
    ends = [end for of in kimi.storage for end in of.undisclosed_ranges["flash"]]
    assert cells(kimi)["tier by price"] == f"flash {100 * min(ends):.0f} to {max(ends):.0%}" and len(ends) == 4
    assert cells(replace(kimi, storage=()))["tier by price"] == "-"


def test_sheets_of_one_tariff_are_said_to_be_counted_once(run: InferenceTable):
    (said,) = [line for line in footer(run) if line.startswith("Tier: ")]
    assert "with its least and its most by cost basis and year of hardware prices. For disclosed tiers, the likeliest" in said
    assert "one tariff" not in said, "of no vendor two sheets here"
    opus = run["anthropic/claude-opus-5"]
    twin = replace(opus, sheet=replace(opus.sheet, model="claude-opus-4-6"))
    (said,) = [line for line in footer(replace(run, inferences=(opus, twin))) if line.startswith("Tier: ")]
    assert said.endswith(" Sheets of one tariff are counted once: 2 of anthropic.")
    assert not [line for line in footer(replace(run, inferences=(replace(opus, storage=()),))) if line.startswith("Tier: ")]


def test_what_bounds_are_worth_is_said_of_all_that_ship(run: InferenceTable):
    """Of one sheet in the table as of many: it is one record."""
    known = [run["alibaba/qwen3-coder-plus"], run["deepseek/deepseek-v4-pro"]]
    of = known[1].kv_bytes["at_rent"].bounds
    factors = f"{of.median:.3g} times ({of.least:.3g} to {of.most:.3g}) it,"
    said, of_one = (worth(replace(run, inferences=tuple(sheets))) for sheets in (known, known[:1]))
    assert f"({KV_NAMES['at_rent'].heading}, on {of.count} such sheets of known cache: {factors}" in said
    assert f"held {of.held} of {of.count} in bf16, {of.held_at_one_byte} at one byte)" in said
    assert "such sheets" not in of_one


def test_rows_are_in_the_order_of_the_glance():
    for by in (None, "-provider", "KV"):
        rows = summary(current(), by).split("\n\n")[0].splitlines()[2:]
        assert [row.split()[0] for row in rows] == [one.sheet.provider for one in in_order(current(), by)]
