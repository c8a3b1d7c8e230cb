"""The command `site`: the catalogue, the book and the documentation as pages to look at, and the book on paper."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from backsolve.cli.common import Commands, fail_on, report_steps, tell
from derive.errors import WrongValue
from derive.files import label

_NEEDED = ("PIL", "jinja2", "markdown_it", "markupsafe", "mdit_py_plugins")
"""What the extra `site` brings."""


@contextmanager
def _the_extra() -> Iterator[None]:
    """Where something of the extra is missing, that is said in a line."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _NEEDED:
            raise
        raise WrongValue(f"the site takes {error.name}: pip install 'backsolve[site]'") from None


@click.group("site", cls=Commands)
def site_command() -> None:
    """Build the site: a page an equation, the book, and the documentation, to look at without a network."""


@site_command.command("build")
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    help="The folder to write: a new one, or one of an earlier build, whose files are replaced.",
)
@click.option(
    "--html-base", envvar="BACKSOLVE_HTML_BASE", default="", metavar="URL",
    help="Address at which the site will be published, for citations. BACKSOLVE_HTML_BASE sets it for all commands.",
)  # fmt: skip
def site_build(out: str, html_base: str) -> None:
    """Write the whole site: static pages that open from disk and from any server. It needs `pip install 'backsolve[site]'`.

    What you put into the folder of an earlier build, as .git or CNAME, stays there. Rows of the tables that cannot be read are named on
    stderr, and the status is 2: the pages are written without them.

    Example:

    \b
    backsolve site build --out site
    backsolve site build --out site --html-base https://example.org/backsolve/
    """
    with _the_extra():
        from backsolve.site.build import build_site
    built = build_site(out, html_base, report_steps())
    tell(f"{label(out)}: {built.pages} pages, {built.bytes / 1e6:.1f} MB; open {label(out.rstrip('/'))}/index.html")
    fail_on(built.problems)


@site_command.command("book")
@click.option("--out", required=True, metavar="FILE", help="The file to write: LaTeX if it ends in .tex, PDF if in .pdf and TeX is here.")
def site_book(out: str) -> None:
    """Write the book as one LaTeX document, or as PDF: the chapters, and behind them times of the lecture, quantities and claims.

    Example:

    \b
    backsolve site book --out book.tex
    """
    from backsolve.site.paper import write_book

    write_book(out)
