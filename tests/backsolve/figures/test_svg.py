"""Charts as SVG of our own: well formed whatever a name holds, inside its frame, and each number where its axis has it."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from backsolve.figures.axes import axis_ends
from backsolve.figures.svg import SMALL, chart_record, chart_svg
from derive.show.chart import Axis, Chart, Mark, chart_in_words
from tests.backsolve.figures.test_picture import PLANE, ROWS

HOSTILE = "</text><script>alert(1)</script> & \"quotes\" 'single'"
NAMES = re.compile(r"\{.*?\}")


def parts(svg: str, tag: str) -> list[ElementTree.Element]:
    return [one for one in ElementTree.fromstring(svg).iter() if NAMES.sub("", one.tag) == tag]


def corners(svg: str) -> list[tuple[float, float]]:
    drawn = [*parts(svg, "polyline"), *parts(svg, "polygon")]
    found = [tuple(map(float, point.split(","))) for one in drawn for point in one.attrib["points"].split()]
    return [*((x, y) for x, y in found), *dots(svg)]


def dots(svg: str) -> list[tuple[float, float]]:
    """The middles of all points, in the order in which they are drawn."""
    return [(float(x), float(y)) for one in parts(svg, "path") for x, y in re.findall(r"M(\S+) (\S+?)h0", one.attrib["d"])]


def spans_of_texts(svg: str) -> list[tuple[float, float]]:
    """From where to where the texts go that lie along a drawing."""
    parents = {child: parent for parent in ElementTree.fromstring(svg).iter() for child in parent}
    texts = [(one, one.attrib.get("text-anchor") or parents[one].attrib.get("text-anchor", "start")) for one in parents]
    found = []
    for one, anchor in texts:
        if NAMES.sub("", one.tag) == "text" and one.get("class") != "title" and "transform" not in one.attrib:
            wide = 0.55 * SMALL * len(one.text or "")
            start = float(one.attrib["x"]) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            found.append((start, start + wide))
    return found


@pytest.mark.parametrize(
    "chart", [ROWS, replace(ROWS, up=replace(ROWS.up, rows=("of many words " * 5,) * 3)), PLANE], ids=lambda chart: chart.title
)
def test_all_lies_inside_the_frame_and_is_said_in_words(chart: Chart):
    svg = chart_svg(chart)
    wide, high = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split()[2:])
    assert all(0 <= x <= wide and 0 <= y <= high for x, y in corners(svg))
    assert all(0 <= low <= high <= wide for low, high in spans_of_texts(svg))
    assert parts(svg, "desc")[0].text == chart_in_words(chart) and "<style" not in svg and " style=" not in svg


def test_whatever_a_name_holds_is_text():
    marks = tuple(replace(one, name=HOSTILE, beside=(HOSTILE,) * len(one.xs)) for one in ROWS.marks)
    up = replace(ROWS.up, rows=(HOSTILE,) * 3)
    rules = tuple(replace(one, name=HOSTILE) for one in ROWS.rules)
    svg = chart_svg(replace(ROWS, title=HOSTILE, said=(HOSTILE,), up=up, marks=marks, rules=rules, across=Axis(words=HOSTILE)))
    assert not parts(svg, "script") and "<script" not in svg and HOSTILE in [one.text for one in parts(svg, "text")]


def test_equal_ratios_are_equally_far_apart():
    """Of the points of the first row, 2 and 3 of one axis from 0.5 to 20."""
    svg = chart_svg(ROWS)
    first, second, third, other = (x for x, _ in dots(svg)[:4])
    assert first < other < third < second
    # 20 over 2 is ten times as much, 5 over 2 is two and a half times as much.
    assert (third - first) / (second - first) == pytest.approx(0.398, abs=0.001)


def test_a_range_without_an_end_reaches_the_edge_with_an_arrow():
    svg = chart_svg(ROWS)
    ranges = [one.attrib["d"].split("M")[1] for one in parts(svg, "path") if one.attrib["class"].startswith("range")]
    edges = [one.attrib["points"].split() for one in parts(svg, "polyline") if one.attrib["class"] == "axis"]
    left, right = (float(edges[0][place].split(",")[0]) for place in (0, 2))
    spans = [[float(place.split()[0]) for place in one.split("L")] for one in ranges]
    assert [left in span for span in spans] == [False, True, False] and [right in span for span in spans] == [False, False, True]


CLOUD = Mark(
    name="models",
    form="points",
    xs=(1.0, 1.02, 5.0, 9.0),
    ys=(1.0, 1.02, 5.0, 9.0),
    names=("Near one", "Near the other", "Far <b>", HOSTILE),
)
"""Two points beside each other, and two that have room around them, one for a name that is too long for it."""


def test_points_are_named_to_whoever_points_at_them_and_their_record_has_the_same_axes():
    chart = Chart(title="T", across=Axis(words="x", is_logarithmic=False), up=Axis(words="y", is_logarithmic=False), marks=(CLOUD,))
    svg = chart_svg(chart)
    told = [(one.text or "").partition(":")[0] for one in parts(svg, "title")[1:]]
    assert told[:3] == [*CLOUD.names[:3]] and not parts(svg, "b")
    record = chart_record(chart, {CLOUD.names[0]: "a.html"})
    assert json.loads(json.dumps(record, allow_nan=False))["marks"][0]["xs"] == [*CLOUD.xs]
    assert record["ends"]["across"] == axis_ends(chart, up=False) and record["links"] == {CLOUD.names[0]: "a.html"}
    assert all(name in chart_in_words(chart) for name in CLOUD.names)
