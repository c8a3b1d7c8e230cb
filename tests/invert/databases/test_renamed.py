"""Fields that a database calls otherwise now, or has in another type: a line names them, and the prices stand."""

import copy
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from derive.tables.lines import Problem
from invert.databases import genai, litellm, models_dev, openrouter
from invert.databases.records import Database, Offer, items_of
from tests.tools.databases import GENAI, LITELLM, MODELS_DEV, OPENROUTER

SOURCE = Database(name="base", version="9.9")


def items(module: ModuleType, content: Any) -> tuple[list[Offer], list[str]]:
    found = list(items_of(module.FORMAT, content, SOURCE))
    return [one for one in found if isinstance(one, Offer)], [str(one) for one in found if isinstance(one, Problem)]


def under_another_name(content: Any, old: str, new: str) -> Any:
    if isinstance(content, dict):
        return {new if name == old else name: under_another_name(value, old, new) for name, value in content.items()}
    return [under_another_name(one, old, new) for one in content] if isinstance(content, list) else content


def genai_under_another_name(old: str, new: str) -> Any:
    content = copy.deepcopy(GENAI)
    for provider in content:
        for model in provider.models:
            for holder in (model, model.prices):
                if old in getattr(holder, "__dict__", ()):
                    vars(holder)[new] = vars(holder).pop(old)
    return content


RENAMED = [  # what a field may be called one day, of which the prices say nothing
    (genai, genai_under_another_name, "context_window", "context_length"),
    (genai, genai_under_another_name, "price_variants", "variants"),
    (litellm, partial(under_another_name, LITELLM), "max_input_tokens", "max_prompt_input_tokens"),
    (litellm, partial(under_another_name, LITELLM), "cache_read_input_token_cost", "cached_input_token_cost"),
    (litellm, partial(under_another_name, LITELLM), "provider_specific_entry", "provider_entry"),
    (models_dev, partial(under_another_name, MODELS_DEV), "context", "context_tokens"),
    (models_dev, partial(under_another_name, MODELS_DEV), "limit", "limits"),
    (models_dev, partial(under_another_name, MODELS_DEV), "cache_read", "cached_read"),
    (openrouter, partial(under_another_name, OPENROUTER), "context_length", "max_context_length"),
    (openrouter, partial(under_another_name, OPENROUTER), "input_cache_read", "cache_read"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "changed", "old", "new"), RENAMED, ids=[f"{one[0].FORMAT.name} {one[2]}" for one in RENAMED])
def test_a_field_that_no_entry_has_is_named_with_what_it_may_be_called_now(
    module: ModuleType, changed: Callable[[str, str], Any], old: str, new: str
):
    offers, problems = items(module, changed(old, new))
    (said,) = [one for one in problems if f"field {old} " in one]
    assert said.startswith("base 9.9, column ") and "entries. It may now be" in said and repr(new) in said and len(offers) > 1


CONTEXTS = [
    (litellm, {"m": {"litellm_provider": "a", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6,
                     "max_input_tokens": "128k"}}, "max_input_tokens is '128k', not a number of tokens"),
    (models_dev, {"a": {"models": {"m": {"cost": {"input": 1, "output": 4}, "limit": {"context": -1}}}}}, "context is '-1', not a number"),
    (models_dev, {"a": {"models": {"m": {"cost": {"input": 1, "output": 4}, "limit": 128_000}}}}, "limit is int and not dict"),
    (openrouter, {"data": [{"id": "m", "pricing": {"prompt": "1e-6", "completion": "4e-6"}, "context_length": [1]}]},
     "context_length is '[1]'"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "content", "fault"), CONTEXTS, ids=[fault for *_, fault in CONTEXTS])
def test_a_context_that_cannot_be_read_is_named_and_the_price_stands(module: ModuleType, content: Any, fault: str):
    (offer,), problems = items(module, content)
    assert offer.max_context is None and len(problems) == 1 and f"field {fault}" in problems[0]
