"""Compute the indexes of the book, for pages and for paper: by time of the lecture, by quantity, and by claim with its verdict."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from derive.catalogue import by_id, equations
from derive.catalogue.searching import TALK
from derive.catalogue.sources import talk
from derive.quantities import QUANTITIES
from derive.quantities.row import Quantity
from derive.records import Equation, Source
from derive.tables import shipped
from derive.tables.lines import Problem
from invert.validation.claim_rows import Claim
from invert.validation.scoreboard import sections


def video_of(source: Source) -> str:
    """Return the address of a source's second in the video of the lecture, or "" for other works."""
    return source.address if source.video and source.start is not None else ""


def video_at(time: str) -> str:
    """Return the address of the second of the video for a time in the format h:mm:ss, or "" for a blank time.

    >>> video_at("0:03:28"), video_at("")
    ('https://youtu.be/xmkSf5IS-zw?t=208', '')
    """
    return talk(time, time, "").address if time else ""


def said_in_order() -> list[tuple[Source, Equation]]:
    """Return the statements of the lecture in order, each with the equations that cite it."""
    said = [(one, row) for row in by_id().values() for one in row.sources if one.kind == TALK and one.start is not None]
    return sorted(said, key=lambda pair: (pair[0].start, pair[0].end))


def quantities_in_order() -> list[tuple[Quantity, list[Equation], list[Equation]]]:
    """Return every quantity by name, with the equations that define it, and the other equations that use it."""
    found = []
    for row in sorted(QUANTITIES.values(), key=lambda row: row.name):
        of_it = equations(symbol=row.name)
        found.append((row, [one for one in of_it if one.defines == row.name], [one for one in of_it if one.defines != row.name]))
    return found


@cache
def claims() -> dict[str, Claim]:
    """Return the claims by id."""
    return {row.id: row for row in shipped.rows_of(Claim)}


def verdicts() -> list[tuple[str, int]]:
    """Return the verdicts on the claims with the number of claims, the most frequent first."""
    return Counter(row["verdict"] for row in claims_found()[0]).most_common()


@cache
def claims_found() -> tuple[list[Mapping[str, Any]], tuple[Problem, ...]]:
    """Return the claims as `backsolve validate --section claims` prints them, and the problems of the tables."""
    found, problems = sections(("claims",))
    return list(found.get("claims", ())), tuple(problems)
