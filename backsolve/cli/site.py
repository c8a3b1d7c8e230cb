"""The command `site`: the catalogue, the book and the documentation as web pages, and the book as LaTeX or PDF."""

import click

from backsolve.cli import options
from backsolve.streams import fail_on, progress, tell
from derive.files import label


@click.group("site", cls=options.Commands)
def site_command() -> None:
    """Build the site: a page for every equation, the book and the documentation. It needs no network."""


@site_command.command("build")
@click.option("--out", required=True, metavar="DIR", help="The folder to write. Files of an earlier build are replaced.")
@options.html_base
def site_build(out: str, html_base: str) -> None:
    """Write the whole site: static pages that open from disk and from any server. It needs `pip install 'backsolve[site]'`.

    Your own files in the folder of an earlier build, such as .git or CNAME, stay there. Rows of the tables that cannot be read are listed
    on stderr, and the exit status is 2. The pages are written without these rows.

    Example:

    \b
    backsolve site build --out site
    backsolve site build --out site --html-base https://example.org/backsolve/
    """
    from backsolve.site.build import build_site

    with progress("site") as starting:
        built = build_site(out, html_base, starting)
    tell(f"{label(out)}: {built.pages} pages, {built.bytes / 1e6:.1f} MB. Open {label(out.rstrip('/'))}/index.html")
    fail_on(built.problems)


@site_command.command("book")
@click.option("--out", required=True, metavar="FILE", help="The file to write: .tex for LaTeX, or .pdf if TeX is installed.")
def site_book(out: str) -> None:
    """Write the book as one LaTeX document, or as PDF: the chapters, then the times of the lecture, the quantities and the claims.

    Example:

    \b
    backsolve site book --out book.tex
    """
    from backsolve.site.paper import write_book

    write_book(out)
