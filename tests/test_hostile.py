"""Inputs nobody would type, a few of each kind; thousands of them in `.ci/long`."""

import time
import warnings
from random import Random

import pytest

from campaigns import hostile
from campaigns.hostile import KINDS, campaign, ended
from derive.errors import WrongValue

COUNTS = {"units": 400, "arguments": 300, "prices": 60, "names": 60, "written": 40, "databases": 8}


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_would_type_is_read_or_refused(kind: str):
    found = campaign((kind,), COUNTS[kind], seed=11)
    assert found.total() == COUNTS[kind] and found[f"{kind} wrong"] == 0
    assert found[f"{kind} refused"] + found[f"{kind} named"] > 0 and found[f"{kind} read"] + found[f"{kind} written"] > 0


def warned(_random: Random) -> str:
    warnings.warn("a warning", RuntimeWarning, stacklevel=1)
    return "read"


def hanging(_random: Random) -> str:
    time.sleep(60)
    return "read"


def slow(_random: Random) -> str:
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    return "read"


def moving(_random: Random) -> str:
    raise WrongValue("this \x1b[2J clears the screen")


def crashing(random: Random) -> str:
    return {}[random.random()]


@pytest.mark.parametrize(
    ("tried", "end"),
    [(warned, "RuntimeWarning"), (hanging, "TimeoutError"), (slow, "slow, "), (moving, "does not print"), (crashing, "KeyError")],
)
def test_whatever_else_comes_of_an_input_is_wrong(monkeypatch, tried, end: str):
    monkeypatch.setattr(hostile, "SLOW", 0.04)
    monkeypatch.setattr(hostile, "HANGS", 0.1 if tried is hanging else 60)
    monkeypatch.setitem(KINDS, "tried", (tried, 1))
    told = ended("tried", 1, 0)
    assert told.startswith("wrong: ") and end in told
    assert campaign(("tried",), 1, 1) == {"tried wrong": 1}


def test_an_input_is_the_same_again():
    numbers = range(20)
    assert [ended("prices", 5, number) for number in numbers] == [ended("prices", 5, number) for number in numbers]
