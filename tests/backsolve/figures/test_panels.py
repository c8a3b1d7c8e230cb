"""Sweeps as pictures: the same answers make the same file, numbers are plain, nothing lies over anything else."""

import builtins
import re
from dataclasses import replace

import pytest

from backsolve.figures.picture import picture
from derive.errors import WrongValue
from derive.show.chart import Chart
from derive.show.plot import _line_chart
from tests.backsolve.figures.test_picture import drawn


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(WrongValue, match=r"pip install 'backsolve\[plot\]'. solve --plot - draws"):
        picture([_line_chart("batch", "step_time", [])], "svg")


def axes_of(chart: Chart, monkeypatch):
    """Return the axes that a chart is drawn in."""
    said = ("8xA, M", "chip_price = $2/h, output_price = $3/MTok")
    return drawn(replace(chart, said=said), monkeypatch)[0]


def test_money_is_in_dollars_a_million_tokens_and_ticks_are_plain(monkeypatch):
    chart = _line_chart("batch", "cost_per_token", [("", (1.0, 8.0, 64.0), (1e-5, 1.5e-6, 4e-7))])
    axes = axes_of(replace(chart, up=replace(chart.up, bound="lower")), monkeypatch)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("batch", "cost per token, at least [$/MTok]")
    assert axes.lines[0].get_ydata() == pytest.approx([10, 1.5, 0.4])
    texts = [one.get_text() for one in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert {"20", "50", "0.5"} <= {*texts} and not any("^" in text or "e-" in text for text in texts)
    assert axes.get_title(loc="left").splitlines()[1].replace("\N{NO-BREAK SPACE}", " ") == "chip_price = $2/h, output_price = $3/MTok"


def test_a_picture_says_in_words_what_it_shows_and_its_texts_are_texts():
    """As outlines of letters they cannot be found, copied or read aloud."""
    chart = _line_chart("batch", "step_time", [("A & B", (1.0, 2.0, 8.0), (0.002, 0.003, 0.004)), ("C", (), ())])
    made = picture([replace(chart, title="Step time", said=("8xA, M",))], "svg").decode()
    assert "Step time. 8xA, M. step time [ms] against batch. A &amp; B: at 1 2, at 8 4. C: no answer." in made
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", made)
    assert {"Step time", "8xA, M", "A &amp; B", "C", "batch"} <= {*texts}
