"""What prices add to the class of KV bytes, held against a study of 2026-11-21: nothing, and a place where one does tell."""

import numpy as np
import pytest

from derive.preset_rows import Architecture, OpenModel
from derive.tables.shipped import rows_of
from invert.estimators.market import candidates, panel
from invert.estimators.market.kv_class import caches, chosen
from invert.sheets.tables import ListPrice

KNOWN = caches((row for row in rows_of(Architecture) if row.kv_vote), 2.0)


@pytest.mark.parametrize("earlier_only", [False, True], ids=["a family out", "rolling"])
def test_no_price_has_earned_a_place_in_the_headline(earlier_only):
    priced = panel.by_list_price(rows_of(OpenModel), rows_of(ListPrice))
    way = chosen(KNOWN.values())
    found = {one.name: candidates.weighed(one, priced, KNOWN, way, earlier_only) for one in candidates.CANDIDATES}
    assert {name: (one.enters, one.weight) for name, one in found.items()} == dict.fromkeys(found, (False, 0.0))
    assert found["output_input_ratio"].families == (15 if earlier_only else 18)


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
    one = candidates.weighed(telling, priced, known, chosen(KNOWN.values()), earlier_only=True)
    assert one.enters and one.weight > 0.9 and one.gain_of_pool > 1
