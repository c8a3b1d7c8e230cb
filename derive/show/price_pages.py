"""The pages that the prices of a saved result were read from, as something to cite in every style that equations are cited in."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from derive.briefly import brief
from derive.errors import WrongData, shorten
from derive.show.citation import LATEX, MARKDOWN, PLAIN, Markup, bibtex_entry, cite_all, markdown_cell, slug

GRADES = {
    "official": "the page was read",
    "quoted": "its text as others quote it",
    "db": "a price database",
    "db_host": "a database entry of a host",
    "user": "a file of one's own",
}
"""What the grade of a price says of how it was read."""
CELLS = ("provider", "model", "source_url", "verification", "origin")
ADDRESS = re.compile(r"https?://[^\s{}<>\"\\^`|]+")
OF_FILES = replace(MARKDOWN, text=markdown_cell)
"""Markdown of what a file holds, which makes no link by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PricePage:
    """Where the prices of one provider were read: an address or the name of a file, for which models, how well, and on which days."""

    __repr__ = brief

    provider: str
    place: str
    models: tuple[str, ...]
    grades: tuple[str, ...]
    days: tuple[date, ...]

    @property
    def title(self) -> str:
        """What is cited."""
        return f"Prices of {self.provider}"

    @property
    def key(self) -> str:
        """The key of its bibliography entry."""
        return f"prices:{slug(self.provider)}:{slug(self.place.partition('://')[2] or self.place)}"

    @property
    def url(self) -> str:
        """The address, where the place is one."""
        return self.place if ADDRESS.fullmatch(self.place) else ""

    @property
    def read(self) -> str:
        """How well the prices are known, and when they were read."""
        grades = " and ".join(f"{grade} ({GRADES[grade]})" if grade in GRADES else grade for grade in self.grades)
        days = f", read on {' and '.join(map(str, self.days))}" if self.days else ""
        return f"grade {grades}{days}"


def pages_in(result: object) -> tuple[PricePage, ...]:
    """The pages of the price rows that a saved result of `infer` used, each once; none of a result without such rows.

    >>> row = {"provider": "acme", "model": "m", "source_url": "https://acme.example", "verification": "db", "origin": "prices.csv:2"}
    >>> (page,) = pages_in({"run": {"rows": [{**row, "retrieved_date": "2026-11-20"}]}})
    >>> page.key, page.read
    ('prices:acme:acme-example', 'grade db (a price database), read on 2026-11-20')
    """
    run = result.get("run") if isinstance(result, dict) else None
    rows = run.get("rows", []) if isinstance(run, dict) else []
    if not isinstance(rows, list):
        raise _no_row(rows)
    found: dict[tuple[str, str], list[tuple[str, str, date | None]]] = {}
    for row in rows:
        provider, model, url, grade, origin = _cells(row)
        found.setdefault((provider, url or origin.rpartition(":")[0] or origin), []).append((model, grade, _day(row)))
    return tuple(
        PricePage(
            provider=provider,
            place=place,
            models=tuple(dict.fromkeys(model for model, _, _ in read)),
            grades=tuple(dict.fromkeys(grade for _, grade, _ in read)),
            days=tuple(sorted({day for _, _, day in read if day})),
        )
        for (provider, place), read in found.items()
    )


def cite_used(ids: Iterable[str], pages: Iterable[PricePage], style: str = "plain") -> str:
    """Equations and then pages in one text, in a style that `cite_all` has: BibTeX is one file, CSL-JSON one list."""
    equations = cite_all(ids, style)
    if style == "csl-json":
        return json.dumps([*json.loads(equations), *map(_csl, pages)], indent=2, allow_nan=False)
    one = {"bibtex": _bibtex, "markdown": _markdown, "latex": _in_latex, "plain": _in_plain, "myst": _in_myst}[style]
    return "\n\n".join(filter(None, [equations, *map(one, pages)]))


def _cells(row: object) -> tuple[str, ...]:
    cells = [row.get(name) for name in CELLS] if isinstance(row, dict) else []
    texts = tuple(cell for cell in cells if isinstance(cell, str) and cell.isprintable())
    if len(texts) < len(CELLS):
        raise _no_row(row)
    return texts


def _day(row: Mapping[str, Any]) -> date | None:
    text = row.get("retrieved_date")
    try:
        return None if text is None else date.fromisoformat(text)
    except (ValueError, TypeError):
        raise _no_row(row) from None


def _no_row(found: object) -> WrongData:
    return WrongData(f"'rows' holds {shorten(str(found), 200)}, not price rows as infer --save writes them")


def _sentence(page: PricePage, markup: Markup) -> str:
    place = markup.link.format(page.url) if page.url else markup.code.format(markup.text(page.place))
    said = markup.text(f"{page.read} ({', '.join(page.models)})")
    return f"{markup.work.format(markup.text(page.title))}, {place}, {said}."


def _in_plain(page: PricePage) -> str:
    return _sentence(page, PLAIN)


def _in_latex(page: PricePage) -> str:
    return _sentence(page, LATEX)


def _in_myst(page: PricePage) -> str:
    return _sentence(page, OF_FILES)


def _markdown(page: PricePage) -> str:
    note = f"[^{slug(page.key)}]"
    return f"**{OF_FILES.text(page.title)}**{note}\n\n{note}: {_sentence(page, OF_FILES)}"


def _bibtex(page: PricePage) -> str:
    title, author = (f"{{{LATEX.text(text)}}}" for text in (page.title, page.provider))
    place, note = "" if page.url else LATEX.text(page.place), LATEX.text(f"{page.read}; {', '.join(page.models)}")
    read = str(page.days[-1]) if page.days else ""
    return bibtex_entry(page.key, title=title, author=author, howpublished=place, url=page.url, urldate=read, note=note)


def _csl(page: PricePage) -> dict[str, object]:
    day = page.days[-1] if page.days else None
    item = {
        "id": page.key,
        "type": "webpage" if page.url else "document",
        "title": page.title,
        "author": [{"literal": page.provider}],
        "accessed": day and {"date-parts": [[day.year, day.month, day.day]]},
        "note": f"{'' if page.url else page.place + ', '}{page.read}; {', '.join(page.models)}",
        "URL": page.url,
    }
    return {name: value for name, value in item.items() if value}
