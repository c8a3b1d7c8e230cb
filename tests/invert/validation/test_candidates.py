"""Observables that no estimate uses: what they add to the typical KV (a study of 2026-11-21: nothing), and what hosts of one model show."""

from datetime import date

import numpy as np
import pytest

from derive.errors import WrongData
from derive.preset_rows import OpenModel
from derive.tables.shipped import rows_of
from invert.estimators import panel
from invert.estimators.panel import spread_within
from invert.estimators.typical_kv import typical_kv
from invert.sheets.rows import HostPrice
from invert.validation import candidates, scoreboard
from invert.validation.candidates import commonest, rank_correlation, single_band_rows
from tests.tools.data import shipped_data


def rows(hosts: list[HostPrice]) -> dict[str, str]:
    found = single_band_rows(hosts, shipped_data())
    return {str(row["observable"]): str(row["found"]) for row in found}


def test_what_hosts_of_one_model_say():
    """Figures of a calculation by other code."""
    found = {row["observable"]: row for row in scoreboard.section_rows("single-band")}
    assert found["ln output/input"]["found"] == "sd 0.27, median 0.24" and found["ln output/input"]["models"] == 63
    assert found["fraction at 5"]["found"] == "69% to 87%" and "80%" in str(found["fraction at 5"]["so"])
    assert [str(found[f"ln {name}"]["found"]).split()[-1] for name in ("input", "output")] == ["0.48", "0.49"]
    assert (found["batch/input"]["found"], found["batch/input"]["prices"]) == ("0.50 in 93%", 43)
    assert "no skill" in str(found["cache read, skill"]["so"])
    assert all("below two" in str(found[name]["so"]) for name in ("cache read: KV", "cache read: KV/active", "cache read on lists: KV"))


NO_HOST = "host_prices.csv: the spread between hosts needs a model"


@pytest.mark.parametrize(
    ("work", "named"),
    [
        (lambda: spread_within([[1.0], []]), NO_HOST),
        (lambda: commonest([]), "no host has a usable price of a batch"),
        (lambda: rank_correlation([], []), "a correlation needs two models"),
        (lambda: rank_correlation([1.0, 2.0], [3.0, 3.0]), "a correlation needs two models"),
    ],
)
def test_what_has_no_rows_is_named(work, named: str):
    with pytest.raises(WrongData, match=named):
        work()


def test_hosts_that_agree_leave_a_point_and_prices_by_size_change_nothing():
    of_hosts = list(rows_of(HostPrice))
    agreeing = [row.changed(output_price=5 * row.input_price) for row in of_hosts]
    assert rows(agreeing)["ln output/input"] == "sd 0.00, median 0.00" and rows(agreeing)["fraction at 5"] == "80% to 80%"
    without = [row for row in of_hosts if not row.size_bucket]
    assert len(without) < len(of_hosts) and rows(without) == rows(of_hosts)


def test_cache_reads_that_follow_the_cache_are_seen():
    kv = {row.model: row.kv_bytes_per_token for row in rows_of(OpenModel) if row.kv_bytes_per_token}
    told = [row.changed(cache_read_price=row.input_price * kv[row.model] / 1e7) for row in rows_of(HostPrice) if row.model in kv]
    assert rows(told)["cache read: KV"] == "rank correlation +1.00"


LINES = ("release_date", "release_date and max_context")
READ = typical_kv(shipped_data())["read"]


def test_no_candidate_passes_both_with_families_left_out_and_on_later_models():
    found = {key: one for key, one in candidates.verdicts(shipped_data()).items() if key[1] in ("family", "later")}
    assert {name for name, one in found.items() if one.enters} == {(name, "family") for name in LINES}
    assert [found["output_input_ratio", left_out].families for left_out in ("family", "later")] == [18, 15]


def test_the_line_through_dates_and_contexts_is_judged_on_all_architectures():
    """Compare with other code: .17 +- .06 nat with families left out, .02 +- .05 on later models, .13 alone on those since 2026."""
    rows = candidates.candidate_rows(READ.caches, ())[LINES[1]]
    left_out, later, lately = (candidates.judge_predictors(rows, READ, since) for since in candidates.LEFT_OUT.values())
    assert [(one.count, one.families) for one in (left_out, later, lately)] == [(61, 28), (56, 27), (20, 13)]
    assert lately.by_price - lately.by_baseline == pytest.approx(0.13, abs=0.005)
    assert [left_out.gain_of_pool, left_out.standard_error] == pytest.approx([0.172, 0.060], abs=0.005)
    assert [later.gain_of_pool, later.standard_error] == pytest.approx([0.020, 0.046], abs=0.005)


def test_a_price_that_does_tell_enters():
    """The gate opens: bytes that are the price itself, but for a tenth of a nat."""
    random = np.random.default_rng(3)
    bytes_of = {one.architecture: np.exp(one.ln_kv + random.normal(0, 0.1)) for one in READ.caches}
    priced = [
        panel.listed_models(shipped_data())[0].changed(
            architecture=one.architecture, price_family=one.family,
            release_date=one.released, output_price=bytes_of[one.architecture],
        )
        for one in READ.caches
    ]  # fmt: skip
    one = candidates.judge_predictors(candidates.candidate_rows(READ.caches, priced)["output_price"], READ, since=date.min)
    assert one.enters and one.weight > 0.9 and one.gain_of_pool > 1
