"""The prices of a sheet: every one of them by band and lifetime, with how it is known."""

from invert.inference import infer
from invert.report.prices import all_prices, grades_and_page, price_table


def test_every_price_has_a_row_or_a_cell_and_every_note_a_line():
    (one,) = infer("gpt-6-sol")
    rows = {row["band"]: row["input"] for row in price_table(one).rows}
    assert rows["base"] == "2" and rows["above 272k tokens"] == "4" and rows["write kept 12 h above 272k tokens"] == "10"
    assert len(rows) == len(one.sheet.bands) + sum(len(offer.prices) for offer in one.sheet.writes)
    notes = {of_band.price.notes for offer in one.sheet.writes for of_band in offer.prices}
    assert {f"  {note}" for note in notes} < {*all_prices(one)}


def test_storage_is_by_the_hour_and_another_currency_is_said():
    (one,) = infer("volcengine/glm-4.7")
    assert price_table(one, "CNY per million tokens").rows[-1] == {
        **{"CNY per million tokens": "cache storage", "input": "0.017/h", "output": "", "cache read": ""},
    }
    assert grades_and_page(one) == f"graded quoted; for the page {one.sheet.bands[0].input.source_url}"
