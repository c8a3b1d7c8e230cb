"""One sheet on one screen: at most so many lines at any width, nothing without what qualifies it, nothing that the record has not."""

from dataclasses import replace
from functools import cache

import pytest

from derive.show.folding import folded
from invert.inference import infer
from invert.report.short import MOST_PRICES, headlines, short_parts, short_report
from invert.table import InferenceTable

MOST_LINES, MOST_HEADLINES = 45, 6


@cache
def everything() -> InferenceTable:
    return infer()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_sheet_fits_a_screen(width: int):
    run = everything()
    longest = {one.name: len(short_report(one, run, width).splitlines()) for one in run}
    assert max(longest.values()) <= MOST_LINES, {name: lines for name, lines in longest.items() if lines > MOST_LINES}
    assert all(len(line) <= width for one in run for line in short_report(one, run, width).splitlines() if "://" not in line)


def test_what_to_take_home_is_six_lines_of_any_terminal():
    run = everything()
    for one in run:
        said = [part for line in headlines(one) for part in folded(line, 80).splitlines()]
        assert 4 <= len(said) <= MOST_HEADLINES, said


def test_a_closed_sheet_is_its_price_and_its_time_each_with_its_record():
    run = everything()
    size, read, stored, markup, decode, tier = headlines(run["openai/gpt-6-sol"])
    assert size == "Size: 45B active (14B to 150B) by its price; such held 38 of 42."
    assert read == "KV read: 20 kB/token (2.8 to 140 kB) as models of its time; such held 11 of 14."
    assert stored.endswith("; such held 13 of 14.") and markup.endswith("times its cost at rent, by that size.")
    assert decode == "Decode: waits for memory 61% to 90% of the time, if output/input is a cost."
    assert tier.startswith("Tier: 30 min and 12 h as HBM, DDR or flash ") and tier.endswith("; one source.")


def test_what_is_known_stands_before_what_is_estimated():
    run = everything()
    size, read, stored, *_ = headlines(run["minimax/MiniMax-M3"])
    assert size.startswith("Size: 23B active as stated; 19B (6.7B to 55B) by its price; such held ")
    assert read == "KV read: 21 kB/token by its architecture (verified)." and stored.endswith("by its architecture.")
    assert "its architecture (verified)" in short_report(run["minimax/MiniMax-M3"], run)


def test_what_qualifies_a_size_stands_beside_it():
    run = everything()
    assert "by its price, extrapolated." in headlines(run["openai/gpt-6-astra"])[0]
    assert "by its introductory price" in headlines(run["google/gemini-3.8-flash"])[0]


def test_a_sheet_without_a_size_says_why():
    (one,) = infer("gemini-3.1-pro")
    lost = replace(one, market={**one.market, "active_params": replace(one.market["active_params"], kind="undetermined", because="why")})
    assert headlines(lost)[0] == "Size: not identified, why."
    assert headlines(infer("gemini-3.1-pro", anchors={"active_params": "60B"})[0])[0].startswith("Size: 60B active as given; 45B (")
    assert headlines(infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": "70kB"})[0])[1] == "KV read: 70 kB/token (given)."


def test_prices_beyond_a_few_are_counted():
    run = everything()
    one = run["openai/gpt-6-sol"]
    more = (replace(one.sheet.writes[0], ttl_seconds=60), *one.sheet.writes)
    table = next(part for part in short_parts(replace(one, sheet=replace(one.sheet, writes=more)), run) if "cache read" in part)
    assert len(table.splitlines()) == MOST_PRICES + 2 and "2 more, as in --full" in table


def test_an_amount_that_was_put_in_is_said():
    run = everything()
    changed = replace(run, changes={"output": "20"})
    assert "what if: output = 20, in place of the published amount" in short_report(run["openai/gpt-6-sol"], changed)
