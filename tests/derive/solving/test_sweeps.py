"""Lists and sweeps: what they cost is known before they start, and every form of every one can be printed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from derive.errors import WrongValue
from derive.show.text import render
from derive.solving.api import respond, solve
from derive.solving.many import points, vectorised
from derive.solving.question.conventions import Switches

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")
FIT = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "bytes_per_element": 1, "context_length": "4k"}
FIT |= {"variants": {"weight_time": "sharded"}}
STEP = {"compute_time": "10ms", "memory_time": "1ms..20ms"}
NUMERIC = {"speculative_speedup": 1.5, "acceptance_rate": 0.8}


# -- what it costs --------------------------------------------------------------------------------------------------


def test_a_sweep_that_would_not_fit_in_memory_is_refused_with_what_would():
    given = {**FIT, "chips": "16..90:lin:50", "context_length": "4k..5k:lin:60", "batch": "1..1000:log:60", "mfu": "0.1..1:lin:50"}
    with pytest.raises(WrongValue, match=r"takes 9,000,000 points, about \d+ MB of memory; at most 500 MB: ask for [67],\d+,\d+ points"):
        solve("step_time", **given)


MEASURED = """
import sys
from pathlib import Path
from derive.show.text import lines
from derive.solving.api import respond, solve
shown = lines([solve("step_time", compute_time="10ms", memory_time="1ms..20ms:log:3e5")], sys.argv[1], full=True)
count = sum(1 for _, line in zip(range(100_000), shown))
print(count, next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
"""
"""The peak is that of the process itself: what getrusage says includes what the parent had when it forked."""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process stands in /proc")
@pytest.mark.parametrize("style", ["json", "csv"])
def test_forms_are_written_as_they_go(style):
    """100,000 lines of 300,000 points take no more memory than the points."""
    done = subprocess.run([sys.executable, "-c", MEASURED, style], capture_output=True, text=True, timeout=120, check=True)
    written, kilobytes = map(int, done.stdout.split())
    assert written == 100_000 and kilobytes * 1024 < 200e6


def test_points_that_would_take_long_one_by_one_are_refused_with_how_many_would_not(monkeypatch):
    monkeypatch.setattr(points, "TRIED", 0.0)
    monkeypatch.setattr(points, "_LONGEST", 0.01)
    given = {"total_params": 8e9, "active_params": 8e9, "batch": "1..64:log:900", "context_length": "4k", "hardware": "H100:fp8"}
    with pytest.raises(WrongValue, match=r"point by point: 900 points would take about \d+ s; at most 0.01 s, which are about \d+ points"):
        solve("hbm_capacity", **given, chips=8, kv_bytes_per_token=1e5)


def test_a_sweep_without_a_closed_form_is_searched_at_arrays():
    found = solve("draft_tokens", **NUMERIC, draft_cost_ratio="0.005..0.1:log:300").sweep
    at = 150
    alone = solve("draft_tokens", **NUMERIC, draft_cost_ratio=float(found.given["draft_cost_ratio"][at]))
    assert [one.value for one in alone.answers] == pytest.approx([value for value in found.values[:, at] if value == value], rel=1e-9)


@pytest.mark.parametrize("count", [65, 5000])
def test_parts_make_up_the_whole(count, monkeypatch):
    whole = solve("step_time", **{**STEP, "memory_time": f"1ms..20ms:log:{count}"}).sweep
    monkeypatch.setattr(vectorised, "_AT_ONCE", 64)
    parts = solve("step_time", **{**STEP, "memory_time": f"1ms..20ms:log:{count}"}).sweep
    assert np.array_equal(whole.values, parts.values) and np.array_equal(whole.places, parts.places) and whole.labels == parts.labels
    memory = np.geomspace(1e-3, 2e-2, count)
    assert whole.values[0] == pytest.approx(np.maximum(memory, 0.01), rel=1e-9)


def test_why_points_have_no_number_is_looked_up_for_the_first_ones(monkeypatch):
    monkeypatch.setattr(points, "_EXPLAINED", 1)
    given = {"hardware": "8xH200:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "step_time": "20ms", "batch": "1..1000000:log:200"}
    assert any("The reason is known for the first 1" in text for text in solve("context_length", **given).warnings)


# -- what is warned of ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", ["1,8,16,2000,8000,9000,1000", "1..9000:lin:200"])
def test_a_warning_of_memory_says_of_which_point_it_speaks(batch):
    solution = solve("step_time", **FIT, batch=batch, anyway=True)
    (warning,) = [text for text in solution.warnings if "does not fit:" in text]
    most = (16 * 80e9 - 671e9) / (4000 * 61 * 576)
    given = np.sort(solution.sweep.given["batch"])
    short = given[given > most]
    assert f"(and a similar reason at {len(short) - 1} more point" in warning
    first = 8000 if "," in batch else 4342
    assert warning.startswith(f"at batch = {first} ") and short[0] == pytest.approx(first, abs=1)
    text = render(solution, "table")
    assert text.count("does not fit:") == 1


def test_zipped_lists_are_taken_one_with_one():
    given = {"kv_time": "1ms,2ms,3ms", "weight_time": "10ms,20ms,30ms"}
    table = respond("memory_time", given, Switches(zipped=True)).sweep
    assert table.values[0] == pytest.approx([0.011, 0.022, 0.033]) and len(respond("memory_time", given).sweep) == 9
    with pytest.raises(WrongValue, match=r"kv_time \(3\) and weight_time \(2\): --zip needs lists of equal length"):
        respond("memory_time", {**given, "weight_time": "10ms,20ms"}, Switches(zipped=True))


def test_what_is_said_at_all_points_is_said_once():
    """The data type of the cache, with the factor at the first point; a batch of 4,096 does not fit, and has no warning."""
    served = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "context_length": 4096}
    texts = {solve("step_time", **served, batch=batch).warnings for batch in ("64,128,256", "64,128,4096")}
    assert all(any("the KV cache is in bf16" in text and "0.725x" in text for text in each) for each in texts)
