"""`infer(set=...)` takes the names of `--set` on the command line."""

from invert import infer


def test_set_and_changes_are_the_same_and_take_numbers():
    by_set, by_changes = infer(["gemini-3.1-pro"], set={"output": 8}), infer(["gemini-3.1-pro"], changes={"output": "8"})
    assert by_set.to_frame().equals(by_changes.to_frame())
    assert not by_set.to_frame().equals(infer(["gemini-3.1-pro"]).to_frame())
