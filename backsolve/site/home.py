"""Build the front page: the live blackboard of the lecture, the beginning of the README, and links into the site."""

from backsolve.figures.board import LADDER_FILE, ladder_csv
from backsolve.site.blackboard import LECTURE, presets, shown_pictures
from backsolve.site.documents import html_of, texts_root
from backsolve.site.writing import INDEX, Page


def home_page() -> Page:
    """Return the front page: six pictures, the beginning of README.md, and the commands to install."""
    readme = (texts_root() / "README.md").read_text(encoding="utf-8")
    beginning, *sections = readme.split("\n## ")
    _, about, *rest = beginning.split("\n\n")
    install = next(text.partition("\n")[2] for text in sections if text.startswith("Install\n"))
    context = {
        "about": html_of(about, "README.md", INDEX),
        "begin": html_of("\n\n".join([install, *rest]), "README.md", INDEX),
        "pictures": shown_pictures(),
        "start": presets()[LECTURE],
    }
    return Page(INDEX, "home.html", context, files={LADDER_FILE: ladder_csv()})
