"""The sizing desk as data: for every kind of chip and model the equations that lead to what is asked, in the order they are solved.

Which equations those are is what a question of `derive` goes through; a page puts numbers into them one after another.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

from backsolve.site.formulas import Json, presets_data, roof_data, solvable
from backsolve.site.writing import INDEX, Entry, Page
from derive import presets
from derive.quantities import quantity
from derive.records import Equation
from derive.solving.chain import answered
from derive.solving.defaults import in_numbers
from derive.solving.questions import question
from derive.solving.route import route
from derive.trees import names
from derive.units import show

DESK = f"desk/{INDEX}"

ASKED = ("step_time", "tokens_per_second_per_user", "throughput", "cost_per_token", "memory_per_chip", "memory_time_share")
"""What the desk shows of a deployment, beside all that leads there."""

BINDING = {"memory_time": "memory", "compute_time": "arithmetic"}
"""What binds a step, by the time that is the longer one."""

FIELDS = {
    **{"chips": 16.0, "batch": 64.0, "context_length": 8000.0, "chip_price": 2 / 3600},
    **{"bytes_per_element": 2.0, "kv_copies": 1.0, "mfu": 0.5, "mbu": 0.7},
}
"""What is chosen beside chip and model, with what it begins with; a chip brings its rent."""

START = ("H100-SXM", "fp8", "DeepSeek-V3")
"""The chip, the data type and the model that the desk begins with."""


Solved = tuple[Equation, str]
"""An equation, and the quantity it is solved for."""

Structure = tuple[frozenset[str], tuple[Equation, ...]]
"""What a way rests on: the quantities that are known, and the equations that may be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Equations with what each is solved for, in their order, and the defaults they take."""

    legs: tuple[Solved, ...]
    defaults: tuple[tuple[str, float], ...]


def desk_page() -> Page:
    """The page of the desk."""
    summary = (
        "Pick a model, chips, a batch and a context: how long a step takes, what users get, what a token costs, what fits and what binds."
    )
    return Page(
        address=DESK,
        template="desk.html",
        title="The sizing desk",
        summary=summary,
        context={
            "desk": desk_data(),
            "command": first_command(),
        },
        entries=(Entry(title="The sizing desk", kind="desk", address=DESK, summary=summary, words=" ".join((*ASKED, *FIELDS))),),
    )


def first_command() -> str:
    """What the desk begins with as it is asked at the command line: with the rent of its chip."""
    chip, dtype, model = START
    fields = " ".join(f"'{name}={show(name, value)}'" for name, value in (FIELDS | presets.rent(chip).givens).items())
    return f"backsolve solve {','.join(ASKED)} --hardware {chip}:{dtype} --model {model} {fields}"


def desk_data() -> Json:
    """All that the script of the desk works with."""
    chips = presets_data()["chips"]
    kinds = {kind_of(given): f"{chip}:{dtype}" for chip, one in chips.items() for dtype, given in one["types"].items()}
    ways: dict[Structure, Way] = {}
    models = {name: _model_on(name, kinds, ways) for name in covered_models()}
    legs = [*dict.fromkeys(leg for way in ways.values() for leg in way.legs)]
    return {
        "asked": ASKED,
        "fields": FIELDS,
        "start": START,
        "chips": chips,
        "models": models,
        "equations": [_leg(*leg) for leg in legs],
        "ways": [{"equations": [*map(legs.index, way.legs)], "defaults": dict(way.defaults)} for way in ways.values()],
        "bounds": _bounds(),
        "parts": {name: quantity(name).whole for name in FIELDS if quantity(name).whole in FIELDS},
        "roof": roof_data(),
    }


def covered_models() -> list[str]:
    """The open models whose attention an equation covers."""
    return [*presets_data()["models"]]


def _bounds() -> dict[str, str]:
    """Which way each result is a bound, as nothing overlaps or is hidden better than the equations have it."""
    chip, dtype, model = START
    found = {name: answered(question(name, FIELDS, f"{chip}:{dtype}", model))[0] for name in ASKED}
    return {name: solution.answers[0].bound or "" for name, solution in found.items()}


def kind_of(given: Mapping[str, float]) -> str:
    """What of a chip's data type decides which equations are used: the bytes of a weight, and whether attention has a rate of its own.

    >>> kind_of({"bytes_per_weight": 1.0, "attention_rate_ratio": 0.5})
    '1 apart'
    """
    return f"{given['bytes_per_weight']:g}{' apart' if 'attention_rate_ratio' in given else ''}"


def _model_on(name: str, kinds: Mapping[str, str], ways: dict[Structure, Way]) -> Json:
    """What a model sets beside each kind of chip, and which way its questions go there."""
    found: dict[str, Json] = {}
    for kind, chip in kinds.items():
        asked = question(ASKED[0], FIELDS, chip, name)
        structure = frozenset(asked.known), asked.active
        if structure not in ways:
            ways[structure] = _way(chip, name)
        of_chip = {*FIELDS, *presets.hardware(chip).givens} - {"bytes_per_weight"}
        givens = {given: value for given, value in asked.known.items() if given not in of_chip}
        found[kind] = {"way": [*ways].index(structure), "givens": givens}
    alike = {given: value for given, value in givens.items() if all(one["givens"].get(given) == value for one in found.values())}
    for one in found.values():
        one["givens"] = {given: value for given, value in one["givens"].items() if given not in alike}
    longest = presets.model(name).published[0].max_context
    return {"givens": alike, "kinds": found, "longest": longest if isfinite(longest) else None}


def _way(chip: str, model: str) -> Way:
    """The equations that the questions of the desk go through on a chip with a model."""
    rows: dict[str, Equation] = {}
    defaults: dict[str, float] = {}
    for name in ASKED:
        asked = question(name, FIELDS, chip, model, anyway=True)
        neutral = in_numbers(asked.defaults, asked.known)
        way = route(name, asked.active, frozenset({*asked.known, *neutral}))
        rows = {leg.unknown: row for leg in (way.legs if way else ()) for row in leg.rows} | rows
        defaults |= neutral
    spoken = {name for row in rows.values() for name in row.symbols}
    return Way(
        legs=tuple(_in_order(rows)),
        defaults=tuple((name, value) for name, value in sorted(defaults.items()) if name in spoken),
    )


def _in_order(rows: Mapping[str, Equation]) -> Iterator[Solved]:
    """Equations by what they are solved for, each after those that it rests on."""
    made: set[str] = set()

    def with_premises(name: str) -> Iterator[Solved]:
        if name in rows and name not in made:
            made.add(name)
            for other in rows[name].symbols:
                yield from with_premises(other)
            yield rows[name], name

    for name in rows:
        yield from with_premises(name)


def _leg(row: Equation, makes: str) -> Json:
    """An equation as the desk uses it: what it makes and of what, what it requires, and what binds in each of its regimes."""
    whole, told = solvable(row), ("sign", "larger", "smaller", "names", "said", "otherwise")
    return {
        "id": row.id,
        "makes": makes,
        "right": whole["right"] if makes == row.symbols[0] else whole["roots"][makes][0][0]["tree"],
        "requires": [{name: needed[name] for name in told} for needed in whole["requires"]],
        **({"binding": [_binding(regime["wins"]) for regime in whole["regimes"]]} if makes == ASKED[0] else {}),
    }


def _binding(wins: list[Json]) -> Json:
    """Which of the times of a step is the longer one in a regime, and the pairs that make it so."""
    longer = next(told for name, told in BINDING.items() if name in names(wins[0]["larger"]))
    return {"wins": [{"larger": pair["larger"], "smaller": pair["smaller"]} for pair in wins], "binds": longer}
