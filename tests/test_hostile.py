"""Inputs nobody would type, a few of each kind; thousands of them in `.ci/long`."""

from random import Random

import pytest

from campaigns.hostile import KINDS, campaign, ended
from derive.errors import WrongValue

COUNTS = {"units": 200, "arguments": 100, "prices": 40, "names": 40, "written": 20, "databases": 8}


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_would_type_is_read_or_refused(kind: str):
    found = campaign((kind,), COUNTS[kind], seed=11)
    assert found.total() == COUNTS[kind] and found[f"{kind} wrong"] == 0
    assert found[f"{kind} refused"] + found[f"{kind} named"] > 0 and found[f"{kind} read"] + found[f"{kind} written"] > 0


def moving(_random: Random) -> str:
    raise WrongValue("this \x1b[2J clears the screen")


def crashing(random: Random) -> str:
    return {}[random.random()]


@pytest.mark.parametrize(
    ("tried", "end"),
    [(moving, "does not print"), (crashing, "KeyError")],
)
def test_whatever_else_comes_of_an_input_is_wrong(monkeypatch, tried, end: str):
    monkeypatch.setitem(KINDS, "tried", (tried, 1))
    told = ended("tried", 1, 0)
    assert told.startswith("wrong: ") and end in told
    assert campaign(("tried",), 1, 1) == {"tried wrong": 1}
