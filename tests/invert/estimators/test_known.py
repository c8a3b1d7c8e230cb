"""The estimators on models whose cache is known."""

from invert.anchors import assumptions_of
from invert.assumptions import USUAL
from invert.estimators.cases import with_posteriors
from invert.estimators.known import judged
from tests.tools.data import shipped_data


def test_a_known_sheet_with_its_posterior_is_drawn_no_second_time(monkeypatch):
    known = judged(shipped_data())
    drawn, asked = with_posteriors([one.member.sold.case for one in known], shipped_data(), USUAL), []

    def counted(cases, data, assumptions):
        asked.append(len(cases))
        return with_posteriors(cases, data, assumptions)

    monkeypatch.setattr("invert.estimators.known.with_posteriors", counted)
    assert [one.kv_bytes for one in judged(shipped_data(), USUAL, drawn)] == [one.kv_bytes for one in known]
    # What was drawn with the size of one model says nothing of others.
    assert [one.kv_bytes for one in judged(shipped_data(), assumptions_of({"active_params": 60e9}), drawn)] == [
        one.kv_bytes for one in known
    ]
    assert asked == [0, len(known)]
