"""An answer on one screen: never longer than that, nothing doubtful left out, the route that leads to it, what it hangs on most."""

import pytest

from derive.show.folding import fold
from derive.show.screen import (
    MOST_LINES,
    MOST_TABLE_LINES,
    NARROW,
    SCREEN_WIDTH,
    height,
    screen_lines,
)
from derive.solving.api import solve
from tests.tools.commands import DEPLOYED, call
from tests.tools.together import in_one_test

DEEPSEEK = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": "4k"}
LLAMA = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "bytes_per_element": 2, "context_length": 8192}
ASKED = {
    "a step": ("step_time", {**DEEPSEEK, "chips": 16, "batch": 64}),
    "a step with doubts": ("step_time", {**DEEPSEEK, "chips": 64, "batch": 64}),
    "a bound": ("batch", {**LLAMA, "chips": 8}),
    "backwards": ("batch", {**LLAMA, "chips": 8, "step_time": "20ms"}),
    "a limit": ("chips", {**LLAMA, "batch": 16, "step_time": "<=20ms"}),
    "a range": ("step_time", {**LLAMA, "chips": 8, "batch": "16..64"}),
    "two roots": ("draft_tokens", {"speculative_speedup": 1.5, "acceptance_rate": 0.8, "draft_cost_ratio": 0.1}),
    "money": ("cost_per_token", {**LLAMA, "chips": 8, "batch": 16, "chip_price": "2 USD/h"}),
    "prefill": ("prefill_compute_time", {**LLAMA, "chips": 8, "batch": 1, "prompt_tokens": 8192, "context_length": 8192}),
}


def text(unknown: str, given: dict) -> str:
    return "\n".join(screen_lines([solve(unknown, **given)]))


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_an_answer_fits_a_screen_and_leaves_nothing_doubtful_out(asked):
    solution = solve(asked[0], **asked[1])
    for columns in (SCREEN_WIDTH, NARROW):
        told = "\n".join(screen_lines([solution], columns))
        assert fold(told, columns).count("\n") + 1 <= MOST_LINES
        assert solution.warnings == () or any(warning in told for warning in solution.warnings)
        assert "\nCite  " in told and (columns < SCREEN_WIDTH or all(warning in told for warning in solution.warnings))
    told = text(*asked)
    assert fold(str(solution), SCREEN_WIDTH) == fold(told, SCREEN_WIDTH)


def test_a_short_answer_is_shown_whole():
    solution = solve("sparsity", total_params=6e11, active_params=3e10)
    assert text("sparsity", {"total_params": 6e11, "active_params": 3e10}) == solution.full


@pytest.mark.slow
@in_one_test(("unknowns", "chips"), [("step_time", 4), ("step_time", 16), ("step_time,throughput", 16), ("cost_per_token", 16)])
def test_a_sweep_of_as_many_points_as_one_has_by_itself_fits_a_small_screen(unknowns, chips):
    given = {**DEEPSEEK, "chips": chips, "chip_price": "2 USD/h", "batch": "1..4096:log", "anyway": True}
    solutions = [solve(name, **given) for name in unknowns.split(",")]
    lines = [*screen_lines(solutions)]
    assert height(lines, 80) <= MOST_TABLE_LINES and any(line.endswith(" points between: --full)") for line in lines)
    assert lines[1].split()[0] == "1" and any(line.split()[0] == "4096" for line in lines if line)
    # What is doubtful of both is said of the first.
    said = {kind: text for one in reversed(solutions) for kind, text in zip(one.kinds, one.warnings, strict=True)}
    assert said
    in_ten = solve("step_time", **given | {"batch": "1..4096:log:30"})
    assert not any("points between" in line for line in screen_lines([in_ten])), "in as many points as were asked for"


def test_the_command_is_short_unless_it_is_asked_for_all():
    question = ("solve", "step_time", "batch=64", "context_length=4k", "chips=16", *DEPLOYED)
    short, full = call(*question).out, call(*question, "--full").out
    assert short.count("\n") <= MOST_LINES < full.count("\n")
    assert "given  " not in short and "architectures.csv DeepSeek-V3 layers" in full and "roofline.kv_time@2" in full
    assert call(*question, "--as", "json").out == call(*question, "--as", "json", "--full").out


@pytest.mark.slow
def test_an_answer_with_much_to_warn_of_is_on_a_screen_too():
    asked = ("--hardware", "H100", "--model", "DeepSeek-V3", "request_latency<=5s", "prompt_tokens=8k", "output_tokens=500", "batch=16")
    for unknown in ("chips", "chips,cost_per_token"):
        answer = call("solve", unknown, *asked, "chip_price=2 USD/h").out
        assert len(answer.splitlines()) <= MOST_TABLE_LINES, unknown
    answer = call("solve", "chips", *asked, "--efficiency", "calibrated").out
    assert len(answer.splitlines()) <= MOST_TABLE_LINES
    assert answer.count("layer_time = ") == 1
