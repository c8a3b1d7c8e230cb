"""Small functions of `invert.databases` on examples."""

import datetime
from types import SimpleNamespace

from invert.databases.genai import plain_record, read_condition
from invert.databases.hours import hours_text, windows_between
from invert.databases.litellm import bands_by_tier, model_of, peak_hours
from invert.databases.records import PER_TOKEN, name_in_a_cell, named_in, provider_of, rates_of, split_route, token_count, whole_day
from invert.databases.renamed import fields_in


def test_plain_record():
    assert plain_record([SimpleNamespace(id="m", match="m*", prices=SimpleNamespace(input_mtok=2))]) == [
        {"id": "m", "prices": {"input_mtok": 2}}
    ]


def test_read_condition():
    assert read_condition({"processing": "batch"}) == ("batch", "", "")
    assert read_condition({"route": "mistral/eu"}) == ("standard", "eu", "")
    assert read_condition({"search_type": "web"}) == ("", "", "")
    assert read_condition({"service_tier": "default"}) == ("", "", "")
    assert read_condition({"service_tier": "turbo"}) == ("", "", "service_tier=turbo")


def test_windows_between():
    assert windows_between(60, 240) == [(60, 240)]
    assert windows_between(1320, 240) == [(0, 240), (1320, 1440)]
    assert windows_between(960, 0) == [(960, 1440)]


def test_hours_text():
    assert hours_text([(60, 240), (360, 1440)]) == "01:00-04:00;06:00-24:00"


def test_bands_by_tier():
    assert bands_by_tier(
        {"input_cost_per_token": 2e-06, "input_cost_per_token_above_200k_tokens": 4e-06, "input_cost_per_token_batches": 1e-06}
    ) == {"standard": {0: {("input", None): 2.0}, 200000: {("input", None): 4.0}}, "batch": {0: {("input", None): 1.0}}}


def test_model_of():
    assert model_of("xai/grok-4.5", "xai") == "grok-4.5"
    assert model_of("gpt-6", "openai") == "gpt-6"
    assert model_of("azure/eu/gpt-6", "azure") == "eu/gpt-6"


def test_peak_hours():
    assert peak_hours(
        {"windows": [{"hours_utc": ["00:00-01:00", "04:00-00:00"], "weekdays": [1, 2, 3]}, {"hours_utc": "00:00-00:00"}]}
    ) == ([(60, 240)], "1-3")


def test_provider_of():
    assert provider_of("xai") == "x-ai"
    assert provider_of("acme") == "acme"


def test_name_in_a_cell():
    assert name_in_a_cell("@cf/meta/llama") == "cf/meta/llama"
    assert name_in_a_cell(" =＋x") == "x"
    assert name_in_a_cell("gpt-6") == "gpt-6"


def test_split_route():
    assert split_route("openai/gpt-6:batch") == ("openai/gpt-6", "batch")
    assert split_route("anthropic/claude-opus-5-fast") == ("anthropic/claude-opus-5", "fast")
    assert split_route("x-ai/grok-4-fast") == ("x-ai/grok-4-fast", "")


def test_named_in():
    assert named_in({"id": "m"}, "id") == "m"
    assert named_in({"id": None}, "id") == ""
    assert named_in([], "id") == ""


def test_rates_of():
    fields = {"prompt": ("input", None), "completion": ("output", None)}
    assert rates_of({"prompt": "0.000003", "completion": "0.000015", "request": "0"}, fields, PER_TOKEN) == {
        ("input", None): 3.0,
        ("output", None): 15.0,
    }


def test_token_count():
    assert token_count(128000.0) == 128000
    assert token_count("131072") == 131072
    assert token_count("many") is None
    assert token_count(None) is None
    assert token_count(0) is None


def test_whole_day():
    assert whole_day("2026-02-19") == datetime.date(2026, 2, 19)
    assert whole_day("2026-02") is None
    assert whole_day("soon") is None
    assert whole_day(None) is None


def test_fields_in():
    assert sorted((name for name, _ in fields_in({"limit": {"context": 1}, "tiers": [{"input": 2}]}))) == [
        "context",
        "input",
        "limit",
        "tiers",
    ]
