"""Build the book: the catalogue chapter by chapter, and by time of the lecture, by quantity and by claim."""

from collections.abc import Iterator

from backsolve.site.blackboard import shown_pictures
from backsolve.site.formulas import chart_over
from backsolve.site.lookups import claims_found
from backsolve.site.writing import Page
from derive.catalogue import CHAPTERS, by_id, chapter_text, equations

BY_TIME, BY_QUANTITY, BY_CLAIM = (f"book/{name}/index.html" for name in ("by-time", "by-quantity", "claims"))

_DRAWN = {
    **{"network.all_reduce_time": "chips", "experts.touched_experts": "batch", "energy.energy_per_token": "throughput"},
    **{"memory.resident_weight_bytes": "chips", "architecture.attention_intensity": "kv_bytes_per_token"},
    **{"prefill.time": "uncached_tokens", "bands.decode_cost": "context_length", "scheduling.throughput": "token_latency"},
    **{"reversible.activation_memory": "layers"},
}
"""The equation in the picture of each chapter that has none of the blackboard, and the quantity that it is drawn over."""


def book_pages() -> Iterator[Page]:
    """Yield the contents, the chapters, and the three indexes."""
    yield Page("book/index.html", "book.html")
    yield from map(_chapter_page, CHAPTERS)
    yield Page(BY_TIME, "by_time.html")
    yield Page(BY_QUANTITY, "by_quantity.html")
    yield Page(BY_CLAIM, "claims.html", problems=claims_found()[1])


def _chapter_page(chapter: str) -> Page:
    """Return a chapter, with the pictures of the blackboard that have its equations."""
    names = [None, *((one, chapter_text(one)[0]) for one in CHAPTERS), None]
    place, ids = 1 + CHAPTERS.index(chapter), {row.id for row in equations(chapter)}
    pictures = [one for one in shown_pictures() if ids & {*one.equations}]
    drawn = [(by_id()[id], over, chart_over(by_id()[id], over)) for id, over in _DRAWN.items() if id in ids]
    context = {"chapter": chapter, "before": names[place - 1], "after": names[place + 1], "pictures": pictures, "drawn": drawn}
    return Page(f"book/{chapter}/index.html", "chapter.html", context)
