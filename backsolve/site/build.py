"""Build the site: collect all pages and files, then put them into the folder."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from backsolve.figures.card import card
from backsolve.site import documents
from backsolve.site.book import book_pages
from backsolve.site.desk import desk_page
from backsolve.site.documents import document_pages
from backsolve.site.equations import equation_page
from backsolve.site.formulas import quantities_data
from backsolve.site.home import home_page
from backsolve.site.market import price_pages
from backsolve.site.notebooks import notebook_pages
from backsolve.site.presets import presets_data
from backsolve.site.writing import HERE, INDEX, Page, Written, script_json, write_page
from derive import VERSION
from derive.catalogue import by_id
from derive.errors import WrongData
from derive.files import file_errors, label
from derive.immutable import immutable
from derive.show.citation import address_of
from derive.tables.lines import Problem
from derive.units import vocabulary

MARKER = ".backsolve-site"
"""The file that marks the folder of a build. It has the version and the names of all files of that build."""
STAGES: Mapping[str, Callable[[], Iterable[Page]]] = {
    "blackboard and desk": lambda: (home_page(), desk_page()),
    "equations": lambda: map(equation_page, by_id()),
    "book": book_pages,
    "documents": lambda: (*document_pages(), *notebook_pages()),
    "price sheets": price_pages,
}
"""All pages of the site by stage."""


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
    with file_errors(out):
        target, before = _site_folder(out)
        pages: list[Page] = []
        for stage, made in STAGES.items():
            report(f"{len(pages)} pages, next {stage}")
            pages.extend(made())
        report(f"{len(pages)} pages: templates and search index")
        written = {page.address: write_page(page, base) for page in pages}
        files = {address: one.html.encode() for address, one in written.items()} | dict(assets(pages, written.values()))
        if base:
            report("social cards")
            titles = {one.card: one.title for one in reversed(written.values()) if one.card}
            files |= {address: card(title) for address, title in titles.items()}
        report(f"{len(files)} files: write")
        _publish(files, target, before)
    problems = tuple(dict.fromkeys(problem for page in pages for problem in page.problems))
    return Built(pages=len(pages), bytes=sum(map(len, files.values())), problems=problems)


def assets(pages: Iterable[Page], written: Iterable[Written]) -> Iterator[tuple[str, bytes]]:
    """Yield styles, scripts, their data, JSON Schemas and pictures."""
    own = HERE / "assets"
    yield from ((f"assets/{file.relative_to(own).as_posix()}", file.read_bytes()) for file in sorted(own.rglob("*")) if file.is_file())
    for page in pages:
        yield from ((f"{page.address.removesuffix(INDEX)}{name}", text.encode()) for name, text in page.files.items())
    data: dict[str, dict[str, Any]] = {
        "search-index": {"search": [row for one in written for row in one.found]},
        "presets": {"presets": presets_data()},
        "quantities": {"quantities": quantities_data(), "units": vocabulary()},
    }
    for name, fields in data.items():
        # Each is a field of the one global of the scripts.
        text = "".join(f"(globalThis.backsolve ??= {{}}).{key} = {script_json(value)};\n" for key, value in fields.items())
        yield f"assets/{name}.js", text.encode()
    yield from documents.files().items()


def _site_folder(out: str) -> tuple[Path, set[str]]:
    """Return the folder of the site and the files of the earlier build.

    The folder may be new, empty, or made by an earlier build. Raise WrongData for any other.
    """
    if not out.strip():
        raise WrongData("--out is blank: name a folder")
    target = Path(os.path.realpath(out))
    marker = target / MARKER
    if os.path.lexists(target) and not target.is_dir():
        raise WrongData(f"{label(out)} exists and is not a folder. Name a new folder")
    if marker.is_file():
        return target, {MARKER, *marker.read_text(encoding="utf-8", errors="replace").splitlines()[1:]}
    target.mkdir(exist_ok=True)
    if any(target.iterdir()):
        raise WrongData(f"{label(out)} exists and was not made by backsolve site build (it has no {MARKER}). Name a new folder")
    return target, {MARKER}


def _publish(files: dict[str, bytes], target: Path, before: set[str]) -> None:
    """Write all files, and delete the remaining files of the earlier build.

    The marker names the files of both builds until the end, so that an interrupted build can be repeated.
    """
    if taken := next((name for name in files if name not in before and os.path.lexists(target / name)), None):
        raise WrongData(f"{label(str(target / taken))} was not written by an earlier build, and this build would replace it. Move it away")
    for name, content in {MARKER: _marker({*files, *before} - {MARKER}), **files}.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    for name in sorted(before - files.keys() - {MARKER}):
        (target / name).unlink(missing_ok=True)
        with suppress(OSError):
            (target / name).parent.rmdir()
    (target / MARKER).write_bytes(_marker(files))


def _marker(names: Iterable[str]) -> bytes:
    return "\n".join([f"backsolve {VERSION}", *sorted(names), ""]).encode()
