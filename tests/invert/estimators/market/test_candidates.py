"""What prices add to the class of KV bytes, held against a study of 2026-11-21: nothing, and a place where one does tell."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from invert.estimators import panel
from invert.estimators.market import candidates
from invert.estimators.market.typical_kv import typical_kv
from tests.tools.data import shipped_data

LINES = ("release_date", "release_date and max_context")
READ = typical_kv(shipped_data())["read"]


def test_no_candidate_passes_both_with_families_left_out_and_on_later_models():
    found = {key: one for key, one in candidates.verdicts(shipped_data()).items() if key[1] in ("family", "later")}
    assert {name for name, one in found.items() if one.enters} == {(name, "family") for name in LINES}
    assert [found["output_input_ratio", left_out].families for left_out in ("family", "later")] == [18, 15]


def test_the_line_through_dates_and_contexts_is_judged_on_all_architectures():
    """Compare with other code: .17 +- .06 nat with families left out, .02 +- .05 on later models, .13 alone on those since 2026."""
    line = next(one for one in candidates.CANDIDATES if one.name == LINES[1])
    left_out, later, lately = (candidates.judge_candidate(line, (), READ, since) for since in candidates.LEFT_OUT.values())
    assert [(one.count, one.families) for one in (left_out, later, lately)] == [(61, 28), (56, 27), (20, 13)]
    assert lately.by_price - lately.by_baseline == pytest.approx(0.13, abs=0.005)
    assert [left_out.gain_of_pool, left_out.standard_error] == pytest.approx([0.172, 0.060], abs=0.005)
    assert [later.gain_of_pool, later.standard_error] == pytest.approx([0.020, 0.046], abs=0.005)


def test_a_price_that_does_tell_enters():
    """The gate opens: bytes that are the price itself, but for a tenth of a nat."""
    random = np.random.default_rng(3)
    bytes_of = {one.architecture: np.exp(one.ln_kv + random.normal(0, 0.1)) for one in READ.caches}
    priced = [
        replace(
            panel.listed_models(shipped_data())[0], architecture=one.architecture, price_family=one.family,
            release_date=one.released, output_price=bytes_of[one.architecture],
        )
        for one in READ.caches
    ]  # fmt: skip
    telling = next(one for one in candidates.CANDIDATES if one.name == "output_price")
    one = candidates.judge_candidate(telling, priced, READ, since=date.min)
    assert one.enters and one.weight > 0.9 and one.gain_of_pool > 1
