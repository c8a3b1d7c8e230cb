"""The first lines of a report: what to take home, each number as the record has it, with what it rests on."""

from dataclasses import replace

from derive.show.folding import folded
from invert.inference import infer
from invert.records import TierEvidence
from invert.report.sheet import report
from invert.report.short import short_report
from invert.report.take_home import headlines
from invert.result import Inference
from invert.storage.tiers import TIERS
from tests.tools.inferred import current, everything
from tests.tools.together import in_one_test

MOST_HEADLINES = 6


@in_one_test("width", [80, 100, 120])
def test_what_to_take_home_is_six_lines_of_any_terminal(width: int):
    for one in everything():
        said = [part for line in headlines(one) for part in folded(line, width).splitlines()]
        assert 4 <= len(said) <= MOST_HEADLINES, said


def test_a_closed_sheet_is_its_price_and_its_time_each_with_its_record():
    run = current()
    size, read, stored, markup, decode, tier = headlines(run["openai/gpt-6-sol"])
    assert size == "Size: 45B active (14B to 150B) by its price; held for 38 of 42 open models."
    assert read == "KV read: 20 kB/token (2.8 to 140 kB) as models of its time; held for 11 of 14."
    assert stored.endswith("; held for 13 of 14.") and markup.endswith("times cost at rent, by that size; no record.")
    assert decode == "Decode: waits for memory 61 to 90% as hosts vary, if priced at cost; no record."
    assert tier.startswith("Tier: 30 min, 12 h as HBM, DDR or flash (98%), HBM alone ") and tier.endswith("; one source.")


def test_what_is_stored_leans_on_no_sentence_that_is_not_there():
    (one,) = infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": 70e3})
    read, stored = headlines(one)[1:3]
    assert read == "KV read: 70 kB/token (given)." and "as models of its time" in stored and "likewise" not in stored


def test_what_is_known_stands_before_what_is_estimated():
    run = current()
    size, read, stored, *_ = headlines(run["minimax/MiniMax-M3"])
    assert size.startswith("Size: 23B active as stated; 19B (6.6B to 55B) by its price; held for ")
    assert "closed" not in size
    assert read == "KV known: 21 kB/token by its architecture (verified)." and stored.endswith("by its architecture.")


def test_what_qualifies_a_size_stands_beside_it():
    run = current()
    assert "by its price, extrapolated." in headlines(run["openai/gpt-6-astra"])[0]
    size = headlines(run["google/gemini-3.8-flash"])[0]
    assert size == "Size: 25B active (7.5B to 85B) by introductory price; held for 38 of 42 open.", "in 80 columns"
    assert "introductory, ends 2027-01-01" in report(run["google/gemini-3.8-flash"], run)


def test_a_sheet_without_a_size_says_why():
    (one,) = infer("gemini-3.1-pro")
    lost = replace(one, market={**one.market, "active_params": replace(one.market["active_params"], kind="undetermined", because="why")})
    assert headlines(lost)[0] == "Size: not identified, why."
    assert headlines(infer("gemini-3.1-pro", anchors={"active_params": "60B"})[0])[0].startswith("Size: 60B active as given; 45B (")
    assert headlines(infer("qwen3-coder-plus")[0])[0].startswith("Size: 35B active as assumed; 42B (")
    assert headlines(infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": "70kB"})[0])[1] == "KV read: 70 kB/token (given)."


def test_the_screen_and_the_full_report_begin_alike():
    run = current()
    one = run["openai/gpt-6-sol"]
    for form in (short_report, report):
        assert form(one, run, 100).splitlines()[2:8] == headlines(one)


def test_ranges_without_a_record_say_so():
    one = current()["openai/gpt-6-sol"]
    without = {line.partition(":")[0] for line in headlines(one) if line.endswith("no record.")}
    assert without == {"Mark-up", "Decode"}
    assert not any(found.kept for found in (one.market["input_markup"], one.estimates["bandwidth_bound_fraction"]))


# -- memory tiers ---------------------------------------------------------------------------------------------------


def of_tiers(found: Inference) -> list[str]:
    return [line for line in headlines(found) if line.startswith("Tier: ")]


def percent(found: TierEvidence, tier: str) -> str:
    low, high = found.ranges[tier]
    return f"{100 * low:.0f} to {high:.0%}"


def test_the_tiers_that_all_cases_agree_on_and_the_range_of_the_likeliest():
    one = current()["google/gemini-3.1-pro-preview"]
    (sold,) = one.storage
    share = sold.probabilities["hbm"] + sold.probabilities["ddr"]
    assert of_tiers(one) == [f"Tier: per hour as HBM or DDR ({share:.0%}), HBM alone {percent(sold, 'hbm')}."]


def test_what_the_vendor_says_stands_in_the_place_of_a_share():
    one = current()["anthropic/claude-opus-5"]
    assert of_tiers(one) == ["Tier: 5 min, 1 h in HBM or DDR, says the vendor."]
    on_disk = replace(one.storage[0], disclosed="hdd", probabilities=dict.fromkeys(TIERS, 0.0) | {"hdd": 1.0}, agreed=("hdd",))
    assert of_tiers(replace(one, storage=(on_disk,))) == ["Tier: 5 min in disk, says the vendor."]


def test_where_no_tier_can_be_left_out_any_is_said():
    """The range of every tier over one half means that each is likely in some case: then all four are needed."""
    (line,) = of_tiers(current()["moonshotai/kimi-k3"])
    assert line.startswith("Tier: 5 min as any tier (flash ") and "); 1 h as any tier (flash " in line


def test_a_sheet_that_sells_no_lifetime_has_no_line():
    assert of_tiers(current()["openai/gpt-5.4"]) == []
    assert of_tiers(replace(current()["moonshotai/kimi-k3"], storage=())) == []


def test_lifetimes_of_unlike_answers_stand_side_by_side():
    one = current()["anthropic/claude-opus-5"]
    short, long = one.storage
    on_disk = replace(long, disclosed="disk", agreed=("flash", "hdd"), probabilities={"hbm": 0.0, "ddr": 0.0, "flash": 0.5, "hdd": 0.5})
    (line,) = of_tiers(replace(one, storage=(short, on_disk)))
    assert line == "Tier: 5 min in HBM or DDR, says the vendor; 1 h in flash or disk, says the vendor."
