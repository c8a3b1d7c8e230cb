"""The one registry: what every quantity is called, its symbol, its unit and the domain it lives in.

SI inside: s, byte, FLOP, token, USD are the base units, and sequences, parameters, chips, layers and experts are
counts of unit 1. 1 MAC = 2 FLOP; `peak_flops` is the dense data-sheet figure.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

from derive.errors import MOST_MEANT, AmbiguousName, SeveralNames, UnknownName, suggest
from derive.quantities import clusters, constants, models, requests, serving, sheets, steps, training
from derive.quantities.aliases import (
    ALIASES,
    ALSO_CALLED,
    BESIDE,
    BESIDE_TRAINING,
    HOW_MANY,
    OWN_UNITS,
    SUPERLATIVES,
    TENSOR_PARALLEL,
    UNIT_ENDINGS,
    WHERE_ASKED,
    in_full,
)
from derive.quantities.meanings import by_meaning, words_of
from derive.quantities.row import Constant as Constant
from derive.quantities.row import Quantity as Quantity

if TYPE_CHECKING:
    from sympy import Symbol

THEMES = (steps, serving, requests, models, clusters, training, sheets)
QUANTITIES: dict[str, Quantity] = {row.name: row for theme in THEMES for row in theme.ROWS}
CONSTANTS: dict[str, Constant] = {row.name: row for row in constants.ROWS}
NAME_OF_SYMBOL = {row.symbol: row.name for row in QUANTITIES.values()}

NEUTRAL_DEFAULTS = {
    **{"chips": 1.0, "pipeline_stages": 1.0, "mfu": 1.0, "mbu": 1.0},
    **{"replicas": 1.0, "tokens_per_step": 1.0, "fleet_utilisation": 1.0},
    **{"microbatches": 1.0, "hop_latency": 0.0, "idle_fraction": 0.0},
    **{"tokens_verified_per_step": 1.0, "kv_replication": 1.0, "attention_replicas": 1.0, "expert_imbalance": 1.0},
    **{"attention_time": 0.0, "attention_compute_ratio": 0.0, "attention_rate_ratio": 1.0},
    **{"draft_cost_ratio": 0.0, "drafting_time": 0.0, "overhead_time": 0.0, "verification_ratio": 1.0},
    **{"prefill_attention_factor": 1.0, "prefill_decode_flops_ratio": 1.0, "cache_hit_share": 0.0, "cached_tokens": 0.0},
    **{"prefill_batch": 1.0, "prefill_passes": 1.0, "prefill_weight_time": 0.0, "queue_time": 0.0},
    **{"shared_experts": 0.0, "reserved_share": 0.0},
}
"""Nothing else has a default; those that an answer used are listed among its assumptions."""


def quantity(name: str) -> Quantity:
    """The registry row of a name, of its symbol, or of what else it is called. Raises AmbiguousName for a word that could mean several.

    >>> quantity("B_star").name, quantity("TTFT").name, quantity("tok/s/user").name
    ('balance_batch', 'time_to_first_token', 'tokens_per_second_per_user')
    """
    row = QUANTITIES.get(name) or QUANTITIES.get(NAME_OF_SYMBOL.get(name, ""))
    meant = () if row else _called(name)
    if len(meant) > 1:
        raise AmbiguousName("quantity", name, meant)
    if row is None and not meant:
        # Symbols are what few people type: they are offered where no word is near.
        words = [*QUANTITIES, *(word for word in ALIASES if word not in OWN_UNITS)]
        raise UnknownName("quantity", name, words if suggest(name, words) else NAME_OF_SYMBOL, _SEARCHES, _near(name))
    return row or QUANTITIES[meant[0]]


def meant_beside(name: str, others: Collection[str], asked: Collection[str] = ()) -> str:
    """The quantity of a name that stands beside others: of several that a word could mean, they or what is asked for may say which.

    >>> meant_beside("tokens", ["mfu", "train_cost"]), meant_beside("ttft", []), meant_beside("price_per_mtok", ["margin"])
    ('pretrain_tokens', 'time_to_first_token', 'output_price')
    """
    of_training = {row.name for row in training.ROWS}
    word = _without_unit(in_full(name))
    called = [one for other in others for one in ((other,) if other in QUANTITIES else _called(other)[:1]) if other != name]
    # Chips that are asked for beside those of a replica are those of all.
    beside = {*called, *(("fleet_chips",) if called.count("chips") > 1 else ())}
    if word in BESIDE_TRAINING and not of_training.isdisjoint(beside):
        return BESIDE_TRAINING[word]
    of_asked = (
        {WHERE_ASKED[word].get(one if one in QUANTITIES else "".join(_called(one))) for one in asked} if word in WHERE_ASKED else set()
    )
    if len(of_asked) == 1 and (one := of_asked.pop()):
        return one
    if any(of_asked):
        return quantity(name).name
    if meant := next((meant for others, meant in BESIDE.get(word, {}).items() if beside.issuperset(others.split())), None):
        # Who gives both by name means both.
        return word if word in QUANTITIES and meant in beside else meant
    return quantity(name).name


def refuse_unnamed(names: Collection[str], asked: Collection[str] = (), beside: Collection[str] = ()) -> None:
    """Refuses names that are of no one quantity, all of them at once; what stands unwritten `beside` them is not looked at."""
    refused = []
    for name in dict.fromkeys(names):
        try:
            meant_beside(name, (*names, *beside), asked)
        except (UnknownName, AmbiguousName) as error:
            refused.append(error)
    if refused:
        raise refused[0] if len(refused) == 1 else SeveralNames(refused, _SEARCHES)


_SEARCHES = "backsolve list WORD searches them"
_MISSPELT = 0.85
"""How alike a word and a name are, of which one is the other misspelt."""


def _called(word: str) -> tuple[str, ...]:
    """What quantities a word is taken for that is no name: an alias, the name itself written otherwise, or the number of something."""
    name = in_full(word)
    counted = next((meant for one in (*_counted(name), *_of_the_best(name)) if (meant := _named(one))), ())
    return ALIASES.get(word.lower()) or _named(name) or counted or _in_a_unit(name)[0]


def says_tensor_parallel(words: Collection[str]) -> bool:
    """Whether one of these words says of chips that they share every layer by its heads.

    >>> says_tensor_parallel(["ctx", "TP-size"]), says_tensor_parallel(["gpus"])
    (True, False)
    """
    return any(in_full(word) in TENSOR_PARALLEL for word in words)


def own_unit(word: str) -> str | None:
    """The unit that a name says: as a whole, or at its end.

    >>> own_unit("cost_per_mtok"), own_unit("TPOT_ms"), own_unit("kv_cache_GiB"), own_unit("tpot")
    ('USD/MTok', 'ms', 'GiB', None)
    """
    name = in_full(word)
    return OWN_UNITS.get(name) or (None if _named(name) else _in_a_unit(name)[1])


def _without_unit(name: str) -> str:
    """A name without the unit at its end."""
    rest, _, end = name.rpartition("_")
    return rest if end in UNIT_ENDINGS and rest in ALIASES else name


def _in_a_unit(name: str) -> tuple[tuple[str, ...], str | None]:
    """What a name means without the unit at its end, and that unit, where all that it means is in such a unit."""
    rest, _, end = name.rpartition("_")
    unit, of = UNIT_ENDINGS.get(end, (None, ""))
    meant = _named(rest) if unit else ()
    return (meant, unit) if meant and all(QUANTITIES[one].unit.removesuffix("/token") == of for one in meant) else ((), None)


def _named(name: str) -> tuple[str, ...]:
    return (name,) if name in QUANTITIES else ALIASES.get(name, ())


def _counted(name: str) -> tuple[str, ...]:
    """What a name counts that says that it is a number of it, alone and in the plural."""
    found = re.fullmatch(HOW_MANY, name)
    one = found and (found["first"] or found["last"])
    return (one, f"{one}s") if one else ()


def _of_the_best(name: str) -> tuple[str, ...]:
    """What a name asks the best of, alone and in the plural."""
    found = re.fullmatch(SUPERLATIVES, name)
    return (found["name"], f"{found['name']}s") if found else ()


def _near(name: str) -> list[str]:
    """The names that may be meant: what people call so, else those of which the word is a part, the shortest first, or says the most.

    None of one that is a name or two letters off.
    """
    word = in_full(name)
    called = ALSO_CALLED.get(word, ())
    parts = sorted((one for one in QUANTITIES if word in one.split("_")), key=len) if len(word) > 1 else []
    meant = [] if called or parts or _is_misspelt(word) else by_meaning(word, words_of(QUANTITIES))
    return list(dict.fromkeys((*called, *parts, *meant)))[:MOST_MEANT]


def _is_misspelt(word: str) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(word, (*QUANTITIES, *ALIASES), n=1, cutoff=_MISSPELT))


def aliases(name: str) -> tuple[str, ...]:
    """What else a quantity is called, of the words that mean it alone.

    >>> aliases("step_time")
    ('tpot', 'itl', 'tbt', 'time_between_tokens', 'inter_token_latency')
    """
    return tuple(word for word, meant in ALIASES.items() if meant == (name,))


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
