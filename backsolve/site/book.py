"""Build the book: the catalogue chapter by chapter, and by time of the lecture, by quantity and by claim."""

from collections import Counter
from collections.abc import Iterator

from backsolve.site.blackboard import blackboard_data, shown_pictures
from backsolve.site.claim_states import addresses_of_claims
from backsolve.site.formulas import page_data
from backsolve.site.lookups import claims_found, quantities_in_order, said_in_order
from backsolve.site.writing import Page
from derive.catalogue import CHAPTERS, chapter_text, equations

BY_TIME, BY_QUANTITY, BY_CLAIM = (f"book/{name}/index.html" for name in ("by-time", "by-quantity", "claims"))


def book_pages() -> Iterator[Page]:
    """Yield the contents, the chapters, and the three indexes."""
    yield Page("book/index.html", "book.html")
    yield from map(_chapter_page, CHAPTERS)
    yield Page(BY_TIME, "by_time.html", {"said": said_in_order()})
    yield Page(BY_QUANTITY, "by_quantity.html", {"rows": quantities_in_order()})
    rows, problems = claims_found()
    counts = Counter(row["verdict"] for row in rows).most_common()
    yield Page(BY_CLAIM, "claims.html", {"rows": rows, "addresses": addresses_of_claims(), "counts": counts}, problems)


def _chapter_page(chapter: str) -> Page:
    """Return a chapter. Its live part is the pictures of the blackboard with its equations, or else its first worked example."""
    names = [None, *((one, chapter_text(one)[0]) for one in CHAPTERS), None]
    place, rows = 1 + CHAPTERS.index(chapter), equations(chapter)
    context: dict[str, object] = {"chapter": chapter, "before": names[place - 1], "after": names[place + 1]}
    pictures = [one for one in shown_pictures() if {*one["equations"]} & {*rows}]
    if pictures:
        context |= {"board": blackboard_data([one["key"] for one in pictures]), "addresses": addresses_of_claims()}
    else:
        shown = next(row for row in rows if row.example)
        context |= {"shown": shown, "formulas": page_data(shown.id)}
    return Page(f"book/{chapter}/index.html", "chapter.html", context | {"pictures": pictures})
