"""The prices of a sheet: every one of them by band and lifetime, with how it is known."""

from invert.inference import infer
from invert.report.contract import sheet_records
from invert.report.prices import all_prices, predicted_prices
from invert.report.sheet import report
from invert.report.short import short_report
from invert.sheets.assemble import prices_by_place


def test_every_price_has_a_row_and_every_note_a_line():
    table = infer("gpt-6-sol")
    (one,) = table
    rows = {row["USD per million tokens"]: row["published"] for row in predicted_prices(one).rows}
    assert rows["input"] == "2" and rows["input above 272k"] == "4" and rows["cache write, kept 12 h above 272k"] == "10"
    assert len(rows) == len(prices_by_place(one.sheet))
    notes = {of_band.price.notes for offer in one.sheet.writes for of_band in offer.prices}
    assert {f"  {note}" for note in notes} < {*all_prices(one, table)}


def test_other_service_tiers_of_the_model_are_named_with_what_they_ask_in_every_form():
    table = infer("gpt-6-sol")
    said = "Also sold: batch at 0.5 times its input price (backsolve infer --all)."
    assert said in report(table[0], table).splitlines() and "; batch: 0.5x" in short_report(table[0], table)
    (record,) = sheet_records(table)
    assert record["also_sold"] == [{"service_tier": "batch", "region": None, "input_price_usd_per_token": 1e-6, "times_input_price": 0.5}]
    everything = infer("gpt-6-sol", everything=True)
    assert len(everything) == 2 and not any("Also sold" in report(one, everything) for one in everything)
    assert all(record["also_sold"] == [] for record in sheet_records(everything))
