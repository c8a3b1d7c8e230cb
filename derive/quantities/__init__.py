"""The one registry of quantities: name, symbol, unit and domain. A quantity is found by name, symbol, other words, or meaning.

The base units are SI: s, byte, FLOP, token and USD. Sequences, parameters, chips, layers and experts are counts of unit 1. 1 MAC = 2 FLOP.
`peak_flops` is the dense data-sheet figure.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from math import log
from typing import TYPE_CHECKING

from derive.errors import MOST_MEANT, AmbiguousName, BacksolveError, SeveralNames, UnknownName, suggest
from derive.quantities import clusters, models, requests, serving, sheets, steps, training
from derive.quantities.aliases import (
    ALIASES,
    ALSO_CALLED,
    BESIDE,
    FILLERS,
    OWN_UNITS,
    REQUESTED,
    TENSOR_PARALLEL,
    UNIT_ENDINGS,
    WHERE_ASKED,
    in_full,
)
from derive.quantities.defaults import NEUTRAL_DEFAULTS as NEUTRAL_DEFAULTS
from derive.quantities.row import CONSTANTS as CONSTANTS
from derive.quantities.row import Constant as Constant
from derive.quantities.row import Quantity as Quantity

if TYPE_CHECKING:
    from sympy import Symbol

THEMES = (steps, serving, requests, models, clusters, training, sheets)
QUANTITIES: dict[str, Quantity] = {row.name: row for theme in THEMES for row in theme.ROWS}
NAME_OF_SYMBOL = {row.symbol: row.name for row in QUANTITIES.values()}


def quantity(name: str) -> Quantity:
    """Return the registry row of a name, symbol or alias. Raise AmbiguousName for a word with several meanings.

    >>> quantity("B_star").name, quantity("TTFT").name, quantity("tok/s/user").name
    ('balance_batch', 'time_to_first_token', 'tokens_per_second_per_user')
    """
    row = QUANTITIES.get(name) or QUANTITIES.get(NAME_OF_SYMBOL.get(name, ""))
    meant = () if row else _called(name)
    if len(meant) > 1:
        raise AmbiguousName("quantity", name, meant)
    if row is None and not meant:
        # Few people type symbols. They are offered only if no word is near.
        words = [*QUANTITIES, *(word for word in ALIASES if word not in OWN_UNITS)]
        raise UnknownName("quantity", name, words if suggest(name, words) else NAME_OF_SYMBOL, _SEARCHES, _suggestions(name))
    return row or QUANTITIES[meant[0]]


def meant_beside(name: str, others: Collection[str], asked: Collection[str] = ()) -> str:
    """Return the quantity of a name among other names. They or the unknown may decide between several meanings of a word.

    >>> meant_beside("tokens", ["mfu", "train_cost"]), meant_beside("ttft", []), meant_beside("price_per_mtok", ["margin"])
    ('pretrain_tokens', 'time_to_first_token', 'output_price')
    """
    word = _without_unit(in_full(name))
    called = [one for other in others for one in ((other,) if other in QUANTITIES else _called(other)[:1]) if other != name]
    # If the chips of a replica are given too, requested chips are the chips of all replicas.
    beside = {*called, *(("fleet_chips",) if called.count("chips") > 1 else ()), *((REQUESTED,) if name in asked else ())}
    of_asked = (
        {WHERE_ASKED[word].get(one if one in QUANTITIES else "".join(_called(one))) for one in asked} if word in WHERE_ASKED else set()
    )
    if len(of_asked) == 1 and (one := of_asked.pop()):
        return one
    if any(of_asked):
        return quantity(name).name
    of_word = BESIDE.get(name.lower()) or BESIDE.get(word, {})
    if meant := next((meant for others, meant in of_word.items() if beside.issuperset(others.split())), None):
        # If both names are given, both are meant.
        return word if word in QUANTITIES and meant in beside else meant
    plain = quantity(name).name
    # Beside the degree of tensor parallelism, another word for chips counts those of all replicas.
    return "fleet_chips" if plain == "chips" and word not in TENSOR_PARALLEL and says_tensor_parallel(others) else plain


def refuse_unnamed(names: Collection[str], asked: Collection[str] = (), beside: Collection[str] = ()) -> None:
    """Raise an error for all names that match no quantity, or several if they are not asked for. Names in `beside` are not checked."""
    refused: list[BacksolveError] = []
    for name in dict.fromkeys(names):
        try:
            meant_beside(name, (*names, *beside), asked)
        except UnknownName as error:
            refused.append(error)
        except AmbiguousName as error:
            if name not in asked:
                refused.append(error)
    if refused:
        raise refused[0] if len(refused) == 1 else SeveralNames(refused, _SEARCHES)


_SEARCHES = "backsolve list WORD searches them"
_MISSPELT = 0.85
"""The least similarity of a name and a misspelling of it."""


def _called(word: str) -> tuple[str, ...]:
    """Return the quantities that a word means if it is not a name: an alias, another spelling of a name, or a count."""
    name = in_full(word)
    counted = next((meant for one in _without_number(name) if (meant := _named(one))), ())
    return ALIASES.get(word.lower()) or _named(name) or counted or _split_unit(name)[0]


def says_tensor_parallel(words: Collection[str]) -> bool:
    """Return whether one of these words means that chips share every layer by its heads.

    >>> says_tensor_parallel(["ctx", "TP-size"]), says_tensor_parallel(["gpus"])
    (True, False)
    """
    return any(in_full(word) in TENSOR_PARALLEL for word in words)


def own_unit(word: str) -> str | None:
    """Return the unit that a name states: as a whole, or at its end.

    >>> own_unit("cost_per_mtok"), own_unit("TPOT_ms"), own_unit("kv_cache_GiB"), own_unit("tpot")
    ('USD/MTok', 'ms', 'GiB', None)
    """
    name = in_full(word)
    return OWN_UNITS.get(name) or (None if _named(name) else _split_unit(name)[1])


def _without_unit(name: str) -> str:
    """Return a name without the unit at its end."""
    rest, _, end = name.rpartition("_")
    return rest if end in UNIT_ENDINGS and rest in ALIASES else name


def _split_unit(name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the meanings of a name without the unit at its end, and that unit, if all the meanings have such a unit."""
    rest, _, end = name.rpartition("_")
    unit, of = UNIT_ENDINGS.get(end, (None, ""))
    meant = _named(rest) if unit else ()
    return (meant, unit) if meant and all(QUANTITIES[one].unit.removesuffix("/token") == of for one in meant) else ((), None)


def _named(name: str) -> tuple[str, ...]:
    return (name,) if name in QUANTITIES else ALIASES.get(name, ())


def _without_number(name: str) -> tuple[str, ...]:
    """Return the thing in a name for its number or its best end, in the singular and the plural."""
    found = re.fullmatch(FILLERS, name)
    one = found and (found["first"] or found["last"])
    return (one, f"{one}s") if one else ()


def _suggestions(name: str) -> list[str]:
    """Return names that may be meant: other words for it, else names with the word as a part, the shortest first, or by meaning.

    The search by meaning is skipped for a name or a misspelling.
    """
    from difflib import get_close_matches

    word = in_full(name)
    stem, _, end = word.rpartition("_")
    called = ALSO_CALLED.get(word) or ALSO_CALLED.get(stem if end in UNIT_ENDINGS else "", ())
    parts = sorted((one for one in QUANTITIES if word in one.split("_")), key=len) if len(word) > 1 else []
    meant = [] if called or parts or get_close_matches(word, (*QUANTITIES, *ALIASES), n=1, cutoff=_MISSPELT) else by_meaning(word)
    return list(dict.fromkeys((*called, *parts, *meant)))[:MOST_MEANT]


def aliases(name: str) -> tuple[str, ...]:
    """Return the other words for a quantity that mean it alone.

    >>> aliases("step_time")
    ('tpot', 'itl', 'tbt', 'time_between_tokens', 'inter_token_latency')
    """
    return tuple(word for word, meant in ALIASES.items() if meant == (name,))


@cache
def symbol(name: str) -> "Symbol":
    """Return the SymPy symbol of a quantity or constant. It is made once, at the first request.

    >>> symbol("overlap").is_positive is None, symbol("batch").is_positive
    (True, True)
    """
    from sympy import Symbol

    if name in CONSTANTS:
        return Symbol(name, positive=True)
    row = quantity(name)
    return Symbol(row.name, nonnegative=True) if row.may_be_zero else Symbol(row.name, positive=True)


# -- search by meaning ------------------------------------------------------------------------------------------------

_ALIKE = """
    accepted accept acceptance
    batch batchsize
    cache cached kv
    chip accelerator card device gpu processor
    context ctx length window
    cost bill dollar expense money price spend usd
    draft eagle medusa mtp spec speculation speculative
    energy electricity joule kwh
    flops arithmetic compute flop
    link ethernet infiniband interconnect network nvlink pcie
    hbm vram
    layer depth
    output completion generated osl response
    parameter model param weight
    power watt
    prompt input isl prefill
    rate speed throughput tps
    replica copy instance worker
    request call query
    sequence concurrency concurrent conversation seq stream user
    share fraction percent percentage ratio
    size bytes footprint memory storage usage
    time days delay duration elapsed hours latency seconds
    token tok
    activated touched fetched hit read
    training pretrain pretraining train
    utilisation mfu occupancy
    verification check verified verify
"""
"""Synonyms, one line for each meaning. Plurals match too."""

_LITTLE = """
    a all and as at average avg by count each for in is it its max maximum mean million min minimum mtok n needed num number of on one or
    per required that the to total what with
"""
_SAYS_LITTLE = frozenset(_LITTLE.split())
_MOST_OF_IT = 0.5
"""Least share of a text's words, weighted by rarity, that a quantity must contain for a hint."""
_NAME, _OTHER_NAME, _MEANING = 1.0, 0.8, 0.5
"""Weight of a word in the name of a quantity, in an alias, and in its meaning."""
_FURTHER = 0.06
"""Penalty for every further word of the name."""


@cache
def _synonyms() -> dict[str, str]:
    """Return the first synonym on its line for each word."""
    return {word: line.split()[0] for line in _ALIKE.strip().splitlines() for word in line.split()}


def _meanings(words: Iterable[str]) -> frozenset[str]:
    """Return the meanings of words, without the words that say little."""
    alone = (word if word in _synonyms() else word.removesuffix("s") for word in words if word and word not in _SAYS_LITTLE)
    return frozenset(_synonyms().get(word, word) for word in alone)


@cache
def _weights() -> Mapping[str, Mapping[str, float]]:
    """Return the words of each quantity with their weights: of its name, its unambiguous aliases, and its meaning."""
    called: dict[str, set[str]] = {name: set() for name in QUANTITIES}
    for word, meant in ALIASES.items():
        if len(meant) == 1:
            called[meant[0]].update(word.split("_"))
    return {
        name: {
            **dict.fromkeys(_meanings(re.findall("[a-z]+", row.meaning.lower())), _MEANING),
            **dict.fromkeys(_meanings(called[name]), _OTHER_NAME),
            **dict.fromkeys(_meanings(name.split("_")), _NAME),
        }
        for name, row in QUANTITIES.items()
    }


def by_meaning(word: str) -> list[str]:
    """Return the quantities that contain most of a text's words, the nearest first, if they contain at least half.

    >>> by_meaning("weights_memory")[0], by_meaning("first_token_latency")[0]
    ('weight_bytes', 'time_to_first_token')
    """
    wanted, weights = _meanings(in_full(word).split("_")), _weights()
    tells = {one: log(len(weights) / max(sum(one in words for words in weights.values()), 0.5)) for one in wanted}
    most = sum(tells.values())
    near = {}
    for name, words in weights.items() if most else ():
        further = sum(weight == _NAME and one not in wanted for one, weight in words.items())
        share = sum(words.get(one, 0.0) * told for one, told in tells.items()) / most
        if share - _FURTHER * further >= _MOST_OF_IT:
            near[name] = share - _FURTHER * further
    return sorted(near, key=lambda name: (-near[name], len(name)))
