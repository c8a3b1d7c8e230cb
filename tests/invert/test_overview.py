"""A market that is made up: what it counts, by hand."""

import io
from dataclasses import replace
from functools import cache

import pytest

from derive.tables.problems import Problem
from invert.data import read_data
from invert.inference import infer
from invert.overview import overview
from invert.records import ProviderSizes, Span
from invert.report.overview import overview_text
from invert.result import InferenceTable
from invert.sheets.read import book_of
from tests.tools.inferred import current

HEAD = "provider,model,service_tier,component,threshold_tokens,ttl_seconds,amount\n"


def priced(provider: str, model: str, *prices: tuple[str, int | str, float], tier: str = "standard") -> str:
    """Rows of a sheet by component, threshold or lifetime, and amount."""
    lines = []
    for component, at, amount in prices:
        place = f",{at}" if component == "cache_write" else f"{at},"
        lines.append(f"{provider},{model},{tier},{component},{place},{amount}\n")
    return "".join(lines)


BASE = (("input", "", 1), ("output", "", 4))
LONG = (*BASE, ("input", 200_000, 2), ("output", 200_000, 6))
OWN = HEAD + "".join(
    (
        priced("openai", "one", *LONG, ("cache_read", "", 0.1), ("cache_write", 300, 1.25)),
        priced("openai", "one", ("input", "", 0.5), ("output", "", 2), tier="batch"),
        priced("bravo", "openai/one-2026-01-01", *LONG, ("cache_read", "", 0.1), ("cache_write", 300, 1.25)),
        priced("bravo", "two", *BASE, ("input", 272_000, 2), ("output", 272_000, 6), ("cache_read", "", 0.25)),
        priced("carol", "three", ("input", "", 3), ("output", "", 1.5), ("cache_read", "", 0.3)),
    )
)


@cache
def made_up() -> InferenceTable:
    return infer(["openai/one", "bravo/*", "carol/three"], prices=io.StringIO(OWN))


def test_what_asks_the_same_for_the_same_model_is_counted_once_as_the_makers():
    found = overview(made_up())
    assert (found.sheets, found.providers, found.offers, found.copies) == (4, 3, 3, {"bravo": 1})
    assert {one.provider: one.offers for one in found.sizes} == {"openai": 1, "bravo": 1, "carol": 1}
    assert found.beside == {"batch": 1}
    dearer = overview(
        infer(
            ["openai/one", "bravo/*"], prices=io.StringIO(OWN.replace("2026-01-01,standard,output,,,4", "2026-01-01,standard,output,,,5"))
        )
    )
    assert dearer.copies == {} and dearer.offers == dearer.sheets == 3


@pytest.mark.parametrize(("lifetime", "copies"), [("", {"bravo": 1}), ("3600", {})])
def test_a_lifetime_that_is_left_blank_is_that_of_the_maker_and_another_one_is_another_offer(lifetime: str, copies: dict[str, int]):
    own = OWN.replace("2026-01-01,standard,cache_write,,300", f"2026-01-01,standard,cache_write,,{lifetime}")
    assert overview(infer(["openai/one", "bravo/openai/one-2026-01-01"], prices=io.StringIO(own))).copies == copies


def test_what_offers_carry_is_counted_by_lifetime_and_tier():
    carried = {(one.observable, one.of): one for one in overview(made_up()).carried}
    assert {name: one.offers for name, one in carried.items()} == {
        ("output_input_ratio", ""): 3,
        ("premium_in", ""): 2,
        ("premium_out", ""): 2,
        ("cache_read_ratio", ""): 3,
        ("cache_write_premium", "300"): 1,
        ("input_price_of_service_tier", "batch"): 1,
    }
    reads = carried["cache_read_ratio", ""]
    assert (reads.commonest, reads.at_commonest, reads.providers) == (0.1, 2, 3)
    assert reads.span == Span(low=0.1, median=0.1, high=0.25)
    assert carried["cache_write_premium", "300"].commonest == 0.25
    assert carried["input_price_of_service_tier", "batch"].commonest == 0.5


def test_premiums_that_are_shared_are_listed_with_their_thresholds():
    (found,) = overview(made_up()).premiums
    assert (found.premium_in, found.premium_out, found.offers, found.providers) == (2.0, 1.5, 2, 2)
    assert found.thresholds == {200_000: 1, 272_000: 1}


def test_kinds_and_reasons_add_up_to_the_offers():
    run, found = made_up(), overview(made_up())
    assert all(sum(one.kinds.values()) == found.offers for one in found.outcomes if one.quantity != "implied_drain_time")
    assert all(sum(one.because.values()) == sum(n for kind, n in one.kinds.items() if kind != "interval") for one in found.outcomes)
    by_name = {(one.quantity, one.estimator): one for one in found.outcomes}
    assert by_name["kv_bytes_per_token", "one_markup"].kinds == {"interval": 2, "upper": 1}
    (three,) = [one for one in run if one.sheet.model == "three"]
    assert by_name["bandwidth_bound_fraction", ""].because == {three.estimates["bandwidth_bound_fraction"].because: 1}


def test_sizes_are_those_stated_or_the_medians_by_price_makers_first():
    run = made_up()
    first, *others = overview(run).sizes
    one = run["openai/one"].market["active_params"].median
    assert first == ProviderSizes(provider="openai", makes=True, offers=1, sized=1, span=Span(low=one, median=one, high=one))
    assert not any(other.makes for other in others)
    assert overview(infer("kimi-k3")).sizes[0].span.median == infer("kimi-k3")[0].anchors.values["active_params"]


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        (Problem(origin="carol/three", row=None, column=None, message="why"), {"why": 1}),
        (Problem(origin="mine.csv", row=3, column="amount", message="is negative"), {}),
    ],
)
def test_sheets_without_a_result_are_counted_by_reason_and_faults_of_files_are_not(fault: Problem, counted: dict[str, int]):
    assert overview(replace(made_up(), problems=(fault,))).no_result == counted


def test_no_sheets_make_no_market():
    found = overview(replace(made_up(), inferences=()))
    assert (found.offers, found.carried, found.premiums, found.sizes) == (0, (), (), ())


@pytest.mark.slow
def test_every_offer_is_counted_in_every_line_of_what_comes_of_the_prices():
    found = overview(current())
    assert len({sum(one.kinds.values()) for one in found.outcomes}) == 1
    said = overview_text(found, 100)
    assert "has no price for it" in " ".join(said.split()) and "in balance batches" not in said


def test_every_sheet_of_the_data_is_in_the_run_beside_it_or_of_another_day():
    run = infer(provider=["meta"])
    whole = replace(run, request=replace(run.request, providers=()))
    found, keys = overview(whole), {row.sheet_key for row in book_of(read_data()).rows}
    assert found.sheets + sum(found.beside.values()) + found.of_other_days == len(keys) and found.beside["batch"] >= 1
    assert overview(run).beside == {} and overview(run).of_other_days == 0, "of what was asked for"


def test_sheets_of_models_that_no_table_dates_are_counted_but_not_those_whose_cache_is_given():
    asked = {"names": ["openai/one", "bravo/*", "carol/three", "gpt-5.4"], "prices": io.StringIO(OWN)}
    assert overview(infer(**asked)).release_unknown == 4
    given = infer(["carol/three"], prices=io.StringIO(OWN), anchors={"kv_bytes_per_token": 5e4})
    assert overview(given).release_unknown == 0
