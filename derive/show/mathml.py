"""Print formulas as MathML, which browsers render without scripts. Input is a tree, or the LaTeX of a symbol or of the documentation.

The LaTeX reader knows only the commands that the registry and the documentation use.
"""

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from unicodedata import lookup

from derive.errors import WrongData, shorten
from derive.quantities import QUANTITIES
from derive.records import Equation, tree_of_function
from derive.trees import PRODUCT, RATIO, Alphabet, Tree, print_tree

_SENSE = {"=": "=", "<=": "≤", ">=": "≥", "<": "<", ">": ">"}
_THIN = '<mspace width="0.1667em"/>'
PRODUCT_SIGN = '<mo rspace="0.17em">\u2062</mo>'
"""An invisible sign of multiplication, and a thin space."""
_MINUS, _PARENTHESIS, _SQUARE = "<mo>−</mo>", '<mrow><mo stretchy="', 2
_FUNCTIONS = {"Max": "max", "Min": "min", "log": "ln"}
_TALL = ("<mfrac>", "<msqrt>")
"""Elements around which parentheses grow."""


def math(inner: str, display: bool = False) -> str:
    """Return a formula as a `math` element, within a line or on its own line."""
    return ('<math display="block">' if display else "<math>") + f"{inner}</math>"


def equation_in_mathml(row: Equation) -> str:
    """Return an equation of the catalogue with its terms in the order of the catalogue."""
    left, right = tree_of_function(row.relation)
    return relation_in_mathml(left, row.sense, right)


def relation_in_mathml(left: Tree, sense: str, right: Tree) -> str:
    """Return two sides with the relation sign between them.

    >>> relation_in_mathml("ridge_point", "=", ("/", "peak_flops", "hbm_bandwidth"))
    '<mi>β</mi><mo>=</mo><mfrac><mi>F</mi><mi>W</mi></mfrac>'
    """
    return f"{tree_in_mathml(left)}<mo>{escape(_SENSE[sense])}</mo>{tree_in_mathml(right)}"


def tree_in_mathml(tree: Tree) -> str:
    """Return a tree as MathML, without unnecessary parentheses.

    >>> tree_in_mathml(("+", 1, ("-", "batch")))
    '<mn>1</mn><mo>−</mo><mi>B</mi>'
    """
    return print_tree(_drop_ones(tree), _MATHML)


@cache
def symbol_in_mathml(name: str) -> str:
    """Return the symbol of a quantity."""
    return latex_in_mathml(QUANTITIES[name].latex)


def _drop_ones(tree: Tree) -> Tree:
    """Return a tree without factors of 1, which are constants that only have a unit."""
    if not isinstance(tree, tuple):
        return tree
    operation, *inner = (tree[0], *map(_drop_ones, tree[1:]))
    if operation == PRODUCT:
        left = [factor for factor in inner if factor != 1] or [1]
        return (PRODUCT, *left) if len(left) > 1 else left[0]
    return inner[0] if operation == RATIO and inner[1] == 1 else (operation, *inner)


def _power(base: str, exponent: str) -> str:
    """Return a power. The exponent of a symbol with an index is above the index."""
    above = _group(exponent)
    if base.startswith("<msub>"):
        return f"{base.replace('<msub>', '<msubsup>', 1).removesuffix('</msub>')}{above}</msubsup>"
    has_exponent = not base.startswith(_PARENTHESIS) and ("<msup>" in base or "<msubsup>" in base)
    return f"<msup>{_parenthesise(base) if has_exponent else base}{above}</msup>"


def _call(name: str, arguments: list[str]) -> str:
    return f"<mi>{_FUNCTIONS.get(name, name)}</mi><mo>\u2061</mo>{_parenthesise('<mo>,</mo>'.join(arguments))}"


def _parenthesise(drawn: str) -> str:
    grows = "true" if any(part in drawn for part in _TALL) else "false"
    return f'{_PARENTHESIS}{grows}">(</mo>{drawn}<mo stretchy="{grows}">)</mo></mrow>'


def _group(drawn: str) -> str:
    """Return a sequence of elements as a single element."""
    return drawn if _is_one_element(drawn) else f"<mrow>{drawn}</mrow>"


def _is_one_element(drawn: str) -> bool:
    depth, ends = 0, 0
    for tag in re.findall(r"<[^>]*>", drawn):
        if not tag.endswith("/>"):
            depth += -1 if tag.startswith("</") else 1
        ends += depth == 0
    return ends == 1


_MATHML = Alphabet(
    symbol=symbol_in_mathml,
    number=lambda number: f"{_MINUS if number < 0 else ''}<mn>{abs(number)}</mn>",
    parentheses=_parenthesise,
    power=_power,
    call=_call,
    ratio=lambda above, below: f"<mfrac>{_group(above)}{_group(below)}</mfrac>",
    root=lambda inner, degree: f"<msqrt>{inner}</msqrt>" if degree == _SQUARE else "",
    first_minus=_MINUS,
    minus=_MINUS,
    plus="<mo>+</mo>",
    times=PRODUCT_SIGN,
    times_number="<mo>·</mo>",
    slash_in_exponent="<mo>/</mo>",
)

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[{}_^&]|[0-9]+(?:\.[0-9]+)?|[^\s]")
_LETTERS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι"},
    **{"kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "ϕ"},
    **{"chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π"},
    **{"Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "partial": "∂", "infty": "∞"},
    **{name: name for name in ("max", "min", "ln", "log", "exp")},
}
_SIGNS = {
    **{"star": "⋆", "cdot": "·", "times": "×", "mid": "∣", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "approx": "≈", "to": "→"},
    **{"sum": "∑", "pm": "±", "neq": "≠", "lbrace": "{", "rbrace": "}"},
}
_SPACES = {",": _THIN, ";": '<mspace width="0.2778em"/>', " ": '<mspace width="0.25em"/>', "quad": '<mspace width="1em"/>', "!": ""}
_SPACES["qquad"] = _SPACES["quad"] * 2
_TYPED = {"-": "−", "'": "′"}
"""Signs that differ from the character on a keyboard."""
_PLACES = {"_": "sub", "^": "sup"}
_OVER = {"hat": "^", "bar": "¯", "tilde": "~"}


@cache
def latex_in_mathml(latex: str) -> str:
    r"""Return a LaTeX formula as MathML. Raise `WrongData` for a command that neither the registry nor the documentation uses.

    >>> latex_in_mathml(r"B^{\star}_{\mathrm{kv}}")
    '<msubsup><mi>B</mi><mi>kv</mi><mo>⋆</mo></msubsup>'
    >>> latex_in_mathml(r"\frac{1}{2}")
    '<mfrac><mn>1</mn><mn>2</mn></mfrac>'
    """
    waiting = _TOKEN.findall(latex)[::-1]
    try:
        return "".join(_parts_until(waiting, ""))
    except (IndexError, KeyError) as error:
        raise WrongData(f"{shorten(latex)} is no LaTeX of the registry or the documentation") from error


def _parts_until(waiting: list[str], end: str) -> Iterator[str]:
    """Yield the parts up to a closing token, which is removed too, or all parts if `end` is empty."""
    while waiting and waiting[-1] != end:
        yield _scripted_part(waiting)
    if end:
        waiting.pop()


def _scripted_part(waiting: list[str]) -> str:
    """Return a part with its subscript and superscript."""
    base, scripts = _part(waiting), {}
    while waiting and waiting[-1] in _PLACES:
        place = waiting.pop()
        scripts[place] = _part(waiting)
    places = [place for place in _PLACES if place in scripts]
    tag = "".join(["m", *map(_PLACES.__getitem__, places)])
    return f"<{tag}>{base}{''.join(map(scripts.__getitem__, places))}</{tag}>" if places else base


def _part(waiting: list[str]) -> str:
    """Return one letter, number, sign, group or command with its arguments."""
    token = waiting.pop()
    if token == "{":
        return _group("".join(_parts_until(waiting, "}")))
    if token.startswith("\\"):
        return _command(token[1:], waiting)
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token.isalpha():
        return f"<mi>{token}</mi>"
    sign = '<mo stretchy="false">' if token in "()[]|" else "<mo>"
    return f"{sign}{escape(_TYPED.get(token, token))}</mo>"


def _command(name: str, waiting: list[str]) -> str:
    if name in ("mathrm", "text", "operatorname"):
        return _word(waiting)
    if name == "mathcal":
        return f"<mi>{lookup(f'SCRIPT CAPITAL {_braced(waiting)}')}</mi>"
    if name in _OVER:
        return f"<mover>{_part(waiting)}<mo>{_OVER[name]}</mo></mover>"
    if name == "frac":
        return f"<mfrac>{_part(waiting)}{_part(waiting)}</mfrac>"
    if name == "sqrt":
        return f"<msqrt>{_part(waiting)}</msqrt>"
    if name in ("left", "right"):
        fence = waiting.pop()
        return f'<mo stretchy="true">{escape(fence)}</mo>' if fence != "." else ""
    if name in _LETTERS:
        return f"<mi>{_LETTERS[name]}</mi>"
    return _SPACES[name] if name in _SPACES else f"<mo>{_SIGNS[name]}</mo>"


def _word(waiting: list[str]) -> str:
    """Return a word in upright letters. A single letter needs the attribute."""
    word = _braced(waiting)
    return ('<mi mathvariant="normal">' if len(word) == 1 else "<mi>") + f"{escape(word)}</mi>"


def _braced(waiting: list[str]) -> str:
    waiting.pop()
    word = ""
    while (token := waiting.pop()) != "}":
        word += token
    return word
