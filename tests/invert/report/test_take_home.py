"""The first lines of a report: what to take home, each number as the record has it, with what it rests on."""

import pytest

from invert.inference import infer
from invert.report.take_home import ranged, take_home
from invert.result import Inference


@pytest.fixture(scope="module")
def closed() -> Inference:
    return infer("gpt-6-sol")[0]


def test_size_cache_mark_up_and_decode_stand_with_their_records(closed: Inference):
    size, kv, markup, decode, *_ = take_home(closed)
    active, headline = closed.market["active_params"], closed.kv_bytes["headline"]
    assert (
        ranged("active_params", active) in size
        and f"Of open models such ranges held {active.record.held[-1].held} of {active.record.count}." in size
    )
    assert ranged("kv_bytes_per_token", headline) in kv and f"held {headline.record.held[-1].held} of {headline.record.count}." in kv
    assert "its own release is not known" in kv and "no price enters" in kv
    assert ranged("input_markup", closed.market["input_markup"]) in markup
    assert "80% of the time (61% to 90%)" in decode


def test_a_public_architecture_is_said_first():
    _, kv, *_ = take_home(infer("kimi-k3")[0])
    assert "by its architecture (verified); " in kv and kv.index("27.6 kB") < kv.index("Such ranges")
    known = take_home(infer("glm-4.7")[0])
    assert known[0].startswith("Size: 32B active parameters (") and "(11.9" not in known[2]


def test_what_is_not_identified_is_said_so():
    (one,) = infer(["gemini-3.1-pro"], as_of=None, tier="batch") or infer("gemini-3.1-pro")
    assert take_home(one)[0].startswith("Size: not identified, ")


def test_given_bytes_stand_in_the_place_of_the_class():
    one = infer(["gemini-3.1-pro"], anchors={"kv_bytes_per_token": "70kB"})[0]
    assert take_home(one)[1] == "KV read: 70 kB/token (given)."
