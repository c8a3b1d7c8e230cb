"""How the size of a model is told."""

from invert import infer
from invert.records import OF_ARCHITECTURE, Estimate
from invert.report.flat import flat
from invert.report.sheet import report
from invert.report.size import cell, how_stated, record_in_words, stated_as, stated_size
from invert.report.table import summary


def test_the_range_stands_with_what_ranges_like_it_have_held():
    run = infer(["gpt-6-sol"])
    (one,) = run.inferences
    record = one.market["active_params"].record
    said = record_in_words(record)
    assert f"{record.held[-1].held} lay in their 90% range" in said and f"of {record.count} closed models" in said
    text = " ".join(report(one, run).split())
    assert "How big the model is, by its input price" in text and said in text and "stated prior" in text
    assert said.capitalize() in " ".join(summary(run).split())
    assert cell("active_params", one.market["active_params"]) in summary(run)
    assert flat(one)["active_params_market"] == float(f"{one.market['active_params'].median:.6g}")


def test_cells_are_short():
    assert cell("active_params", Estimate(kind="interval", median=45.2e9, low=13.5e9, high=155e9)) == "45B (14B to 160B)"
    assert cell("input_markup", Estimate(kind="interval", median=25.4, low=25.4, high=25.4)) == "x25"
    assert cell("input_markup", Estimate(kind="interval", median=81.2, low=53.8, high=122.6)) == "x81 (x54 to x120)"
    assert cell("active_params", Estimate(kind="undetermined")) == "-"
    assert record_in_words(None) == "-"


def test_a_size_says_whose_it_is():
    words = {
        "given": "as given",
        "models.csv (verified)": "as stated",
        "models.csv (assumed)": "as assumed",
        "open_models.csv (read)": "as stated",
        "open_models.csv (assumed)": "as assumed",
    }
    assert {origin: stated_as(origin) for origin in words} == words
    assert stated_as(OF_ARCHITECTURE) == "by its architecture"
    (kimi,) = infer("kimi-k3")
    assert (how_stated(kimi), stated_size(kimi)) == ("known", "100B (known)")
