"""Build the book: the catalogue chapter by chapter, and by time of the lecture, by quantity and by claim."""

from collections import Counter
from collections.abc import Iterator, Sequence

from backsolve.site.blackboard import blackboard_data, shown_pictures
from backsolve.site.claim_states import claim_states, page_of_row
from backsolve.site.equations import equation_address
from backsolve.site.formulas import page_data
from backsolve.site.lookups import claims_found, quantities_in_order, said_in_order, video_of
from backsolve.site.writing import INDEX, Entry, Page
from derive.catalogue import CHAPTERS, by_id, chapter_text, equations
from derive.derivations import parents
from derive.quantities import QUANTITIES, aliases
from derive.records import Equation
from derive.show.entry import worked_example
from invert.validation.claim_rows import UNDECIDED

BOOK = f"book/{INDEX}"
BY_TIME, BY_QUANTITY, BY_CLAIM = (f"book/{name}/{INDEX}" for name in ("by-time", "by-quantity", "claims"))


def chapter_address(chapter: str) -> str:
    """Return the address of a chapter.

    >>> chapter_address("roofline")
    'book/roofline/index.html'
    """
    return f"book/{chapter}/{INDEX}"


def book_pages() -> Iterator[Page]:
    """Yield the contents, the chapters, and the three indexes."""
    rows = by_id().values()
    derived = sum(bool(row.steps) for row in rows)
    chapters = [(chapter, *chapter_text(chapter), equations(chapter)) for chapter in CHAPTERS]
    yield Page(
        address=BOOK,
        template="book.html",
        title="The book",
        summary=f"{len(rows)} equations of LLM serving in {len(CHAPTERS)} chapters, {derived} of them derived from others.",
        kind="book",
        words=" ".join(CHAPTERS),
        context={"chapters": chapters},
    )
    for place, (chapter, title, about, found) in enumerate(chapters):
        yield Page(
            address=chapter_address(chapter),
            template="chapter.html",
            title=title,
            summary=about,
            kind="chapter",
            words=chapter,
            context={
                "entries": [
                    (row, worked_example(row), [by_id()[id] for id in parents(row)], next(filter(video_of, row.sources), None))
                    for row in found
                ],
                "before": chapters[place - 1] if place else None,
                "after": chapters[place + 1] if place + 1 < len(chapters) else None,
                **_live(found),
            },
        )
    yield _time_page()
    yield _quantity_page()
    yield _claim_page()


def _live(rows: Sequence[Equation]) -> dict[str, object]:
    """Return the live part of a chapter: the pictures of the blackboard with its equations, or else its first worked example."""
    drawn = [one for one in shown_pictures() if {*one["equations"]} & {*rows}]
    if drawn:
        return {"pictures": drawn, "board": blackboard_data([one["key"] for one in drawn]), "states": claim_states()}
    shown = next(row for row in rows if row.example)
    return {"pictures": (), "shown": shown, "formulas": page_data(shown.id)}


def _time_page() -> Page:
    ordered = said_in_order()
    return Page(
        address=BY_TIME,
        template="by_time.html",
        title="By time of the lecture",
        summary="What the lecture says, second by second, and the equations that it became.",
        context={"said": ordered},
        parts=tuple(
            Entry(title=f"{source.place} {row.title}", kind="lecture", address=f"{BY_TIME}#t{source.start}", summary=source.said, words="")
            for source, row in ordered
        ),
    )


def _quantity_page() -> Page:
    rows = [(row, defined, used, aliases(row.name)) for row, defined, used in quantities_in_order()]
    return Page(
        address=BY_QUANTITY,
        template="by_quantity.html",
        title="By quantity",
        summary=f"{len(rows)} quantities with symbol, unit and meaning, and the equations that speak of them.",
        context={"rows": rows},
        parts=tuple(
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


def _claim_page() -> Page:
    rows, problems = claims_found()
    pages = {id: f"{equation_address(state.equation)}#{state.fragment}" for id, state in claim_states().items()}
    return Page(
        address=BY_CLAIM,
        template="claims.html",
        title="By claim",
        summary="What the lecture says in numbers, beside what the equations and tables make of it.",
        context={
            "rows": [(row, pages.get(row["id"]) or page_of_row(row)) for row in rows],
            "opened": (len(pages), sum(bool(page_of_row(row)) for row in rows), sum(row["verdict"] == UNDECIDED for row in rows)),
            "counts": Counter(row["verdict"] for row in rows),
        },
        parts=tuple(
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
