"""Compute the data of chips and models for a page: their values, and the equations that follow, in the order of their solution.

The questions of `derive` choose the equations. A page evaluates them one after another.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from math import inf, isfinite

from backsolve.figures.usual import DATA_TYPE, DEPLOYED
from backsolve.site.formulas import RATES, Json, quantities_data, solvable
from derive import presets
from derive.catalogue import by_id
from derive.errors import NoRent, NotCovered
from derive.immutable import immutable
from derive.preset_record import BYTES_PER_WEIGHT
from derive.records import Equation
from derive.show.plot import roof_trees
from derive.solving.question.conventions import Switches
from derive.solving.question.defaults import evaluate_defaults
from derive.solving.question.questions import question
from derive.tables import shipped
from derive.tables.shipped import Tables
from derive.trees import names

ASKED = (
    *("step_time", "tokens_per_second_per_user", "throughput", "cost_per_token", "memory_per_chip", "memory_time_share"),
    *("prefill_time", "time_to_first_token"),
)
"""Results of the desk. It also shows the equations that lead to them."""

SUSTAINED = {name: DEPLOYED[name] for name in RATES}
"""The shares of its peaks that a step sustains if a reader selects sustained rates."""

FIELDS = DEPLOYED | dict.fromkeys(SUSTAINED, 1.0) | {"chip_price": 2 / 3600, "prompt_tokens": 2000.0, "attention_replicas": 1.0}
"""Inputs beside chip and model with their first values [SI]: ideal rates, as at the command line. A chip sets its rent."""

TITLES = {
    **{"context_length": "context", "prompt_tokens": "prompt", "mfu": "share of peak FLOP/s", "mbu": "share of bandwidth"},
    **{"tokens_per_second_per_user": "tokens/s per user", "kv_bytes_per_token": "KV bytes", "hbm_bandwidth": "bandwidth"},
    **{"machine_balance_ratio": "balance ratio", "fast_price_ratio": "fast mode: price", "fast_speed_ratio": "fast mode: speed"},
    **{"long_context_threshold": "price step at", "premium_out": "price step", "inference_tokens": "tokens served"},
    **{"kv_replication": "KV replication", "rl_tokens": "RL tokens", "rl_multiplier": "RL FLOPs per token"},
}
"""Labels of quantities on the desk and the blackboard that differ from their names."""

OWN_MODEL, OWN_CHIP = "own model", "own chip"
OWN = {
    "model": {"active_params": 100e9, "total_params": 800e9, "kv_bytes_per_token": 1667.0},
    "hardware": {"peak_flops": 2e15, "hbm_bandwidth": 4e12, "hbm_capacity": 100e9, "bytes_per_weight": 1.0},
}
"""Inputs of a model and of a chip that are in no table, with their first values [SI]. The model is that of the lecture."""

_BINDING = {"memory_time": "memory", "compute_time": "arithmetic"}
"""The resource that binds a step, by the longer of its times."""

NO_CHIP = NO_MODEL = ""


@immutable
class Way:
    """Equations in the order of their solution, the number of them that the desk uses, and the defaults that they use."""

    legs: tuple[Equation, ...]
    asked: int
    defaults: tuple[tuple[str, float], ...]


@cache
def presets_data() -> Json:
    """Return chips by data type and open models, with their values by registry name [SI] and the equations that follow.

    `kinds` has the way and the further values of a model for each kind of chip.

    >>> data = presets_data()
    >>> data["chips"]["H100-SXM"]["givens"]["hbm_capacity"], data["chips"]["H100-SXM"]["types"]["fp8"]["bytes_per_weight"]
    (85520809984.0, 1.0)
    >>> data["models"]["DeepSeek-V3"]["givens"]["layers"]
    61.0
    """
    tables = shipped.read()
    chips = {name: chip for name in presets.hardware_names(tables) if (chip := _chip(name, tables))["types"]}
    kinds = {kind_of(given): f"{chip}:{dtype}" for chip, one in chips.items() for dtype, given in one["types"].items()}
    chips[OWN_CHIP] = {"givens": OWN["hardware"], "types": {DATA_TYPE: {"bytes_per_weight": 1.0, "attention_rate_ratio": 1.0}}}
    ways: dict[Way, int] = {}
    models = {name: _model(name, {NO_CHIP: ""} | kinds, ways) for name in (*covered_models(), OWN_MODEL)}
    models[NO_MODEL] = _model(NO_MODEL, kinds, ways)
    legs = [*dict.fromkeys(leg for way in ways for leg in way.legs)]
    axes = {"rows": [*quantities_data(("ridge_point", "peak_flops")).values()], "called": "FLOPs for each byte that is read"}
    return {
        "chips": chips,
        "models": models,
        "beside": FIELDS,
        "sustained": SUSTAINED,
        "roof": {**roof_trees(), **axes, "of": "on each chip"},
        "legs": [*map(leg_of, legs)],
        "ways": [{"legs": [*map(legs.index, one.legs)], "asked": one.asked} for one in ways],
        "defaults": {name: value for one in ways for name, value in one.defaults},
    }


def covered_models() -> list[str]:
    """Return the open models whose attention an equation covers."""
    tables, found = shipped.read(), []
    for name in presets.model_names(tables):
        with suppress(NotCovered):
            presets.model(name, tables)
            found.append(name)
    return found


def _chip(name: str, tables: Tables) -> Json:
    """Return the values of a chip that are the same for all data types, and the values of each data type."""
    types = {dtype: presets.hardware(f"{name}:{dtype}", tables) for dtype in BYTES_PER_WEIGHT if presets.has_data_type(name, dtype, tables)}
    of_type = (*presets.OF_DATA_TYPE, "attention_rate_ratio")
    common = dict(next(iter(types.values())).givens) if types else {}
    with suppress(NoRent):
        common |= presets.rent(name, tables).givens
    return {
        "givens": {name: value for name, value in common.items() if name not in of_type},
        "types": {dtype: {name: found.givens[name] for name in of_type if name in found.givens} for dtype, found in types.items()},
    }


def kind_of(given: Mapping[str, float]) -> str:
    """Return the key of a data type for the choice of equations: the bytes of a weight, and whether attention has its own rate.

    >>> kind_of({"bytes_per_weight": 1.0, "attention_rate_ratio": 0.5})
    '1 apart'
    """
    return f"{given['bytes_per_weight']:g}{' apart' if 'attention_rate_ratio' in given else ''}"


def _model(name: str, kinds: Mapping[str, str], ways: dict[Way, int]) -> Json:
    """Return the values of a model, and for each kind of chip the position of its way and its further values."""
    known = presets.model(name) if name not in (NO_MODEL, OWN_MODEL) else None
    givens = known.givens if known else OWN["model"] if name == OWN_MODEL else {}
    of_kinds = {}
    for kind, chip in kinds.items():
        fields = FIELDS if known else FIELDS | givens
        asked = question(ASKED[0], fields, Switches(chip or None, name if known else None, anyway=True))
        way = _way(tuple(asked.known), asked.active, tuple(evaluate_defaults(asked.defaults, asked.known).items()))
        of_chip = {*FIELDS, *(presets.hardware(chip).givens if chip else ())} - {"bytes_per_weight"}
        further = {given: value for given, value in asked.known.items() if given not in of_chip and givens.get(given) != value}
        of_kinds[kind] = ways.setdefault(way, len(ways)), further
    longest = known.published[0].max_context if known else inf
    return {"givens": givens, "kinds": of_kinds, "longest": longest if isfinite(longest) else None}


@cache
def _way(known: tuple[str, ...], active: tuple[Equation, ...], defaults: tuple[tuple[str, float], ...]) -> Way:
    """Return all definitions that follow from known quantities and defaults. The definitions that the desk uses come first."""
    defining = [row for row in active if row.defines == row.symbols[0]]
    have, legs = {*known, *dict(defaults)}, list[Equation]()
    while ready := [row for row in defining if row.symbols[0] not in have and have.issuperset(row.symbols[1:])]:
        legs += {row.symbols[0]: row for row in reversed(ready)}.values()
        have |= {row.symbols[0] for row in ready}
    wanted, inputs = {*ASKED}, {name for row in by_id().values() for name in row.symbols[1:]}
    for row in reversed(legs):
        wanted |= {*row.symbols[1:]} if row.symbols[0] in wanted else set()
    used = [row for row in legs if row.symbols[0] in wanted]
    further = [row for row in legs if row.symbols[0] not in wanted and row.symbols[0] in inputs]
    spoken = {name for row in (*used, *further) for name in row.symbols}
    return Way(legs=(*used, *further), asked=len(used), defaults=tuple((name, value) for name, value in defaults if name in spoken))


def leg_of(row: Equation) -> Json:
    """Return an equation as a way uses it: its result, its formula, its requirements, and the binding resource of each regime."""
    whole, told = solvable(row), ("sign", "larger", "smaller", "names", "said", "otherwise")
    return {
        "id": row.id,
        "version": row.version,
        "makes": row.symbols[0],
        "right": whole["right"],
        "requires": [{name: needed[name] for name in told} for needed in whole["requires"]],
        **({"binding": [_binding(regime["wins"]) for regime in whole["regimes"]]} if row.symbols[0] == ASKED[0] else {}),
    }


def _binding(wins: list[Json]) -> Json:
    """Return the resource that binds a step in a regime, and the pairs of trees that define the regime."""
    longer = next(told for name, told in _BINDING.items() if name in names(wins[0]["larger"]))
    return {"wins": [{"larger": pair["larger"], "smaller": pair["smaller"]} for pair in wins], "binds": longer}
