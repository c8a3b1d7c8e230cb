"""Open the forms of a built site by links whose inputs nobody would type: none runs, stays unescaped, or draws what is no number.

    python -m campaigns.poisoned_links SITE [--every N] [--count N] [--seed N]

It needs playwright (`pip install`) and the Chromium of the system. If one is missing it says so.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from campaigns.browser import missing, opened, watched

FORMS = ("desk/index.html", "index.html", "sheet/*/index.html", "eq/*/index.html")
MARKUP = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "javascript:alert(1)",
    "${alert(1)}",
    "{{7*7}}",
    "\u202e",
    "%00",
    "%E0%A4",
)
NUMBERS = ("1e308", "1e-320", "-1", "0", "NaN", "Infinity", "1e999", "--1", "1_000", "9" * 400)
NAMES = ("__proto__", "constructor", "over", "picture", "toString", "<b>x</b>")
NAMES_OF_INPUTS = "() => [...document.querySelectorAll('input, select')].map((one) => one.name || one.id).filter(Boolean)"
FOUND = """() => ({
  injected: document.querySelectorAll('img[src="x"], img[onerror], a[href^="javascript:"]').length,
  drawn: [...document.querySelectorAll('path, line, circle, rect')].filter((one) =>
    [...one.attributes].some((of) => /NaN|Infinity/.test(of.value))).length,
})"""


def poisoned(random: Random, names: list[str]) -> str:
    """Return the part of a link behind #, with one to four inputs."""
    pairs = [(random.choice([*names, *NAMES]), random.choice((*MARKUP, *NUMBERS))) for _ in range(random.randint(1, 4))]
    return "&".join(f"{quote(name)}={text if text.startswith('%') else quote(text)}" for name, text in pairs)


def findings(site: Path, every: int, count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield each link that was opened, with its fault or nothing."""
    random, pages = Random(seed), [file for form in FORMS for file in sorted(site.glob(form))]
    with opened() as browser:
        faults: list[str] = []
        page: Any = watched(browser.new_context(), faults)
        page.on("dialog", lambda dialog: (faults.append("a dialog"), dialog.dismiss()))
        for file in pages[::every]:
            page.goto(file.as_uri(), wait_until="load")
            names = page.evaluate(NAMES_OF_INPUTS)
            for _ in range(count):
                faults.clear()
                link = f"{file.as_uri()}#{poisoned(random, names)}"
                page.goto("about:blank")
                page.goto(link, wait_until="load")
                found = page.evaluate(FOUND)
                said = [*faults, *(name for name, times in found.items() if times)]
                yield link.removeprefix(site.as_uri()), "; ".join(said)


def main(arguments: list[str]) -> int:
    """Return 0 if no link has a fault or if no browser is here, else 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--every", type=int, default=16, help="open only every so many pages")
    parser.add_argument("--count", type=int, default=20, help="links of each page")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    if missing():
        print(f"skipped: {missing()} is not here")
        return 0
    found = Counter[str]()
    for link, said in findings(asked.site.resolve(), asked.every, asked.count, asked.seed):
        found["wrong" if said else "right"] += 1
        if said:
            print(f"{link[:200]}: {said[:200]}", flush=True)
    print({"links": found.total(), **found})
    return int(found["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
