"""What a run learns of the market: sizes that became known, the class of a day, and what is refused where too little is known."""

import numpy as np
import pytest

from derive.errors import WrongData
from derive.preset_rows import Architecture, OpenModel
from derive.tables.shipped import read, rows_of
from invert.assumptions import USUAL
from invert.data import read_data
from invert.estimators.market import learnt, panel, size
from invert.records import CLOSED_MODELS
from invert.sheets.read import last_day
from invert.sheets.tables import DisclosedSize, ListPrice
from tests.tools.data import shipped_data
from tests.tools.tables import reading, with_cells

LISTED = panel.by_list_price(rows_of(OpenModel), rows_of(ListPrice))


@pytest.mark.parametrize(
    ("use", "params", "count", "vendors", "rms", "extra"),
    [("closed", "active_params", 7, 7, 0.234, (-0.25, 0.32)), ("total", "total_params", 9, 5, 0.706, (-0.33, 0.37))],
)
def test_closed_models_have_the_record_of_what_is_printed_for_them(use, params, count, vendors, rms, extra):
    """The fit of open models, and the extra price/cost of the other closed vendors: by other code, a normal mean with a known error."""
    found = learnt.closed_record(shipped_data(), use)
    assert (found.count, found.groups, found.held[-1].held, found.of) == (count, vendors, count, CLOSED_MODELS)
    assert found.rms == pytest.approx(rms, abs=0.005) and found.has_skill()
    assert learnt.extra_markup(shipped_data(), use, USUAL) == pytest.approx(extra, abs=0.005)
    one = size.fitted(size.CLOSED if use == "closed" else size.TOTAL, size.rows_for(size.CLOSED, LISTED))
    rows = [row for row in rows_of(DisclosedSize) if row.closed and row.exactly(params) and (use == "closed" or row.date.year >= 2025)]
    errors = np.array([np.log(row.exactly(params) / 1e9) - one.intercept - one.slopes[0] * np.log(row.input_price) for row in rows])
    sellers, left = np.array([row.vendor for row in rows]), []
    for row, error in zip(rows, errors, strict=True):
        others = sellers != row.vendor
        weights = np.array([(sellers == seller).sum() ** -0.5 for seller in sellers[others]])
        said, precision = -errors[others] / one.slopes[0], weights * (one.slopes[0] / one.scale) ** 2
        left.append(error + one.slopes[0] * (precision * said).sum() / (precision.sum() + 1 / 0.6**2))
    assert found.rms == pytest.approx(np.sqrt(np.mean(np.square(left))), rel=1e-6)
    assert not {row.model for row in rows} & {row.model for row in LISTED}


def test_a_bound_is_no_size():
    sizes = {row.model: (row.exactly("active_params"), row.exactly("total_params")) for row in rows_of(DisclosedSize)}
    assert sizes["Qwen3-Max"] == (None, None) and sizes["ERNIE-5.0"] == (None, 2.4e12) and sizes["Seed-1.6"] == (23e9, 230e9)


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
