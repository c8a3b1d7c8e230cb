"""Claims of the lecture and published problems: every verdict agrees with the value that equations and tables give."""

from collections.abc import Mapping
from functools import cache

import pytest

from derive.catalogue import equation
from derive.errors import NoSingleValue
from derive.solving.api import solve
from derive.tables.cells import read_date
from derive.tables.questions import read_givens, unknown_names
from derive.tables.shipped import read, rows_of
from invert.assumptions import USUAL
from invert.sheets.assemble import models, sheets
from invert.sheets.read import load
from invert.validation import scoreboard
from invert.validation.claim_rows import AGREES, CLAIM_VERDICTS, UNDECIDED, Claim, WorkedProblem
from invert.validation.claims import PRESETS, Facts, checked_rows, finding, not_borne, price_facts
from invert.validation.scoreboard_text import rendered_sections
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test, some

CLAIMS = rows_of(Claim)
BY_ID = {row.id: row for row in CLAIMS}


@in_one_test("claim", [pytest.param(row, id=row.id) for row in CLAIMS])
def test_a_claim_is_contradicted_by_rows_of_a_table(claim: Claim):
    assert claim.verdict in CLAIM_VERDICTS
    if claim.verdict == "contradicted by data":
        assert read_givens(claim.givens).rows, "which table?"
    elif claim.verdict != UNDECIDED:
        assert claim.equations or read_givens(claim.givens).rows


@in_one_test("claim", some([pytest.param(row, id=row.id) for row in CLAIMS if row.equations and "/" not in row.unknown], 3))
def test_every_equation_of_a_claim_is_used_and_no_given_is_what_is_asked(claim: Claim):
    given = read_givens(claim.givens)
    assert not {*unknown_names(claim.unknown)} & {*given.texts}
    presets = {source: name for source, name in given.rows.items() if source in PRESETS}
    if presets == given.rows:
        solution = solve(claim.unknown, using=claim.equations, given=given.texts, **presets)
        assert {one.split("@")[0] for one in solution.equations} >= set(claim.equations), solution.equations
    else:
        assert any({*unknown_names(claim.unknown)} & {*equation(id).symbols} for id in claim.equations)


def test_a_verdict_that_the_number_no_longer_bears_is_a_fault_of_its_row(monkeypatch: pytest.MonkeyPatch):
    kept, moved = BY_ID["A13a"], BY_ID["A13a"].changed(stated="3000", place=7)
    assert list(not_borne([kept], checked_rows([kept], {}, read()))) == []
    (fault,) = not_borne([moved], checked_rows([moved], {}, read()))
    assert str(fault).startswith("claims.csv row 7, column verdict: A13a is 'reproduced', and 2400 lies outside the tolerance of 3000")
    otherwise = [{"found": 1.0, "agrees": None if row.verdict == UNDECIDED else row.verdict not in AGREES} for row in CLAIMS]
    monkeypatch.setitem(scoreboard._SECTIONS, "claims", lambda _data: otherwise)
    _, problems = scoreboard.sections(("claims",))
    judged = [row.place for row in CLAIMS if row.verdict != UNDECIDED and not read_givens(row.givens).rows]
    assert [problem.row for problem in problems] == judged != []


def test_a_published_problem_stands_beside_its_answer_and_the_command_that_asks():
    rows = {row["id"]: row for row in scoreboard.section_rows("problems")}
    assert list(rows) == [row.id for row in rows_of(WorkedProblem)]
    assert (rows["llama-days"]["said"], rows["llama-days"]["found"], rows["llama-days"]["verdict"]) == ("44", 44.32, "reproduced")
    assert (rows["fit-int4"]["found"], rows["fit-int4"]["arithmetic"]) == (43.21, "(4*16e9 - 70e9*0.5)/(8192*2*80*8*128*0.5)")
    assert rows["gmi-a"]["command"] == "backsolve solve cost_per_token 'throughput=85 token/s' chips=1 'chip_price=2.00 USD/h'"
    text = " ".join(rendered_sections({"problems": list(rows.values())}, "table").split())
    assert "command: backsolve solve cost_per_token" in text and "source: GMI Cloud" in text


# The value of a row.


@cache
def prices() -> Mapping[str, Facts]:
    days = {read_date(named["sheet"].partition("@")[2]) for row in CLAIMS if "sheet" in (named := read_givens(row.givens).rows)}
    return price_facts([one for day in days for one in sheets(load(), day)], models(shipped_data()), USUAL)


@in_one_test("claim", [pytest.param(row, id=row.id) for row in CLAIMS])
def test_a_verdict_is_where_the_number_is(claim: Claim):
    """`reproduced` lies within the tolerance of its row, `loose` and `contradicted` outside; what no number decides has none."""
    found = finding(claim, prices(), read())
    if claim.verdict == UNDECIDED:
        assert found is None
    else:
        assert found and found.agrees is (claim.verdict in AGREES), (found.in_unit, claim.stated)


def test_a_claim_without_an_answer_is_refused_with_the_reason():
    with pytest.raises(NoSingleValue, match="A13a: balance_batch also needs"):
        finding(BY_ID["A13a"].changed(givens="machine_balance_ratio=300"), {}, read())
    with pytest.raises(NoSingleValue, match="none of its rows has sparsity"):
        finding(BY_ID["A12b"].changed(unknown="sparsity", equations=()), {}, read())
