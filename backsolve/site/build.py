"""The site as a whole: which pages there are, and how they come to a folder whole or not at all."""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backsolve.site.book import BOOK, book_pages
from backsolve.site.cards import card
from backsolve.site.desk import DESK, desk_page
from backsolve.site.documents import SCHEMAS, START, document_address, document_pages, pictures, schemas
from backsolve.site.equations import equation_pages
from backsolve.site.formulas import in_families, quantities_data
from backsolve.site.home import home_page
from backsolve.site.index import search_index
from backsolve.site.presets import presets_data
from backsolve.site.prices import price_pages
from backsolve.site.writing import HERE, Page, Surroundings, card_address, data_script, written_page
from derive.errors import BacksolveError, WrongData
from derive.files import label
from derive.immutable import immutable
from derive.show.citation import address_of
from derive.tables.problems import Problem
from derive.units import vocabulary
from derive.version import VERSION

MARKER = ".backsolve-site"
"""The file by which a folder is known for one that a build made: behind the version it names every file of that build."""
_PARTS_OF_SITE = (
    *(("Book", BOOK), ("Desk", DESK), ("Prices", "market/index.html"), ("Scoreboard", "scoreboard/index.html")),
    ("Docs", document_address(START)),
)
"""What stands at the top of every page, as far as it is there."""


@immutable
class Built:
    """What a build came to."""

    pages: int
    bytes: int
    problems: tuple[Problem, ...]


def build_site(out: str, html_base: str = "") -> Built:
    """Write the whole site to a folder that is not there yet, or that an earlier build made; `WrongData` where it may not be written.

    Of an earlier build everything is replaced, and what somebody else put beside it stays.
    `html_base` is the address it will be published under; nothing but what names that address depends on it. A site without an address has
    no social cards, as a network finds them by theirs.
    """
    base = address_of(html_base)
    with _new_folder(out) as folder:
        pages = list(all_pages(base))
        site = Surroundings(parts=present(pages), html_base=base)
        for page in pages:
            _write(folder / page.address, written_page(page, site).encode())
        for name, content in (*assets(pages), *(social_cards(pages) if base else ())):
            _write(folder / name, content)
        files = {file.relative_to(folder).as_posix(): file.stat().st_size for file in folder.rglob("*") if file.is_file()}
        _write(folder / MARKER, "\n".join([f"backsolve {VERSION}", *sorted(files), ""]).encode())
        problems = tuple(dict.fromkeys(problem for page in pages for problem in page.problems))
        return Built(pages=len(pages), bytes=sum(files.values()), problems=problems)


def all_pages(html_base: str = "") -> Iterator[Page]:
    """Every page of the site."""
    yield home_page()
    yield from equation_pages(html_base)
    yield from book_pages()
    yield desk_page()
    yield from document_pages()
    yield from price_pages(html_base)


def assets(pages: list[Page]) -> Iterator[tuple[str, bytes]]:
    """The files that are no pages: styles and scripts, data for the scripts, JSON Schemas and pictures."""
    own = HERE / "assets"
    for file in sorted(path for path in own.rglob("*") if path.is_file()):
        name, text = file.relative_to(own).as_posix(), file.read_text(encoding="utf-8")
        yield f"assets/{name}", (without_comments(text) if file.suffix == ".js" and file.parent == own else text).encode()
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
    """The cards of the pages that somebody would share: not of those that only lead to another."""
    first = {card_address(page): page for page in reversed(pages) if page.summary}
    yield from ((address, card(page)) for address, page in sorted(first.items()))


def without_comments(script: str) -> str:
    r"""A script without the lines that are comments, and without what its lines begin with.

    >>> without_comments("// Adds.\n/** Two numbers.\n * and no more */\nconst add = (a, b) => {\n  return a + b; // both\n};\n")
    'const add = (a, b) => {\nreturn a + b; // both\n};\n'
    """
    lines = re.sub(r"^\s*/\*\*.*?\*/$", "", script, flags=re.DOTALL | re.MULTILINE).splitlines()
    return "".join(f"{line.strip()}\n" for line in lines if line.strip() and not line.lstrip().startswith("//"))


def present(pages: list[Page]) -> tuple[tuple[str, str], ...]:
    """The parts of the site that these pages hold."""
    there = {page.address for page in pages}
    return tuple((name, address) for name, address in _PARTS_OF_SITE if address in there)


@contextmanager
def _new_folder(out: str) -> Iterator[Path]:
    """A folder beside the one that is asked for, which takes its place once it is whole."""
    if not out.strip():
        raise WrongData("--out is blank: name a folder")
    try:
        target = Path(os.path.realpath(out))
        _refuse_taken(target, out)
        beside = target.with_name(f".backsolve-{os.urandom(8).hex()}")
        beside.mkdir()
    except (OSError, ValueError) as error:
        raise error if isinstance(error, BacksolveError) else _unwritable(out, error) from error
    try:
        yield beside
        _put_in_place(beside, target)
    except OSError as error:
        raise _unwritable(out, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _unwritable(out: str, error: Exception) -> WrongData:
    return WrongData(f"{label(out)}: cannot be written ({getattr(error, 'strerror', None) or error})")


def _refuse_taken(target: Path, out: str) -> None:
    """Only nothing, an empty folder, or a site that an earlier build made may be where the new one goes."""
    if not os.path.lexists(target):
        return
    if not stat.S_ISDIR(target.stat().st_mode):
        raise WrongData(f"{label(out)} is there and is no folder; name a new one")
    if any(target.iterdir()) and not (target / MARKER).is_file():
        raise WrongData(f"{label(out)} is there and was not made by backsolve site build (it holds no {MARKER}); name a new folder")


def _put_in_place(new: Path, target: Path) -> None:
    """The new folder where the old one was, with all that no build wrote. The old one is gone once that is carried over."""
    if not target.exists():
        new.rename(target)
        return
    kept = [*_of_others(target, new)]
    for path in kept:
        if os.path.lexists(new / path):
            raise WrongData(f"{label(str(target / path))} was not written by an earlier build, and this one would replace it; move it away")
    old = target.with_name(f".backsolve-{os.urandom(8).hex()}")
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        with suppress(OSError):
            old.rename(target)
        raise
    for path in kept:
        try:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (old / path).rename(target / path)
        except OSError as error:
            raise WrongData(f"{label(str(old / path))} could not be moved to the new site ({error.strerror}); it stays there") from error
    shutil.rmtree(old, ignore_errors=True)


def _of_others(folder: Path, new: Path) -> Iterator[Path]:
    """What a folder holds that no build wrote: files, and whole folders that neither held a page of ours nor will."""
    marker = folder / MARKER
    _, *names = marker.read_text(encoding="utf-8", errors="replace").splitlines() if marker.is_file() else [""]
    written = {Path(MARKER), *map(Path, names)}
    shared = {parent for path in written for parent in path.parents}
    pending = [Path()]
    while pending:
        here = pending.pop()
        for found in (folder / here).iterdir():
            path = here / found.name
            if found.is_dir() and not found.is_symlink() and (path in shared or (new / path).is_dir()):
                pending.append(path)
            elif path not in written:
                yield path


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
