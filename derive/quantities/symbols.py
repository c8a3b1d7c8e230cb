"""The SymPy symbols of the registry by name, as attributes and as keys."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from derive.errors import UnknownName
from derive.quantities import QUANTITIES, quantity, symbol

if TYPE_CHECKING:
    from sympy import Symbol


class Symbols(Mapping[str, "Symbol"]):
    """Every quantity as the SymPy symbol in the equations, by its name or its short symbol.

    >>> symbols.batch, symbols["batch"] is symbols.B, symbols.batch.is_positive
    (batch, True, True)
    """

    def __getitem__(self, name: str) -> "Symbol":
        return symbol(quantity(name).name)

    def __getattr__(self, name: str) -> "Symbol":
        if name.startswith("_"):
            # Attributes that tools look up on any object are not quantities, and need no suggestion.
            raise AttributeError(name)
        try:
            return self[name]
        except UnknownName as mistake:
            raise AttributeError(str(mistake)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(QUANTITIES)

    def __len__(self) -> int:
        return len(QUANTITIES)

    def __contains__(self, name: object) -> bool:
        return name in QUANTITIES

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *QUANTITIES]

    def __repr__(self) -> str:
        return f"<the symbols of {len(self)} quantities>"


symbols = Symbols()
