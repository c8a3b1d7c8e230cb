"""Charts as pictures: the same bytes each time, ranges with their ends, names inside the picture and off each other."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from backsolve.figures.picture import picture
from derive.show.chart import Axis, Chart, Mark, Rule, in_units

ROWS = Chart(
    title="Rows",
    said=("one", "two"),
    across=Axis(words="KV bytes [kB/token]"),
    up=Axis(words="", rows=("first of all things", "second", "third")),
    marks=(
        Mark(name="range", form="points", xs=(2.0, 20.0, 5.0), ys=(0.0, 1.0, 2.0), ends=((1.0, 4.0), (None, 20.0), (0.5, None))),
        Mark(name="other", form="points", xs=(3.0,), ys=(0.0,)),
        Mark(name="class", form="area", xs=(3.0, 3.0), ys=(-0.5, 2.5), ends=((1.5, 6.0), (1.5, 6.0))),
        Mark(name="moved", form="bars", xs=(2.0,), ys=(2.0,), ends=((1.0, 2.0),)),
    ),
    rules=(Rule(name="by its architecture", at=10.0),),
)
PLANE = Chart(
    title="Plane",
    across=Axis(words="hold time", ticks=((1.0, "1 s"), (60.0, "1 min"), (1e9, "never"))),
    up=Axis(words="cost [$/MTok]", is_logarithmic=False),
    marks=(
        Mark(name="line", form="line", xs=(1.0, 100.0), ys=(1.0, 5.0), dashed=True),
        Mark(name="sheet", form="points", xs=(1.0, 90.0), ys=(2.0, 3.0), ends=((1.0, 4.0), (2.0, 5.0)), beside=("left", "right")),
    ),
    rules=(Rule(name="input price", at=4.5, up=True),),
)


def drawn(chart: Chart, monkeypatch):
    """The one pair of axes that a chart is drawn in, and its figure."""
    made = []
    saved = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda figure, *rest, **more: (made.append(figure), saved(figure, *rest, **more)))
    assert picture([chart], "png")
    made[0].canvas.draw()
    return made[0].axes[0], made[0]


@pytest.mark.parametrize(("form", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_same_chart_is_the_same_picture(form: str, begins: bytes):
    made = picture([ROWS], form)
    assert made.startswith(begins) and made == picture([ROWS], form) != picture([replace(ROWS, title="Other")], form)


def test_rows_are_named_from_the_top_and_marks_of_one_row_lie_apart(monkeypatch):
    axes, _ = drawn(ROWS, monkeypatch)
    assert [one.get_text() for one in axes.get_yticklabels()] == ["first of all things", "second", "third"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1] and axes.get_xlabel() == "KV bytes [kB/token]"
    places = {(line.get_marker(), line.get_ydata()[0]) for line in axes.lines if line.get_marker() in ("o", "s")}
    assert len({y for _, y in places}) == len(places) == 2


def test_an_end_that_is_not_known_goes_to_the_edge(monkeypatch):
    axes, _ = drawn(ROWS, monkeypatch)
    (drawn_ranges,) = (one for one in axes.collections if list(one.get_linewidth()) == [2.2])
    least, most = axes.get_xlim()
    assert [tuple(segment[:, 0]) for segment in drawn_ranges.get_segments()] == [(1.0, 4.0), (least, 20.0), (0.5, most)]


def test_ticks_in_words_are_those_within(monkeypatch):
    axes, _ = drawn(PLANE, monkeypatch)
    assert [one.get_text() for one in axes.get_xticklabels()] == ["1 s", "1 min"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")


@pytest.mark.parametrize("chart", [ROWS, PLANE], ids=lambda chart: chart.title)
def test_all_that_is_written_lies_inside_the_picture(chart: Chart, monkeypatch):
    axes, figure = drawn(chart, monkeypatch)
    page = figure.bbox
    named = axes.get_yticklabels() if chart.up.rows else []
    texts = [*axes.texts, *named, axes.xaxis.label, axes.yaxis.label, figure._suptitle]
    boxes = [one.get_window_extent() for one in texts if one.get_text()] + [axes.get_legend().get_window_extent()]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)


def test_values_are_divided_by_the_unit_of_their_axis():
    sizes = Mark(name="", form="points", xs=(1.0, 2.0), ys=(1e9, 4e11), ends=((None, 2e9), (1e11, None)))
    chart = in_units(Chart(title="", across=Axis(words="x"), up=Axis(quantity="active_params"), marks=(sizes,)))
    assert (chart.up.words, chart.up.is_logarithmic, chart.across.is_logarithmic) == ("active params [B]", True, False)
    assert (chart.marks[0].ys, chart.marks[0].ends) == ((1.0, 400.0), ((None, 2.0), (100.0, None))) and in_units(chart) == chart
