"""Formulas as MathML: of the whole catalogue well-formed and complete, and drawn in the order in which they are written."""

import re
from xml.etree import ElementTree

import pytest

from derive.catalogue import by_id
from derive.errors import WrongData
from derive.quantities import QUANTITIES
from derive.show.mathml import equation_in_mathml, latex_in_mathml, math, symbol_in_mathml, tree_in_mathml
from derive.trees import tree_of
from tests.tools.together import in_one_test

ARGUMENTS = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "mover": 2, "msqrt": None, "mrow": None, "math": None}
"""Elements of MathML that take so many others, or any number."""


def element(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(math(drawn.replace("\u2061", "").replace("\u2062", "")))


def of(text: str) -> str:
    """A formula drawn, only its letters, digits and signs; fractions as (a)/(b), what is raised after ^."""
    return flat(element(tree_in_mathml(tree_of(text))))


def flat(node: ElementTree.Element) -> str:
    parts = [flat(one) for one in node]
    if node.tag == "mfrac":
        return f"({parts[0]})/({parts[1]})"
    if node.tag in ("msub", "msup", "msubsup"):
        return parts[0] + "".join(f"{mark}{part}" for mark, part in zip("^" if node.tag == "msup" else "_^", parts[1:], strict=False))
    return f"√({''.join(parts)})" if node.tag == "msqrt" else (node.text or "") + "".join(parts)


@in_one_test("row", [pytest.param(row, id=row.id) for row in by_id().values()])
def test_every_equation_is_well_formed_and_has_every_symbol(row):
    drawn = equation_in_mathml(row)
    for node in element(drawn).iter():
        assert ARGUMENTS.get(node.tag) in (None, len(node)), f"{node.tag} of {len(node)} parts"
        assert (node.tag in ARGUMENTS) == bool(len(node)) or node.tag == "mspace"
    # What is raised stands within its symbol: of such ones the base and the index are looked for.
    for name in row.symbols:
        symbol = symbol_in_mathml(name)
        inside = symbol.removeprefix("<msub>").removesuffix("</msub>")
        assert symbol in drawn or inside in drawn, name
    assert flat(element(drawn)).count("(") == flat(element(drawn)).count(")")


@in_one_test("row", [pytest.param(row, id=name) for name, row in QUANTITIES.items()])
def test_every_symbol_is_well_formed(row):
    found = flat(element(symbol_in_mathml(row.name)))
    words = re.findall(r"\\mathrm\{(\w+)\}", row.latex)
    assert found and "\\" not in found and "{" not in found
    assert all(word in found for word in words)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("2*batch*chips/mfu", "(2Bn)/(mfu)"),
        ("1 - batch/chips", "1−(B)/(n)"),
        ("chips*(-batch)", "n(−B)"),
        ("batch**2", "B^2"),
        ("batch**(1/2)", "√(B)"),
        ("sqrt(batch + chips)", "√(B+n)"),
        ("balance_batch**2", "(B^⋆)^2"),
        ("Max(batch, 1/chips)", "max(B,(1)/(n))"),
        ("batch*(-2)", "B·(−2)"),
    ],
)
def test_a_tree_is_drawn_as_it_stands_with_no_more_parentheses_than_it_needs(text: str, drawn: str):
    assert of(text) == drawn


@pytest.mark.parametrize(
    ("latex", "drawn"),
    [
        (r"\tau_{\mathrm{tier}}", "τ_tier"),
        (r"B^{\star}_{\mathrm{kv}}", "B_kv^⋆"),
        (r"\frac{a L}{2 N_a}", "(aL)/(2N_a)"),
        (r"\left(1 - o\right) \cdot \ln x", "(1−o)·lnx"),
        (r"\mathcal{L}_0", "ℒ_0"),
        (r"x'", "x′"),
    ],
)
def test_latex_is_read_as_the_registry_and_the_documents_write_it(latex: str, drawn: str):
    assert flat(element(latex_in_mathml(latex))) == drawn


@pytest.mark.parametrize("latex", [r"\nothing", "{a", r"\mathrm", r"\frac{1}", "a_"])
def test_what_is_no_latex_of_ours_is_refused(latex: str):
    with pytest.raises(WrongData, match="no LaTeX"):
        latex_in_mathml(latex)


def test_what_stands_in_latex_ends_no_element():
    assert "<script" not in latex_in_mathml(r"\mathrm{<script>} < 1")
