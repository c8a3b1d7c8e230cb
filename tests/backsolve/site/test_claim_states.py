"""Every claim that an equation bears is a state of its page, which comes to what was found for the claim."""

import json
from urllib.parse import parse_qsl

import pytest

from backsolve.site.claim_states import claim_states, states_of, usual_values
from backsolve.site.formulas import quantities_data
from backsolve.site.lookups import claims_found
from campaigns.solver_script import NODE, SCRIPT
from derive.answers import shown_end
from derive.catalogue import equation
from derive.solving.engine.one_equation import solve_equation
from derive.units import vocabulary
from tests.tools.line_by_line import answering


def test_every_claim_that_is_solved_has_a_state():
    solved = {row["id"] for row in claims_found()[0] if row["command"].startswith("backsolve solve")}
    assert solved == {*claim_states()} and len(solved) > 80
    assert "A13a" in {state.claim["id"] for state in states_of("batching.balance_batch")}


@pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")
def test_a_state_comes_to_what_was_found_for_the_claim():
    with answering(SCRIPT.with_name("form_script.js"), json.dumps(vocabulary())) as read:
        for id, state in claim_states().items():
            row, pairs = equation(state.equation), dict(parse_qsl(state.fragment))
            unknown, rows = pairs.pop("for", row.symbols[0]), quantities_data(row.symbols)
            given = usual_values(row) | {name: read({"row": rows[name], "asked": text})["value"] for name, text in pairs.items()}
            (answer, *_), _ = solve_equation(row, unknown, {name: given[name] for name in row.symbols if name != unknown})
            assert shown_end(answer) == pytest.approx(state.value, rel=1e-6), id


def test_the_page_of_the_balance_batch_opens_with_the_number_of_the_lecture():
    row = equation("batching.balance_batch")
    assert solve_equation(row, "balance_batch", usual_values(row))[0][0].point == 2400
