"""The rows of the registry: a quantity with its domain, or a constant of an equation, and the constants themselves."""

from math import inf, isfinite

from derive.errors import WrongValue
from derive.immutable import Bare, immutable

POSITIVE, NONNEGATIVE, AT_LEAST_ONE, FRACTION, UNIT_INTERVAL = "> 0", ">= 0", ">= 1", "in (0, 1]", "in [0, 1]"
AT_MOST_ONE = "<= 1"
"""The values of a share that may be negative."""

ABSURD = 100
"""Factor beyond the values in practice, above which a number is a typing error."""

_USUALLY_WRITTEN = {"USD/s": " A price of an hour is written as '2 USD/h'."}
"""Hints for quantities that are rarely written in their own unit, if the unit is missing."""

_GREEK = frozenset(("alpha", "beta", "gamma", "zeta", "eta", "theta", "Theta", "kappa", "mu", "rho", "sigma", "tau", "phi", "pi"))


def latex_of_symbol(symbol: str) -> str:
    r"""Return a short symbol as LaTeX: Greek letters by their names, a star above, the rest below, and words upright.

    >>> print(latex_of_symbol("t_w"), latex_of_symbol("b_kv"), latex_of_symbol("rho"), latex_of_symbol("B_star_kv"))
    t_w b_{\mathrm{kv}} \rho B^{\star}_{\mathrm{kv}}
    """
    head, _, below = symbol.partition("_")
    star, _, rest = below.partition("_")
    above, below = (r"^{\star}", rest) if star == "star" else ("", below)
    letter = rf"\{head}" if head in _GREEK else _upright(head)
    return letter + above + (f"_{{{_upright(below)}}}" if len(below) > 1 else f"_{below}" if below else "")


def _upright(word: str) -> str:
    return word if len(word) == 1 else rf"\mathrm{{{word}}}"


@immutable
class Quantity(Bare):
    """A row of the registry. `low` and `high` bound the values in practice, from which the tests draw.

    `unit` is "1" for counts and ratios. `tex` is written only if the LaTeX does not follow from the symbol (`latex_of_symbol`). `whole`
    is the quantity that includes this one as a part, and bounds it from above. `unlike` is the difference from quantities that are easily
    mistaken for it. `rated` is true if a table has its rated value, and a measured value may be more or less.

    >>> Quantity(name="batch", symbol="B", meaning="sequences of one pass", low=1, high=1e6).limits()
    (0.01, 100000000.0)
    """

    name: str
    symbol: str
    tex: str = ""
    unit: str = "1"
    meaning: str
    low: float
    high: float
    domain: str = POSITIVE
    whole: str = ""
    unlike: str = ""
    rated: bool = False

    @property
    def latex(self) -> str:
        """Return the symbol as LaTeX."""
        return self.tex or latex_of_symbol(self.symbol)

    @property
    def may_be_zero(self) -> bool:
        """Return whether 0 is a value and not a mistake.

        >>> from derive.quantities import QUANTITIES
        >>> QUANTITIES["overlap"].may_be_zero, QUANTITIES["batch"].may_be_zero
        (True, False)
        """
        return self.domain in (NONNEGATIVE, UNIT_INTERVAL, AT_MOST_ONE)

    @property
    def ceiling(self) -> float:
        """Return the greatest possible value: 1 for shares, infinity for the rest."""
        return 1.0 if self.domain in (FRACTION, UNIT_INTERVAL, AT_MOST_ONE) else inf

    @property
    def floor(self) -> float:
        """Return the least possible value: 1 for counts of at least one, minus infinity for shares that may be negative, 0 for the rest."""
        if self.domain == AT_MOST_ONE:
            return -inf
        return 1.0 if self.domain == AT_LEAST_ONE else 0.0

    def limits(self) -> tuple[float, float]:
        """Return the interval of accepted values [in the quantity's unit]. A number outside is a typing error.

        >>> from derive.quantities import QUANTITIES
        >>> QUANTITIES["mfu"].limits(), QUANTITIES["batch"].limits()
        ((0.0, 1.0), (0.01, 100000000.0))
        """
        if self.ceiling == 1.0:
            return max(self.floor, -(ABSURD**2)), 1.0
        return (0.0 if self.may_be_zero else max(self.floor, self.low / ABSURD)), self.high * ABSURD

    def at(self, share: float) -> float:
        """Return the value at a share of the way from the least (0) to the greatest (1) in practice: by ratios, unless the least is 0.

        >>> from derive.quantities import QUANTITIES
        >>> row = QUANTITIES["batch"]
        >>> row.low, row.high, row.at(0.5)
        (1, 1000000.0, 1000.0)
        """
        return self.low * (self.high / self.low) ** share if self.low else share * self.high

    def check(self, value: float, is_percentage: bool = False) -> float:
        """Return the value itself. Raise `WrongValue` with the quantity, the given and the allowed values if it is out of range."""
        if not isfinite(value):
            raise WrongValue(f"{self.name} = {value:g}: must be a finite number {self.domain}")
        if value < self.floor or (value == 0 and not self.may_be_zero):
            raise WrongValue(f"{self.name} = {value:g}: must be {self.domain}")
        if value > self.ceiling:
            percent = f"; percent are written {value:g}%" if value <= 100 and not is_percentage else ""
            raise WrongValue(f"{self.name} = {value:g}: must be {self.domain}{percent}")
        low, high = self.limits()
        if value and not low <= value <= high:
            unit = "" if self.unit == "1" else f" {self.unit}"
            raise WrongValue(
                f"{self.name} = {value:g}{unit}: absurd. Values in practice are from {self.low:g} to {self.high:g}{unit}."
                f" Is a suffix or the unit wrong?{_USUALLY_WRITTEN.get(self.unit, '')}"
            )
        return value


@immutable
class Constant(Bare):
    """A number of an equation with a unit, so that the dimension check can see it.

    >>> Constant(name="flop_per_mac", value=2, unit="FLOP", meaning="a multiply and an add")
    Constant(name='flop_per_mac', value=2, unit='FLOP', meaning='a multiply and an add')
    """

    name: str
    value: int
    unit: str
    meaning: str


CONSTANTS: dict[str, Constant] = {
    row.name: row
    for row in (
        Constant(name="flop_per_weight", value=2, unit="FLOP", meaning="a multiply and an add per weight, sequence and pass"),
        Constant(name="flop_per_mac", value=2, unit="FLOP", meaning="a multiply and an add"),
        Constant(name="flop_per_mac_and_token", value=2, unit="FLOP/token", meaning="a multiply and an add for each token"),
        Constant(name="keys_and_values", value=2, unit="1/token", meaning="a key and a value are stored for every token"),
        Constant(name="latent_per_token", value=1, unit="1/token", meaning="one latent is stored for every token"),
        Constant(name="entry_per_token", value=1, unit="1/token", meaning="one entry of a cache is stored for every token"),
        Constant(name="one_token", value=1, unit="token", meaning="one token"),
        Constant(name="one_flop_per_token", value=1, unit="FLOP/token", meaning="one FLOP per parameter and token"),
        Constant(name="chinchilla_tokens_per_param", value=20, unit="token", meaning="tokens of pre-training per parameter"),
        Constant(
            name="trained_bytes_per_param",
            value=16,
            unit="byte",
            meaning="bytes of a parameter, its gradient and its Adam states in mixed precision",
        ),
        Constant(
            name="layer_activation_bytes",
            value=34,
            unit="byte/token",
            meaning="bytes of activations that a transformer layer stores per token and unit of its width, without attention scores",
        ),
        Constant(
            name="score_activation_bytes",
            value=5,
            unit="byte/token**2",
            meaning="bytes that an attention head stores for each pair of tokens",
        ),
        Constant(name="layer_input_bytes", value=2, unit="byte/token", meaning="bytes of a layer's input per token and unit of its width"),
        Constant(name="activation_per_token", value=1, unit="1/token", meaning="activations are stored for every token"),
    )
}
"""Numbers of equations that carry a unit, by name."""
