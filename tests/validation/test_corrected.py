"""Questions that were worked by hand, each put to one command: caches, attention, experts, prices, and answers that were once wrong.

`worked` in corrected.csv is the arithmetic in SI, done without the code. `expected` is the figure that it rounds to. With `beside`, both
are the ratio of two answers.
"""

import csv
import json
import shlex
from io import StringIO
from pathlib import Path

import pytest

from tests.tools.commands import Said, call
from tests.tools.together import in_one_test, some
from tests.tools.worked import worked

ROWS = list(csv.DictReader(StringIO(Path(__file__).with_name("corrected.csv").read_text(encoding="utf-8"))))
ANSWERED = [pytest.param(row, id=row["id"]) for row in ROWS if row["worked"]]
REFUSED = [pytest.param(row, id=row["id"]) for row in ROWS if not row["worked"]]
REL = 1e-9
MOST = "at most "


def outcome(command: str) -> Said:
    """Return what a command comes to, its answer as JSON."""
    return call(*shlex.split(command), "--as", "json")


def answered(command: str) -> float:
    """The one number of an answer: a point, or the upper end of an interval."""
    said = outcome(command)
    assert said.status == 0, said.err
    (answer,) = json.loads(said.out)["answers"]
    return answer["value"] if answer["kind"] == "point" else answer["high"]


@in_one_test("row", some(ANSWERED, 2))
def test_a_command_comes_to_what_was_worked_by_hand(row: dict[str, str]):
    found = answered(row["command"]) / (answered(row["beside"]) if row["beside"] else 1)
    assert found == pytest.approx(worked(row["worked"]), rel=REL), row["question"]


@in_one_test("row", ANSWERED)
def test_the_working_rounds_to_the_figure(row: dict[str, str]):
    figure = row["expected"].removeprefix(MOST)
    digits = len(figure.split("e")[0].replace(".", "").lstrip("0"))
    assert float(f"{worked(row['worked']):.{digits}g}") == float(figure)


@pytest.mark.parametrize("row", REFUSED)
def test_a_command_is_refused(row: dict[str, str]):
    _, status, code = row["expected"].split()
    said = outcome(row["command"])
    assert said.status == int(status), said.out
    assert json.loads(said.out)["reason"]["code"] == code


def deepseek_step(batch: float, drafted: int) -> float:
    """DeepSeek-V3 on 144 chips with 4,989 tokens of context, attention in bf16: arithmetic or reads, whichever is longer [s].

    The published widths: 61 layers, 128 heads, a latent of 512 and a rotary key of 64; 671e9 parameters of which a token
    uses 37e9, 8 of 256 experts among them.
    """
    flops, bandwidth, context, positions = 144 * 1979e12, 144 * 3.35e12, 4989, drafted + 1
    weights = 2 * 37e9 * batch * positions / flops
    attention = 2 * 61 * 128 * (512 + 64 + 512) * context * batch * positions / (flops / 2)
    routed = (671e9 - 37e9) / (1 - 8 / 256)
    read = 671e9 - routed * (1 - 8 / 256) ** (batch * positions)
    return max(weights + attention, (read + batch * context * 61 * 576) / bandwidth)


@pytest.mark.parametrize("drafted", [0, 1, 3])
def test_the_step_at_any_batch_with_and_without_drafts(drafted):
    """Drafts that take no time of their own: a pass over more positions, whose reads are those of more tokens."""
    batches = (1, 8, 64, 512, 4096, 12672)
    drafts = f"acceptance_rate=0.8 draft_tokens={drafted} draft_cost_ratio=0.001" if drafted else ""
    command = (
        "solve step_time --hardware H100-SXM:fp8 --model DeepSeek-V3 chips=144 context_length=4989 bytes_per_element=1"
        f" attention_rate_ratio=0.5 {drafts} batch={{}}"
    )
    for batch in batches:
        wanted = deepseek_step(batch, drafted) + drafted * 0.001 * deepseek_step(batch, 0)
        assert answered(command.format(batch)) == pytest.approx(wanted, rel=REL), batch


def test_no_drafts_lift_the_arithmetic_over_the_peak():
    """Five positions a step and 3.36 tokens: what is computed for a token is 5/3.36 of what it takes without drafts."""
    rate = answered(ROWS[1]["command"])
    tokens = (1 - 0.8**5) / (1 - 0.8)
    assert rate / tokens * 5 * 2 * 70e9 < 8 * 1979e12
