"""What a run hands back, as plain records: names, what follows from the fields when it is asked for, and travel."""

from invert.inference import infer
from invert.result import Inference, Run
from tests.tools.inferred import current


def test_a_sheet_is_named_as_its_rows_are():
    assert all(one.name == f"{one.sheet.provider}/{one.sheet.model}" for one in current())
    assert isinstance(current(), Run) and all(isinstance(one, Inference) for one in current())
    assert len(current()) == len(list(current())) == len(current().inferences)


def test_what_was_given_is_told_from_what_is_assumed():
    assert current().given == {}
    table = infer(["gemini-3.1-pro", "kimi-k3"], anchors={"overlap": 0, "active_params": "60B"})
    assert table.given == {"overlap": 0.0, "active_params": 60e9}
    assert set(table.given) < set(table.anchors.values)
