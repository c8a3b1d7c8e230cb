"""Every equation can be cited in every style, and the programs that read a style read ours."""

import json
import re
from dataclasses import replace

import pytest
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from pybtex.database import parse_string

from derive.catalogue import equation, equations
from derive.errors import WrongValue
from derive.quantities import CONSTANTS
from derive.records import Equation, Source
from derive.show.citation import (
    DERIVATION,
    FOR_ADDRESSES,
    STYLES,
    address_of,
    citation_record,
    cite,
    cite_all,
    key_of,
    latex_text,
    work_key,
)  # fmt: skip
from tests.tools.together import in_one_test, some

GOLDEN_ID = "roofline.step_time"
CSL_STYLE = "harvard-cite-them-right"  # the style that citeproc-py ships
ALL = equations()
IDS = [row.id for row in ALL]
SOURCES = [source for row in ALL for source in row.sources]

every_equation = in_one_test("row", ALL, ids=lambda row: row.id)


def flat(text: str) -> str:
    """Without the escapes of LaTeX and Markdown, so that one sentence can be looked for in all styles."""
    text = text.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">").replace(r"\textasciicircum{}", "^")
    text = text.replace(r"$\geq$", ">=").replace(r"$\leq$", "<=")
    return re.sub(r"\\([&%$#_\\`*<\[|])", r"\1", text).replace("--", "-")


def balanced(text: str) -> bool:
    """Whether the braces of a LaTeX text pair up, and never close before they open."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


# -- every equation in every style ------------------------------------------------------------------------------


@every_equation
@pytest.mark.parametrize("style", STYLES)
def test_every_style_says_what_it_is_and_where_it_is_from(row: Equation, style: str):
    text = cite(row.id, style)
    said = flat(" ".join(map(str, json.loads(text)[0].values())) if style == "csl-json" else text)
    for expected in (row.id, f"version {row.version}", row.title, row.statement, row.described, *row.assumptions, *row.changes):
        assert expected in said
    for source in row.sources:
        assert source.said in said if source.kind == DERIVATION else source.place in said
        assert (source.url if style == "bibtex" else source.address) in text
        assert source.encoded in said or style == "bibtex"
    assert "True" not in said, "an inequality that always holds is no assumption"


@every_equation
def test_symbols_and_numbers_are_those_of_the_relation(row: Equation):
    record = citation_record(row)
    said = [name for name in row.parameters if name not in row.unsaid]
    # One that vanishes with what is left unsaid has no place in the citation.
    assert {symbol.name for symbol in record.symbols} <= {*said} and (row.unsaid or len(record.symbols) == len(row.symbols))
    assert [constant.name for constant in record.constants] == [name for name in said if name in CONSTANTS]
    for symbol in record.symbols:
        assert symbol.latex in record.equation_latex
    assert record.url == "", "none may be invented"


@every_equation
def test_latex_is_well_formed(row: Equation):
    text = cite(row.id, "latex")
    assert balanced(text)
    for environment in ("equation", "itemize"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 1
    assert text.count(r"\left") == text.count(r"\right")
    prose = re.sub(r"\\label\{.*?\}|\\url\{.*?\}|\$.*?\$", "", text.split(r"\end{equation}")[1])
    assert not re.search(r"(?<!\\)[_&#$^~<>]", prose), "would not compile outside mathematics"


@in_one_test(
    ("style", "pattern"),
    [
        ("latex", r"\\label\{(.*?)\}"),
        ("myst", r"(?m)^:label: (.*)$"),
        ("markdown", r"(?m)^\[\^(.*?)\]: "),
        ("bibtex", r"@misc\{(.*?),"),
    ],
)
def test_labels_are_unique(style: str, pattern: str):
    labels = re.findall(pattern, cite_all(IDS, style))
    assert len(labels) >= len(IDS)
    assert len(labels) == len(set(labels))


# -- what other programs make of it -----------------------------------------------------------------------------


@pytest.mark.slow
@every_equation
def test_pybtex_reads_the_bibtex(row: Equation):
    entries = parse_string(cite(row.id, "bibtex"), "bibtex").entries
    own = entries[key_of(row)]
    assert {"title", "howpublished", "year", "month", "note", "abstract"} <= set(own.fields)
    assert own.fields["howpublished"].endswith(f", equation {latex_text(row.id)}, version {row.version}}}")
    assert own.fields.get("annote", "").count("ersion ") == len(row.changes)
    assert str(own.persons["author"][0]) == "{The backsolve maintainers}"
    assert set(entries) - {key_of(row)} == {work_key(source) for source in row.sources if source.kind != DERIVATION}
    assert r"\cite" not in own.fields["note"], "a second run of BibTeX would be needed"
    for entry in entries.values():
        assert re.fullmatch(r"[a-z0-9:._-]+", entry.key)
        assert entry.fields["title"] and int(entry.fields["year"]) > 1900 and entry.persons["author"]
        assert all(balanced(text) for text in entry.fields.values())


def test_one_bibtex_file_has_every_equation_and_every_work_once():
    entries = parse_string(cite_all(IDS, "bibtex"), "bibtex").entries  # pybtex refuses a key given twice
    works = {(source.title, source.author, source.year, source.url) for source in SOURCES if source.kind != DERIVATION}
    assert len(entries) == len(IDS) + len(works)


def test_citeproc_renders_the_csl_json():
    items = json.loads(cite_all(some(IDS, every=8), "csl-json"), parse_constant=pytest.fail)
    entries = rendered(items)
    assert len(entries) == len(items) == len({item["id"] for item in items})
    for item, entry in zip(items, entries, strict=True):
        assert item["title"].casefold() in entry.casefold() and item.get("number", "") in entry


# -- text that is not ours to trust -----------------------------------------------------------------------------


HOSTILE = r"100% of {A} & B_c #1 $x$ ~y^2 \input{z} a<b |d| *e* `f` [g]"


@pytest.mark.parametrize("style", STYLES)
def test_special_characters_stay_characters(style: str, monkeypatch: pytest.MonkeyPatch):
    source = Source(
        kind="web", title=HOSTILE, author="Ada Lovelace", url="https://example.org/a_b?c=d&e=f%20g#h", said=HOSTILE, page=HOSTILE
    )
    row = equation("roofline.memory_time")
    shadow = replace(row, title=HOSTILE, statement=HOSTILE, assumptions=(HOSTILE,), sources=(source,))
    monkeypatch.setattr("derive.show.citation.cited_equation", lambda id: shadow)
    text = cite("any", style)
    if style == "bibtex":
        entries = parse_string(text, "bibtex").entries
        assert len(entries) == 2
        assert entries[work_key(source)].fields["url"] == source.url
        assert all(balanced(field) and r"\input" not in field for entry in entries.values() for field in entry.fields.values())
    elif style == "csl-json":
        assert json.loads(text)[0]["title"] == HOSTILE
    elif style == "latex":
        assert balanced(text) and r"\input" not in text and latex_text(HOSTILE) in text
    elif style == "plain":
        assert HOSTILE in text
    else:
        assert r"\*e\* \`f\` \[g]" in text and r"\$x\$" in text


# -- an address, and a block of commands ------------------------------------------------------------------------


@in_one_test(
    "base", ["example.org", "ftp://example.org", "https://a b", "https://a}\\input{z}", "https://a?b", "https://a#b", "javascript:x"]
)
def test_what_is_no_address_of_a_site_is_refused(base: str):
    with pytest.raises(WrongValue, match="not the address of a site"):
        address_of(base, "eq")


def test_commands_stand_for_the_symbols_and_give_the_same_formula_back():
    for row in ALL:
        text = cite_all([row.id], "latex", macros=True)
        for command, symbol in re.findall(r"\\newcommand\{(.*?)\}\{(.*)\}", text):
            text = re.sub(re.escape(command) + "(?![A-Za-z])", lambda _, symbol=symbol: symbol, text)
        assert cite(row.id, "latex").removeprefix(FOR_ADDRESSES) in text, row.id
        assert len(re.findall(r"\\newcommand", text)) == len(citation_record(row).symbols)
    with pytest.raises(WrongValue, match="only possible with the style latex"):
        cite_all([GOLDEN_ID], "markdown", macros=True)


# -- what styles of bibliographies keep -------------------------------------------------------------------------


def rendered(items: list[dict], style: str = CSL_STYLE) -> list[str]:
    """A bibliography as a style prints it."""
    bibliography = CitationStylesBibliography(CitationStylesStyle(style, validate=False), CiteProcJSON(items), formatter.plain)
    for item in items:
        bibliography.register(Citation([CitationItem(item["id"])]))
    return [str(entry) for entry in bibliography.bibliography()]


def test_id_version_time_and_full_date_survive_a_bibliography():
    own, work = rendered(json.loads(cite("batching.balance_batch", "csl-json", "https://example.org")))
    for said in (
        "Equation batching.balance_batch, version 1",
        "Pope and Patel (2026) at 0:19:16-0:19:44",
        "https://example.org/eq/batching",
    ):
        assert said in own
    assert "29 April" in work and "https://youtu.be/xmkSf5IS-zw" in work and "[Preprint]" not in own + work
