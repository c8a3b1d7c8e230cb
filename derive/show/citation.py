"""An equation as something to cite: BibTeX, CSL-JSON, LaTeX, MyST, Markdown or plain text, all from one record."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from derive.briefly import brief
from derive.catalogue import equation
from derive.errors import UnknownName, WrongData, shorten
from derive.expressions.branches import in_latex, sides_of
from derive.quantities import CONSTANTS, QUANTITIES, Constant, Quantity
from derive.records import CONDITION, ESTIMATE, LOWER, UPPER, Equation, Source
from derive.requirements import in_words_of_names
from derive.trees import text as printed

STYLES = ("bibtex", "csl-json", "latex", "myst", "markdown", "plain")
MAINTAINERS, YEAR, DERIVATION = "The backsolve maintainers", 2026, "derivation"
CAVEATS = {
    f"{LOWER} bound": " (an idealisation: what it bounds is at least this)",
    f"{UPPER} bound": " (an idealisation: what it bounds is at most this)",
    ESTIMATE: " (it bounds nothing: the truth may be more or less)",
    CONDITION: " (true only where someone claims it)",
}
CSL_TYPES = {"talk": "speech", "paper": "article", "book": "book", "web": "webpage"}
REFERENCE = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+@[0-9]+")


@dataclass(frozen=True, slots=True)
class Citable:
    """What every style says of one equation; `assumptions` ends with the inequalities it requires."""

    __repr__ = brief

    id: str
    version: int
    title: str
    statement: str
    kind: str
    equation_latex: str
    equation_text: str
    symbols: tuple[Quantity, ...]
    constants: tuple[Constant, ...]
    assumptions: tuple[str, ...]
    sources: tuple[Source, ...]
    changes: tuple[str, ...] = ()
    url: str = ""

    @property
    def key(self) -> str:
        """The key of its bibliography entry: a new version of the mathematics is a new entry."""
        return f"backsolve:{self.id}:v{self.version}"


@dataclass(frozen=True, slots=True)
class Markup:
    """How a family of styles writes text, and the templates of a work's title, a link, an id and a range's dash."""

    text: Callable[[str], str]
    work: str
    link: str
    code: str
    dash: str


def citable(equation: Equation) -> Citable:
    """The record of an equation; symbols are printed as the registry has them, terms in SymPy's order.

    >>> citable(equation("roofline.memory_time")).equation_latex
    't_m = t_{\\\\mathrm{kv}} + t_w'
    """
    symbols = tuple(QUANTITIES[name] for name in equation.symbols)
    requires = tuple(map(in_words_of_names, equation.requires))
    left, right = map(printed, sides_of(equation))
    return Citable(
        id=equation.id,
        version=equation.version,
        title=equation.title,
        statement=equation.statement,
        kind=equation.described,
        equation_latex=in_latex(equation),
        equation_text=f"{left} {equation.sense} {right}",
        symbols=symbols,
        constants=tuple(CONSTANTS[name] for name in equation.parameters if name in CONSTANTS),
        assumptions=equation.assumptions + requires,
        sources=equation.sources,
        changes=equation.changes,
    )


def cite(id: str, style: str = "plain") -> str:
    """One equation in one of `STYLES`; UnknownName for any other style, id or version.

    >>> print(cite("scheduling.mean_latency"))
    Mean wait for a token: mean_latency = 3*train_period/2. Arrivals at random wait half a period on average and ride one. \
Kind: definition; assumes: a pass takes one period; the next batch has room. Derived for backsolve (the mean of a uniform wait \
between 0 and one period, plus the pass). backsolve scheduling.mean_latency, version 1.
    """
    return cite_all([id], style)


def cite_all(ids: Iterable[str], style: str = "plain") -> str:
    """Several equations in one text, each equation and each work once.

    BibTeX is one file and CSL-JSON one list, with an entry for every work cited; the others follow each other.

    >>> cite_all(["roofline.step_time", "roofline.step_time@2"], "bibtex").count("@misc{backsolve:")
    1
    """
    if style not in STYLES:
        raise UnknownName("style", style, STYLES)
    rows = [citable(row) for row in dict.fromkeys(equation(id) for id in ids)]
    # Our own derivations are no works: they stand in the equation's entry.
    works = {work_key(source): source for row in rows for source in row.sources if source.kind != DERIVATION}
    if style == "csl-json":
        items = [*map(_csl_equation, rows), *map(_csl_work, works.values())]
        return json.dumps(items, indent=2, allow_nan=False)
    if style == "bibtex":
        return "\n\n".join([*map(_bibtex_equation, rows), *map(_bibtex_work, works.values())])
    return "\n\n".join(map(_ONE_BY_ONE[style], rows))


def ids_in(result: dict[str, Any] | list[Any]) -> list[str]:
    """Every `id@version` a saved result of `solve` or `infer` used, each once, in the order met.

    >>> ids_in([{"equations": ["cache.drain_time@1"], "readings": None}, {"equations": ["cache.drain_time@1"]}])
    ['cache.drain_time@1']
    """
    lists, waiting = [], [result]
    # A stack of our own: a file can be nested deeper than Python's functions can.
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and "equations" in node:
            lists.append(_references(node["equations"]))
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        waiting.extend(reversed(list(children)))
    if not lists:
        raise WrongData("not a result of solve or infer: nothing in it is called 'equations'")
    return list(dict.fromkeys(reference for found in lists for reference in found))


def work_key(source: Source) -> str:
    """A bibliography key of a work, from its first author, year and title: letters, digits, hyphens and a colon.

    >>> title, author = "Caches & all: what to keep, and why", "Ada Lovelace, C. Babbage"
    >>> work_key(Source(kind="book", title=title, author=author, url="", said="", year=1843))
    'lovelace1843:caches-all-what-to-keep'
    """
    _given, family = _people(source.author)[0]
    return f"{slug(family)}{source.year}:" + "-".join(slug(source.title).split("-")[:5])


def latex_text(text: str) -> str:
    """Text with everything that LaTeX or BibTeX would take for a command escaped.

    >>> print(latex_text("50% of B_star"))
    50\\% of B\\_star
    """
    return text.translate(_LATEX_ESCAPES)


# BibTeX counts braces, escaped or not, so they are spelled out.
_COMMANDS = {"{": "braceleft", "}": "braceright", "~": "asciitilde", "^": "asciicircum", "\\": "backslash", "<": "less", ">": "greater"}
_LATEX_ESCAPES = {ord(c): f"\\{c}" for c in "&%$#_"} | {ord(c): rf"\text{name}{{}}" for c, name in _COMMANDS.items()}


def markdown_text(text: str) -> str:
    """Text with everything that Markdown would take for a mark, a link, an entity or the end of a table cell escaped.

    An underscore inside a word is none of these.

    >>> print(markdown_text("[step_time](x) *a|b*"))
    \\[step_time](x) \\*a\\|b\\*
    """
    return re.sub(r"[\\`*$\[|~<&]|(?<![^\W_])_|_(?![^\W_])", lambda mark: "\\" + mark[0], text)


def markdown_cell(text: str) -> str:
    """Text of a file as it may stand in Markdown: no mark, no tag, and no link, written out or made of a bare address.

    >>> print(markdown_cell("[a](https://b) <i> www.c"))
    \\[a](https\\://b) &lt;i> www\\.c
    """
    # An escaped < is still a tag to what looks for tags before Markdown is read.
    return markdown_text(text).replace(r"\<", "&lt;").replace("://", r"\://").replace("www.", r"www\.")


PLAIN = Markup(str, work='"{}"', link="<{}>", code="{}", dash="-")
LATEX = Markup(latex_text, work=r"\emph{{{}}}", link=r"\url{{{}}}", code=r"\texttt{{{}}}", dash="--")
MARKDOWN = Markup(markdown_text, work="*{}*", link="<{}>", code="`{}`", dash="-")


def _references(found: Any) -> list[str]:
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(row, str) and REFERENCE.fullmatch(row) for row in found):
        raise WrongData(f"'equations' holds {shorten(str(found), 200)}, not a list such as ['roofline.step_time@1']")
    return found


def slug(text: str) -> str:
    """A text as a part of a key: small letters and digits, with a hyphen for whatever stands between them.

    >>> slug("KV bytes, of all!")
    'kv-bytes-of-all'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _people(author: str) -> list[tuple[str, str]]:
    """(given, family) of each author; an organisation, or "et al.", has no given name."""
    people = []
    for name in author.replace(" et al.", ", et al.").replace(", with ", ", ").split(", "):
        given, _, family = name.rpartition(" ")
        is_person = given and all(word[0].isupper() for word in name.split())
        people.append((given, family) if is_person else ("", name))
    return people


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return text[0].upper() + text[1:]


def _claim(row: Citable, markup: Markup) -> str:
    assumes = "; assumes: " + "; ".join(row.assumptions) if row.assumptions else ""
    return f"{markup.text(row.statement)} Kind: {row.kind}{CAVEATS.get(row.kind, '')}{markup.text(assumes)}."


def _origin(source: Source, markup: Markup) -> str:
    """One source with its place, what was said there and what we encode instead."""
    said = source.said + (f"; here: {source.encoded}" if source.encoded else "")
    if source.kind == DERIVATION:
        return markup.text(f"derived for backsolve ({said})")
    work = markup.work.format(markup.text(source.title))
    parts = [f"after {markup.text(source.author)}", f"{work} ({source.year})", markup.text(source.place).replace("-", markup.dash)]
    return ", ".join(part for part in [*parts, markup.link.format(source.url)] if part) + markup.text(f" ({said})")


def _paragraph(row: Citable, markup: Markup) -> str:
    after = _sentence(_origin(source, markup) for source in row.sources)
    return f"{_claim(row, markup)} {after}. backsolve {markup.code.format(markup.text(row.id))}, {_version_of(row, markup)}."


def _version_of(row: Citable, markup: Markup) -> str:
    """The version, and what became of the mathematics at each after the first."""
    became = "; ".join(f"version {at}: {said}" for at, said in enumerate(row.changes, 2))
    return f"version {row.version}" + (markup.text(f" ({became})") if became else "")


def _constants(row: Citable) -> str:
    """The numbers that carry a unit: without them the units of the equation do not balance."""
    return "; ".join(f"{constant.value} {constant.unit} ({constant.meaning})" for constant in row.constants)


def _plain(row: Citable) -> str:
    return f"{row.title}: {row.equation_text}. {_paragraph(row, PLAIN)}"


def _latex(row: Citable) -> str:
    items = [rf"  \item ${s.latex}$ [{latex_text(s.unit)}]: {latex_text(s.meaning)}" for s in row.symbols]
    if row.constants:
        items.append(rf"  \item numbers with a unit: {latex_text(_constants(row))}")
    lines = [rf"\begin{{equation}}\label{{eq:{row.id}}}", row.equation_latex, r"\end{equation}"]
    lines += ["% where", r"\begin{itemize}", *items, r"\end{itemize}", "% source; the address needs the url package or hyperref"]
    return "\n".join([*lines, f"{latex_text(row.title)}. {_paragraph(row, LATEX)}"])


def _table(row: Citable) -> str:
    lines = ["| symbol | unit | meaning |", "|---|---|---|"]
    lines += [f"| ${s.latex}$ | {s.unit} | {MARKDOWN.text(s.meaning)} |" for s in row.symbols]
    if row.constants:
        lines += ["", f"Numbers with a unit: {MARKDOWN.text(_constants(row))}."]
    return "\n".join(lines)


def _myst(row: Citable) -> str:
    block = f"```{{math}}\n:label: {row.id}\n{row.equation_latex}\n```"
    return "\n\n".join([block, _table(row), f"**{MARKDOWN.text(row.title)}.** {_paragraph(row, MARKDOWN)}"])


def _markdown(row: Citable) -> str:
    note, heading = f"[^{slug(row.id)}]", f"**{MARKDOWN.text(row.title)}**"
    return "\n\n".join([heading + note, f"$${row.equation_latex}$$", _table(row), f"{note}: {_paragraph(row, MARKDOWN)}"])


_ONE_BY_ONE = {"latex": _latex, "myst": _myst, "markdown": _markdown, "plain": _plain}


def _version() -> str:
    """The version of the package that is installed; a bare checkout has none."""
    from importlib import metadata

    try:
        return metadata.version("backsolve")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def bibtex_entry(key: str, **fields: str) -> str:
    """An entry of BibTeX with the fields that hold something.

    >>> print(bibtex_entry("a:b", title="{A}", note=""))
    @misc{a:b,
      title = {{A}},
    }
    """
    return f"@misc{{{key},\n" + "".join(f"  {name} = {{{text}}},\n" for name, text in fields.items() if text) + "}"


def _bibtex_equation(row: Citable) -> str:
    how = f"Equation {latex_text(row.id)}, {_version_of(row, LATEX)}, in backsolve {latex_text(_version())}"
    note, abstract = _sentence(map(_bibtex_origin, row.sources)), f"${row.equation_latex}$. {_claim(row, LATEX)}"
    title, author = f"{{{latex_text(row.title)}}}", f"{{{MAINTAINERS}}}"
    return bibtex_entry(row.key, title=title, author=author, howpublished=how, year=str(YEAR), note=note, url=row.url, abstract=abstract)


def _bibtex_origin(source: Source) -> str:
    if source.kind == DERIVATION:
        return _origin(source, LATEX)
    between = ", " if source.start is None else " at "
    place = latex_text(source.place).replace("-", LATEX.dash)
    return rf"after \cite{{{work_key(source)}}}" + (between + place if place else "")


def _bibtex_work(source: Source) -> str:
    names = [f"{family}, {given}" if given else f"{{{family}}}" for given, family in _people(latex_text(source.author))]
    author = " and ".join(names).replace("{et al.}", "others")
    return bibtex_entry(work_key(source), title=f"{{{latex_text(source.title)}}}", author=author, year=str(source.year), url=source.url)


def _csl(key: str, type: str, title: str, author: str, year: int, **more: str) -> dict[str, Any]:
    names = [{"given": given, "family": family} if given else {"literal": family} for given, family in _people(author)]
    item = {"id": key, "type": type, "title": title, "author": names, "issued": {"date-parts": [[year]]}}
    return item | {name: text for name, text in more.items() if text}


def _csl_equation(row: Citable) -> dict[str, Any]:
    about = {"container-title": f"backsolve {_version()}", "number": row.id, "version": str(row.version), "URL": row.url}
    after = _sentence(_origin(source, PLAIN) for source in row.sources)
    texts = {"abstract": f"{row.equation_text}. {_claim(row, PLAIN)}", "note": f"Equation {row.id}, {_version_of(row, PLAIN)}. {after}."}
    return _csl(row.key, "article", row.title, MAINTAINERS, YEAR, **about, **texts)


def _csl_work(source: Source) -> dict[str, Any]:
    return _csl(work_key(source), CSL_TYPES[source.kind], source.title, source.author, source.year, URL=source.url)
