"""Routes at arrays of givens: whatever is asked, they answer what the questions asked one by one answer."""

import numpy as np
import pytest

from derive.solving.api import solve


def test_the_batch_of_one_pass_is_in_flight_in_arrays_too():
    given = {"model": "DeepSeek-V3", "hardware": "H100:fp8", "bytes_per_element": 1, "chips": 32}
    for unknown in ("kv_cache_bytes", "memory_demand"):
        table = solve(unknown, **given, context_length=4000, batch="1..4000:log:70").sweep
        singly = [one.value for at in (1, 4000) for one in solve(unknown, **given, context_length=4000, batch=at).answers]
        assert len(table) == 70 and table.values[0, [0, -1]] == pytest.approx(singly, rel=1e-9), unknown


def test_windows_fill_in_arrays_too():
    """Gemma-3-27B from contexts shorter than its windows to longer ones, until nothing fits any more."""
    given = {"model": "Gemma-3-27B", "hardware": "H100:bf16", "bytes_per_element": 2, "chips": 4, "batch": 64}
    table = solve("step_time", **given, context_length="100..1e6:log:70").sweep
    singly = [solve("step_time", **given, context_length=float(one)).answers for one in table.given["context_length"][::10]]
    assert singly[0] and not singly[-1]
    assert table.values[0, ::10] == pytest.approx([answers[0].value if answers else np.nan for answers in singly], rel=1e-9, nan_ok=True)
