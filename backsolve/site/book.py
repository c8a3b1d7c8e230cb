"""The book: the catalogue as one reads it, chapter by chapter, and by time of the lecture, by quantity and by claim."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from backsolve.site.equations import video_of
from backsolve.site.writing import INDEX, Entry, Page
from derive.catalogue import CHAPTERS, by_id, chapter_text, equations
from derive.catalogue.sources import talk
from derive.derivations import parents
from derive.quantities import QUANTITIES, aliases
from derive.quantities.row import Quantity
from derive.records import Equation, Source
from derive.searching import TALK
from derive.shipped import Problem
from derive.show.entry import worked
from invert.scoreboard import sections

BOOK = f"book/{INDEX}"
BY_TIME, BY_QUANTITY, BY_CLAIM = (f"book/{name}/{INDEX}" for name in ("by-time", "by-quantity", "claims"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something of the lecture that an equation is from."""

    source: Source
    row: Equation
    video: str


def chapter_address(chapter: str) -> str:
    """Where a chapter stands.

    >>> chapter_address("roofline")
    'book/roofline/index.html'
    """
    return f"book/{chapter}/{INDEX}"


def book_pages() -> Iterator[Page]:
    """The contents, the chapters, and the three ways to look something up."""
    rows = by_id().values()
    derived = sum(bool(row.steps) for row in rows)
    chapters = [(chapter, *chapter_text(chapter), equations(chapter)) for chapter in CHAPTERS]
    yield Page(
        address=BOOK,
        template="book.html",
        title="The book",
        summary=f"{len(rows)} equations of LLM serving in {len(CHAPTERS)} chapters, {derived} of them derived from others.",
        context={"chapters": chapters},
        entries=(
            Entry(title="The book", kind="book", address=BOOK, summary="All equations, chapter by chapter", words=" ".join(CHAPTERS)),
        ),
    )
    for place, (chapter, title, about, found) in enumerate(chapters):
        yield Page(
            address=chapter_address(chapter),
            template="chapter.html",
            title=title,
            summary=about,
            context={
                "chapter": chapter,
                "about": about,
                "entries": [(row, worked(row), [by_id()[id] for id in parents(row)], _first_said(row)) for row in found],
                "before": chapters[place - 1] if place else None,
                "after": chapters[place + 1] if place + 1 < len(chapters) else None,
            },
            entries=(Entry(title=title, kind="chapter", address=chapter_address(chapter), summary=about, words=chapter),),
        )
    yield _by_time()
    yield _by_quantity()
    yield _by_claim()


def _first_said(row: Equation) -> tuple[Source, str] | None:
    """Where the lecture comes to an equation first."""
    return next(((source, video_of(source)) for source in row.sources if video_of(source)), None)


def _by_time() -> Page:
    said = [Said(source=one, row=row, video=video_of(one)) for row in by_id().values() for one in row.sources if one.kind == TALK]
    ordered = sorted((one for one in said if one.source.start is not None), key=lambda one: (one.source.start, one.source.end))
    return Page(
        address=BY_TIME,
        template="by_time.html",
        title="By time of the lecture",
        summary="What the lecture says, second by second, and the equations that it became.",
        context={"said": ordered},
        entries=tuple(
            Entry(
                title=f"{one.source.place} {one.row.title}",
                kind="lecture",
                address=f"{BY_TIME}#{time_anchor(one.source)}",
                summary=one.source.said,
                words="",
            )
            for one in ordered
        ),
    )


def time_anchor(source: Source) -> str:
    """What a time of the lecture is linked by."""
    return f"t{source.start}"


def _by_quantity() -> Page:
    rows = [(row, *_defined_and_used(row), aliases(row.name)) for row in sorted(QUANTITIES.values(), key=lambda row: row.name)]
    return Page(
        address=BY_QUANTITY,
        template="by_quantity.html",
        title="By quantity",
        summary=f"{len(rows)} quantities with symbol, unit and meaning, and the equations that speak of them.",
        context={"rows": rows},
        entries=tuple(
            Entry(
                title=row.name,
                kind="quantity",
                address=f"{BY_QUANTITY}#{row.name}",
                summary=f"{row.symbol} [{row.unit}] {row.meaning}",
                words=f"{' '.join(aliases(row.name))} {row.unlike}",
            )
            for row in QUANTITIES.values()
        ),
    )


def _defined_and_used(row: Quantity) -> tuple[list[Equation], list[Equation]]:
    """The equations that define a quantity, and the others that speak of it."""
    found = equations(symbol=row.name)
    return [one for one in found if one.defines == row.name], [one for one in found if one.defines != row.name]


def _by_claim() -> Page:
    rows, problems = claims_found()
    return Page(
        address=BY_CLAIM,
        template="claims.html",
        title="By claim",
        summary="What the lecture says in numbers, beside what the equations and tables make of it.",
        context={
            "rows": [(row, _rests_on(row["by"]), _video_at(row["time"])) for row in rows],
            "counts": Counter(row["verdict"] for row in rows),
        },
        entries=tuple(
            Entry(
                title=row["claim"],
                kind="claim",
                address=f"{BY_CLAIM}#{row['id']}",
                summary=f"said {row['said']} {row['unit']}: {row['verdict']}",
                words=row["reason"],
            )
            for row in rows
        ),
        problems=problems,
    )


@cache
def claims_found() -> tuple[list[Mapping[str, Any]], tuple[Problem, ...]]:
    """The claims as `backsolve validate --section claims` prints them, and what it says of the tables."""
    found, problems = sections(("claims",))
    return list(found["claims"]), tuple(problems)


def _rests_on(by: str) -> list[tuple[str, bool]]:
    """What a finding rests on, each with whether it is an equation."""
    return [(one, one in by_id()) for one in by.split("; ") if one]


def _video_at(time: str) -> str:
    """The second of the video for a time written h:mm:ss; nothing for none."""
    return talk(time, time, "").address if time else ""
