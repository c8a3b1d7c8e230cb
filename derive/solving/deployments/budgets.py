"""Money of a fleet per hour, day or month, as money over that time."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from derive.errors import WrongUnit, WrongValue
from derive.meanings import Accrued
from derive.quantities import meant_beside, own_unit
from derive.units import parse

_T = TypeVar("_T")

_BY_THE_TIME = r"(?P<money>[^/]*?)\s*(?:/|\bper\b)\s*(?P<time>[A-Za-z]+)\s*"


def split_money_rates(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T | str]:
    """Return the givens with money of a fleet per hour or month as money over that time. An unknown with such a unit is over that time too.

    Raises WrongValue for money by one time beside another.

    >>> split_money_rates(["chips"], {"fleet_cost": "<=$50/h"}), split_money_rates(["cost_per_month"], {"chips": 8})
    ({'fleet_cost': '<=$50', 'deployment_time': '1 h'}, {'chips': 8, 'deployment_time': '1 month'})
    """
    texts = {name: value for name, value in given.items() if isinstance(value, str) and name in Accrued.money}
    apart = {name: found for name, text in texts.items() if (found := re.fullmatch(_BY_THE_TIME, text)) and _is_a_time(found["time"])}
    units = {word: unit.partition("/")[2] for word in unknowns if (unit := own_unit(word)) and unit.startswith("USD/")}
    of_words = [unit for word, unit in units.items() if meant_beside(word, given) in Accrued.money]
    times = {f"1 {time}" for time in (*of_words, *(found["time"] for found in apart.values()))}
    if not times:
        return given
    lasts = {parse(Accrued.time, time) for time in times}
    if len(lasts) > 1 or Accrued.time in given:
        raise WrongValue(f"the money of a fleet depends on one time ({', '.join(sorted(times))}): remove {Accrued.time} or the others")
    return {**given, **{name: found["money"] for name, found in apart.items()}, Accrued.time: min(times)}


def _is_a_time(word: str) -> bool:
    try:
        parse(Accrued.time, f"1 {word}")
    except WrongUnit:
        return False
    return True
