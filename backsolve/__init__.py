"""The program, and one Python module for the functions of both libraries.

`solve` asks for a quantity, `infer` reads price sheets, `cite` prints a reference. The libraries are `derive` and `invert`.
"""

from typing import TYPE_CHECKING

from derive import VERSION

if TYPE_CHECKING:
    from derive import cite as cite
    from derive import solve as solve
    from invert import infer as infer

_HOMES = {"cite": "derive", "infer": "invert", "solve": "derive"}
__all__ = ["__version__", "cite", "infer", "solve"]
__version__ = VERSION


if not TYPE_CHECKING:
    # Hidden from type checkers, which would accept every misspelled name.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
