"""Pictures of sweeps: the points are those of the table, the front is what nothing beats, the caption says what stays."""

import pytest

from backsolve.cli.question import drawn_inputs
from derive.errors import WrongValue
from derive.show.plot import _HIGH, _WIDE, _line_chart, caption, draw_in_terminal, plotted_values, roofline, sweep_charts
from derive.show.roofline import Roof
from derive.solving.api import solve
from derive.solving.question.conventions import USUAL_CONVENTIONS
from derive.spreads import Interval, Series
from tests.tools.commands import call, refused

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
    assert {name: [*drawn_inputs(texts, USUAL_CONVENTIONS, False)][-1] for name, texts in across.items()} == {name: name for name in across}
    assert [*drawn_inputs(across["context_length"], USUAL_CONVENTIONS, True)][-1] == "batch", "zipped they are one"


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
    assert drawn.index("\ncite  ") < drawn.index("\nstep_time over batch\n")
    assert "would be inside the json" in refused("solve", "step_time", *ARGUMENTS, "batch=1,8,64", "--plot", "-", "--as", "json")
    assert "ends in .svg or .png" in refused("solve", "step_time", *ARGUMENTS, "batch=1,8,64", "--plot", "step.pdf")
    assert call("solve", "step_time", "--hardware", "H100,H200:fp8", *ARGUMENTS[2:], "batch=1,8", "--plot", "both.png").status == 0
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")


def test_a_long_sweep_is_drawn_and_not_listed(tmp_path):
    place = tmp_path / "long.svg"
    said = call("solve", "step_time", *ARGUMENTS, "batch=8", "mbu=0.4..0.8:lin:2000", "--plot", str(place)).out
    assert said == "2,000 points, drawn and not listed: --as csv lists them\n"
    assert 0 < place.stat().st_size < 200_000, "a line, and no mark a point"


def test_a_range_is_drawn_as_a_sweep_and_beside_another_at_its_ends(tmp_path):
    drawn = call("solve", "step_time", *ARGUMENTS, "batch=1..90", "--plot", "-").out
    assert "step_time over batch" in drawn and "ridge" not in drawn, "no roof at the middle of the range"
    both = call("solve", "step_time", *ARGUMENTS, "mbu=0.4..0.8", "batch=1..90:log", "--plot", "-").out
    assert [line.strip() for line in both.splitlines()[-3:-1]] == ["* mbu = 0.4", "o mbu = 0.8"] and "step_time over batch" in both
    last = call("solve", "step_time", *ARGUMENTS, "batch=1..90", "mbu=0.4..0.8", "--plot", "-").out
    assert "step_time over mbu" in last and "o batch = 90" in last


def test_answers_that_are_a_range_lie_between_two_lines():
    (chart,) = sweep_charts([("", swept("step_time", mbu="0.5..1", batch=[1, 8]))])
    low, high = chart.marks
    assert (low.name, high.name, low.xs) == ("low end", "high end", (1.0, 8.0))
    ends = [tuple(solve("step_time", **SERVED, mbu=mbu, batch=batch).value for batch in (1, 8)) for mbu in (1.0, 0.5)]
    assert [low.ys, high.ys] == [pytest.approx(one) for one in ends]
    both = swept("tokens_per_second_per_user", "throughput", mbu="0.5..1", batch=[1, 8])
    assert len(sweep_charts([("", both)])) == 2, "the ends of two answers need not go together"
    assert "mbu = 0.5 to 1" in caption([(("A",), both)])[1]


def test_of_what_is_counted_there_are_whole_ones_once_each():
    assert plotted_values("batch", Series(low=1, high=4, count=25, spacing="log"), False) == [1.0, 2.0, 3.0, 4.0]
    assert plotted_values("chips", Interval(0.4, 3.0), False) == [1.0, 2.0, 3.0]
    assert plotted_values("mbu", Series(low=0.4, high=0.8, count=5, spacing="lin"), False) is None
    assert plotted_values("batch", Series(values=(1.5, 2.5)), False) is None, "what is listed one by one is what is meant"
    listed = call("solve", "step_time", *ARGUMENTS, "batch=1..8:log", "--plot", "-").out.splitlines()
    assert [line.split()[0] for line in listed[1:9]] == ["1", "2", "3", "4", "5", "6", "7", "8"]


def test_the_caption_says_what_stays_and_what_is_taken():
    chips, givens, taken = caption([(names, swept("step_time", batch=[1, 8])) for names in (("8xA", "M"), ("8xB", "M"))])
    assert (chips, givens) == ("M", "chips = 8, context length = 8000 tokens, bytes per element = 1 B")
    assert taken.startswith("mfu = 1, mbu = 1 by default: as if the chips sustained their peaks"), (
        "and not the copies of a cache, hops and drafts of which nobody speaks"
    )
    one, other = (swept("cost_per_token", batch=[1, 8], chip_price=price)[0] for price in (1e-3, 2e-3))
    (ranged,) = swept("step_time", batch=8, mbu="0.5..1")
    assert "mbu = 0.75 (of a range)" in caption([(("A",), [ranged])])[1]
    assert "chip price = $3.6/h" in caption([(("A",), [one])])[1]
    prices = caption([(("A", "M"), [one]), (("B", "M"), [other])])[2]
    assert prices == "chip price of A = $3.6/h, chip price of B = $7.2/h"


def test_the_caption_says_of_a_limit_that_it_is_one_and_where_there_is_no_answer():
    *_, gaps = caption([(("A",), swept("step_time", "throughput", batch=[1, 8, 4096]))])
    assert gaps == "no answer at 1 of 3 points, that at batch = 4096: does not fit"
    limited = solve("chips", **{name: value for name, value in SERVED.items() if name != "chips"}, batch=[1, 8], step_time="<=20ms")
    assert "step time <= 20ms" in caption([(("A",), [limited])], {"step_time": ("<=20ms",)})[1]


def test_the_caption_says_what_was_taken_that_nobody_said():
    given = {name: value for name, value in SERVED.items() if name != "bytes_per_element"}
    (*_, said) = caption([(("A",), [solve("step_time", **given, batch=[1, 128])])])
    assert said == "the KV cache is in bf16"
    assert not any("in bf16" in text for text in caption([(("A",), swept("step_time", batch=[1, 8]))]))


def test_the_points_of_a_front_say_where_they_are():
    *_, front = sweep_charts([("", swept("tokens_per_second_per_user", "throughput", batch=[1, 1.5, 64]))])
    assert [*filter(None, front.marks[0].beside)] == ["batch 64", "batch 1.5"], "1 and 1.5 are too near to each other"
    assert (front.across.bound, front.up.bound) == ("upper", "upper")


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


def test_what_is_of_no_step_is_refused_before_the_answer():
    said = call("solve", "ridge_point", "--hardware", "H100:fp8", "--plot", "-")
    assert (said.status, said.out) == (2, "") and "of no decode step on a chip: give one value as a list" in said.err
    with pytest.raises(WrongValue, match="at most 4 roofs"):
        roofline([Roof(name=str(at), peak=1e15, bandwidth=4e12, step="step", intensity=50.0, rate=2e14) for at in range(5)])
