"""The estimators on models whose cache is known."""

from invert.anchors import assumptions_of
from invert.assumptions import USUAL
from invert.estimators.cases import with_posteriors
from invert.estimators.known import judged


def test_a_known_sheet_with_its_posterior_is_drawn_no_second_time(monkeypatch):
    known = judged()
    drawn, asked = with_posteriors([one.member.sold.case for one in known], USUAL), []

    def counted(cases, assumptions):
        asked.append(len(cases))
        return with_posteriors(cases, assumptions)

    monkeypatch.setattr("invert.estimators.known.with_posteriors", counted)
    assert [one.kv_bytes for one in judged(USUAL, drawn)] == [one.kv_bytes for one in known]
    # What was drawn with the size of one model says nothing of others.
    assert [one.kv_bytes for one in judged(assumptions_of({"active_params": 60e9}), drawn)] == [one.kv_bytes for one in known]
    assert asked == [0, len(known)]
