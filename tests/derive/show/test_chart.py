"""How far a chart reaches: over points, ranges and rules of its axes, and no end that is not known."""

from derive.show.chart import Axis, Chart, Mark, Rule, extent, known_range

UPRIGHT = Chart(
    title="",
    across=Axis(words="x"),
    up=Axis(words="y"),
    marks=(Mark(name="", form="area", xs=(1.0, 5.0), ys=(2.0, 3.0), ends=((0.5, 4.0), (2.0, 9.0))),),
    rules=(Rule(name="", at=20.0, up=True), Rule(name="", at=0.1)),
)


def test_ranges_are_up_unless_things_are():
    assert (extent(UPRIGHT, up=False), extent(UPRIGHT, up=True)) == ((0.1, 5.0), (0.5, 20.0))


def test_an_end_that_is_not_known_reaches_nowhere():
    assert known_range([None, 3.0, 0.0]) == (0.0, 3.0)
