"""How figures are to be read, where people and tools differ: what an operation is, what a GB is, what is sustained."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from numbers import Real

from derive.catalogue import equation
from derive.errors import UnknownName, WrongValue
from derive.immutable import immutable
from derive.layouts import LAYOUTS
from derive.preset_record import names_count
from derive.quantities import quantity
from derive.roles import IMPLIED, Phases, Prompts
from derive.units import SIZES, flop_power, parse, show

CHOICES = {"count": ("flop", "mac"), "bytes": ("decimal", "binary"), "efficiency": ("ideal", "calibrated"), "price": ("given", "rent")}
_MEANING = {
    "flop": "1 FLOP is an add or a multiply",
    "mac": "figures in FLOP count multiply-adds, each 2 FLOP",
    "decimal": "1 GB is 10^9 bytes",
    "binary": "1 GB of a size is 2^30 bytes, bandwidths stay decimal",
    "ideal": "mfu and mbu are 1 unless given",
    "calibrated": "mfu, mbu and the time of a layer as fitted to published runs, unless given",
}
_USUALLY = {"mac": "in FLOP", "binary": "in decimal bytes"}
"""What figures of presets are in, under a switch for figures that are typed."""
_PREFIXED = 1000
"""From which size on a prefix is written."""


_BEARS_ON: Mapping[str, Callable[[str], bool]] = {
    "count": lambda name: flop_power(name) != 0,
    "bytes": lambda name: quantity(name).unit in SIZES and quantity(name).high > _PREFIXED,
    "efficiency": lambda name: name in Phases.efficiencies,
}
"""Of each switch, which quantities it bears on."""


@immutable
class Conventions:
    """The switches of a question. Raises UnknownName for a choice there is not.

    `tensor_parallel` says that chips were named by a word for it, so that attention is cut by heads over all of them. `dtype` is
    the data type of weights and arithmetic that was given as such, blank where it was not. `layouts` are keys of `LAYOUTS`. `tier` is a
    storage tier or a device of memory_tiers.csv, blank if none is named.

    >>> Conventions(count="mac").read("peak_flops", "989 TFLOP/s")
    1978000000000000.0
    """

    count: str = "flop"
    bytes: str = "decimal"
    efficiency: str = "ideal"
    price: str = "given"
    tensor_parallel: bool = False
    dtype: str = ""
    layouts: tuple[tuple[str, str], ...] = ()
    tier: str = ""

    def __post_init__(self) -> None:
        for switch, choices in CHOICES.items():
            if getattr(self, switch) not in choices:
                raise UnknownName(switch, str(getattr(self, switch)), choices)

    def read(self, name: str, value: float | str) -> float:
        """Return a given in SI: text with its unit, or a number in the unit of the registry."""
        row = quantity(name)
        if not isinstance(value, str | Real):
            raise WrongValue(f"{row.name} = {value!r}: must be a number [{row.unit}], or text such as '{show(row.name, row.high)}'")
        number = parse(name, value, self.bytes == "binary") if isinstance(value, str) else row.check(float(value))
        return number * 2.0 ** flop_power(name) if self.count == "mac" else number

    def stated(self, names: Iterable[str], of_presets: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the switches that matter to these quantities, in words."""
        names, usual = set(names), set(of_presets)
        said = []
        for switch, bears in _BEARS_ON.items():
            choice = getattr(self, switch)
            if any(map(bears, names)):
                unmoved = f"; figures of presets are {_USUALLY[choice]}" if choice in _USUALLY and any(map(bears, usual)) else ""
                said.append(f"{switch}: {choice}, {_MEANING[choice]}{unmoved}")
        return tuple(said)


USUAL_CONVENTIONS = Conventions()


@immutable(kw_only=False)
class Switches:
    """All of a question but the unknown and the givens. Lists are combined with each other, or `zipped`.

    `at` has a value of each input for which presets have a range, or nothing to ask for the whole range. A `silent` question has no
    warnings. With `exchanged`, a given exchange between chips has its usual link and widths too. If given results are `measured`, they are
    no targets.
    """

    hardware: str | Iterable[str] | None = None
    model: str | Iterable[str] | None = None
    using: tuple[str, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    conventions: Conventions = USUAL_CONVENTIONS
    anyway: bool = False
    zipped: bool = False
    at: Mapping[str, float] = field(default_factory=dict)
    silent: bool = False
    exchanged: bool = False
    measured: bool = False

    def join(self, *ids: str) -> "Switches":
        """Return the switches with these equations joined in place of others."""
        return replace(self, using=ids)


USUAL_SWITCHES = Switches()


def variant_of_prompts(using: Iterable[str], variants: Mapping[str, str]) -> str | None:
    """Return the variant that a question names of those that count prompts or leave them out, or None if it names none.

    >>> variant_of_prompts([], {}), variant_of_prompts(["serving.request_latency_with_prompts"], {})
    (None, 'with_prompts')
    """
    together = equation(Prompts.together).variant
    group = together.group if together else ""
    named = (variant.name for id in using if (variant := equation(id).variant) and variant.group == group)
    return next(named, variants.get(group))


def implied_names(switches: Switches) -> tuple[str, ...]:
    """Return quantities that a question implies without naming them: the time of prompts on the same chips if it counts it, the chips
    if they are named with a count, the width of weights if a chip is named with a data type, the layers of a model, and the chips of a
    training run if a stage of ZeRO is named.

    >>> with_prompts = ("serving.request_latency_with_prompts",)
    >>> implied_names(Switches()), implied_names(Switches("H100:fp8", "Llama-3.1-8B", using=with_prompts))
    ((), ('prompt_time_share', 'bytes_per_weight', 'layers'))
    """
    hardware = switches.hardware
    together = equation(Prompts.together).variant
    chips = (hardware,) if isinstance(hardware, str) else tuple(hardware or ())
    said = {
        "prompts": together is not None and variant_of_prompts(switches.using, switches.variants) == together.name,
        "count": any(map(names_count, chips)),
        "data type": any(":" in chip for chip in chips),
        "model": bool(switches.model),
        "training run": any(LAYOUTS[key].counted for key in switches.conventions.layouts),
    }
    return tuple(name for what, is_said in said.items() if is_said for name in IMPLIED[what])
