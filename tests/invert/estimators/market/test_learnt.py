"""What a run learns of the market: sizes that became known, the class of a day, and what is refused where too little is known."""

import numpy as np
import pytest
from scipy import stats

from derive.errors import WrongData
from derive.preset_rows import Architecture, OpenModel
from derive.price_rows import DisclosedSize, ListPrice
from derive.shipped import read, rows_of
from invert.data import read_data
from invert.estimators.market import learnt, panel, size
from invert.estimators.market.regression import fit, grouped
from invert.estimators.market.size import ANY
from invert.sheets.read import last_day
from tests.tools.data import shipped_data
from tests.tools.tables import reading, with_cells

LISTED = panel.by_list_price(rows_of(OpenModel), rows_of(ListPrice))


def test_sizes_that_were_disclosed_lie_where_they_should():
    """Nine, of which no fit has seen one: mean +.13 nat, root mean square .57 against 1.50 of the class, eight in the range."""
    one = size.fitted(ANY, LISTED)
    rows = [row for row in rows_of(DisclosedSize) if row.active_params]
    errors = np.array([np.log(row.active_params / 1e9) - one.intercept - one.slopes[0] * np.log(row.input_price) for row in rows])
    assert len(rows) == 9 and not {row.model for row in rows} & {row.model for row in LISTED}
    assert (errors.mean(), np.sqrt((errors**2).mean())) == pytest.approx((0.13, 0.57), abs=0.005)
    assert (np.abs(errors) < stats.t.ppf(0.95, one.freedom) * one.scale).sum() == 8
    found = learnt.disclosed_record(shipped_data())
    mean = fit(grouped([np.log(row.active_params / 1e9) for row in LISTED], [row.price_family for row in LISTED])).intercept
    of_class = [np.log(row.active_params / 1e9) - mean for row in rows]
    assert (found.count, found.groups, found.held[-1].held) == (9, 6, 8)
    assert (found.rms, found.rms_of_class) == pytest.approx((np.sqrt((errors**2).mean()), np.sqrt(np.mean(np.square(of_class)))))
    assert found.rms_of_class == pytest.approx(1.5, abs=0.005) and found.has_skill()


def test_a_row_of_a_day_after_the_prices_teaches_nothing_and_is_named():
    newest = last_day(shipped_data())
    text = read().content("architectures.csv").decode()
    late = with_cells(text, lambda row: row | ({"release_date": "2099-01-01"} if row["model"] == "DeepSeek-V3.2" else {}))
    with reading(read().edited(architectures=late)):
        data = read_data()
        row = next(one for one in data.tables.rows_of(Architecture) if one.model == "DeepSeek-V3.2")
        told = f"architectures.csv row {row.place}, column release_date: 2099-01-01 is after the prices were read, on {newest}"
        assert str(learnt.dated_late(row, data)) == told
        assert "DeepSeek-V3.2" not in {one.architecture for one in learnt.known_caches(data)["read"]}
    row = next(one for one in rows_of(Architecture) if one.model == "DeepSeek-V3.2")
    assert learnt.dated_late(row, shipped_data()) is None
    assert "DeepSeek-V3.2" in {one.architecture for one in learnt.known_caches(shipped_data())["read"]}


def test_there_is_no_class_of_a_day_before_two_families():
    first = min(one.released for one in learnt.known_caches(shipped_data())["stored"])
    with pytest.raises(WrongData, match="fewer than two families were released earlier"):
        learnt.usual_stored(shipped_data(), first)
    assert learnt.class_at(shipped_data(), "stored", first, "") is None


def test_a_size_is_learnt_from_lists_that_are_left_or_refused():
    text = read().content("list_prices.csv").decode()
    kept = {row.model for row in LISTED if row.price_family == LISTED[0].price_family}
    header, *lines = text.splitlines(keepends=True)
    left = "".join([header, *(line for line in lines if line.split(",")[0] in kept)])
    told = r"list_prices\.csv: fewer than \d+ values of price_family are left to learn a size from"
    with reading(read().edited(list_prices=left)), pytest.raises(WrongData, match=told):
        learnt.size_record(read_data(), "any")
