"""The section on lists of one band: what it prints is worked out from the rows of hosts."""

from dataclasses import replace

import pytest

from derive.errors import WrongData
from derive.preset_rows import OpenModel
from derive.tables.shipped import rows_of
from invert.assumptions import USUAL
from invert.estimators import panel
from invert.estimators.panel import commonest, rank_correlation, spread_within
from invert.sheets.tables import HostPrice
from invert.validation import scoreboard
from invert.validation.single_band import single_band_rows
from tests.tools.data import shipped_data


def rows(hosts: list[HostPrice]) -> dict[str, str]:
    found = single_band_rows(hosts, rows_of(OpenModel), panel.listed_models(shipped_data()), None, USUAL)
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
    agreeing = [replace(row, output_price=5 * row.input_price) for row in of_hosts]
    assert rows(agreeing)["ln output/input"] == "sd 0.00, median 0.00" and rows(agreeing)["fraction at 5"] == "80% to 80%"
    without = [row for row in of_hosts if not row.size_bucket]
    assert len(without) < len(of_hosts) and rows(without) == rows(of_hosts)


def test_cache_reads_that_follow_the_cache_are_seen():
    kv = {row.model: row.kv_bytes_per_token for row in rows_of(OpenModel) if row.kv_bytes_per_token}
    told = [replace(row, cache_read_price=row.input_price * kv[row.model] / 1e7) for row in rows_of(HostPrice) if row.model in kv]
    assert rows(told)["cache read: KV"] == "rank correlation +1.00"
