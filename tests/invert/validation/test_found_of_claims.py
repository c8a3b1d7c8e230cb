"""What equations and tables make of a claim: a number where its verdict puts it, or why there is none."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from derive.errors import NoSingleValue, UnknownName
from derive.tables.cells import read_date
from derive.tables.questions import read_givens
from derive.tables.shipped import read, rows_of
from invert.assumptions import USUAL
from invert.sheets.assemble import models, sheets
from invert.sheets.read import load
from invert.validation.claim_rows import AGREES, UNDECIDED, Claim, WorkedProblem
from invert.validation.claims import price_facts
from invert.validation.found_of_claims import Facts, finding, finding_of_problem
from tests.tools.data import shipped_data
from tests.tools.tables import reading
from tests.tools.together import in_one_test

CLAIMS = rows_of(Claim)
BY_ID = {row.id: row for row in CLAIMS}


@cache
def prices() -> Mapping[str, Facts]:
    days = {read_date(named["sheet"].partition("@")[2]) for row in CLAIMS if "sheet" in (named := read_givens(row.givens).rows)}
    return price_facts([one for day in days for one in sheets(load(), day)[0]], models(shipped_data()), USUAL)


@in_one_test("claim", [pytest.param(row, id=row.id) for row in CLAIMS])
def test_a_verdict_is_where_the_number_is(claim: Claim):
    """`reproduced` lies within the tolerance of its row, `loose` and `contradicted` outside; what no number decides has none."""
    found = finding(claim, prices(), read())
    if claim.verdict == UNDECIDED:
        assert found is None
    else:
        assert found and found.agrees is (claim.verdict in AGREES), (found.in_unit, claim.stated)


def test_an_edit_of_a_table_moves_what_is_found_and_not_what_is_said():
    hardware = (
        read().content("hardware.csv").decode().replace("H100-SXM,hbm_bandwidth,,3350000000000,", "H100-SXM,hbm_bandwidth,,6700000000000,")
    )
    claim = BY_ID["A12b"]
    with reading(read().edited(hardware=hardware)):
        found = finding(claim, prices(), read())
    before = finding(claim, prices(), read())
    assert found and before and found.found == pytest.approx(before.found / 2) and before.agrees and not found.agrees


def test_a_claim_without_an_answer_is_refused_with_the_reason():
    with pytest.raises(NoSingleValue, match="A13a: balance_batch also needs"):
        finding(replace(BY_ID["A13a"], givens="machine_balance_ratio=300"), {}, read())
    with pytest.raises(NoSingleValue, match="none of its rows has sparsity"):
        finding(replace(BY_ID["A12b"], unknown="sparsity", equations=()), {}, read())


def test_a_quotient_is_of_two_quantities_of_one_question():
    ratio = replace(BY_ID["B3a"], unknown="scale_up_link_bandwidth/scale_out_link_bandwidth", equations=())
    found = finding(ratio, prices(), read())
    assert found and found.found == found.in_unit == 9.0 and found.rests_on == ("hardware.csv",)


def test_a_row_that_no_table_has_is_named():
    with pytest.raises(UnknownName, match="price list"):
        finding(BY_ID["E2b"], {}, read())
    with pytest.raises(UnknownName, match="device"):
        finding(replace(BY_ID["E15a"], givens="device=H1000-SXM"), {}, read())


def test_a_problem_without_an_answer_is_refused_with_its_name():
    whole = next(row for row in rows_of(WorkedProblem) if row.id == "gmi-a")
    with pytest.raises(NoSingleValue, match="problem gmi-a: "):
        finding_of_problem(replace(whole, givens="chips=1;chip_price=2 USD/h"))
