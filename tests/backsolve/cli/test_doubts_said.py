"""Whoever uses prices that `prices check` doubts is told so in one line, and the exit status stays."""

from pathlib import Path

import pytest

from tests.tools.commands import call

PER_THOUSAND = "provider,model,component,amount\nacme,k,input,0.0025\nacme,k,output,0.01\n"
SOUND = "provider,model,component,amount\nacme,k,input,2.5\nacme,k,output,10\n"
ASKED = (
    ("infer", "acme/k", "--prices", "own.csv"),
    ("infer", "acme/k", "--prices", "own.csv", "--as", "csv"),
    ("infer", "--prices", "own.csv"),
    ("infer", "acme/k", "--prices", "own.csv", "--history"),
    ("infer", "acme/k", "--prices", "own.csv", "--suppose", "active_params=45B"),
    ("infer", "acme/k", "--prices", "sound.csv", "--against", "own.csv"),
    ("cite", "acme/k", "--prices", "own.csv"),
    ("prices", "list", "--prices", "own.csv"),
    ("plot", "size-price", "acme/k", "--prices", "own.csv", "--out", "figure.svg"),
)


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_a_doubtful_price_is_told(asked: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(PER_THOUSAND)
    Path("sound.csv").write_text(SOUND)
    said = call(*asked)
    assert said.status == 0 and said.out.count("doubtful") == 0
    (line,) = [line for line in said.err.splitlines() if "doubtful" in line]
    assert "2 doubtful prices" in line and "own.csv row 2, column amount" in line and line.endswith("backsolve prices check own.csv")


@pytest.mark.parametrize("form", [(), ("--history",), ("--suppose", "active_params=45B")])
def test_every_form_tells_the_notes_on_a_run(form: tuple[str, ...]):
    assert "taken from google/gemini-3.1-pro-preview" in call("infer", "gemini-3.1", *form).err


def test_of_sheets_that_are_not_asked_for_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(PER_THOUSAND)
    assert "doubtful" not in call("infer", "claude-opus-5-5", "--prices", "own.csv").err
    assert call("infer", "claude-opus-5-5").err == ""
    assert call("infer", "acme/k", "--prices", "-", stdin=PER_THOUSAND.encode()).err.endswith("backsolve prices check -\n")
