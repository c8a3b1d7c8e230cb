"""The one registry: what every quantity is called, its symbol, its unit and the domain it lives in.

SI inside: s, byte, FLOP, token, USD are the base units, and sequences, parameters, chips, layers and experts are
counts of unit 1. 1 MAC = 2 FLOP; `peak_flops` is the dense data-sheet figure.
"""

from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import TYPE_CHECKING

from derive.briefly import brief
from derive.errors import UnknownName, WrongValue
from derive.quantities.domains import AT_LEAST_ONE, FRACTION, NONNEGATIVE, POSITIVE, UNIT_INTERVAL
from derive.quantities.rows import CONSTANT_ROWS, QUANTITY_ROWS

if TYPE_CHECKING:
    from sympy import Symbol

ABSURD = 100


@dataclass(frozen=True, slots=True)
class Quantity:
    """A row of the registry: `low` and `high` bound the values met in practice, from which the tests draw.

    `whole` is the quantity of which it is a part, and than which it is no more.
    """

    __repr__ = brief

    name: str
    symbol: str
    latex: str
    unit: str
    meaning: str
    low: float
    high: float
    domain: str = POSITIVE
    whole: str = ""

    @property
    def may_be_zero(self) -> bool:
        """Whether 0 is a value and not a mistake.

        >>> QUANTITIES["overlap"].may_be_zero, QUANTITIES["batch"].may_be_zero
        (True, False)
        """
        return self.domain in (NONNEGATIVE, UNIT_INTERVAL)

    @property
    def ceiling(self) -> float:
        """The value no answer can exceed: 1 for shares, infinity for the rest."""
        return 1.0 if self.domain in (FRACTION, UNIT_INTERVAL) else inf

    @property
    def floor(self) -> float:
        """The value no answer is below: 1 for counts of which there is one wherever there is anything, 0 for the rest."""
        return 1.0 if self.domain == AT_LEAST_ONE else 0.0

    def limits(self) -> tuple[float, float]:
        """The interval of values accepted from outside [in the quantity's unit]; beyond it a number is a slip.

        >>> QUANTITIES["mfu"].limits(), QUANTITIES["batch"].limits()
        ((0.0, 1.0), (0.01, 100000000.0))
        """
        if self.ceiling == 1.0:
            return 0.0, 1.0
        return (0.0 if self.may_be_zero else max(self.floor, self.low / ABSURD)), self.high * ABSURD

    def at(self, share: float) -> float:
        """The value so far from the least (share 0) to the greatest (share 1) met in practice: by ratios, unless the least is 0.

        >>> row = QUANTITIES["batch"]
        >>> row.low, row.high, row.at(0.5)
        (1, 1000000.0, 1000.0)
        """
        return self.low * (self.high / self.low) ** share if self.low else share * self.high

    def check(self, value: float) -> float:
        """The value itself, or `WrongValue` naming the quantity, what was given and what is allowed."""
        if not isfinite(value):
            raise WrongValue(f"{self.name} = {value:g}: must be a finite number {self.domain}")
        if value < self.floor or (value == 0 and not self.may_be_zero):
            raise WrongValue(f"{self.name} = {value:g}: must be {self.domain}")
        if value > self.ceiling:
            percent = f"; percent are written {value:g}%" if value <= 100 else ""
            raise WrongValue(f"{self.name} = {value:g}: must be {self.domain}{percent}")
        low, high = self.limits()
        if value and not low <= value <= high:
            raise WrongValue(
                f"{self.name} = {value:g}{'' if self.unit == '1' else ' ' + self.unit}: absurd; values met in practice run"
                f" from {self.low:g} to {self.high:g}, is a suffix or the unit wrong?"
            )
        return value


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of an equation that carries a unit, so that the dimension check can see it."""

    __repr__ = brief

    name: str
    value: int
    unit: str
    meaning: str


QUANTITIES = {row[0]: Quantity(*row) for row in QUANTITY_ROWS}
CONSTANTS = {row[0]: Constant(*row) for row in CONSTANT_ROWS}
NAME_OF_SYMBOL = {row.symbol: row.name for row in QUANTITIES.values()}

NEUTRAL_DEFAULTS = {
    **{"chips": 1.0, "pipeline_stages": 1.0, "mfu": 1.0, "mbu": 1.0},
    **{"replicas": 1.0, "tokens_per_step": 1.0, "fleet_utilisation": 1.0},
    **{"microbatches": 1.0, "hop_latency": 0.0, "idle_fraction": 0.0, "positions_per_step": 1.0, "kv_copies": 1.0, "expert_imbalance": 1.0},
    **{"attention_time": 0.0, "attention_compute_ratio": 0.0, "attention_rate_ratio": 1.0},
    **{"draft_cost_ratio": 0.0, "drafting_time": 0.0, "drafting_compute_ratio": 0.0, "verification_ratio": 1.0},
    **{"prefill_attention_factor": 1.0, "prefill_decode_flops_ratio": 1.0, "cache_hit_share": 0.0, "cached_tokens": 0.0},
}
"""Nothing else has a default; those that an answer used are listed among its assumptions."""


def quantity(name: str) -> Quantity:
    """The registry row of a name or of its symbol.

    >>> quantity("B_star").name
    'balance_batch'
    """
    row = QUANTITIES.get(name) or QUANTITIES.get(NAME_OF_SYMBOL.get(name, ""))
    if row is None:
        raise UnknownName("quantity", name, [*QUANTITIES, *NAME_OF_SYMBOL], "backsolve list --quantities names them")
    return row


@cache
def symbol(name: str) -> "Symbol":
    """The one SymPy symbol of a quantity or constant, made when first asked for.

    >>> symbol("overlap").is_positive is None, symbol("batch").is_positive
    (True, True)
    """
    from sympy import Symbol

    if name in CONSTANTS:
        return Symbol(name, positive=True)
    row = quantity(name)
    return Symbol(row.name, nonnegative=True) if row.may_be_zero else Symbol(row.name, positive=True)
