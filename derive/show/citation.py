"""Cite equations in BibTeX, CSL-JSON, LaTeX, MyST, Markdown or plain text, all from one record."""

import json
import re
from calendar import month_abbr
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from derive import VERSION
from derive.catalogue import cited_equation
from derive.errors import UnknownName, WrongValue, shorten
from derive.expressions.algebra import simplify
from derive.immutable import immutable
from derive.quantities import CONSTANTS, NEUTRAL_DEFAULTS, QUANTITIES, Constant, Quantity
from derive.quantities.formula import NOTHING, equation_in_latex
from derive.records import CONDITION, ESTIMATE, LOWER, UPPER, Equation, Requirement, Source
from derive.trees import names, put_into
from derive.trees import text as printed

STYLES = ("bibtex", "csl-json", "latex", "myst", "markdown", "plain")
MAINTAINERS, YEAR, _MONTH, DERIVATION = "The backsolve maintainers", 2026, 11, "derivation"
_RELEASED = f"{YEAR}-{_MONTH:02d}"
"""The month in which the catalogue and its sources were read for this release."""
_CAVEATS = {
    f"{LOWER} bound": " (an idealisation: the real value is at least this)",
    f"{UPPER} bound": " (an idealisation: the real value is at most this)",
    ESTIMATE: " (no bound: the true value may be more or less)",
    CONDITION: " (true only if a price or a layout follows this claim)",
}
CSL_TYPES = {"talk": "speech", "paper": "article", "book": "book", "web": "webpage"}
_BIBTEX_TYPES = {"talk": "Talk", "paper": "Paper", "book": "Book", "web": "Web page"}
ADDRESS = re.compile(r"https?://[^\s{}<>\"\\^`|]+")
"""A web address that every style can print unchanged."""
FOR_ADDRESSES = r"% the preamble needs \usepackage{url} (or hyperref)"
FOR_DERIVATIONS = r"% the preamble needs \usepackage{amsmath}, and \allowdisplaybreaks where a route is longer than a page"


@immutable
class Citable:
    """An equation with the texts that every citation style uses. `assumptions` ends with the inequalities that the equation requires."""

    of: Equation
    statement: str
    equation_latex: str
    equation_text: str
    symbols: tuple[Quantity, ...]
    constants: tuple[Constant, ...]
    assumptions: tuple[str, ...]
    url: str
    why: str


def key_of(row: Equation) -> str:
    """Return the key of an equation's bibliography entry. A new version of the equation is a new entry."""
    return f"backsolve:{row.id}:v{row.version}"


@immutable
class Markup:
    """The markup of a family of styles: how it escapes text, and its templates for a title, a link, an id and the dash of a range."""

    text: Callable[[str], str]
    work: str
    link: str
    code: str
    dash: str


def address_of(html_base: str, *path: str) -> str:
    """Return the address of a page of the site whose first page is at `html_base`, or "" without `html_base`.

    Raise WrongValue if `html_base` is not an address.
    """
    if html_base and not (ADDRESS.fullmatch(html_base) and not {"?", "#"} & {*html_base}):
        raise WrongValue(f"{shorten(html_base)} is not the address of a site, such as https://example.org/backsolve")
    return "/".join([html_base.rstrip("/"), *path, ""]) if html_base else ""


def citation_record(equation: Equation, html_base: str = "", why: str = "") -> Citable:
    """Return the citation record of an equation."""
    requires = tuple(map(Requirement.text, equation.requires))
    left, right = equation.trees
    in_full = f"{printed(left)} {equation.sense} {printed(right)}"
    as_said = simplify(put_into(right, {name: int(NEUTRAL_DEFAULTS[name]) for name in equation.unsaid})) if equation.unsaid else right
    symbols = tuple(QUANTITIES[name] for name in equation.symbols if name in QUANTITIES.keys() & (names(left) | names(as_said)))
    return Citable(
        of=equation,
        statement=f"{equation.statement} With {', '.join(equation.unsaid)}: {in_full}." if equation.unsaid else equation.statement,
        equation_latex=equation_in_latex(left, equation.sense, as_said),
        equation_text=f"{printed(left)} {equation.sense} {printed(as_said)}",
        symbols=symbols,
        constants=tuple(CONSTANTS[name] for name in equation.parameters if name in CONSTANTS),
        assumptions=equation.assumptions + requires,
        url=address_of(html_base, "eq", equation.id),
        why=why,
    )


def cite(id: str, style: str = "plain", html_base: str = "") -> str:
    """Return one equation in one of `STYLES`. Raise UnknownName for an unknown style, id or version.

    The text cites the equation's page of the site at `html_base`, if that is given.

    >>> print(cite("scheduling.mean_latency"))
    Mean wait for a token: mean_latency = 3*train_period/2. With random arrivals a request waits half a period on average. \
Its pass then needs one period. Kind: definition; assumes: a pass needs one period; the next batch has a free place. Derived for \
backsolve (the mean of a uniform wait between 0 and one period, plus the pass). backsolve scheduling.mean_latency, version 1.
    """
    return cite_all([id], style, html_base)


def cite_all(ids: Iterable[str], style: str = "plain", html_base: str = "", macros: bool = False, why: Mapping[str, str] = NOTHING) -> str:
    """Return several equations in one text, each equation and each work once. `why` has the reason for a citation by `id@version`.

    BibTeX is one file and CSL-JSON one list, with an entry for every work. The other styles print one equation after the other.
    """
    if style not in STYLES:
        raise UnknownName("style", style, STYLES)
    if macros and style != "latex":
        raise WrongValue(f"a block of \\newcommand is only possible with the style latex, not with {style}")
    rows = [citation_record(row, html_base, why.get(row.reference, "")) for row in dict.fromkeys(map(cited_equation, ids))]
    # Our own derivations are no works: they stand in the equation's entry.
    works = {work_key(source): source for row in rows for source in row.of.sources if source.kind != DERIVATION}
    if style == "csl-json":
        items = [*map(_csl_equation, rows), *map(_csl_work, works.values())]
        return json.dumps(items, indent=2, allow_nan=False)
    if style == "bibtex":
        return "\n\n".join([*([FOR_ADDRESSES] if rows else []), *map(_bibtex_equation, rows), *map(_bibtex_work, works.values())])
    before = [FOR_ADDRESSES] if rows and style == "latex" else []
    if rows and macros:
        before.append(macro_block(one for row in rows for one in row.symbols))
        # A LaTeX command stands for every symbol, in the formula and in the list of symbols.
        named = [(row, tuple(replace(one, tex=macro(one.name)) for one in row.symbols)) for row in rows]
        rows = [replace(row, equation_latex=substitute_macros(row.equation_latex, row.symbols), symbols=of) for row, of in named]
    return "\n\n".join([*before, *map(_ONE_BY_ONE[style], rows)])


def work_key(source: Source) -> str:
    """Return a bibliography key of a work, made of its first author, year and title: letters, digits, hyphens and a colon.

    >>> title, author = "Caches & all: what to keep, and why", "Ada Lovelace, C. Babbage"
    >>> work_key(Source(kind="book", title=title, author=author, url="", said="", year=1843))
    'lovelace1843:caches-all-what-to-keep'
    """
    _given, family = _split_authors(source.author)[0]
    return f"{slug(family)}{source.year}:" + "-".join(slug(source.title).split("-")[:5])


def latex_text(text: str) -> str:
    """Return text with the special characters of LaTeX and BibTeX escaped, and with comparisons as mathematics."""
    return text.translate(_LATEX_ESCAPES).replace(r"\textgreater{}=", r"$\geq$").replace(r"\textless{}=", r"$\leq$")


# BibTeX counts braces, escaped or not, so they are spelled out.
_COMMANDS = {"{": "braceleft", "}": "braceright", "~": "asciitilde", "^": "asciicircum", "\\": "backslash", "<": "less", ">": "greater"}
_LATEX_ESCAPES = {ord(c): f"\\{c}" for c in "&%$#_"} | {ord(c): rf"\text{name}{{}}" for c, name in _COMMANDS.items()}


def markdown_text(text: str) -> str:
    """Return text with the special characters of Markdown escaped: marks, links, entities and the end of a table cell.

    An underscore inside a word is left as it is.

    >>> print(markdown_text("[step_time](x) *a|b*"))
    \\[step_time](x) \\*a\\|b\\*
    """
    return re.sub(r"[\\`*$\[|~<&]|(?<![^\W_])_|_(?![^\W_])", lambda mark: "\\" + mark[0], text)


def markdown_cell(text: str) -> str:
    """Return text from a file that is safe in Markdown: without marks, tags, links and bare addresses.

    >>> print(markdown_cell("[a](https://b) <i> www.c"))
    \\[a](https\\://b) &lt;i> www\\.c
    """
    # An escaped < is still a tag to what looks for tags before Markdown is read.
    return markdown_text(text).replace(r"\<", "&lt;").replace("://", r"\://").replace("www.", r"www\.")


PLAIN = Markup(text=str, work='"{}"', link="<{}>", code="{}", dash="-")
LATEX = Markup(text=latex_text, work=r"\emph{{{}}}", link=r"\url{{{}}}", code=r"\texttt{{{}}}", dash="--")
MARKDOWN = Markup(text=markdown_text, work="*{}*", link="<{}>", code="`{}`", dash="-")


def slug(text: str) -> str:
    """Return a text as a part of a key: small letters and digits, with a hyphen for anything between them."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _split_authors(author: str) -> list[tuple[str, str]]:
    """Return (given, family) of each author. An organisation and "et al." have no given name."""
    people = []
    for name in author.replace(" et al.", ", et al.").replace(", with ", ", ").split(", "):
        given, _, family = name.rpartition(" ")
        is_person = given and all(word[0].isupper() for word in name.split())
        people.append((given, family) if is_person else ("", name))
    return people


def _family_names(author: str) -> str:
    """Return the authors as a sentence names them: one, two, or the first one of more with "et al.".

    >>> _family_names("Reiner Pope, with Dwarkesh Patel"), _family_names("Joshua Ainslie et al."), _family_names("OpenAI")
    ('Pope and Patel', 'Ainslie et al.', 'OpenAI')
    """
    found = [family for _, family in _split_authors(author)]
    return f"{found[0]} et al." if "et al." in found or len(found) > 2 else " and ".join(found)


def _join_sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return text[0].upper() + text[1:]


def _claim(row: Citable, markup: Markup) -> str:
    assumes = "; assumes: " + "; ".join(row.assumptions) if row.assumptions else ""
    return f"{markup.text(row.statement)} Kind: {row.of.described}{_CAVEATS.get(row.of.described, '')}{markup.text(assumes)}."


def _origin(source: Source, markup: Markup) -> str:
    """Return one source with its place, its statement, and the different statement of the catalogue if there is one."""
    said = source.said + (f"; here: {source.encoded}" if source.encoded else "")
    if source.kind == DERIVATION:
        return markup.text(f"derived for backsolve ({said})")
    work = markup.work.format(markup.text(source.title))
    place = markup.text(source.place).replace("-", markup.dash)
    found = f"after {markup.text(source.author)}, {work} ({source.dated}), {place}, {markup.link.format(source.address)}"
    return found + markup.text(f" ({said})")


def _place_in_work(source: Source, markup: Markup) -> str:
    """Return author and year of a work, with the time or page in it."""
    at, place = ", " if source.start is None else " at ", markup.text(source.place).replace("-", markup.dash)
    return f"{markup.text(_family_names(source.author))} ({source.year}){at}{place}"


def _paragraph(row: Citable, markup: Markup) -> str:
    after = _join_sentence(_origin(source, markup) for source in row.of.sources)
    which = f"backsolve {markup.code.format(markup.text(row.of.id))}, {_version_of(row, markup)}{_page(row, markup)}"
    return f"{_claim(row, markup)} {after}. {which}.{citation_reason(row.why, markup)}"


def _page(row: Citable, markup: Markup) -> str:
    return f", {markup.link.format(row.url)}" if row.url else ""


def citation_reason(why: str, markup: Markup) -> str:
    """Return the reason for a citation as a sentence that follows the others."""
    return f" Cited for {markup.text(why)}." if why else ""


def _version_of(row: Citable, markup: Markup) -> str:
    """Return the version, with the change of the equation in each version after the first."""
    became = _changes(row, markup)
    return f"version {row.of.version}" + (f" ({became})" if became else "")


def _changes(row: Citable, markup: Markup) -> str:
    return markup.text("; ".join(f"version {at}: {said}" for at, said in enumerate(row.of.changes, 2)))


def _constants(row: Citable) -> str:
    """Return the numbers that have a unit. Without them the units of the equation do not balance."""
    return "; ".join(f"{constant.value} {constant.unit} ({constant.meaning})" for constant in row.constants)


def _plain(row: Citable) -> str:
    if row.why:
        which = f"backsolve {row.of.id}, version {row.of.version}{_page(row, PLAIN)}"
        return f"{row.of.title}: {row.equation_text}. {which}.{citation_reason(row.why, PLAIN)}"
    return f"{row.of.title}: {row.equation_text}. {_paragraph(row, PLAIN)}"


def _latex(row: Citable) -> str:
    items = [rf"  \item ${s.latex}$ [{latex_text(s.unit)}]: {latex_text(s.meaning)}" for s in row.symbols]
    if row.constants:
        items.append(rf"  \item numbers with a unit: {latex_text(_constants(row))}")
    lines = [rf"\begin{{equation}}\label{{eq:{row.of.id}}}", row.equation_latex, r"\end{equation}"]
    lines += ["where", r"\begin{itemize}", *items, r"\end{itemize}"]
    return "\n".join([*lines, f"{latex_text(row.of.title)}. {_paragraph(row, LATEX)}"])


def _table(row: Citable) -> str:
    lines = ["| symbol | unit | meaning |", "|---|---|---|"]
    lines += [f"| ${s.latex}$ | {s.unit} | {MARKDOWN.text(s.meaning)} |" for s in row.symbols]
    if row.constants:
        lines += ["", f"Numbers with a unit: {MARKDOWN.text(_constants(row))}."]
    return "\n".join(lines)


def _myst(row: Citable) -> str:
    block = f"```{{math}}\n:label: {row.of.id}\n{row.equation_latex}\n```"
    heading = f"**{MARKDOWN.text(row.of.title)}**, equation {{eq}}`{row.of.id}`."
    return "\n\n".join([block, _table(row), f"{heading} {_paragraph(row, MARKDOWN)}"])


def _markdown(row: Citable) -> str:
    note, heading = f"[^{slug(row.of.id)}]", f"**{MARKDOWN.text(row.of.title)}**"
    return "\n\n".join([heading + note, f"$${row.equation_latex}$$", _table(row), f"{note}: {_paragraph(row, MARKDOWN)}"])


_ONE_BY_ONE = {"latex": _latex, "myst": _myst, "markdown": _markdown, "plain": _plain}


def bibtex_entry(key: str, **fields: str) -> str:
    """Return a BibTeX entry with the fields that are not empty. A month is a name that BibTeX knows.

    The type is `misc`, which BibTeX, biblatex and Zotero read alike. `howpublished` says which version it is, `url` has its one address.

    >>> print(bibtex_entry("a:b", title="{A}", month="apr", note=""))
    @misc{a:b,
      title = {{A}},
      month = apr,
    }
    """
    written = ((name, text if name == "month" else f"{{{text}}}") for name, text in fields.items() if text)
    return f"@misc{{{key},\n" + "".join(f"  {name} = {text},\n" for name, text in written) + "}"


def _bibtex_equation(row: Citable) -> str:
    return bibtex_entry(
        key_of(row.of),
        title=f"{{{latex_text(row.of.title)}}}",
        author=f"{{{MAINTAINERS}}}",
        howpublished=f"{{backsolve {latex_text(VERSION)}, equation {latex_text(row.of.id)}, version {row.of.version}}}",
        url=row.url,
        urldate=_RELEASED if row.url else "",
        year=str(YEAR),
        month=month_abbr[_MONTH].lower(),
        note=_join_sentence(map(_bibtex_origin, row.of.sources)),
        abstract=f"${row.equation_latex}$. {_claim(row, LATEX)}",
        annote=" ".join(filter(None, (_changes(row, LATEX), citation_reason(row.why, LATEX).strip()))),
    )


def _bibtex_origin(source: Source) -> str:
    if source.kind == DERIVATION:
        return _origin(source, LATEX)
    link = "" if source.address == source.url else f", {LATEX.link.format(source.address)}"
    return f"after {_place_in_work(source, LATEX)}{link}"


def _bibtex_work(source: Source) -> str:
    names = [f"{family}, {given}" if given else f"{{{family}}}" for given, family in _split_authors(latex_text(source.author))]
    first, *others = filter(None, (source.video, source.url))
    medium = f"Video of {source.dated}" if source.video else _BIBTEX_TYPES[source.kind]
    return bibtex_entry(
        work_key(source),
        title=f"{{{latex_text(source.title)}}}",
        author=" and ".join(names).replace("{et al.}", "others"),
        howpublished=f"{{{', '.join([medium, *map(LATEX.link.format, others)])}}}",
        url=first,
        urldate=_RELEASED,
        year=str(source.year),
        month=f"{source.published:%b}".lower() if source.published else "",
    )


def csl_item(key: str, type: str, title: str, author: str, issued: Iterable[int], **more: str) -> dict[str, Any]:
    """Return a CSL-JSON item with the fields that are not empty. `issued` is a year, with the month and the day if they are known."""
    names = [{"given": given, "family": family} if given else {"literal": family} for given, family in _split_authors(author)]
    dated = {"issued": {"date-parts": [[*issued]]}} if issued else {}
    return {"id": key, "type": type, "title": title, "author": names, **dated} | {name: text for name, text in more.items() if text}


def _csl_equation(row: Citable) -> dict[str, Any]:
    # Of a report every style prints the number and the publisher.
    works = [_place_in_work(source, PLAIN) for source in row.of.sources if source.kind != DERIVATION]
    number = f"Equation {row.of.id}, version {row.of.version}" + (f", after {'; '.join(works)}" if works else "")
    after = _join_sentence(_origin(source, PLAIN) for source in row.of.sources)
    texts = {"abstract": f"{row.equation_text}. {_claim(row, PLAIN)}", "note": f"Equation {row.of.id}, {_version_of(row, PLAIN)}. {after}."}
    about = {"number": number, "publisher": f"backsolve {VERSION}", "URL": row.url, "annote": citation_reason(row.why, PLAIN).strip()}
    return csl_item(key_of(row.of), "report", row.of.title, MAINTAINERS, [YEAR, _MONTH], **about, **texts)


def _csl_work(source: Source) -> dict[str, Any]:
    day = source.published
    issued = [day.year, day.month, day.day] if day else [source.year]
    about = {"medium": "Video" if source.video else "", "URL": source.video or source.url}
    return csl_item(work_key(source), CSL_TYPES[source.kind], source.title, source.author, issued, **about)


def macro(name: str) -> str:
    r"""Return the LaTeX command of a quantity, such as \KvBytesPerToken."""
    return "\\" + "".join(part.capitalize() for part in name.split("_"))


def macro_block(symbols: Iterable[Quantity]) -> str:
    r"""Return the lines that define the commands, each once.

    >>> from derive.quantities import QUANTITIES
    >>> print(macro_block([QUANTITIES["balance_batch"], QUANTITIES["mfu"], QUANTITIES["mfu"]]))
    \newcommand{\BalanceBatch}{B^{\star}}
    \newcommand{\Mfu}{\mathrm{mfu}}
    """
    return "\n".join(rf"\newcommand{{{macro(one.name)}}}{{{one.latex}}}" for one in dict.fromkeys(symbols))


def substitute_macros(latex: str, symbols: Iterable[Quantity]) -> str:
    """Return a formula with commands in place of its symbols."""
    commands = {one.latex: macro(one.name) for one in symbols}
    # The longest first, as t stands in t_m too; any other command of LaTeX stays as it is.
    spelled = "|".join(re.escape(one) for one in sorted(commands, key=len, reverse=True))
    return re.sub(rf"{spelled}|\\[A-Za-z]+", lambda found: commands.get(found[0], found[0]), latex)
