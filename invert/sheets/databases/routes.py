"""Names by which databases sell one model in another service tier, as if it were a model of its own."""

import re

_ROUTES = (
    re.compile(r"(?P<model>.+):(?P<tier>batch|fast|flex|priority)"),
    # Of other makers -fast is a model with weights of its own, as grok-4-fast.
    re.compile(r"(?P<model>(?:.*[/.])?claude-.+)-(?P<tier>fast)"),
)
"""How OpenRouter calls them, and who sells on what it does. It lists no :nitro and no :floor, and :free asks nothing."""


def of_route(name: str) -> tuple[str, str]:
    """The model that a name sells, and in which service tier. A blank tier for a name that says none.

    >>> of_route("openai/gpt-6:batch"), of_route("anthropic/claude-opus-5-fast"), of_route("x-ai/grok-4-fast")
    (('openai/gpt-6', 'batch'), ('anthropic/claude-opus-5', 'fast'), ('x-ai/grok-4-fast', ''))
    """
    found = next((form for route in _ROUTES if (form := route.fullmatch(name))), None)
    return (found["model"], found["tier"]) if found else (name, "")
