"""The blackboard: its curves are those of the equations, its numbers those of the claims, and the script draws what Python computes."""

import hashlib
import re

import pytest

from backsolve.figures.board import chart_of, followed, ladder, pictures, points_of, sold_lifetimes
from backsolve.site.blackboard import LECTURE, NEUTRAL, blackboard_data, presets, shown_pictures
from backsolve.site.presets import SUSTAINED
from backsolve.site.writing import HERE, script_json
from campaigns.solver_script import NODE, SCRIPT
from derive import solve
from tests.tools.line_by_line import answering


def test_what_follows_from_the_sliders_is_what_the_equations_give():
    given = presets()["lecture"]
    values = followed(NEUTRAL | presets()[LECTURE])
    for name in ("step_time", "balance_batch", "balance_context"):
        assert values[name] == pytest.approx(solve(name, given={**given, "total_params": values["total_params"]}).value, rel=1e-12)
    assert (values["balance_batch"], round(values["balance_context"])) == (2400.0, 199960)


def test_the_pictures_have_the_shapes_of_the_lecture():
    state = NEUTRAL | presets()[LECTURE]
    found = {one.key: {line.words: points_of(one, line, state) for line in one.lines} for one in pictures()}
    compute, weights, step = (dict(found["time"][name]) for name in ("compute", "weights", "step: the longer"))
    assert compute[5000.0] > weights[5000.0] and compute[1250.0] < weights[1250.0] < step[1250.0]
    assert dict(found["cost"]["cost"])[10000.0] == 1 and dict(found["cost"]["weights: 1 / batch"])[1250.0] == pytest.approx(2400 / 1250)
    price = dict(found["context"]["price asked"])
    assert (
        {*price.values()} == {1.0, 1.5}
        and max(at for at, asked in price.items() if asked == 1.0) <= 200e3
        and len(found["pipeline"]["KV cache"]) == 20
    )
    assert len({round(memory) for _, memory in found["pipeline"]["KV cache"]}) == 1
    assert found["pipeline"]["weights"][3][1] == pytest.approx(found["pipeline"]["weights"][0][1] / 4)
    assert found["training"]["inference"][0][1] == pytest.approx(6 * 100e9 * 200e12)


def test_every_picture_has_its_curves_and_the_ladder_its_devices():
    assert all(chart_of(one, NEUTRAL | presets()[LECTURE]).marks for one in pictures()) and len(shown_pictures()) == 6
    devices, lecture = ladder().marks
    assert lecture.ends == ((0.02, 0.02), (1.0, 10.0), (60.0, 60.0), (3600.0, 3600.0)) and len(devices.xs) == len(devices.names) > 4
    assert {300.0, 3600.0} <= {*sold_lifetimes()}


@pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")
def test_the_script_draws_what_python_computes():
    with answering(SCRIPT.with_name("board_script.js"), script_json(blackboard_data())) as ask:
        for state in (
            NEUTRAL | presets()[LECTURE],
            NEUTRAL | presets()[LECTURE] | presets()["H100 + DeepSeek-V3"] | SUSTAINED | {"batch": 77.0},
        ):
            for one in pictures():
                drawn = ask({"picture": one.key, "given": state})
                for points, line in zip(drawn, one.lines, strict=True):
                    expected = points_of(one, line, state)
                    assert [y for _, y in points] == pytest.approx([y for _, y in expected], rel=1e-12)
                    assert [x for x, _ in points] == pytest.approx([x for x, _ in expected], rel=1e-12)


def test_libraries_of_others_are_those_that_were_read():
    vendor = HERE / "assets" / "vendor"
    hashed = re.findall(r"`(\w+\.\w+)` is[^`]*sha256: `([0-9a-f]{64})`", (vendor / "README.md").read_text(encoding="utf-8"))
    assert {name: hashlib.sha256((vendor / name).read_bytes()).hexdigest() for name, _ in hashed} == dict(hashed)
    assert {name for name, _ in hashed} == {file.name for file in vendor.iterdir()} - {"README.md"}
