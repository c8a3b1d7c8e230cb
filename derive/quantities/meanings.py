"""Quantities by what words mean: for a name that is none, those whose names, other names and meanings say most of it."""

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
"""Words that are used for each other, a line for each meaning; plurals are read too."""

_LITTLE = """
    a all and as at average avg by count each for in is it its max maximum mean million min minimum mtok n needed num number of on one or
    per required that the to total what with
"""
_SAYS_LITTLE = frozenset(_LITTLE.split())
_MOST_OF_IT = 0.5
"""Share of what a word says, rare words counting more, that a quantity has to say for a hint."""
_OTHER_NAME, _MEANING = 0.8, 0.5
"""How much less a word counts that stands in another name of the quantity, or in its meaning."""
_FURTHER = 0.06
"""How much every further word of the name takes off."""


class _Words(NamedTuple):
    of_name: frozenset[str]
    of_others: frozenset[str]
    of_meaning: frozenset[str]


@cache
def _meant_by() -> dict[str, str]:
    """Each word by the first of those that are used for it."""
    return {word: line.split()[0] for line in _ALIKE.strip().splitlines() for word in line.split()}


def _meanings(words: Iterable[str]) -> frozenset[str]:
    """What words mean, those left out that say little."""
    return frozenset(_meant(word) for word in words if word and word not in _SAYS_LITTLE)


def _meant(word: str) -> str:
    alone = word if word in _meant_by() else word.removesuffix("s")
    return _meant_by().get(alone, alone)


def words_of(rows: Mapping[str, Quantity]) -> dict[str, _Words]:
    """What is said of each quantity: by its name, by what it alone is called, and by its meaning."""
    called: dict[str, set[str]] = {name: set() for name in rows}
    for word, meant in ALIASES.items():
        if len(meant) == 1:
            called[meant[0]].update(word.split("_"))
    return {
        name: _Words(_meanings(name.split("_")), _meanings(called[name]), _meanings(re.findall("[a-z]+", row.meaning.lower())))
        for name, row in rows.items()
    }


def by_meaning(word: str, said: Mapping[str, _Words]) -> list[str]:
    """The quantities that say most of what a word says, the nearest first, or none where none says half of it.

    >>> from derive.quantities import QUANTITIES
    >>> by_meaning("weights_memory", words_of(QUANTITIES))[0], by_meaning("first_token_latency", words_of(QUANTITIES))[0]
    ('weight_bytes', 'time_to_first_token')
    """
    wanted = _meanings(in_full(word).split("_"))
    among = {one: sum(any(one in words for words in each) for each in said.values()) for one in wanted}
    tells = {one: log(len(said) / max(count, 0.5)) for one, count in among.items()}
    most = sum(tells.values())
    found = {name: _told(tells, each) / most for name, each in said.items()} if most else {}
    near = {name: share - _FURTHER * len(said[name].of_name - wanted) for name, share in found.items()}
    return sorted((name for name, share in near.items() if share >= _MOST_OF_IT), key=lambda name: (-near[name], len(name)))


def _told(tells: Mapping[str, float], of: _Words) -> float:
    """How much of words is said of a quantity."""
    counted = ((1.0, of.of_name), (_OTHER_NAME, of.of_others), (_MEANING, of.of_meaning))
    return sum(next((much for much, words in counted if one in words), 0.0) * told for one, told in tells.items())
