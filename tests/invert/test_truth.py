"""The scoreboard, against the figures of the note on inversion (sections 2, 5.2, 8.1, 8.2, 12) and by the command line."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from derive.errors import UnknownName
from invert import truth
from invert.cli import SECTIONS, backsolve


def call(*arguments: str):
    return CliRunner().invoke(backsolve, ["validate", *arguments])


def test_the_bias_of_each_reading_on_known_models():
    """Table 8.1, at its own ridge of 300: increments -.81 and 1.15, one mark-up -3.45 and 1.50, attention +1.49 and .95."""
    bias, sd = truth.known_models(300.0)[-2:]
    assert (bias["increments at rental cost"], sd["increments at rental cost"]) == (-0.81, 1.15)
    assert (bias["one mark-up"], sd["one mark-up"]) == (-3.45, 1.50)
    assert (bias["attention from input increments"], sd["attention from input increments"]) == (1.49, 0.95)


def test_the_ridge_of_the_anchors_moves_one_mark_up_alone():
    """Twice the ridge, half the KV: ln 2 further down."""
    (at_300, *_), (at_600, *_) = (truth.known_models(ridge)[-2:] for ridge in (300.0, None))
    assert at_600["one mark-up"] == pytest.approx(at_300["one mark-up"] - 0.693, abs=0.011)
    assert at_600["increments at rental cost"] == at_300["increments at rental cost"]


def test_what_a_price_adds_to_the_class():
    """Table 8.2: 1.01 and -1.47, 1.26 and -1.80, .93 and -1.43 where the model alone is left out; with siblings it adds nothing."""
    alone = {row["belief"]: row for row in truth.skill() if row["left out"] == "the model alone"}
    assert [alone[name]["rms (nats)"] for name in ("reference class", "increment", "both")] == [1.01, 1.26, 0.93]
    assert [alone[name]["mean log density"] for name in ("reference class", "increment", "both")] == pytest.approx(
        [-1.47, -1.8, -1.43], abs=0.011
    )
    siblings = {row["belief"]: row["rms (nats)"] for row in truth.skill() if row["left out"] != "the model alone"}
    assert siblings["both"] > siblings["reference class"]


def test_the_nodes_of_a_disclosed_day():
    """Section 2: 95.5 and 131.4, 226.9 of 226.75 disclosed, within half a percent."""
    (row,) = truth.production()
    assert (row["for prefill"], row["for decode"], row["computed"], row["disclosed"]) == (95.5, 131.4, 226.9, 226.75)
    assert abs(row["computed"] / row["disclosed"] - 1) < 0.005


def test_one_storage_price_on_caches_that_differ_55_times():
    assert truth.controls()[0]["ratio"] == pytest.approx(55, abs=0.5)


def test_the_recorded_calibration_meets_the_demands():
    """Section 12.5: pooled over five seeds and 5,000 simulations or more; the negative control is rejected."""
    rows = truth.recorded_calibration()
    sound, broken = ([row for row in rows if (row["run"] == "calibrated") == good] for good in (True, False))
    assert len(sound) == len(broken) == 7
    for row in sound:
        assert int(row["simulations"]) >= 5000 and int(row["seeds"]) >= 5
        assert 0.885 <= float(row["coverage_90"]) <= 0.915 and 0.48 <= float(row["coverage_50"]) <= 0.52
        assert float(row["ks_p"]) > 0.01, row["quantity"]
    assert min(float(row["ks_p"]) for row in broken) < 0.01 and all(int(row["simulations"]) >= 5000 for row in broken)


def test_sections_are_those_of_the_command():
    assert tuple(truth.SECTIONS) == SECTIONS == tuple(truth.TITLES)
    with pytest.raises(UnknownName, match="skill"):
        truth.rows("skil")


@pytest.mark.parametrize("section", SECTIONS)
def test_the_command_prints_every_section_in_every_form(section: str):
    table, document, sheet = (call("--section", section, "--as", style).output for style in ("table", "json", "csv"))
    rows = json.loads(document)[section]
    assert rows and len(list(csv.reader(io.StringIO(sheet)))) == len(rows) + 1
    assert truth.TITLES[section].split() == table.split()[: len(truth.TITLES[section].split())]
    assert sum(line.startswith(tuple(str(next(iter(row.values()))) for row in rows)) for line in table.splitlines()) == len(rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--save", "x.csv"), "go with --rerun"),
        (("--workers", "2"), "go with --rerun"),
        (("--section", "truth", "--rerun"), "--section calibration"),
        (("--section", "truths"), "truth"),
    ],
)
def test_what_does_not_go_together_is_said(arguments: tuple[str, ...], said: str, capsys):
    from derive.cli import run

    with pytest.raises(SystemExit) as left:
        run(backsolve, ["validate", *arguments])
    assert left.value.code == 2 and said in capsys.readouterr().err
