"""Build the front page: the live blackboard of the lecture, the beginning of the README, and links into the site."""

from backsolve.site.blackboard import LECTURE, blackboard_data, presets, shown_pictures
from backsolve.site.claim_states import claim_states
from backsolve.site.documents import document_of, texts_root
from backsolve.site.writing import INDEX, Entry, Page
from derive.catalogue import CHAPTERS, by_id


def home_page() -> Page:
    """Return the front page: six pictures, the beginning of README.md, and the commands to install."""
    readme = (texts_root() / "README.md").read_text(encoding="utf-8")
    beginning, *sections = readme.split("\n## ")
    _, about, *rest = beginning.split("\n\n")
    install = next(text.partition("\n")[2] for text in sections if text.startswith("Install\n"))
    lecture = presets()[LECTURE]
    pictures = shown_pictures()
    return Page(
        address=INDEX,
        template="home.html",
        title="backsolve",
        summary="The blackboard of LLM serving, live: drag the batch, see what a token costs. Every equation solves for any unknown.",
        context={
            "about": document_of(about, "README.md", INDEX).html,
            "begin": document_of("\n\n".join([install, *rest]), "README.md", INDEX).html,
            "counts": (len(by_id()), len(CHAPTERS)),
            "board": blackboard_data(),
            "pictures": pictures,
            "states": claim_states(),
            "start": {
                name: f"{lecture[quantity]:,.0f}"
                for name, quantity in (("batch", "batch"), ("balance", "machine_balance_ratio"), ("sparsity", "sparsity"))
            },
        },
        parts=tuple(
            Entry(
                title=one["title"],
                kind="picture",
                address=f"{INDEX}#picture-{one['key']}",
                summary=", ".join(row.title for row in one["equations"]),
                words="blackboard lecture picture live",
            )
            for one in pictures
        ),
    )
