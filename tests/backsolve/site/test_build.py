"""The site as a whole: every link leads somewhere, every page is well-formed and loads nothing from elsewhere, and folders are safe."""

import gzip
import posixpath
import time
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from backsolve.site import build
from backsolve.site.build import MARKER, Built, build_site
from backsolve.site.documents import document_pages
from backsolve.site.equations import equation_page
from backsolve.site.home import home_page
from backsolve.site.writing import Page, write_page
from derive.catalogue import by_id
from derive.errors import WrongData
from tests.tools.html import Parts, parts_of
from tests.tools.together import some

MOST_BYTES, MOST_SECONDS, FIRST_VIEW = 15e6, 60, 170e3
"""Bytes of the site, seconds of its build, and bytes of a page with all that it loads, as a server sends them."""


def some_equations() -> list[Page]:
    return [equation_page(id) for id in some(by_id(), every=50)]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "STAGES", {"pages": lambda: [home_page(), *some_equations(), *document_pages()]})
        build_site(str(out), "https://example.org/b")
    return out


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Built, float]:
    out = tmp_path_factory.mktemp("whole") / "site"
    start = time.process_time()
    built = build_site(str(out))
    return out, built, time.process_time() - start


def read(folder: Path) -> dict[str, Parts]:
    return {file.relative_to(folder).as_posix(): parts_of(file.read_text(encoding="utf-8")) for file in folder.rglob("*.html")}


def resolved(page: str, link: str) -> tuple[str, str]:
    """The file and the anchor that a link of a page means; an anchor with `=` is a state of a form."""
    file, _, anchor = link.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), file)) if file else page, anchor


def faults(folder: Path, pages: dict[str, Parts], everything: bool) -> list[str]:
    """What is wrong with pages: of a part of the site links may lead out of the part, not out of the folder."""
    found = [f"{page}: {fault}" for page, parts in pages.items() for fault in parts.faults]
    for page, parts in pages.items():
        found += [f"{page}: {handler}" for handler in chain(parts.handlers, parts.inline_scripts)]
        for loaded in parts.loaded:
            file, _ = resolved(page, loaded)
            if not loaded.startswith("data:") and not (folder / file).is_file():
                found.append(f"{page} loads {loaded}")
        for link in parts.links:
            if link.startswith(("https://", "http://")):
                continue
            file, anchor = resolved(page, link)
            there = (folder / file).is_file()
            if file.startswith("..") or (everything and not there):
                found.append(f"{page} links to {link}")
            elif there and anchor and "=" not in anchor and file.endswith(".html") and anchor not in pages[file].ids:
                found.append(f"{page} links to {link}, and nothing has that id")
    return found


@cache
def sent(file: Path) -> int:
    """Bytes of a file as a server sends it."""
    return len(gzip.compress(file.read_bytes()))


def test_pages_are_well_formed_and_load_nothing_from_elsewhere(small: Path):
    pages = read(small)
    assert len(pages) > 40 and faults(small, pages, everything=False) == []
    assert all(parts.tags.count("h1") == 1 for parts in pages.values())
    assert '<link rel="canonical" href="https://example.org/b/docs/how-to/cite/">' in (small / "docs/how-to/cite/index.html").read_text()


@pytest.mark.slow
def test_the_whole_site_is_whole(whole: tuple[Path, Built, float]):
    folder, built, seconds = whole
    pages = read(folder)
    assert faults(folder, pages, everything=True) == []
    # As many files as pages: no two share an address.
    assert {f"eq/{id}/index.html" for id in by_id()} <= set(pages) and len(pages) == built.pages
    assert built.bytes < MOST_BYTES and seconds < MOST_SECONDS
    for page, parts in pages.items():
        loaded = [page, *(resolved(page, one)[0] for one in parts.loaded if not one.startswith("data:"))]
        assert sum(sent(folder / one) for one in loaded) < FIRST_VIEW, page


def test_a_published_page_has_a_title_a_description_and_a_card_that_is_there(small: Path):
    page = some_equations()[0]
    card = write_page(page).card
    text = (small / page.address).read_text(encoding="utf-8")
    assert f'<meta property="og:title" content="{page.context["row"].title}">' in text and '<meta name="description" content="' in text
    assert f'<meta property="og:image" content="https://example.org/b/{card}">' in text
    assert (small / card).read_bytes()[:4] == b"\x89PNG" and (small / "cards/index.png").is_file()
    assert (small / "assets/favicon.svg").is_file() and 'rel="icon" type="image/svg+xml"' in text


def test_the_same_pages_are_written_twice():
    first, second = ([write_page(page).html for page in (home_page(), *some_equations())] for _ in range(2))
    assert first == second and "canonical" not in first[0]


# -- where it is written ----------------------------------------------------------------------------------------------


@pytest.fixture
def one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "STAGES", {"pages": lambda: [home_page()]})


@pytest.mark.usefixtures("one_page")
def test_only_what_a_build_wrote_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "site"
    others = {".git/HEAD": "ref", "CNAME": "example.org", "assets/mine.css": "a", "old/mine.txt": "mine"}
    with monkeypatch.context() as patch:
        patch.setattr(build, "assets", lambda _pages, _written: [("old/a/b.html", b"old"), ("old/c.html", b"old")])
        build_site(str(out))
    for name, text in others.items():
        (out / name).parent.mkdir(exist_ok=True, parents=True)
        (out / name).write_text(text)
    (out / ".git" / "refs").mkdir()
    (out / "link").symlink_to(tmp_path)
    (out / "index.html").write_text("edited")
    for _ in range(2):
        build_site(str(out))
        assert {name: (out / name).read_text() for name in others} == others
        assert (out / ".git" / "refs").is_dir() and (out / "link").is_symlink() and "edited" not in (out / "index.html").read_text()
        assert [path.name for path in (out / "old").iterdir()] == ["mine.txt"] and [*tmp_path.iterdir()] == [out]


@pytest.mark.usefixtures("one_page")
def test_a_file_of_somebody_else_where_a_page_would_go_is_named_and_all_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "site"
    build_site(str(out))
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    mine = out / "new" / "index.html"
    mine.parent.mkdir()
    mine.write_text("mine")
    monkeypatch.setattr(build, "assets", lambda _pages, _written: [("new/index.html", b"ours")])
    with pytest.raises(WrongData, match=r"new.* was not written by an earlier build"):
        build_site(str(out))
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == {**before, mine: b"mine"}
    assert [*tmp_path.iterdir()] == [out]


@pytest.mark.usefixtures("one_page")
def test_what_somebody_else_put_there_stays(tmp_path: Path):
    out, mine = tmp_path / "site", tmp_path / "site" / "mine.txt"
    out.mkdir()
    mine.write_text("mine")
    with pytest.raises(WrongData, match=MARKER):
        build_site(str(out))
    with pytest.raises(WrongData, match="is not a folder"):
        build_site(str(mine))
    assert mine.read_text() == "mine" and list(out.iterdir()) == [mine]


@pytest.mark.usefixtures("one_page")
@pytest.mark.parametrize("out", ["nowhere/site", "/proc/site", "a\0b", ""])
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(WrongData, match=r"cannot be written|not made by|is blank"):
        build_site(out)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_each_stage_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build, "STAGES", {"pages": lambda: [home_page(), *some_equations()]})
    said: list[str] = []
    build_site(str(tmp_path / "site"), report=said.append)
    assert said[0] == "0 pages, next pages" and said[-1].endswith("files: write")


def test_a_build_that_fails_leaves_nothing_behind_and_the_old_site_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "site"
    monkeypatch.setattr(build, "STAGES", {"pages": lambda: [home_page()]})
    build_site(str(out))
    monkeypatch.setattr(build, "STAGES", {"pages": lambda: [Page("a/index.html", "none.html")]})
    with pytest.raises(Exception, match=r"none\.html"):
        build_site(str(out))
    assert list(tmp_path.iterdir()) == [out] and (out / "index.html").is_file()
