"""The scoreboard as text: what verdicts mean, and what it comes to before the tables."""

import json

import pytest

from derive import shipped
from derive.claim_cells import CLAIM_VERDICTS, PROBLEM_VERDICTS
from derive.price_rows import Claim, WorkedProblem
from invert import scoreboard
from invert.scoreboard_text import VERDICTS, legend, opening, rendered_sections
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
    fields = next(one for one in json.loads(shipped.content("datapackage.json"))["resources"] if one["name"] == name)["schema"]["fields"]
    allowed = next(one for one in fields if one["name"] == "verdict")["constraints"]["enum"]
    assert [*VERDICTS[name]] == allowed and {row["verdict"] for row in found[name]} == {*allowed}
    said = legend(name, found[name])
    assert all(f"{verdict}, {meaning}" in said for verdict, meaning in VERDICTS[name].items()) and f"in {name}.csv" in said
    assert {*CLAIM_VERDICTS} & {*PROBLEM_VERDICTS} == {"reproduced", "loose"}


@pytest.mark.parametrize("width", [80, 100])
def test_the_opening_counts_every_figure_names_what_is_not_reproduced_and_is_short(found: dict[str, list[scoreboard.ScoreRow]], width: int):
    said = opening(found, width)
    lines, words = said.splitlines(), " ".join(said.split())
    assert len(lines) <= 12 and max(map(len, lines)) <= width
    for name in ("claims", "problems"):
        kinds = {verdict: sum(row["verdict"] == verdict for row in found[name]) for verdict in VERDICTS[name]}
        assert sum(kinds.values()) == len(found[name]) and f"of {len(found[name])} figures" in words
        assert all(f"{number} {verdict}" in words for verdict, number in kinds.items())
    assert "Not reproduced: A6b, A6c" in words and "KV from all prices; KV from premium at cost" in words


def test_nothing_is_opened_of_sections_that_count_nothing():
    assert opening({"claims": [], "production": scoreboard.section_rows("production", shipped_data())}, 80) == ""


def test_estimates_of_experiments_have_the_words_of_other_tables_in_text_and_their_ids_for_programs():
    names = ("active_params, by price", "input_markup, by known size", "input_markup, by price", "memory_time_share", "typical KV")
    rows = {"experiments": [{"estimate": name, "experiments": 1} for name in names]}
    text = rendered_sections(rows, "table")
    said = ("active by price", "price/cost by known size", "price/cost by price", "memory time share", "typical KV")
    assert [line.split("  ")[0] for line in text.splitlines()[-len(said) :]] == [*said] and "_" not in text
    assert all(name in rendered_sections(rows, style) for name in names for style in ("json", "csv"))
