"""Every equation can be cited in every style, and the programs that read a style read ours."""

import json
import os
import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from pybtex.database import parse_string

from derive.catalogue import equation, equations
from derive.errors import UnknownName, WrongData
from derive.quantities import CONSTANTS
from derive.records import Equation, Source
from derive.show.citation import CSL_TYPES, DERIVATION, STYLES, citable, cite, cite_all, ids_in, latex_text, work_key
from tests.tools.together import in_one_test

GOLDEN = Path(__file__).parent / "golden"
GOLDEN_ID = "roofline.step_time"
CSL_STYLE = "harvard-cite-them-right"  # the style that citeproc-py ships
ALL = equations()
IDS = [row.id for row in ALL]
SOURCES = [source for row in ALL for source in row.sources]

every_equation = in_one_test("row", ALL, ids=lambda row: row.id)


def flat(text: str) -> str:
    """Without the escapes of LaTeX and Markdown, so that one sentence can be looked for in all styles."""
    text = text.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">").replace(r"\textasciicircum{}", "^")
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
        assert source.url in text
        assert source.encoded in said or style == "bibtex"
    assert "True" not in said, "an inequality that always holds is no assumption"


@every_equation
def test_symbols_and_numbers_are_those_of_the_relation(row: Equation):
    record = citable(row)
    assert [symbol.name for symbol in record.symbols] + [constant.name for constant in record.constants] == sorted(
        row.parameters, key=lambda name: name in CONSTANTS
    )
    for symbol in record.symbols:
        # One that cancels out of the relation has no place in the citation.
        assert symbol.latex in record.equation_latex
    assert record.url == "", "there is no public address yet, and none may be invented"


@every_equation
def test_latex_is_well_formed(row: Equation):
    text = cite(row.id, "latex")
    assert balanced(text)
    for environment in ("equation", "itemize"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 1
    assert text.count(r"\left") == text.count(r"\right")
    prose = re.sub(r"\\label\{.*?\}|\\url\{.*?\}|\$.*?\$", "", text.split(r"\end{equation}")[1])
    assert not re.search(r"(?<!\\)[_&#$^~<>]", prose), "would not compile outside mathematics"


def test_maxima_and_fractions_print_as_such():
    assert citable(equation("serving.normalised_cost")).equation_latex == (
        r"\tau = \frac{d + \max\left(n_{\mathrm{pos}} \left(q + 1\right), k + w\right)}{n_{\mathrm{tok}}}"
    )
    assert citable(equation("architecture.window_kv_bytes")).equation_latex.endswith(r"\min\left(L, L_{\mathrm{win}}\right)")
    assert r" \geq " in citable(equation("batching.users_needed")).equation_latex


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


def test_a_markdown_footnote_is_called_and_given():
    text = cite("roofline.step_time", "markdown")
    assert text.count("[^roofline-step-time]") == 2
    assert text.splitlines()[-1].startswith("[^roofline-step-time]: ")


# -- what other programs make of it -----------------------------------------------------------------------------


@every_equation
def test_pybtex_reads_the_bibtex(row: Equation):
    entries = parse_string(cite(row.id, "bibtex"), "bibtex").entries
    own = entries[citable(row).key]
    assert {"title", "howpublished", "year", "note", "abstract"} <= set(own.fields)
    assert str(own.persons["author"][0]) == "{The backsolve maintainers}"
    assert set(entries) - {citable(row).key} == {work_key(source) for source in row.sources if source.kind != DERIVATION}
    assert set(re.findall(r"\\cite\{(.*?)\}", own.fields["note"])) == set(entries) - {citable(row).key}
    for entry in entries.values():
        assert re.fullmatch(r"[a-z0-9:._-]+", entry.key)
        assert entry.fields["title"] and int(entry.fields["year"]) > 1900 and entry.persons["author"]
        assert all(balanced(text) for text in entry.fields.values())


def test_one_bibtex_file_has_every_equation_and_every_work_once():
    entries = parse_string(cite_all(IDS, "bibtex"), "bibtex").entries  # pybtex refuses a key given twice
    works = {(source.title, source.author, source.year, source.url) for source in SOURCES if source.kind != DERIVATION}
    assert len(entries) == len(IDS) + len(works)


def test_authors_are_people_or_organisations():
    entries = parse_string(cite_all(IDS, "bibtex"), "bibtex").entries
    authors = {key: " & ".join(map(str, entry.persons["author"])) for key, entry in entries.items() if "backsolve" not in key}
    assert authors["pope2026:the-math-behind-how-llms"] == "Pope, Reiner & Patel, Dwarkesh"
    assert authors["williams2009:roofline-an-insightful-visual-performance"] == "Williams, Samuel & Waterman, Andrew & Patterson, David"
    assert authors["ainslie2023:gqa-training-generalized-multi-query"] == "Ainslie, Joshua & others"
    assert authors["deepseek-ai2024:deepseek-v2-a-strong-economical"] == "{DeepSeek-AI}"


def test_citeproc_renders_the_csl_json():
    items = json.loads(cite_all(IDS, "csl-json"), parse_constant=pytest.fail)
    style = CitationStylesStyle(CSL_STYLE, validate=False)
    bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
    for item in items:
        bibliography.register(Citation([CitationItem(item["id"])]))
    bibliography.sort()
    rendered = [str(entry) for entry in bibliography.bibliography()]
    assert len(rendered) == len(items) == len({item["id"] for item in items})
    for item in items:
        assert any(item["title"].casefold() in entry.casefold() for entry in rendered)


@in_one_test("style", STYLES)
def test_the_catalogue_in_one_text_is_each_equation_in_turn(style: str):
    text = cite_all(IDS, style)
    assert all(cite(id, style) in text for id in IDS) or style in ("bibtex", "csl-json")
    assert cite_all([IDS[0], IDS[1], IDS[0], f"{IDS[1]}@1"], style) == cite_all(IDS[:2], style)


@in_one_test("style", STYLES)
def test_nothing_to_cite_is_nothing(style: str):
    assert cite_all([], style) == ("[]" if style == "csl-json" else "")


def test_every_kind_of_source_has_a_type():
    assert {source.kind for source in SOURCES} <= {DERIVATION, *CSL_TYPES}


def test_a_work_key_is_one_work():
    keys = {(work_key(source), source.title, source.author, source.year) for source in SOURCES}
    assert len({key for key, *_ in keys}) == len(keys)


# -- text that is not ours to trust -----------------------------------------------------------------------------


HOSTILE = r"100% of {A} & B_c #1 $x$ ~y^2 \input{z} a<b |d| *e* `f` [g]"


@pytest.mark.parametrize("style", STYLES)
def test_special_characters_stay_characters(style: str, monkeypatch: pytest.MonkeyPatch):
    source = Source(
        kind="web", title=HOSTILE, author="Ada Lovelace", url="https://example.org/a_b?c=d&e=f%20g#h", said=HOSTILE, page=HOSTILE
    )
    row = equation("roofline.memory_time")
    shadow = replace(row, title=HOSTILE, statement=HOSTILE, assumptions=(HOSTILE,), sources=(source,))
    monkeypatch.setattr("derive.show.citation.equation", lambda id: shadow)
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


# -- what a result used -----------------------------------------------------------------------------------------


def test_ids_in_a_saved_solution():
    solved = {"unknown": "batch", "equations": ["batching.balance_batch@1", "batching.sparsity@1"], "reason": None}
    assert ids_in(solved) == ["batching.balance_batch@1", "batching.sparsity@1"]
    assert cite_all(ids_in(solved)).count("version 1") == 2


def test_ids_in_a_saved_inference():
    sheet = {
        "equations": ["bands.decode_cost@1", "readings.joint_slope@1"],
        "readings": {"joint": {"equations": ["readings.joint_slope@1", "cache.drain_time@1"]}, "lecture": None},
        "storage": [{"equations": None}, {"ttl_seconds": 300, "equations": []}],
    }
    expected = ["bands.decode_cost@1", "readings.joint_slope@1", "cache.drain_time@1"]
    assert ids_in([sheet, sheet]) == ids_in({"schema": 1, "sheets": [sheet]}) == expected


def test_ids_in_a_result_nested_deeper_than_python_recurses():
    result: dict = {"equations": ["cache.hold_cost@1"]}
    for _ in range(5000):
        result = {"sheets": [result]}
    assert ids_in(result) == ["cache.hold_cost@1"]


@in_one_test(
    "result",
    [
        {},
        [],
        None,
        "roofline.step_time@1",
        {"name": "backsolve"},
        {"equations": "roofline.step_time@1"},
        {"equations": {"roofline.step_time": 1}},
        {"equations": ["roofline.step_time"]},
        {"equations": ["roofline.step_time@1", 3]},
        [{"equations": [["roofline.step_time@1"]]}],
    ],
)
def test_what_is_not_a_result_is_refused(result: object):
    with pytest.raises(WrongData, match="equations"):
        ids_in(result)


@pytest.mark.parametrize("style", STYLES)
def test_a_later_version_says_what_became_of_it(style: str, monkeypatch: pytest.MonkeyPatch):
    row = replace(equation(GOLDEN_ID), version=3, changes=("drafting is counted", "attention takes 5 % more"))
    monkeypatch.setattr("derive.show.citation.equation", lambda id: row)
    text = json.loads(cite(GOLDEN_ID, style))[0]["note"] if style == "csl-json" else cite(GOLDEN_ID, style)
    assert "version 3 (version 2: drafting is counted; version 3: attention takes 5 % more)" in flat(text)


def test_a_citation_says_which_way_a_bound_errs_and_that_an_estimate_bounds_nothing():
    assert "Kind: lower bound (an idealisation: what it bounds is at least this); assumes" in cite("roofline.step_time")
    assert "Kind: estimate (it bounds nothing: the truth may be more or less); assumes" in cite("roofline.step_time_serial")
    assert "Kind: bound; assumes" in cite("memory.fits")


def test_unknown_style_id_and_version_are_named():
    with pytest.raises(UnknownName, match="unknown style 'bibtext'; did you mean 'bibtex'"):
        cite("roofline.step_time", "bibtext")
    with pytest.raises(UnknownName, match=r"roofline\.step_tim.*did you mean 'roofline\.step_time'"):
        cite("roofline.step_tim")
    with pytest.raises(UnknownName, match="version"):
        cite("roofline.step_time@99")
    with pytest.raises(UnknownName, match="style"):
        cite_all([], "")


# -- the text itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
def test_golden(style: str, monkeypatch: pytest.MonkeyPatch):
    """BACKSOLVE_WRITE_GOLDEN=1 writes the files anew; read the difference before you keep it."""
    monkeypatch.setattr(metadata, "version", lambda name: "0.1.0")
    text, file = cite(GOLDEN_ID, style) + "\n", GOLDEN / f"cite_{style}.txt"
    if os.environ.get("BACKSOLVE_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_a_checkout_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch):
    def nothing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", nothing)
    assert "in backsolve 0+unknown" in cite("roofline.step_time", "bibtex")
