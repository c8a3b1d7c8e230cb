"""Every equation of LLM-serving economics, solvable for any unknown.

`solve` asks for a quantity, `equation` and `equations` open the catalogue, `cite` prints a reference.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derive.catalogue import equation as equation
    from derive.catalogue import equations as equations
    from derive.show.citation import cite as cite
    from derive.solving.api import solve as solve

_HOMES = {"cite": "show.citation", "equation": "catalogue", "equations": "catalogue", "solve": "solving.api"}
__all__ = ["cite", "equation", "equations", "solve"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
