"""Cite pages, price sheets, price rows, inferences and runs, in every style in which equations are cited."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date

from derive.immutable import immutable
from derive.quantities.formula import NOTHING
from derive.show.citation import (
    ADDRESS,
    FOR_ADDRESSES,
    LATEX,
    MAINTAINERS,
    MARKDOWN,
    PLAIN,
    Markup,
    bibtex_entry,
    citation_reason,
    cite_all,
    csl_item,
    markdown_cell,
    slug,
)

_OF_FILES = replace(MARKDOWN, text=markdown_cell)
"""Markdown for text from a file, which must not become a link."""
_MARKUPS = {"plain": PLAIN, "latex": LATEX, "myst": _OF_FILES}


@immutable
class Reference:
    """A cited thing: its title, author and `places` (addresses or names of files), `which` one it is of several, and its statement.

    `day` is the day on which it was read or to which it refers, `why` the reason for the citation.
    """

    key: str
    title: str
    author: str = MAINTAINERS
    places: tuple[str, ...] = ()
    which: str
    said: str
    day: date | None = None
    why: str = ""

    @property
    def url(self) -> str:
        """Return the first address among the places."""
        return next(filter(ADDRESS.fullmatch, self.places), "")


def cite_with_references(
    ids: Iterable[str],
    references: Iterable[Reference],
    style: str = "plain",
    html_base: str = "",
    macros: bool = False,
    why: Mapping[str, str] = NOTHING,
) -> str:
    """Return equations and then references in one text, in a style of `cite_all`. BibTeX is one file and CSL-JSON one list.

    >>> page = Reference(key="prices:acme", title="Prices of acme", places=("https://acme.example",), which="read on 2026-11-20", said="m")
    >>> print(cite_with_references([], [page]))
    "Prices of acme", <https://acme.example>, read on 2026-11-20 (m).
    """
    references = list(references)
    equations = cite_all(ids, style, html_base, macros, why)
    if style == "csl-json":
        return json.dumps([*json.loads(equations), *map(_csl, references)], indent=2, allow_nan=False)
    preamble = FOR_ADDRESSES if style in ("bibtex", "latex") else ""
    return "\n\n".join(filter(None, [equations or (preamble if references else ""), *(_reference_text(style, one) for one in references)]))


def _reference_text(style: str, one: Reference) -> str:
    if style == "bibtex":
        return _bibtex(one)
    if style == "markdown":
        note = f"[^{slug(one.key)}]"
        return f"**{_OF_FILES.text(one.title)}**{note}\n\n{note}: {_sentence(one, _OF_FILES)}"
    return _sentence(one, _MARKUPS[style])


def _place(place: str, markup: Markup) -> str:
    return markup.link.format(place) if ADDRESS.fullmatch(place) else markup.code.format(markup.text(place))


def _sentence(one: Reference, markup: Markup) -> str:
    places = [_place(place, markup) for place in one.places]
    parts = [markup.work.format(markup.text(one.title)), *places, markup.text(f"{one.which} ({one.said})")]
    return f"{', '.join(parts)}.{citation_reason(one.why, markup)}"


def _bibtex(one: Reference) -> str:
    return bibtex_entry(
        one.key,
        title=f"{{{LATEX.text(one.title)}}}",
        author=f"{{{LATEX.text(one.author)}}}",
        howpublished=f"{{{', '.join([LATEX.text(one.which), *(_place(place, LATEX) for place in one.places if place != one.url)])}}}",
        url=one.url,
        year=str(one.day.year) if one.day else "",
        urldate=str(one.day) if one.url and one.day else "",
        note=LATEX.text(one.said),
        annote=citation_reason(one.why, LATEX).strip(),
    )


def _csl(one: Reference) -> dict[str, object]:
    day = [one.day.year, one.day.month, one.day.day] if one.day else []
    files = [place for place in one.places if not ADDRESS.fullmatch(place)]
    about = {"number": ", ".join([*files, one.which]), "URL": one.url, "note": one.said, "annote": citation_reason(one.why, PLAIN).strip()}
    # The author is what is cited, whole: a name with a space in it is not a given and a family name.
    item = csl_item(one.key, "report", one.title, "", day, **about)
    return item | {"author": [{"literal": one.author}]} | ({"accessed": {"date-parts": [day]}} if one.url and day else {})
