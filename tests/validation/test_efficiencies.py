"""What published runs sustained, and the ranges that are made of them, held against every published time.

The ideal of each run in efficiencies.csv is what our equations give; whether the ranges of the other runs held its time is
found again here. Below are the figures of peers.csv that somebody measured, and further published rates, each against the
range of `--efficiency calibrated`: those outside are named, with the reason.
"""

import csv
from itertools import product
from pathlib import Path

import pytest

from derive.claim_cells import givens
from derive.preset_rows import Efficiency
from derive.presets import MODEL_KINDS, calibrated
from derive.shipped import read, rows_of
from derive.solving.api import solve
from tests.tools.tables import reading
from tests.tools.together import in_one_test, some
from tests.validation.test_peers import CASES

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "how-to" / "conventions.md").read_text(encoding="utf-8").split())

ROWS = rows_of(Efficiency)
RUNS = [pytest.param(row, id=f"{row.run}: {row.quantity}") for row in ROWS]
WHOLE = [pytest.param(row, id=row.run) for row in ROWS if row.held != "part"]
AT_THE_PEAKS = {"mfu": 1.0, "mbu": 1.0}


def times(solution):
    """The least and the most of an answer [ms]."""
    assert solution.reason is None, solution.reason
    (answer,) = solution.answers
    ends = (solution.spans.low, solution.spans.high) if solution.spans else (answer.point, answer.point)
    return tuple(1e3 * end for end in ends)


def asked(row, **more):
    given = givens(row.givens)
    return times(solve(row.unknown, **given.rows, given={**given.texts, **more.pop("given", {})}, anyway=True, **more))


@in_one_test("row", RUNS)
def test_the_ideal_of_a_run_is_ours(row):
    """At the peaks; of a step on several chips at the middle of what decode sustains, so that the rest is what is exposed."""
    middle = calibrated(kinds=[row.kind]).givens if row.quantity == "exposed_communication_share" else AT_THE_PEAKS
    least, most = asked(row, given={name: middle[name] for name in AT_THE_PEAKS})
    assert least == most == pytest.approx(row.ideal_ms, rel=1e-3)


@in_one_test("row", some(WHOLE, 3))
def test_the_ranges_of_the_others_held_a_run_or_not(row):
    lines = read().content("efficiencies.csv").decode().splitlines()
    others = [line for line in lines if not line.startswith(f'"{row.run}"')]
    assert len(others) < len(lines)
    with reading(read().edited(efficiencies="\n".join([*others, ""]))):
        least, most = asked(row, efficiency="calibrated")
    assert row.held == ("inside" if least <= row.measured_ms <= most else "outside")


OUTSIDE = {
    "Llama-3-70B prompt, 8 H200": "one of two published: what the chips send each other counts",
    "PaLM-540B prompts, 64 TPU v4": "one of two published: the best that its authors reached",
    "Llama-2-70B, 2 A100": "the most of the bandwidth of all on several chips",
    "Llama-2-7B, 4 A100": "3.9 ms: launches and sums in every layer are most of it",
    "Llama-2-7B, 8 A100": "3.0 ms: launches and sums in every layer are most of it",
    "Llama-2-70B int8, 8 A100": "launches and sums in every layer take as long as the reads of half as many bytes",
    "PaLM-540B int8, 64 TPU v4": "the sums over 64 chips in every layer, of a small batch",
    "Qwen3-8B fp8 prompts, 1 H20": "a chip with little arithmetic for its memory sustains nearly all of it",
    "DeepSeek prompts of a day, 32 H800": "the slowest of all: production over a day, at half of the rate of its own profile",
    "DeepSeek-V3 profiled prompts, 32 H800": "the fastest of all: experts drawn evenly, communication hidden",
    "Mixtral-8x7B, 2 A100": "the least communication of all mixtures on several chips",
    "Mixtral-8x7B int8, 8 A100": "3.6 ms: launches and sums in every layer are most of it",
    "Qwen3-30B-A3B prompts, 1 H20": "one chip, without any exchange between experts, and with little arithmetic for its memory",
}
"""The published times outside what the other runs sustained, and why."""


def test_the_runs_outside_are_named():
    assert {row.run for row in ROWS if row.held == "outside"} == set(OUTSIDE)


def test_the_record_is_that_of_every_kind_and_phase():
    found = {}
    for row in ROWS:
        if row.held != "part":
            held, of = found.get((row.kind, row.phase), (0, 0))
            found[row.kind, row.phase] = (held + (row.held == "inside"), of + 1)
    said = [" of ".join(map(str, found[key])) for key in product(("mixture", "dense"), ("decode", "prefill"))]
    wanted = "Mixtures of experts: {} steps and {} prompt rates are inside the predicted range. Dense models: {} steps and {} prompt rates"
    assert wanted.format(*said) in PAGE


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_a_range_is_no_wider_than_a_factor_of_three(kind):
    """With all that is sustained anywhere in its range, a step that waits for memory spans a factor of 2.7 at most: that still sizes."""
    ranges = calibrated(kinds=[kind]).ranges
    (least, most), (hidden, exposed) = ranges["mbu"], ranges["exposed_communication_share"]
    assert 1 < most / least * (1 - hidden) / (1 - exposed) < 3


def test_what_the_ranges_would_be_of_all_whole_times():
    """Which runs make the ranges is a choice: with those that are only held against them, they would be wider."""
    found = {}
    for row in (row for row in ROWS if not row.quantity):
        middle, sustained = calibrated(kinds=[row.kind]).givens["mbu"], row.ideal_ms / row.measured_ms
        alone = givens(row.givens).texts["chips"] == "1"
        name = "mfu" if row.phase == "prefill" else "mbu" if alone else "exposed_communication_share"
        found.setdefault((row.kind, name), []).append(1 - sustained / middle if name == "exposed_communication_share" else sustained)
    hidden, exposed = (max(found[kind, "exposed_communication_share"]) for kind in MODEL_KINDS)
    prompts = " and ".join(f"{max(found[kind, 'mfu']):.2f}" for kind in MODEL_KINDS)
    assert f"{min(found['dense', 'mbu']):.2f}, exposed share up to {hidden:.2f} (mixtures {exposed:.2f})" in PAGE
    assert f"mfu of prompts up to {prompts}." in PAGE


# -- published times, each against the range of such a model ------------------------------------------------------------------------

MEASURED = ("aiconfigurator SILICON", "InferSim", "DeepSeek itself")
"""Of peers.csv: the sums of measured kernels, and what was measured as a whole."""
TIMED = ("step_time", "compute_time + attention_time")

with (Path(__file__).parent / "peers.csv").open(encoding="utf-8", newline="") as stream:
    PEERS = [row for row in csv.DictReader(stream) if row["tool"] in MEASURED and row["quantity"] in TIMED]

PROMPTS = {"PF L70": 1, "PF DSV3": 1}
"""Cases that are one prompt of 8,192 tokens."""
NETWORK = ("moe_layers", "model_dim", "link_bandwidth", "dispatch_bytes_per_element", "combine_bytes_per_element")
PEERS_OUTSIDE = {"PF DSV3, InferSim 1250": "a simulation: its prompts are 2 % faster than the fastest that were measured"}
"""By case, tool and figure: why."""


def of_case(row):
    """The range of a row of peers.csv [ms], with the cache of the row."""
    given = {name: value for name, value in CASES[row["case"]].items() if name not in ("anyway", *NETWORK)}
    model = given.pop("model")
    if "bytes_per_element=1" in row["convention"]:
        given["bytes_per_element"] = 1
    if row["case"] in PROMPTS:
        given = {name: value for name, value in given.items() if name not in ("batch", "context_length", "attention_flops_per_pair")}
        given |= {"prompt_tokens": 8192, "prefill_batch": 8 if "batch=65536" in row["convention"] else 1}
    unknown = "prefill_time" if row["case"] in PROMPTS else "step_time"
    return times(solve(unknown, model=model, given=given, efficiency="calibrated", anyway=True))


def test_a_time_of_the_peers_is_inside_or_named():
    outside = set()
    for row in PEERS:
        least, most = of_case(row)
        if not least <= float(row["figure"]) <= most:
            outside.add(f"{row['case']}, {row['tool']} {row['figure']}")
    assert len(PEERS) == 12 and outside == set(PEERS_OUTSIDE)


def test_the_published_day_is_inside():
    """Of a node of 8 chips, 14,800 token/s written and 73,700 read, of which 32,206 are computed: the least of all published rates."""
    chip = {"hardware": "H800:fp8", "model": "DeepSeek-V3", "efficiency": "calibrated"}
    written = solve("throughput", **chip, chips=144, batch=88 * 144, context_length=4989, bytes_per_element=1).spans
    assert written.low / 18 < 14_800 < written.high / 18
    computed = solve("prefill_rate_per_chip", **chip).spans
    assert 8 * computed.low == pytest.approx(32_206, rel=1e-3)
