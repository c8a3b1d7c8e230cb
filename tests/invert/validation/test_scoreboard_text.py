"""The scoreboard as text: what verdicts mean, and what it comes to before the tables."""

import json

import pytest

from derive.tables import shipped
from invert.estimators.known import error_of_lecture
from invert.validation import scoreboard
from invert.validation.claim_rows import AGREES, AS_PUBLISHED, CLAIM_VERDICTS, PROBLEM_VERDICTS, UNDECIDED, Claim, WorkedProblem
from invert.validation.scoreboard_text import VERDICTS, legend, overview, rendered_sections
from tests.tools.data import shipped_data


@pytest.fixture(scope="module")
def found() -> dict[str, list[scoreboard.ScoreRow]]:
    """Rows as the sections have them; of figures, without what takes long: the numbers that are found."""
    figures = {
        record.TABLE: [{"id": row.id, "verdict": row.verdict, "tolerance": row.tolerance} for row in shipped.rows_of(record)]
        for record in (Claim, WorkedProblem)
    }
    return {**figures, "calibration": scoreboard.section_rows("calibration", shipped_data())}


@pytest.mark.parametrize("name", VERDICTS)
def test_every_verdict_of_a_table_has_its_meaning_in_the_legend(found: dict[str, list[scoreboard.ScoreRow]], name: str):
    resources = json.loads(shipped.read().content("datapackage.json"))["resources"]
    fields = next(one for one in resources if one["name"] == name)["schema"]["fields"]
    allowed = next(one for one in fields if one["name"] == "verdict")["constraints"]["enum"]
    assert [*VERDICTS[name]] == allowed and {row["verdict"] for row in found[name]} == {*allowed}
    said = legend(name, found[name])
    assert all(f"{verdict}: {meaning}" in said for verdict, meaning in VERDICTS[name].items()) and f"{name}.csv" in said
    assert {*CLAIM_VERDICTS} & {*PROBLEM_VERDICTS} == {"reproduced", "loose"}


@pytest.mark.parametrize("width", [80, 100])
def test_one_screen_has_every_estimator_with_what_it_was_judged_on(width: int):
    data = shipped_data()
    names = ("skill", "storage", "controls", "production", "calibration")
    rows = {name: scoreboard.section_rows(name, data) for name in names}
    lines = overview(rows, error_of_lecture(data), width).splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= width
    judged = [row for row in rows["calibration"] if row["run"] == scoreboard.MODELS_LEFT_OUT]
    assert len([line for line in lines if " families " in line and " of " in line]) == len(judged) >= 10
    (active,) = (line for line in lines if line.startswith("active params, MoE, list"))
    assert active.split()[4:] == ["42", "in", "21", "families", "38", "of", "42", "+0.25", "trusted"]
    assert any(line.startswith("KV from threshold") and "126x low" in line and "not trusted" in line for line in lines)
    assert any(line.startswith("cache tier by duration") and "1 of 5" in line for line in lines)


def test_figures_are_counted_by_their_verdicts(found: dict[str, list[scoreboard.ScoreRow]]):
    said = " ".join(overview({name: found[name] for name in VERDICTS}, None, 100).split())
    for name in VERDICTS:
        right = sum(row["verdict"] in (*AGREES, *AS_PUBLISHED) for row in found[name])
        wrong = sum(str(row["verdict"]).startswith("contradicted") for row in found[name])
        decided = sum(row["verdict"] != UNDECIDED for row in found[name])
        assert f"{right} of {decided} - {wrong} wrong" in said


def test_a_section_that_cannot_be_made_has_no_row():
    assert "families" not in overview({}, None, 80)


def test_estimates_of_experiments_have_the_words_of_other_tables_in_text_and_their_ids_for_programs():
    names = (
        "active_params, by price",
        "input_price_cost_ratio, by known size",
        "input_price_cost_ratio, by price",
        "memory_time_share",
        "typical KV",
    )
    rows = {"experiments": [{"estimate": name, "experiments": 1} for name in names]}
    text = rendered_sections(rows, "table")
    said = ("active params by price", "price/cost by known size", "price/cost by price", "memory time share", "typical KV")
    assert [line.split("  ")[0] for line in text.splitlines()[-len(said) :]] == [*said] and "_" not in text
    assert all(name in rendered_sections(rows, style) for name in names for style in ("json", "csv"))
