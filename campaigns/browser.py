"""Every page of a built site in a browser: what it complains of, what runs over the edge of a phone, and what axe finds.

    python -m campaigns.browser SITE [--axe-every N]

It takes playwright and axe-playwright-python (`pip install`) and the Chromium of the system; where one is missing that is said.
"""

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PHONE, DESK = 390, 1280
SERIOUS = ("serious", "critical")
LEADS_ON = 'http-equiv="refresh"'
"""What stands in a page that only leads to another, which may be there before anything is asked of the first."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser_here() -> str | None:
    """The browser of the system."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def missing(*packages: str) -> str:
    """What a page in a browser takes and is not here, in words; nothing where all of it is."""
    absent = [name for name in ("playwright", *packages) if find_spec(name) is None]
    return " and ".join([*absent, *([] if browser_here() else ["Chromium"])])


@contextmanager
def opened() -> Iterator[Any]:
    """The browser of the system, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_here(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def watched(context: Any, faults: list[str]) -> Any:
    """A page that tells what it complains of."""
    page = context.new_page()
    page.on("console", lambda message: faults.append(f"console: {message.text}") if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    # An icon that is still on its way when the page is left is no fault of the page.
    page.on("requestfailed", lambda request: faults.append(f"not loaded: {request.url}") if "ABORTED" not in str(request.failure) else None)
    return page


OVERLAPS = """() => [...document.querySelectorAll('svg')].flatMap((svg) => {
  const texts = [...svg.querySelectorAll('text')].map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
  return texts.flatMap(([one, a], at) => texts.slice(at + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
    .map(([other]) => `${one} / ${other}`));
})"""
"""The labels of a figure that lie over each other."""


def complaints(page: Any, address: str, faults: list[str]) -> Iterator[str]:
    """What is wrong with a page at one width: of its own words, and what is wider than the window."""
    faults.clear()
    page.goto(address, wait_until="load")
    over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    yield from faults
    if over > 0:
        yield f"{over} px wider than the window"
    yield from (f"labels over each other: {both}" for both in page.evaluate(OVERLAPS))


def against_axe(page: Any, axe: str) -> Iterator[str]:
    """What axe calls serious or critical, each with the first place of it."""
    page.evaluate(axe)
    for one in page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]:
        if one["impact"] in SERIOUS:
            yield f"axe {one['id']}: {one['help']}, {len(one['nodes'])} times, e.g. {one['nodes'][0]['html'][:120]}"


def findings(site: Path, axe_every: int) -> Iterator[tuple[str, str]]:
    """Every fault of every page, by page and in words."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    pages = [file for file in sorted(site.rglob("*.html")) if LEADS_ON not in file.read_text(encoding="utf-8")]
    with opened() as browser:
        for scheme, width in (("light", PHONE), ("dark", DESK)):
            faults: list[str] = []
            page = watched(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme), faults)
            for place, file in enumerate(pages):
                name = f"{file.relative_to(site)} ({width} px, {scheme})"
                yield from ((name, said) for said in complaints(page, file.as_uri(), faults))
                if place % axe_every == 0:
                    yield from ((name, said) for said in against_axe(page, axe))


def main(arguments: list[str]) -> int:
    """0 where nothing was found or nothing could be tried, which is said; else 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--axe-every", type=int, default=1, help="hold only every so many pages against axe")
    asked = parser.parse_args(arguments)
    if absent := missing("axe_playwright_python"):
        print(f"skipped: {absent} is not here")
        return 0
    found = list(findings(asked.site.resolve(), asked.axe_every))
    for name, said in found:
        print(f"{name}: {said}")
    print({"pages": len(list(asked.site.rglob("*.html"))), **Counter(said.split(":")[0] for _, said in found)})
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
