"""The prices of a sheet: every one of them by band and lifetime, with how it is known."""

from invert.inference import infer
from invert.report.contract import sheet_records
from invert.report.prices import all_prices, also_sold, grades_and_page, price_table
from invert.report.sheet import report
from invert.report.short import short_report


def test_every_price_has_a_row_or_a_cell_and_every_note_a_line():
    table = infer("gpt-6-sol")
    (one,) = table
    rows = {row["band"]: row["input"] for row in price_table(one).rows}
    assert rows["base"] == "2" and rows["above 272k tokens"] == "4" and rows["write kept 12 h above 272k tokens"] == "10"
    assert len(rows) == len(one.sheet.bands) + sum(len(offer.prices) for offer in one.sheet.writes)
    notes = {of_band.price.notes for offer in one.sheet.writes for of_band in offer.prices}
    assert {f"  {note}" for note in notes} < {*all_prices(one, table)}


def test_storage_is_by_the_hour_and_another_currency_is_said():
    (one,) = infer("volcengine/glm-4.7")
    assert price_table(one).rows[-1] == {
        **{"band": "cache storage", "input": "0.017/h", "output": "", "cache read": ""},
    }
    assert grades_and_page(one) == f"(quoted) {one.sheet.bands[0].input.source_url}"


def test_other_service_tiers_of_the_model_are_named_with_what_they_ask_in_every_form():
    table = infer("gpt-6-sol")
    said = "Also sold: batch at 0.5 times its input price (backsolve infer --all)."
    assert said in report(table[0], table).splitlines() and "; batch: 0.5x" in short_report(table[0], table)
    (record,) = sheet_records(table)
    assert record["also_sold"] == [{"service_tier": "batch", "region": None, "input_price_usd_per_token": 1e-6, "times_input_price": 0.5}]
    everything = infer("gpt-6-sol", everything=True)
    assert len(everything) == 2 and not any(also_sold(one, everything) for one in everything)
    assert all(record["also_sold"] == [] for record in sheet_records(everything))
