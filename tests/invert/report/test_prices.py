"""The prices of a sheet: every one of them by band and lifetime, with how it is known."""

from invert.inference import infer
from invert.report.contract import sheet_records
from invert.report.sheet import report
from invert.report.short import short_report


def test_other_service_tiers_of_the_model_are_named_with_what_they_ask_in_every_form():
    table = infer("gpt-6-sol")
    said = "Also sold: batch at 0.5 times its input price (backsolve infer --all)."
    assert said in report(table[0], table).splitlines() and "; batch: 0.5x" in short_report(table[0], table)
    (record,) = sheet_records(table)
    assert record["also_sold"] == [{"service_tier": "batch", "region": None, "input_price_usd_per_token": 1e-6, "times_input_price": 0.5}]
    everything = infer("gpt-6-sol", everything=True)
    assert len(everything) == 2 and not any("Also sold" in report(one, everything) for one in everything)
    assert all(record["also_sold"] == [] for record in sheet_records(everything))
