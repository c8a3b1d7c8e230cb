"""Write one page from a template. The template reads its data, and names the rows of the search that link to the page."""

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from backsolve.figures.svg import chart_record, chart_svg
from backsolve.site.blackboard import blackboard_data
from backsolve.site.claim_states import addresses_of_claims, pages_of_rows, states_of
from backsolve.site.formulas import page_data
from backsolve.site.index import search_row
from backsolve.site.lookups import claims, claims_found, quantities_in_order, said_in_order, verdicts, video_at, video_of
from backsolve.site.parts import blocks_of
from backsolve.site.presets import presets_data
from derive import VERSION
from derive.catalogue import CHAPTERS, by_id, chapter_text, equations
from derive.quantities import QUANTITIES, aliases
from derive.quantities.formula import NOTHING
from derive.show.chart import Chart
from derive.show.citation import cite, latex_text
from derive.show.entry import derivation_in_latex, entry_as_record, narrated_steps, parents, reason_not_derived, worked_example
from derive.show.mathml import equation_in_mathml, math, relation_in_mathml, symbol_in_mathml
from derive.show.parts import substitute_numbers
from derive.show.references import cite_with_references
from derive.tables.lines import Problem
from derive.trees import TreePair
from derive.units import show

HERE = Path(__file__).parent
INDEX = "index.html"
_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(addresses_of_claims, aliases, blackboard_data, by_id, chapter_text, chart_record, cite, cite_with_references, claims, claims_found),
    *(derivation_in_latex, entry_as_record, equations, narrated_steps, page_data, pages_of_rows, parents, presets_data),
    *(quantities_in_order, reason_not_derived, said_in_order, show, states_of, substitute_numbers, verdicts, worked_example),
)
"""Functions that every template may call."""


class Page(NamedTuple):
    """A page before it is written: address, template, context, problems of its tables, and texts of further files by file name."""

    address: str
    template: str
    context: Mapping[str, Any] = NOTHING
    problems: tuple[Problem, ...] = ()
    files: Mapping[str, str] = NOTHING


class Written(NamedTuple):
    """A page as HTML, with its title, its social card if it has one, and the rows of the search that link to it."""

    html: str
    title: str
    card: str
    found: list[list[str]]


def write_page(page: Page, html_base: str = "") -> Written:
    """Return a page in HTML. `html_base` is the address of the published site, if it has one.

    The template sets `title` and `summary`. It calls `find` for the page and for each of its parts that the search finds. A page without
    a summary only redirects to another page, and has no card.
    """
    found: list[list[str]] = []

    def find(kind: str, title: str, summary: str, words: str = "", anchor: str = "") -> str:
        address = f"{page.address}#{anchor}" if anchor else page.address
        found.append(search_row(kind, title, address, summary, words))
        return ""

    # The pages of the documentation share the card of the front page.
    pictured = INDEX if page.address.startswith("docs/") else page.address
    card = f"cards/{pictured.removesuffix(f'/{INDEX}').removesuffix('.html')}.png"
    given = {**page.context, "address": page.address, "link": relative_to(page.address), "find": find, "html_base": html_base, "card": card}
    made: Any = templates().get_template(page.template).make_module(given)
    return Written(str(made), made.title, card if made.summary else "", found)


def relative_to(address: str) -> Callable[[str], str]:
    """Return a function from the address of a file of the site to its relative link on a page.

    >>> relative_to("eq/roofline.step_time/index.html")("book/index.html#roofline")
    '../../book/index.html#roofline'
    """
    here = posixpath.dirname(address) or "."

    def link(target: str) -> str:
        file, mark, anchor = target.partition("#")
        return f"{posixpath.relpath(file, here)}{mark}{anchor}"

    return link


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a page, because no text in it can end the element around it.

    >>> script_json("<mi>a</mi></script>")
    '"<mi>a</mi>\\\\u003c/script>"'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return re.sub("<(?=/?s|!)", r"\\u003c", text, flags=re.IGNORECASE)


@cache
def templates() -> Environment:
    """Return the environment of all templates. A copy with other marks reads the templates of the book for paper."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do"],
    )
    made.globals |= {"version": VERSION, "CHAPTERS": CHAPTERS, **{one.__name__: one for one in _FUNCTIONS}}
    made.filters |= {
        "equation": lambda id: by_id()[id],
        "quantity": lambda name: QUANTITIES[name],
        "symbol": lambda name: Markup(math(symbol_in_mathml(name))),
        "formula": lambda row: Markup(math(equation_in_mathml(row), display=True)),
        "relation": _relation,
        "video": video_of,
        "second": video_at,
        "tex": latex_text,
        "drawing": _drawing,
        # A name may wrap after each of its underscores and dots.
        "name": lambda text: Markup("<wbr>").join(re.split(r"(?<=[_.])", text)),
        "blocks": blocks_of,
        "script_data": lambda value: Markup(script_json(value)),
    }
    made.tests |= {"equation_id": by_id().__contains__, "spoken": lambda source: bool(video_of(source))}
    return made


def _drawing(chart: Chart, links: Mapping[str, str] = NOTHING) -> Markup:
    """Return a chart as SVG, which escapes every text of its table itself."""
    return Markup(chart_svg(chart, links))


def _relation(sides: TreePair, sense: str = "=") -> Markup:
    """Return an equation as a formula of its own line."""
    left, right = sides
    return Markup(math(relation_in_mathml(left, sense, right), display=True))
