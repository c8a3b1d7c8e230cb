"""What a run hands back, as plain records: names, what follows from the fields when it is asked for, and travel."""

from dataclasses import replace
from math import log
from statistics import median

import pytest

from invert.inference import infer
from invert.result import Inference, Run
from tests.tools.inferred import current


def test_a_sheet_is_named_as_its_rows_are():
    assert all(one.name == f"{one.sheet.provider}/{one.sheet.model}" for one in current())
    assert isinstance(current(), Run) and all(isinstance(one, Inference) for one in current())
    assert len(current()) == len(list(current())) == len(current().inferences)


def test_pricing_rules_are_there_where_a_sheet_has_two_bands_and_worked_out_once():
    for one in current():
        assert (one.rules is None) == (len(one.sheet.bands) == 1) == (not one.pairs)
        assert one.rules is one.rules and one.identifiability is one.identifiability


def test_what_was_given_is_told_from_what_is_assumed():
    assert current().given == {}
    table = infer(["gemini-3.1-pro", "kimi-k3"], anchors={"overlap": 0, "active_params": "60B"})
    assert table.given == {"overlap": 0.0, "active_params": 60e9}
    assert set(table.given) < set(table.anchors.values)


# -- numbers that forms print beside estimates ------------------------------------------------------------------------


def test_medians_that_a_premium_gives_lie_a_factor_apart():
    for one in current():
        medians = sorted(of.median for name, of in one.kv_bytes.items() if name != "headline" and of.median)
        assert (one.apart is None) == (len(medians) < 2)
        assert one.apart is None or (one.apart.factor, one.apart.nats) == pytest.approx((medians[-1] / medians[0], log(one.apart.factor)))
    assert any(one.apart for one in current()) and not all(one.apart for one in current())


def test_a_known_cache_is_so_many_times_what_the_readings_make_of_it():
    seen = set()
    for one in current():
        assert (one.times_reading is None) == (one.known is None or not one.pairs)
        for name in ("lecture", "joint") if one.times_reading else ():
            read = getattr(one.pairs[0], name).values.get("kv_bytes_per_token")
            times = getattr(one.times_reading, name)
            assert (times is None) == (read is None) and (read is None or times * read == pytest.approx(one.known.read))
            seen.add(name)
    assert seen == {"lecture", "joint"}


def test_the_joint_reading_is_so_many_times_the_lecture_s():
    (without,) = infer(["gemini-3.1-pro"], changes={"output@200k": "9"})
    assert without.pairs[0].joint_over_lecture is None and without.pairs[0].joint.problem
    (pair,) = infer(["gemini-3.1-pro"])[0].pairs
    jointly, alone = pair.joint.values["kv_bytes_per_token"], pair.lecture.values["kv_bytes_per_token"]
    assert pair.joint_over_lecture == pytest.approx(jointly / alone)


def test_what_the_known_caches_of_a_run_are_held_against_is_counted_once():
    found = current().held_here
    read = [one for one in current() if one.known and one.pairs]
    times = sorted(one.known.read / one.pairs[0].lecture.values["kv_bytes_per_token"] for one in read)
    assert found.sheets == len(read) > 3 and found.unsure == sum(one.known.grade != "verified" for one in read)
    span = found.times_lecture
    assert (span.low, span.median, span.high) == pytest.approx((times[0], median(times), times[-1]))
    assert "headline" not in found.ranges and {"one_markup", "at_rent", "increment"} == set(found.ranges)
    for counted, kind in ((found.ranges, "interval"), (found.bounds, "upper")):
        for name, of in counted.items():
            known = [(one.kv_bytes[name], one.known.read) for one in current() if one.known and one.kv_bytes[name].kind == kind]
            held = [(estimate.low or 0) <= truth <= estimate.high for estimate, truth in known]
            assert (of.held, of.count) == (sum(held), len(held))
    none = infer(["gpt-5.4"]).held_here
    assert (none.sheets, none.times_lecture, none.ranges, none.bounds) == (0, None, {}, {})


def test_a_run_tells_the_ratio_and_the_mark_up_in_the_middle():
    asked = [one.sheet.bands[0].output.usd_per_token / one.sheet.bands[0].input.usd_per_token for one in current()]
    assert current().typical_ratio == pytest.approx(median(asked)) and replace(current(), inferences=()).typical_ratio is None
    one = next(one for one in current() if one.market["input_markup"].kind == "interval")
    assert one.market["input_markup"].because.endswith(f". Lists of open models are at {current().markup_of_lists:.0f} times")


def test_what_is_sold_beside_is_told_by_its_price_and_how_many_times_the_sheet_s_it_is():
    table = infer(["gpt-6-sol"])
    (batch,) = table.also_sold(table[0])
    assert (batch.service_tier, batch.region, batch.input_price, batch.times) == ("batch", "", pytest.approx(1e-6), pytest.approx(0.5))
