"""Inputs nobody would type, a few of each kind; thousands of them in `.ci/long`."""

import pytest

from campaigns.hostile import KINDS, campaign

COUNTS = {"units": 200, "arguments": 100, "prices": 40, "names": 40, "written": 20, "databases": 8}


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_would_type_is_read_or_refused(kind: str):
    found = campaign((kind,), COUNTS[kind], seed=11)
    assert found.total() == COUNTS[kind] and found[f"{kind} wrong"] == 0
    assert found[f"{kind} refused"] + found[f"{kind} named"] > 0 and found[f"{kind} read"] + found[f"{kind} written"] > 0
