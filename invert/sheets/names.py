"""Names of makers and models across sellers, and the comparison of the prices of two sheets."""

import re
from collections.abc import Mapping
from typing import TypeVar

MAKERS = frozenset(
    ("ai21", "alibaba", "amazon", "anthropic", "arcee", "cohere", "deepseek", "google", "inception", "meta", "minimax", "mistral",
     "moonshotai",
     "openai", "perplexity", "tencent", "voyageai", "x-ai", "xiaomi", "zai", "zhipu-bigmodel")
)  # fmt: skip
"""Providers that sell their own models. All others host models of other makers, or resell at the maker's prices."""
_VENDOR = re.compile(
    r"^(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|nvidia|openai|qwen|writer|zai)\."
)
_ENDING = re.compile(r"(?:[-@](?:latest|default|20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2})|-v[0-9](?::[0-9])?|:[0-9])$")


def bare_name(model: str) -> str:
    """Return the name of a model without its maker, date and version, which resellers add."""
    name = _VENDOR.sub("", model.lower().rpartition("/")[2].removeprefix("~"))
    while (shorter := _ENDING.sub("", name)) != name:
        name = shorter
    return common_spelling(name)


def common_spelling(model: str) -> str:
    """Return the name of a model in small letters with hyphens for points, as databases differ in both."""
    return model.lower().replace(".", "-")


_Place = TypeVar("_Place", bound=tuple[object, ...])
"""The place of a price in a sheet. Its last item is the lifetime of a cache write."""


def asks_no_more(one: Mapping[_Place, object], other: Mapping[_Place, object]) -> bool:
    """Return whether every price of a sheet is also a price of the other. A blank lifetime matches any lifetime."""
    return all(
        any(
            amount == asked and place[:-1] == at[:-1] and (place[-1] == at[-1] or None in (place[-1], at[-1]))
            for at, asked in other.items()
        )
        for place, amount in one.items()
    )
