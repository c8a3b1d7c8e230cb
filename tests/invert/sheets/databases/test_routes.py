"""A route of OpenRouter is a service tier of its model, and no model."""

import pytest

from invert.sheets.databases import openrouter
from invert.sheets.databases.records import Database
from invert.sheets.databases.routes import of_route

NAMES = [  # name, model, service tier
    ("openai/gpt-6-sol:batch", "openai/gpt-6-sol", "batch"),
    ("morph/morph-v3-fast:batch", "morph/morph-v3-fast", "batch"),
    ("anthropic/claude-opus-5-fast", "anthropic/claude-opus-5", "fast"),
    ("claude-opus-5-fast", "claude-opus-5", "fast"),
    ("us.anthropic.claude-opus-5-fast", "us.anthropic.claude-opus-5", "fast"),
    ("x-ai/grok-4-fast", "x-ai/grok-4-fast", ""),
    ("morph/morph-v3-fast", "morph/morph-v3-fast", ""),
    ("qwen/qwen-plus:thinking", "qwen/qwen-plus:thinking", ""),
    ("amazon.nova-2-lite-v1:0", "amazon.nova-2-lite-v1:0", ""),
    (":batch", ":batch", ""),
]


@pytest.mark.parametrize(("name", "model", "tier"), NAMES)
def test_a_name_says_the_tier_of_a_model(name: str, model: str, tier: str):
    assert of_route(name) == (model, tier)


def test_a_database_sells_the_model_in_that_tier():
    half = {"prompt": "0.000001", "completion": "0.000004"}
    peak = half | {"overrides": [{"utc_start": "01:00", "utc_end": "04:00", "prompt": "0.000002", "completion": "0.000008"}]}
    listed = {"data": [{"id": "openai/gpt-test:batch", "pricing": half}, {"id": "hostly/m:batch", "pricing": peak}]}
    found = list(openrouter.offers(listed, Database(name="openrouter")))
    assert [(one.model, one.service_tier, one.source_url) for one in found] == [
        ("openai/gpt-test", "batch", "https://openrouter.ai/openai/gpt-test:batch"),
        ("hostly/m:batch", "peak", "https://openrouter.ai/hostly/m:batch"),
        ("hostly/m:batch", "off_peak", "https://openrouter.ai/hostly/m:batch"),
    ]
