"""Every claim with a number is a state of a page, which comes to what was found for the claim or has it as a given."""

import json
from urllib.parse import parse_qsl

import pytest

from backsolve.site.claim_states import addresses_of_claims, claim_states, states_of
from backsolve.site.formulas import quantities_data, start_values
from backsolve.site.lookups import claims, claims_found
from campaigns.solver_script import NODE, SCRIPT
from derive.answers import shown_end
from derive.catalogue import equation
from derive.solving.engine.one_equation import solve_equation
from derive.tables.questions import amount_in_si, stated_range
from derive.units import vocabulary
from tests.tools.line_by_line import answering


def test_every_claim_with_a_number_is_a_state_and_every_other_one_leads_to_its_row():
    rows, states = claims_found()[0], claim_states()
    assert {row["id"] for row in rows if row["found"] is not None} == {*states} and len(states) > 120
    assert "A13a" in {state.claim["id"] for state in states_of("batching.balance_batch")}
    others = [row for row in rows if row["id"] not in states]
    assert all(addresses_of_claims()[row["id"]].endswith(f"#{row['id']}") and row["reason"] for row in others)


@pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")
def test_a_state_comes_to_the_number_of_the_claim():
    with answering(SCRIPT.with_name("form_script.js"), json.dumps(vocabulary())) as read:
        for id, state in claim_states().items():
            row, claim, pairs = equation(state.equation), claims()[id], dict(parse_qsl(state.fragment))
            unknown, rows = pairs.pop("for", row.symbols[0]), quantities_data(row.symbols)
            given = start_values(row) | {name: read({"row": rows[name], "asked": text})["value"] for name, text in pairs.items()}
            if claim.unknown == unknown:
                (answer, *_), _ = solve_equation(row, unknown, {name: given[name] for name in row.symbols if name != unknown})
                assert shown_end(answer) == pytest.approx(amount_in_si(unknown, f"{state.claim['found']}", claim.unit), rel=1e-3), id
            elif "/" not in claim.unknown:
                assert given[claim.unknown] == stated_range(claim.unknown, claim.stated, claim.unit)[1], id


def test_the_page_of_the_balance_batch_opens_with_the_number_of_the_lecture():
    row = equation("batching.balance_batch")
    assert solve_equation(row, "balance_batch", start_values(row))[0][0].point == 2400
