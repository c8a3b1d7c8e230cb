"""Write one page from a template and its context. Its links work from disk and from any server."""

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from backsolve.figures.svg import chart_svg
from backsolve.site.lookups import video_at, video_of
from derive.catalogue import by_id
from derive.immutable import immutable
from derive.quantities.formula import NOTHING, as_tree
from derive.show.mathml import equation_in_mathml, math, relation_in_mathml, symbol_in_mathml
from derive.tables.problems import Problem
from derive.version import VERSION

if TYPE_CHECKING:
    from derive.derivations import Sides

HERE = Path(__file__).parent
INDEX = "index.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'"
)
"""The files that a page may load: files of the site, and no script or style inside the page."""


@immutable
class Entry:
    """A result of the search: a page, or a part of a page behind `#`. `words` is the text that the search finds it by."""

    title: str
    kind: str
    address: str
    summary: str
    words: str


@immutable
class Page:
    """A page before it is written: its address, template and context, its search results, and the problems of its tables.

    The search finds a page with a `kind` by its title, summary and `words`. `parts` are results for parts of the page. `files` are texts
    beside the page, by file name.
    """

    address: str
    template: str
    title: str
    summary: str = ""
    kind: str = ""
    words: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the search results of the page and of its parts."""
        own = Entry(title=self.title, kind=self.kind, address=self.address, summary=self.summary, words=self.words)
        return ((own,) if self.kind else ()) + self.parts


def written_page(page: Page, html_base: str = "") -> str:
    """Return the HTML of a page. `html_base` is the address of the published site, if it has one."""
    text: str = (
        _templates()
        .get_template(page.template)
        .render(
            {
                **page.context,
                "page": page,
                "link": relative_to(page.address),
                "policy": POLICY,
                "version": VERSION,
                "canonical": f"{html_base}{page.address.removesuffix(INDEX)}" if html_base else "",
                "card": f"{html_base}{card_address(page)}",
            }
        )
    )
    return text


def card_address(page: Page) -> str:
    """Return the address of the social card of a page. The pages of the documentation share the card of the front page.

    >>> card_address(Page(address="eq/roofline.step_time/index.html", template="", title=""))
    'cards/eq/roofline.step_time.png'
    """
    address = INDEX if page.address.startswith("docs/") else page.address
    return f"cards/{address.removesuffix(f'/{INDEX}').removesuffix('.html')}.png"


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


def data_script(name: str, value: Any) -> str:
    """Return a script that contains only data, as a field of the one global `backsolve`.

    >>> data_script("answer", {"a": 1})
    '(globalThis.backsolve ??= {}).answer = {"a":1};\\n'
    """
    return f"(globalThis.backsolve ??= {{}}).{name} = {script_json(value)};\n"


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a page, because no text in it can end the element around it.

    >>> script_json("<mi>a</mi></script>")
    '"<mi>a</mi>\\\\u003c/script>"'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return re.sub("<(?=/?s|!)", r"\\u003c", text, flags=re.IGNORECASE)


def verbatim(text: str) -> Markup:
    """Return the escaped text of an element. Quotation marks stay unescaped, because they only matter in an attribute.

    >>> verbatim('<"a">')
    Markup('&lt;"a"&gt;')
    """
    return Markup(escape(text, quote=False))


def broken_name(name: str) -> Markup:
    """Return a name that may wrap after each of its underscores and dots.

    >>> broken_name("kv_time")
    Markup('kv_<wbr>time')
    """
    return Markup("<wbr>").join(re.split(r"(?<=[_.])", name))


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["symbol"] = lambda name: Markup(math(symbol_in_mathml(name)))
    templates.filters["formula"] = lambda row: Markup(math(equation_in_mathml(row), display=True))
    templates.filters["formula_in_line"] = lambda row: Markup(math(equation_in_mathml(row)))
    templates.filters["relation"] = _relation
    templates.filters["video"] = video_of
    templates.filters["second"] = video_at
    # The drawing escapes every text of a table itself.
    templates.filters["drawing"] = lambda chart, links=NOTHING: Markup(chart_svg(chart, links))
    templates.filters["verbatim"] = verbatim
    templates.filters["name"] = broken_name
    templates.tests["equation_id"] = lambda text: text in by_id()
    templates.filters["script_data"] = lambda value: Markup(script_json(value))
    return templates


def _relation(sides: "Sides", sense: str = "=") -> Markup:
    """Return an equation of SymPy as a formula of its own line."""
    left, right = map(as_tree, sides)
    return Markup(math(relation_in_mathml(left, sense, right), display=True))
