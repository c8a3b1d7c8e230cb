"""Compute the data of chips and models for a page: their values, and the equations that follow, in the order of their solution.

The questions of `derive` choose the equations. A page evaluates them one after another.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import isfinite

from backsolve.site.formulas import Json, roof_data, solvable
from backsolve.usual import DATA_TYPE, DEPLOYED
from derive import presets
from derive.catalogue import by_id
from derive.errors import BacksolveError, NoRent
from derive.immutable import immutable
from derive.preset_record import BYTES_PER_WEIGHT
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import Equation
from derive.solving.conventions import Switches
from derive.solving.defaults import evaluate_defaults
from derive.solving.plan import find_way
from derive.solving.questions import Question, question
from derive.tables import shipped
from derive.tables.shipped import Tables
from derive.trees import names

ASKED = (
    *("step_time", "tokens_per_second_per_user", "throughput", "cost_per_token", "memory_per_chip", "memory_time_share"),
    *("prefill_time", "time_to_first_token"),
)
"""Results of the desk. It also shows the equations that lead to them."""

SUSTAINED = {name: DEPLOYED[name] for name in ("mfu", "mbu")}
"""The shares of its peaks that a step sustains if a reader selects sustained rates."""

FIELDS = DEPLOYED | dict.fromkeys(SUSTAINED, 1.0) | {"chip_price": 2 / 3600, "prompt_tokens": 2000.0, "attention_replicas": 1.0}
"""Inputs beside chip and model with their first values [SI]: ideal rates, as at the command line. A chip sets its rent."""

OWN_MODEL, OWN_CHIP = "own model", "own chip"
OWN = {
    "model": {"active_params": 100e9, "total_params": 800e9, "kv_bytes_per_token": 1667.0},
    "hardware": {"peak_flops": 2e15, "hbm_bandwidth": 4e12, "hbm_capacity": 100e9, "bytes_per_weight": 1.0},
}
"""Inputs of a model and of a chip that are in no table, with their first values [SI]. The model is that of the lecture."""

_BINDING = {"memory_time": "memory", "compute_time": "arithmetic"}
"""The resource that binds a step, by the longer of its times."""

NO_CHIP = ""
"""The kind of chip if no chip is chosen."""

_Solved = tuple[Equation, str]
"""An equation, and the quantity that it gives."""

_Structure = tuple[frozenset[str], tuple[Equation, ...]]
"""The inputs of a way: the known quantities, and the allowed equations."""


@immutable
class Way:
    """Equations in order, each with the quantity that it gives, the number of them that the desk uses, and their defaults."""

    legs: tuple[_Solved, ...]
    asked: int
    defaults: tuple[tuple[str, float], ...]


@cache
def presets_data() -> Json:
    """Return chips by data type and open models, with their values by registry name [SI] and the equations that follow.

    `kinds` has the values and the way for each kind of chip. Many models share an item of it, so a model has only its place there.

    >>> data = presets_data()
    >>> data["chips"]["H100-SXM"]["givens"]["hbm_capacity"], data["chips"]["H100-SXM"]["types"]["fp8"]["bytes_per_weight"]
    (85520809984.0, 1.0)
    >>> data["models"]["DeepSeek-V3"]["givens"]["layers"]
    61.0
    """
    tables = shipped.read()
    chips = {name: chip for name in presets.hardware_names(tables) if (chip := _chip(name, tables))["types"]}
    kinds = {kind_of(given): f"{chip}:{dtype}" for chip, one in chips.items() for dtype, given in one["types"].items()}
    ways: dict[_Structure, Way] = {}
    chips[OWN_CHIP] = {"givens": OWN["hardware"], "types": {DATA_TYPE: {"bytes_per_weight": 1.0, "attention_rate_ratio": 1.0}}}
    found = {name: _model_on(name, kinds, ways) for name in covered_models()} | {OWN_MODEL: _own_model_on(kinds, ways)}
    ways_of: list[Json] = []
    for one in found.values():
        if one["kinds"] not in ways_of:
            ways_of.append(one["kinds"])
    models = {name: one | {"kinds": ways_of.index(one["kinds"])} for name, one in found.items()}
    alone = {kind: _on(chip, None, ways) for kind, chip in kinds.items()}
    legs = [*dict.fromkeys(leg for way in ways.values() for leg in way.legs)]
    return {
        "chips": chips,
        "models": models,
        "kinds": ways_of,
        "alone": alone,
        "beside": FIELDS,
        "sustained": SUSTAINED,
        "roof": roof_data(),
        "legs": [leg_of(*leg) for leg in legs],
        "ways": [{"legs": [*map(legs.index, one.legs)], "asked": one.asked} for one in ways.values()],
        "defaults": {name: value for one in ways.values() for name, value in one.defaults},
    }


def covered_models() -> list[str]:
    """Return the open models whose attention an equation covers."""
    tables = shipped.read()
    return [name for name in presets.model_names(tables) if _is_covered(name, tables)]


def _is_covered(name: str, tables: Tables) -> bool:
    try:
        row = presets.architecture(name, tables)
        presets.of_architecture(row)
        presets.kv_bytes(row, BYTES_PER_WEIGHT[presets.ATTENTION_DTYPE])
    except BacksolveError:
        return False
    return True


def _chip(name: str, tables: Tables) -> Json:
    """Return the values of a chip that are the same for all data types, and the values of each data type."""
    types = {dtype: presets.hardware(f"{name}:{dtype}", tables) for dtype in BYTES_PER_WEIGHT if presets.has_data_type(name, dtype, tables)}
    of_type = (*presets.OF_DATA_TYPE, "attention_rate_ratio")
    common = next(iter(types.values())).givens if types else {}
    return {
        "givens": {name: value for name, value in common.items() if name not in of_type} | _rent(name, tables),
        "types": {dtype: {name: found.givens[name] for name in of_type if name in found.givens} for dtype, found in types.items()},
    }


def _rent(name: str, tables: Tables) -> dict[str, float]:
    try:
        return presets.rent(name, tables).givens
    except NoRent:
        return {}


def kind_of(given: Mapping[str, float]) -> str:
    """Return the key of a data type for the choice of equations: the bytes of a weight, and whether attention has its own rate.

    >>> kind_of({"bytes_per_weight": 1.0, "attention_rate_ratio": 0.5})
    '1 apart'
    """
    return f"{given['bytes_per_weight']:g}{' apart' if 'attention_rate_ratio' in given else ''}"


def _model_on(name: str, kinds: Mapping[str, str], ways: dict[_Structure, Way]) -> Json:
    """Return the values of a model and its way, for each kind of chip and without a chip."""
    found = {kind: _on(chip, name, ways) for kind, chip in {NO_CHIP: None, **kinds}.items()}
    first, *others = (givens for _, givens in found.values())
    alike = {given: value for given, value in first.items() if all(one.get(given) == value for one in others)}
    own = {kind: (way, {given: givens[given] for given in givens if given not in alike}) for kind, (way, givens) in found.items()}
    longest = presets.model(name).published[0].max_context
    return {"givens": alike, "kinds": own, "longest": longest if isfinite(longest) else None}


def _own_model_on(kinds: Mapping[str, str], ways: dict[_Structure, Way]) -> Json:
    """Return the values of the reader's own model, and its way, for each kind of chip and without a chip."""
    places = {kind: _on(chip, None, ways, FIELDS | OWN["model"])[0] for kind, chip in {NO_CHIP: None, **kinds}.items()}
    return {"givens": OWN["model"], "kinds": {kind: (place, {}) for kind, place in places.items()}, "longest": None}


def _on(
    chip: str | None, model: str | None, ways: dict[_Structure, Way], fields: Mapping[str, float] = FIELDS
) -> tuple[int, dict[str, float]]:
    """Return the place of the way for a model on a chip, and the values of the model. Either name may be None."""
    asked = question(ASKED[0], fields, Switches(chip, model))
    structure = frozenset(asked.known), asked.active
    if structure not in ways:
        ways[structure] = _way(chip, model, fields)
    of_chip = {*FIELDS, *(presets.hardware(chip).givens if chip else ())} - {"bytes_per_weight"}
    givens = {given: value for given, value in asked.known.items() if given not in of_chip} if model else {}
    return [*ways].index(structure), givens


def _way(chip: str | None, model: str | None, fields: Mapping[str, float]) -> Way:
    """Return the equations for the questions of the desk on a chip with a model, and the further definitions that follow from them."""
    rows: dict[str, Equation] = {}
    defaults: dict[str, float] = {}
    for name in ASKED:
        asked = question(name, fields, Switches(chip, model, anyway=True))
        neutral = evaluate_defaults(asked.defaults, asked.known)
        way = find_way(name, asked.active, frozenset({*asked.known, *neutral}))
        rows = {leg.unknown: row for leg in (way.legs if way else ()) for row in leg.rows} | rows
        defaults |= neutral
    legs = tuple(_in_order(rows))
    further = tuple(_further(question(ASKED[0], fields, Switches(chip, model, anyway=True)), {*rows, *defaults}))
    spoken = {name for row, _ in (*legs, *further) for name in row.symbols}
    made = {makes for _, makes in (*legs, *further)}
    return Way(
        legs=(*legs, *further),
        asked=len(legs),
        defaults=tuple((name, value) for name, value in sorted((NEUTRAL_DEFAULTS | defaults).items()) if name in spoken - made),
    )


def _in_order(rows: Mapping[str, Equation]) -> Iterator[_Solved]:
    """Yield equations with the quantity that each one gives, each after the equations that it needs."""
    made: set[str] = set()

    def with_premises(name: str) -> Iterator[_Solved]:
        if name in rows and name not in made:
            made.add(name)
            for other in rows[name].symbols:
                yield from with_premises(other)
            yield rows[name], name

    for name in rows:
        yield from with_premises(name)


def _further(asked: Question, made: Iterable[str]) -> Iterator[_Solved]:
    """Yield definitions of quantities that other equations use, each after the definitions that it needs, if all its inputs are known.

    A quantity has its default only if no allowed equation defines it.
    """
    defining = [row for row in asked.active if row.defines == row.symbols[0] and row.sense == "="]
    spoken = {name for row in by_id().values() for name in row.symbols[1:]}
    known = {*asked.known, *made, *(NEUTRAL_DEFAULTS.keys() - {row.defines for row in defining})}
    while ready := [row for row in defining if row.symbols[0] not in known and known.issuperset(row.symbols[1:])]:
        for row in ready:
            if (makes := row.symbols[0]) not in known and makes in spoken:
                yield row, makes
        known |= {row.symbols[0] for row in ready}


def leg_of(row: Equation, makes: str) -> Json:
    """Return an equation as a way uses it: its result, its formula, its requirements, and the binding resource of each regime."""
    whole, told = solvable(row), ("sign", "larger", "smaller", "names", "said", "otherwise")
    return {
        "id": row.id,
        "version": row.version,
        "makes": makes,
        "right": whole["right"] if makes == row.symbols[0] else whole["roots"][makes][0][0]["tree"],
        "requires": [{name: needed[name] for name in told} for needed in whole["requires"]],
        **({"binding": [_binding(regime["wins"]) for regime in whole["regimes"]]} if makes == ASKED[0] else {}),
    }


def _binding(wins: list[Json]) -> Json:
    """Return the resource that binds a step in a regime, and the pairs of trees that define the regime."""
    longer = next(told for name, told in _BINDING.items() if name in names(wins[0]["larger"]))
    return {"wins": [{"larger": pair["larger"], "smaller": pair["smaller"]} for pair in wins], "binds": longer}


def parts_of_fields() -> dict[str, str | None]:
    """Return, for each field that is a part of another field, the name of the whole."""
    return {name: quantity(name).whole for name in FIELDS if quantity(name).whole in FIELDS}
