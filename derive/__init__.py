"""Every equation of LLM-serving economics, solvable for any unknown.

`solve` asks for a quantity, `equation` and `equations` open the catalogue, `cite` prints a reference, and `symbols` has the SymPy symbols
of the equations. Use `Solution`, `Answer` and `Equation` in annotations.
"""

from typing import TYPE_CHECKING

VERSION = "0.2.0"
"""The version of the package, of its citations and of the results that it saves."""

if TYPE_CHECKING:
    from derive.answers import Answer as Answer
    from derive.catalogue import equation as equation
    from derive.catalogue import equations as equations
    from derive.quantities.formula import symbols as symbols
    from derive.records import Equation as Equation
    from derive.show.citation import cite as cite
    from derive.solving.api import solve as solve
    from derive.solving.result import Solution as Solution

_HOMES = {
    **{"cite": "show.citation", "equation": "catalogue", "equations": "catalogue", "solve": "solving.api"},
    **{"Answer": "answers", "Equation": "records", "Solution": "solving.result", "symbols": "quantities.formula"},
}
__all__ = ["Answer", "Equation", "Solution", "cite", "equation", "equations", "solve", "symbols"]


if not TYPE_CHECKING:
    # Unseen by type checkers, to which it would say that there is a name for every slip.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
