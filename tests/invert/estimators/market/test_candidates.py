"""What prices add to the class of KV bytes, held against a study of 2026-11-21: nothing, and a place where one does tell."""

import numpy as np
import pytest

from derive.preset_rows import Architecture, OpenModel
from derive.tables.shipped import rows_of
from invert.estimators.market import candidates, panel
from invert.estimators.market.kv_class import caches, chosen
from invert.sheets.tables import ListPrice

KNOWN = caches((row for row in rows_of(Architecture) if row.kv_vote), 2.0)


def test_no_candidate_passes_both_with_families_left_out_and_on_later_models():
    priced, way = panel.by_list_price(rows_of(OpenModel), rows_of(ListPrice)), chosen(KNOWN.values())
    found = {
        (one.name, earlier): candidates.judge_candidate(one, priced, KNOWN, way, earlier)
        for one in candidates.CANDIDATES
        for earlier in (False, True)
    }
    assert not any(one.enters for (_, earlier), one in found.items() if earlier)
    assert {name for (name, _), one in found.items() if one.enters} == {"release_date", "release_date and max_context"}
    assert [found["output_input_ratio", earlier].families for earlier in (False, True)] == [18, 15]


def test_the_line_through_dates_and_contexts_is_judged_on_all_architectures():
    """Figures of a calculation by other code: a gain of .17 +- .06 nat with families left out, and of .02 +- .05 on later models."""
    line = next(one for one in candidates.CANDIDATES if one.name == "release_date and max_context")
    left_out, later = (candidates.judge_candidate(line, (), KNOWN, chosen(KNOWN.values()), earlier) for earlier in (False, True))
    assert (left_out.count, left_out.families, later.count, later.families) == (61, 28, 56, 27)
    assert [left_out.gain_of_pool, left_out.standard_error] == pytest.approx([0.172, 0.060], abs=0.005)
    assert [later.gain_of_pool, later.standard_error] == pytest.approx([0.020, 0.046], abs=0.005)


def test_a_price_that_does_tell_enters():
    """The gate opens: bytes that are the price itself, but for a tenth of a nat."""
    random = np.random.default_rng(3)
    known = {"read": tuple(one for one in KNOWN["read"])}
    bytes_of = {one.architecture: np.exp(one.ln_kv + random.normal(0, 0.1)) for one in known["read"]}
    priced = [
        panel.Priced(
            model=one.architecture, architecture=one.architecture, price_family=one.family, vendor="", released=one.released,
            input_price=1.0, output_price=bytes_of[one.architecture], cache_read_price=None,
            active_params=1e9, total_params=1e9, params_grade="read", kv_bytes_per_token=None,
        )
        for one in known["read"]
    ]  # fmt: skip
    telling = next(one for one in candidates.CANDIDATES if one.name == "output_price")
    one = candidates.judge_candidate(telling, priced, known, chosen(KNOWN.values()), earlier_only=True)
    assert one.enters and one.weight > 0.9 and one.gain_of_pool > 1
