"""The front page: what the README begins with, and the ways into the site."""

from backsolve.site.documents import document_of, texts_root
from backsolve.site.writing import INDEX, Page
from derive.catalogue import CHAPTERS, by_id, equation

_SHOWN = "roofline.step_time"
"""The equation that the front page shows."""


def home_page() -> Page:
    """Return the front page: the beginning of README.md, with the commands to install above the picture."""
    readme = (texts_root() / "README.md").read_text(encoding="utf-8")
    beginning, *sections = readme.split("\n## ")
    _, about, *rest = beginning.split("\n\n")
    install = next(text.partition("\n")[2] for text in sections if text.startswith("Install\n"))
    start = "\n\n".join([install, *rest])
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
