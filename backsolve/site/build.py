"""Build the site: collect all pages and files, then put them into the folder."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from backsolve.site.book import BOOK, book_pages
from backsolve.site.cards import card
from backsolve.site.desk import DESK, desk_page
from backsolve.site.documents import SCHEMAS, START, document_address, document_pages, pictures, schemas
from backsolve.site.equations import equation_pages
from backsolve.site.formulas import in_families, quantities_data
from backsolve.site.home import home_page
from backsolve.site.index import search_index
from backsolve.site.notebooks import notebook_pages
from backsolve.site.presets import presets_data
from backsolve.site.prices import price_pages
from backsolve.site.writing import HERE, INDEX, Page, Surroundings, card_address, data_script, written_page
from derive.errors import BacksolveError, WrongData
from derive.files import label
from derive.immutable import immutable
from derive.show.citation import address_of
from derive.tables.problems import Problem
from derive.units import vocabulary
from derive.version import VERSION

MARKER = ".backsolve-site"
"""The file that marks the folder of a build. It has the version and the names of all files of that build."""
_PARTS_OF_SITE = (
    *(("Book", BOOK), ("Desk", DESK), ("Prices", "market/index.html"), ("Scoreboard", "scoreboard/index.html")),
    ("Docs", document_address(START)),
)
"""The links at the top of every page, if the site has these pages."""
_STAGES = {
    **{"index.html": "the blackboard", "eq": "equations", "book": "the book", "desk": "the desk", "docs": "documents"},
    **{"notebooks": "notebooks", "market": "price sheets", "sheet": "price sheets", "scoreboard": "the scoreboard"},
}
"""The names of the first folders of addresses in the progress lines."""


@immutable
class Built:
    """The number of pages and bytes of a build, and the problems of the tables."""

    pages: int
    bytes: int
    problems: tuple[Problem, ...]


def build_site(out: str, html_base: str = "", report: Callable[[str], object] = lambda _: None) -> Built:
    """Write the whole site to a new folder, or to the folder of an earlier build. Raise WrongData if the folder cannot be written.

    Files of the earlier build are replaced or deleted, and all other files stay. `html_base` is the address of the published site. Only
    a site with an address has social cards. `report` gets a line for each stage.
    """
    base = address_of(html_base)
    with _site_folder(out) as (target, before, staging):
        pages = [*_reported(all_pages(base), report)]
        site = Surroundings(parts=present(pages), html_base=base)
        report(f"{len(pages)} pages: templates and search index")
        files = {page.address: written_page(page, site).encode() for page in pages} | dict(assets(pages))
        if base:
            report("social cards")
            files |= social_cards(pages)
        report(f"{len(files)} files: write")
        _publish(files, target, before, staging)
    problems = tuple(dict.fromkeys(problem for page in pages for problem in page.problems))
    return Built(pages=len(pages), bytes=sum(map(len, files.values())), problems=problems)


def _reported(pages: Iterable[Page], report: Callable[[str], object]) -> Iterator[Page]:
    """Yield the pages, and report each time another part of the site begins."""
    last = ""
    for count, page in enumerate(pages):
        if (stage := _STAGES.get(page.address.partition("/")[0], "")) != last:
            report(f"{count} pages, next {stage}")
            last = stage
        yield page


def all_pages(html_base: str = "") -> Iterator[Page]:
    """Yield every page of the site."""
    yield home_page()
    yield from equation_pages(html_base)
    yield from book_pages()
    yield desk_page()
    yield from document_pages()
    yield from notebook_pages()
    yield from price_pages(html_base)


def assets(pages: list[Page]) -> Iterator[tuple[str, bytes]]:
    """Yield styles, scripts, their data, JSON Schemas and pictures."""
    own = HERE / "assets"
    for file in sorted(path for path in own.rglob("*") if path.is_file()):
        is_script = file.suffix == ".js" and file.parent == own
        content = without_comments(file.read_text(encoding="utf-8")).encode() if is_script else file.read_bytes()
        yield f"assets/{file.relative_to(own).as_posix()}", content
    for page in pages:
        yield from ((f"{page.address.removesuffix(INDEX)}{name}", text.encode()) for name, text in page.files.items())
    index = search_index(entry for page in pages for entry in page.entries)
    yield "assets/search-index.js", data_script("search", index).encode()
    yield "assets/presets.js", data_script("presets", presets_data()).encode()
    families, quantities = in_families(quantities_data())
    yield (
        "assets/quantities.js",
        "".join(
            data_script(name, value) for name, value in (("families", families), ("quantities", quantities), ("units", vocabulary()))
        ).encode(),
    )
    for name, content in schemas().items():
        yield f"{SCHEMAS}/{name}", content
    yield from pictures().items()


def social_cards(pages: list[Page]) -> Iterator[tuple[str, bytes]]:
    """Yield the cards of all pages with a summary. A page without a summary only leads to another page."""
    first = {card_address(page): page for page in reversed(pages) if page.summary}
    yield from ((address, card(page)) for address, page in sorted(first.items()))


def without_comments(script: str) -> str:
    r"""Return a script without comment lines and indentation.

    >>> without_comments("// Adds.\n/** Two numbers.\n * and no more */\nconst add = (a, b) => {\n  return a + b; // both\n};\n")
    'const add = (a, b) => {\nreturn a + b; // both\n};\n'
    """
    lines = re.sub(r"^\s*/\*\*.*?\*/$", "", script, flags=re.DOTALL | re.MULTILINE).splitlines()
    return "".join(f"{line.strip()}\n" for line in lines if line.strip() and not line.lstrip().startswith("//"))


def present(pages: list[Page]) -> tuple[tuple[str, str], ...]:
    """Return the parts of the site that these pages include."""
    there = {page.address for page in pages}
    return tuple((name, address) for name, address in _PARTS_OF_SITE if address in there)


@contextmanager
def _site_folder(out: str) -> Iterator[tuple[Path, set[str], Path]]:
    """Yield the folder of the site, the files of the earlier build, and an empty folder next to it, which is deleted at the end.

    The folder may be new, empty, or made by an earlier build. Raise WrongData for any other.
    """
    if not out.strip():
        raise WrongData("--out is blank: name a folder")
    try:
        target = Path(os.path.realpath(out))
        if os.path.lexists(target) and not target.is_dir():
            raise WrongData(f"{label(out)} exists and is not a folder. Name a new folder")
        marker = target / MARKER
        if target.is_dir() and any(target.iterdir()) and not marker.is_file():
            raise WrongData(f"{label(out)} exists and was not made by backsolve site build (it has no {MARKER}). Name a new folder")
        _, *before = marker.read_text(encoding="utf-8", errors="replace").splitlines() if marker.is_file() else [""]
        with TemporaryDirectory(prefix=".backsolve-", dir=target.parent) as staging:
            yield target, {*before, MARKER}, Path(staging)
    except (OSError, ValueError) as error:
        raise (
            error
            if isinstance(error, BacksolveError)
            else WrongData(f"{label(out)}: cannot be written ({getattr(error, 'strerror', None) or error})")
        ) from error


def _publish(files: dict[str, bytes], target: Path, before: set[str], staging: Path) -> None:
    """Write all files to the staging folder, move each one to the site, and delete the remaining files of the earlier build.

    The marker names the files of both builds until the end, so that an interrupted build can be repeated.
    """
    if taken := next((name for name in files if name not in before and os.path.lexists(target / name)), None):
        raise WrongData(f"{label(str(target / taken))} was not written by an earlier build, and this build would replace it. Move it away")
    for name, content in {**files, MARKER: _marker({*files, *before} - {MARKER})}.items():
        _write(staging / name, content)
    for name in (MARKER, *files):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).replace(target / name)
    for name in sorted(before - files.keys() - {MARKER}):
        (target / name).unlink(missing_ok=True)
        with suppress(OSError):
            (target / name).parent.rmdir()
    _write(target / MARKER, _marker(files))


def _marker(names: Iterable[str]) -> bytes:
    return "\n".join([f"backsolve {VERSION}", *sorted(names), ""]).encode()


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
