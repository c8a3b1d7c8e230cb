"""Small functions of `invert.databases` on examples."""

from types import SimpleNamespace

from invert.databases.genai import plain_record
from invert.databases.litellm import model_of
from invert.databases.records import minutes_between, name_in_a_cell, named_in, runs, split_route, token_count


def test_plain_record():
    assert plain_record([SimpleNamespace(id="m", match="m*", prices=SimpleNamespace(input_mtok=2))]) == [
        {"id": "m", "prices": {"input_mtok": 2}}
    ]


def test_minutes_between():
    assert runs(minutes_between(60, 240)) == [(60, 239)]
    assert runs(minutes_between(1320, 240)) == [(0, 239), (1320, 1439)]
    assert runs(minutes_between(960, 0)) == [(960, 1439)]


def test_model_of():
    assert model_of("xai/grok-4.5", "xai") == "grok-4.5"
    assert model_of("gpt-6", "openai") == "gpt-6"
    assert model_of("azure/eu/gpt-6", "azure") == "eu/gpt-6"


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


def test_token_count():
    assert token_count(128000.0) == 128000
    assert token_count("131072") == 131072
    assert token_count("many") is None
    assert token_count(None) is None
    assert token_count(0) is None
