"""Pictures of sweeps and rooflines: the points are those of the table, the front is what nothing beats, the caption says what stays."""

import pytest

from backsolve.cli.question import drawn_inputs
from derive.errors import WrongValue
from derive.show.plot import _HIGH, _WIDE, Roof, _line_chart, caption, draw_in_terminal, known_numbers, roof, roof_marks, sweep_charts
from derive.solving.api import solve
from derive.solving.question.conventions import USUAL_SWITCHES
from derive.solving.question.givens import list_spreads
from tests.tools.commands import call, refused
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000, "bytes_per_element": 1}
ARGUMENTS = ("--hardware", "H100-SXM:fp8", "--model", "Llama-3.1-70B", "chips=8", "context_length=8k", "bytes_per_element=1")


def swept(*unknowns: str, **more):
    return [solve(name, **SERVED, **more) for name in unknowns]


def test_a_line_has_the_points_of_the_sweep_that_have_an_answer():
    """The largest batch does not fit: 8 chips of 80 GB hold 434 caches."""
    (chart,) = sweep_charts([("", swept("step_time", batch=[1, 8, 64, 4096]))])
    (line,) = chart.marks
    assert (line.name, chart.across.quantity, chart.up.quantity, line.xs) == ("", "batch", "step_time", (1.0, 8.0, 64.0))
    assert line.ys == tuple(solve("step_time", **SERVED, batch=batch).value for batch in (1, 8, 64))


def test_every_other_swept_quantity_has_a_line_a_value():
    (chart,) = sweep_charts([("", swept("step_time", mbu=[0.5, 1.0], batch=[1, 8]))])
    assert [line.name for line in chart.marks] == ["mbu = 0.5", "mbu = 1"] and chart.across.quantity == "batch"
    (both,) = sweep_charts([("A", swept("step_time", batch=[1, 8])), ("B", swept("step_time", batch=[1, 8]))])
    assert [line.name for line in both.marks] == ["A", "B"]


def test_the_sweep_is_across_and_else_the_longest_list():
    across = {
        "batch": {"batch": "1..8:log:4", "context_length": "4k,8k"},
        "context_length": {"context_length": "1k,4k,8k", "batch": "1,8"},
        "mbu": {"mbu": "0.5..1", "batch": "1,8"},
    }
    spans = {name: list_spreads(texts, USUAL_SWITCHES) for name, texts in across.items()}
    assert {name: [*drawn_inputs(texts, spans[name], False)][-1] for name, texts in across.items()} == {name: name for name in across}
    assert [*drawn_inputs(across["context_length"], spans["context_length"], True)][-1] == "batch", "zipped they are one"


def test_two_questions_have_a_front_at_which_nothing_is_better_in_both():
    *_, front = sweep_charts([("", swept("step_time", "throughput", batch=[1, 8, 64]))])
    axes = (front.across.quantity, front.up.quantity)
    assert (*axes, len(front.marks[0].xs)) == ("step_time", "throughput", 3), "each larger batch is slower and makes more"
    alike = sweep_charts([("", swept("step_time", "kv_time", batch=[1, 8, 64]))])
    assert len(alike) == 2, "the smallest batch has the shortest of both: there is nothing to weigh"
    *_, some = sweep_charts([("", swept("throughput", "kv_time", batch=[64, 8, 1]))])
    assert [*some.marks[0].xs] == sorted(some.marks[0].xs)


def test_what_is_no_sweep_or_too_much_of_one_is_refused():
    with pytest.raises(WrongValue, match="needs a sweep"):
        sweep_charts([("", swept("step_time", batch=8))])
    with pytest.raises(WrongValue, match="at most 12 lines"):
        sweep_charts([("", swept("step_time", mbu=[0.5 + at / 100 for at in range(13)], batch=[1, 8]))])


def test_a_drawing_has_its_ends_at_the_edges():
    lines = [*draw_in_terminal([_line_chart("batch", "step_time", [("A", (1.0, 2.0, 4.0), (0.001, 0.002, 0.004))])])]
    assert lines[0] == "step_time over batch" and len(lines) == _HIGH + 4
    assert lines[1].startswith("4 ms |") and lines[1].endswith("*") and len(lines[1]) == len("4 ms |") + _WIDE
    assert lines[_HIGH] == "1 ms |*" and lines[-1].split() == ["*", "A"]
    empty = _line_chart("batch", "step_time", [("", (), ())])
    assert [*draw_in_terminal([empty])] == ["step_time over batch", "  no answer anywhere"]


def test_the_command_writes_a_file_or_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = call("solve", "step_time", *ARGUMENTS, "batch=1,8,64", "--plot", "step.svg")
    assert (said.status, said.err) == (0, "") and (tmp_path / "step.svg").read_bytes().startswith(b"<?xml")
    drawn = call("solve", "step_time", *ARGUMENTS, "batch=1,8,64", "--plot", "-").out
    assert drawn.index("\nCite  ") < drawn.index("\nstep_time over batch\n")
    assert "would be inside the json" in refused("solve", "step_time", *ARGUMENTS, "batch=1,8,64", "--plot", "-", "--as", "json")
    assert "ends in .svg or .png" in refused("solve", "step_time", *ARGUMENTS, "batch=1,8,64", "--plot", "step.pdf")
    assert call("solve", "step_time", "--hardware", "H100,H200:fp8", *ARGUMENTS[2:], "batch=1,8", "--plot", "both.png").status == 0
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")


def test_a_question_that_is_no_sweep_draws_the_roof_with_its_point(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = call("solve", "step_time", *ARGUMENTS, "batch=8", "--plot", "-").out
    assert "ridge at 590.7 FLOP/byte, 1.979 PFLOP/s" in drawn and drawn.splitlines()[-2].lstrip().startswith("+ step of ")
    for place, begins in (("roof.svg", b"<?xml"), ("roof.png", b"\x89PNG")):
        said = call("solve", "cost_per_token", *ARGUMENTS, "batch=8", "--price", "rent", "--plot", place)
        assert (said.status, said.err) == (0, "") and (tmp_path / place).read_bytes().startswith(begins)
    beside = call("solve", "step_time", "--hardware", "H100,B200:fp8", *ARGUMENTS[2:], "batch=8", "--plot", "-").out
    assert beside.index("* H100:fp8") < beside.index("o ridge") < beside.index("x B200:fp8") < beside.index("@ step of")
    back = call("solve", "chips", *(one for one in ARGUMENTS if one != "chips=8"), "batch=8", "step_time=20ms", "--plot", "-").out
    assert "+ step of 20 ms" in back


def test_the_caption_has_the_givens_that_stay_each_price_that_differs_and_the_points_without_an_answer():
    chips, givens, taken = caption([(names, swept("step_time", batch=[1, 8])) for names in (("8xA", "M"), ("8xB", "M"))])
    assert (chips, givens) == ("M", "chips = 8, context length = 8000 tokens, bytes per element = 1 B") and "mfu = 1" in taken
    one, other = (swept("cost_per_token", batch=[1, 8], chip_price=price)[0] for price in (1e-3, 2e-3))
    prices = caption([(("A", "M"), [one]), (("B", "M"), [other])])[2]
    assert prices == "chip price of A = $3.6/h, chip price of B = $7.2/h"
    *_, gaps = caption([(("A",), swept("step_time", "throughput", batch=[1, 8, 4096]))])
    assert "1 of 3 points" in gaps and "batch = 4096" in gaps


STEP = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000, "bytes_per_element": 2}


def under(unknown: str, **more) -> Roof:
    found = roof("H100", known_numbers(solve(unknown, **STEP | more)))
    assert found is not None
    return found


def test_a_step_that_memory_binds_lies_on_the_slope():
    """64 tokens of 140 GFLOP and 64 x 8000 x 2.62 MFLOP of attention, over 140 GB of weights and 64 x 2.62 GB of cache."""
    found = under("step_time", batch=64)
    flops, read = 64 * (2 * 70_553_706_496 + 8000 * 4 * 128 * 80 * 64), 2 * 70_553_706_496 + 64 * 8000 * 327680
    assert found.intensity == pytest.approx(flops / read)
    assert found.rate == pytest.approx(3.35e12 * flops / read) == pytest.approx(found.attainable(found.intensity))
    assert found.ridge == pytest.approx(989e12 / 3.35e12)


def test_a_step_that_arithmetic_binds_lies_on_the_flat():
    found = under("step_time", batch=2000, context_length=100)
    assert found.intensity > found.ridge and found.rate == pytest.approx(989e12)


@in_one_test("more", [{"mfu": 0.5}, {"mbu": 0.6}, {"mfu": 0.4, "mbu": 0.6}])
def test_a_step_lies_on_the_roof_of_what_is_sustained(more):
    found, ideal = (under("step_time", batch=64, **one) for one in (more, {}))
    assert found.intensity == pytest.approx(ideal.intensity)
    assert found.rate == pytest.approx(ideal.rate * more.get("mbu", 1.0)) == pytest.approx(found.attainable(found.intensity))
    (_, ridge, _) = roof_marks([found])
    assert ridge.name.endswith("".join(f", {name} = {value}" for name, value in more.items()))


def test_what_tells_of_no_step_has_no_point():
    assert roof("", known_numbers(solve("ridge_point", hardware="H100-SXM:bf16"))) is None
    assert known_numbers(solve("step_time", batch=1)) == {}
