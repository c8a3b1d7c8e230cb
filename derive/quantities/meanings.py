"""Find quantities by meaning: for a word that is not a name, those with most of its content in name, aliases and meaning."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from math import log
from typing import NamedTuple

from derive.quantities.aliases import ALIASES, in_full
from derive.quantities.row import Quantity

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
_OTHER_NAME, _MEANING = 0.8, 0.5
"""Weight of a word in an alias of the quantity, and in its meaning. A word in the name counts 1."""
_FURTHER = 0.06
"""Penalty for every further word of the name."""


class _Words(NamedTuple):
    of_name: frozenset[str]
    of_others: frozenset[str]
    of_meaning: frozenset[str]


@cache
def _synonyms() -> dict[str, str]:
    """Return the first synonym on its line for each word."""
    return {word: line.split()[0] for line in _ALIKE.strip().splitlines() for word in line.split()}


def _meanings(words: Iterable[str]) -> frozenset[str]:
    """Return the meanings of words, without the words that say little."""
    return frozenset(_meaning(word) for word in words if word and word not in _SAYS_LITTLE)


def _meaning(word: str) -> str:
    alone = word if word in _synonyms() else word.removesuffix("s")
    return _synonyms().get(alone, alone)


def words_of(rows: Mapping[str, Quantity]) -> dict[str, _Words]:
    """Return the words of each quantity: of its name, its unambiguous aliases, and its meaning."""
    called: dict[str, set[str]] = {name: set() for name in rows}
    for word, meant in ALIASES.items():
        if len(meant) == 1:
            called[meant[0]].update(word.split("_"))
    return {
        name: _Words(_meanings(name.split("_")), _meanings(called[name]), _meanings(re.findall("[a-z]+", row.meaning.lower())))
        for name, row in rows.items()
    }


def by_meaning(word: str, said: Mapping[str, _Words]) -> list[str]:
    """Return the quantities that contain most of a text's words, the nearest first, if they contain at least half.

    >>> from derive.quantities import QUANTITIES
    >>> by_meaning("weights_memory", words_of(QUANTITIES))[0], by_meaning("first_token_latency", words_of(QUANTITIES))[0]
    ('weight_bytes', 'time_to_first_token')
    """
    wanted = _meanings(in_full(word).split("_"))
    among = {one: sum(any(one in words for words in each) for each in said.values()) for one in wanted}
    tells = {one: log(len(said) / max(count, 0.5)) for one, count in among.items()}
    most = sum(tells.values())
    found = {name: _matched_weight(tells, each) / most for name, each in said.items()} if most else {}
    near = {name: share - _FURTHER * len(said[name].of_name - wanted) for name, share in found.items()}
    return sorted((name for name, share in near.items() if share >= _MOST_OF_IT), key=lambda name: (-near[name], len(name)))


def _matched_weight(tells: Mapping[str, float], of: _Words) -> float:
    """Return the weight of a text's words that a quantity contains."""
    counted = ((1.0, of.of_name), (_OTHER_NAME, of.of_others), (_MEANING, of.of_meaning))
    return sum(next((much for much, words in counted if one in words), 0.0) * told for one, told in tells.items())
