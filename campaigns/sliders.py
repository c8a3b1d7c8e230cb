"""How long the forms of a built site take to answer when a slider is moved, in a browser: the answer, and the longest piece of drawing.

    python -m campaigns.sliders SITE [--every N] [--pages desk/index.html ...]

Every slider of every form goes to three places, for each quantity that can be asked for. Each move is made three times and the quickest
counts, as what else the machine does is no matter of the page; the first of the three is told beside it. Exit status 1 where one that
counts takes longer than a frame of 16 ms.
It takes playwright (`pip install`) and the Chromium of the system; where one is missing that is said.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from campaigns.browser import missing, opened

AT_ONCE = 100.0
"""Milliseconds up to which an answer seems immediate (Nielsen, Usability Engineering, 1993, chapter 5)."""
KINDS = {"answer": "the answer", "drawing": "the longest piece of drawing", "first": "the answer, before anything is warm or waited for"}
FORMS = ("desk/index.html", "eq/*/index.html")
CLOCK = """
    const pieces = [], usual = window.requestAnimationFrame;
    window.requestAnimationFrame = (act) => usual((now) => {
      const begun = performance.now();
      act(now);
      document.body.getBoundingClientRect();
      pieces.push(performance.now() - begun);
    });
    window.piecesOfDrawing = pieces;
"""
"""What times each piece of work between two frames, with the layout that it causes."""
MOVES = """async () => {
    const choice = [...document.querySelectorAll(".solver-choice")].find((one) => one.textContent.startsWith("Solve for"));
    const unknowns = choice ? [...choice.querySelectorAll("option")].map((one) => one.value) : [""], told = [];
    const sliders = () => [...document.querySelectorAll('.knob input[type="range"]')];
    const frames = async (count) => { for (let k = 0; k < count; k++) await new Promise((done) => setTimeout(done, 17)); };
    const moved = (slider, to) => {
      slider.value = to;
      const begun = performance.now();
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      document.body.getBoundingClientRect();
      return performance.now() - begun;
    };
    for (const unknown of unknowns) {
      if (choice) { choice.querySelector("select").value = unknown; choice.querySelector("select").dispatchEvent(new Event("change")); }
      for (const slider of sliders()) {
        const name = `${slider.getAttribute("aria-label")}${unknown ? ` for ${unknown}` : ""}`, was = slider.value;
        for (const to of [100, 500, 900]) {
          const times = [0, 1, 2].map(() => moved(slider, to));
          told.push({ name, to, answer: Math.min(...times) }, { name, to, first: times[0] });
        }
        moved(slider, was);
      }
      const longest = [];
      for (let k = 0; k < 3 && sliders().length; k++) {
        window.piecesOfDrawing.length = 0;
        moved(sliders()[0], 500 + k);
        await frames(4);
        longest.push(Math.max(0, ...window.piecesOfDrawing));
      }
      if (longest.length) told.push({ name: unknown || "drawing", to: 500, drawing: Math.min(...longest) });
    }
    return told;
}"""


@dataclass(frozen=True, slots=True)
class Moved:
    """How long a move took [ms]: its answer, the longest piece of the drawing that follows, or its answer when it was made first."""

    page: str
    name: str
    kind: str
    time: float


def moves(site: Path, pages: list[str]) -> Iterator[Moved]:
    """The moves of all sliders of these pages."""
    with opened() as browser:
        context: Any = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_init_script(CLOCK)
        page = context.new_page()
        for name in pages:
            page.goto((site / name).as_uri(), wait_until="load")
            for one in page.evaluate(MOVES):
                kind = next(kind for kind in KINDS if kind in one)
                yield Moved(name, f"{one['name']} to {one['to']}", kind, one[kind])


def main(arguments: list[str]) -> int:
    """0 where every move seems immediate, or where nothing could be tried, which is said; else 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take only every so many pages")
    parser.add_argument("--pages", nargs="*", help="these instead of all forms")
    asked = parser.parse_args(arguments)
    if missing():
        print(f"skipped: {missing()} is not here")
        return 0
    site = asked.site.resolve()
    forms = [file.relative_to(site).as_posix() for form in FORMS for file in sorted(site.glob(form))]
    found = list(moves(site, asked.pages or forms[:: asked.every]))
    for kind, called in KINDS.items():
        told = sorted((one for one in found if one.kind == kind), key=lambda one: one.time)
        if told:
            times = [one.time for one in told]
            print(f"{called}: {len(times)} moves, median {median(times):.1f} ms, 99 of 100 within {times[len(times) * 99 // 100]:.1f} ms")
            for one in told[:-11:-1]:
                print(f"  {one.time:.1f} ms {one.page}: {one.name}")
    return int(any(one.time > AT_ONCE for one in found if one.kind != "first"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
