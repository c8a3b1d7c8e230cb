"""A value typed piece by piece: each text is read as its pieces multiply, or refused, whatever was read before it."""

from fractions import Fraction
from functools import cache
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from derive.errors import BacksolveError, WrongUnit, WrongValue
from derive.quantities import QUANTITIES, quantity
from derive.units import parse, show

WORDS = {
    **{"ns": ("1e-9", "s"), "ms": ("0.001", "s"), "s": ("1", "s"), "min": ("60", "s"), "h": ("3600", "s"), "days": ("86400", "s")},
    **{"bytes": ("1", "byte"), "kB": ("1e3", "byte"), "GB": ("1e9", "byte"), "TB": ("1e12", "byte"), "GiB": (str(2**30), "byte")},
    **{"FLOP": ("1", "FLOP"), "TFLOP": ("1e12", "FLOP"), "tokens": ("1", "token"), "Mtok": ("1e6", "token"), "USD": ("1", "USD")},
    **{"J": ("1", "J"), "kJ": ("1e3", "J"), "kWh": ("3.6e6", "J")},
}
"""What each word is worth, and of what."""
FIGURES = st.sampled_from(["0", "1", "2.5", ".125", "3e-3", "1e12", "7", "640", "-4"])
OF_BASE = {base: [word for word in WORDS if WORDS[word][1] == base] for _, base in WORDS.values()}
STROKES = ("/", " / ", " per ")
CLOSE = 1e-15


@cache
def exponents(unit: str) -> dict[str, int]:
    """The powers in a unit of the registry, which is spelt `base/base`."""
    above, *below = unit.split("/")
    found = {} if above == "1" else dict.fromkeys(above.split("*"), 1)
    return found | {base: found.get(base, 0) - below.count(base) for base in below}


class Typed(RuleBasedStateMachine):
    """A figure and words, what they amount to, and what every text so far was read as."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, str], float | type[BacksolveError]] = {}
        self.start("1", "s")

    @rule(figure=FIGURES, word=st.sampled_from(sorted(WORDS)))
    def start(self, figure: str, word: str) -> None:
        factor, base = WORDS[word]
        self.text, self.value, self.powers = f"{figure} {word}", Fraction(figure) * Fraction(factor), {base: 1}

    @rule(word=st.sampled_from(sorted(WORDS)), stroke=st.sampled_from(STROKES))
    def per(self, word: str, stroke: str) -> None:
        if len(self.text) < 60:
            factor, base = WORDS[word]
            self.text += stroke + word
            self.value /= Fraction(factor)
            self.powers[base] = self.powers.get(base, 0) - 1

    @rule(name=st.sampled_from(sorted(QUANTITIES)), figure=FIGURES, random=st.randoms(use_true_random=False))
    def in_its_units(self, name: str, figure: str, random: Random) -> None:
        """A value of a quantity, in any words of its dimension."""
        above, *below = [random.choice(OF_BASE[base]) for base in QUANTITIES[name].unit.replace("1", "USD").split("/")]
        self.start(figure, above)
        for word in below:
            self.per(word, random.choice(STROKES))
        self.read(name)

    @rule()
    def in_another_spelling(self) -> None:
        """Blanks at the ends, and a unit that stands next to its figure."""
        self.text = f"  {self.text.replace(' ', '', 1)}\t"

    def fits(self, name: str) -> bool:
        """Whether these are the powers of the quantity; what is per token may leave that out, but for a price."""
        powers = {base: power for base, power in self.powers.items() if power}
        wanted = {base: power for base, power in exponents(QUANTITIES[name].unit).items() if power}
        short = {base: power for base, power in wanted.items() if base != "token"}
        return powers == wanted or (powers == short and wanted.get("token") == -1 and "USD" not in wanted)

    @rule(name=st.sampled_from(sorted(QUANTITIES)))
    def read(self, name: str) -> None:
        found = self.read_as(name)
        if isinstance(found, float):
            assert self.fits(name) and found == pytest.approx(float(self.value), rel=CLOSE, abs=0)
            assert parse(name, show(name, found)) == pytest.approx(found, rel=1e-3)
        elif found is WrongValue:
            assert self.fits(name)
            with pytest.raises(WrongValue):
                quantity(name).check(float(self.value))
        else:
            assert found is WrongUnit and not self.fits(name)
        assert self.seen.setdefault((name, self.text), found) == found

    def read_as(self, name: str) -> float | type[BacksolveError]:
        try:
            return parse(name, self.text)
        except BacksolveError as error:
            assert "\n" not in str(error) and QUANTITIES[name].name in str(error)
            return type(error)

    @invariant()
    def one_that_fits_is_among_the_quantities_or_none(self) -> None:
        """Every quantity of these units is read alike."""
        values = {self.read_as(name) for name in QUANTITIES if self.fits(name)}
        assert len({value for value in values if isinstance(value, float)}) <= 1 and WrongUnit not in values


Typed.TestCase.settings = settings(max_examples=150, stateful_step_count=15, derandomize=True, deadline=None)
test_whatever_is_typed_piece_by_piece = Typed.TestCase


def test_a_reader_that_takes_an_hour_for_a_minute_is_found_out(monkeypatch):
    monkeypatch.setitem(WORDS, "h", ("60", "s"))
    machine = Typed()
    machine.start("2.5", "h")
    with pytest.raises(AssertionError):
        machine.read("step_time")
