"""The front page: what the README begins with, and the ways into the site."""

from backsolve.site.documents import document_of, texts_root
from backsolve.site.writing import INDEX, Page
from derive.catalogue import CHAPTERS, by_id, equation

_SHOWN = "roofline.step_time"
"""The equation that the front page shows."""


def home_page() -> Page:
    """The front page, with the first part of README.md."""
    readme = (texts_root() / "README.md").read_text(encoding="utf-8")
    _, about, *rest = readme.split("\n## ")[0].split("\n\n")
    commands = next(place for place, text in enumerate(rest) if "```" in text) - 1
    start = "\n\n".join([*rest[commands:], *rest[:commands]])  # the picture below them
    return Page(
        address=INDEX,
        template="home.html",
        title="backsolve",
        summary="The equations of LLM-serving economics, solvable for any unknown, and what public API prices imply.",
        context={
            "about": document_of(about, "README.md", INDEX).html,
            "start": document_of(start, "README.md", INDEX).html,
            "shown": equation(_SHOWN),
            "counts": (len(by_id()), len(CHAPTERS)),
        },
    )
