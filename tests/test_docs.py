"""The generated pages of the reference are complete and up to date, and every link inside the repository leads somewhere."""

import re
import runpy
import subprocess
import sys
from functools import cache
from math import exp
from pathlib import Path
from statistics import median
from typing import Any

import click
import pytest

from backsolve.cli.validate import SEEDS, SHEETS
from derive.catalogue import by_id
from derive.preset_rows import MemoryTierFigure
from invert.estimators.typical_kv import typical_kv
from invert.posterior.draws import DEFAULT, ENOUGH, MOST, RELIABLE
from invert.sheets.read import last_day
from invert.validation.simulation import _SHAPES
from tests.tools.commands import call
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
SCRIPTS = {script.stem.removeprefix("generate_"): script for script in sorted(DOCS.glob("generate_*.py")) if "schemas" not in script.stem}
"""The script of every generated page. The schemas are no pages: tests/test_schema.py makes them again."""


@cache
def generator(name: str) -> dict[str, Any]:
    """What the script of a page defines; it finds its helper module beside it, as when it is run."""
    sys.path.insert(0, str(DOCS))
    try:
        return runpy.run_path(str(SCRIPTS[name]))
    finally:
        sys.path.remove(str(DOCS))


@cache
def page(name: str) -> str:
    """A generated page as it stands."""
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


COMMANDS = dict(generator("cli")["commands"]())


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.usefixtures("shipped_tables")
def test_a_page_is_what_its_script_makes(name: str):
    assert page(name) == generator(name)["page"](), f"run python docs/{SCRIPTS[name].name}"


@in_one_test("path", COMMANDS)
def test_every_command_and_option_has_help(path: str):
    assert COMMANDS[path].help and f"\n## {path}\n" in page("cli")
    assert [one.opts[0] for one in COMMANDS[path].params if isinstance(one, click.Option) and not one.help] == []


def run(script: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)


def test_check_tells_a_page_that_is_out_of_date_from_one_that_is_not(tmp_path: Path):
    name = "cli"
    for file in (SCRIPTS[name], DOCS / "written.py"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "reference").mkdir()
    copy, made = tmp_path / SCRIPTS[name].name, tmp_path / "reference" / f"{name}.md"
    missing = run(copy, "--check")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "out of date" in missing.stderr
    assert run(copy).returncode == run(copy, "--check").returncode == 0
    made.write_text("old", encoding="utf-8")
    assert run(copy, "--check").returncode == 1
    assert run(copy, "--other").returncode == 2


# -- the catalogue --------------------------------------------------------------------------------------------------


def part(title: str) -> str:
    """What the catalogue says under one heading."""
    return page("catalogue").split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_what_has_no_derivation_says_why_and_nothing_is_without_source():
    rows = [row for row in part("Without derivation").splitlines() if row.startswith("| [")]
    assert [row.split("`")[1] for row in rows] == [row.id for row in by_id().values() if not row.steps]
    assert all(len(row.split(" | ")[1].strip(" |")) > 20 for row in rows)
    assert part("Without source").strip() == "None."


# -- links ----------------------------------------------------------------------------------------------------------

PAGES = sorted(file for file in ROOT.rglob("*.md") if not any(part.startswith(".") for part in file.relative_to(ROOT).parts))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def slug(heading: str) -> str:
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def anchors(file: Path) -> frozenset[str]:
    """What can be linked to in a page: its headings, by the names that GitHub gives them, and the anchors it sets."""
    text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = (re.sub(r"<.*?>", "", line) for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return frozenset([*map(slug, headings), *re.findall(r'<a id="(.+?)">', text)])


def lost(file: Path) -> list[str]:
    """The links of a page that lead nowhere inside the repository."""
    text = re.sub(r"```.*?```|`[^`\n]+`(?!\])", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = []
    for link in (link for link in LINK.findall(text) if not re.match(r"https?://|mailto:", link)):
        path, _, anchor = link.partition("#")
        target = file.parent / path if path else file
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@in_one_test("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(file: Path):
    assert lost(file) == []


def test_a_lost_link_is_seen(tmp_path: Path):
    (tmp_path / "page.md").write_text("# One two\n[a](#one-two) [b](#three) [c](other.md) [d](https://example.org)\n", encoding="utf-8")
    assert lost(tmp_path / "page.md") == ["#three", "other.md"]


# -- figures in prose -----------------------------------------------------------------------------------------------


def test_the_figures_of_the_method_are_those_of_the_code():
    text = " ".join((DOCS / "explanation" / "inversion.md").read_text(encoding="utf-8").split())
    for said in (f"{DEFAULT:,} draws", f"Pareto-k is above {RELIABLE:g}", f"less than {ENOUGH:,}", f"{MOST:,} triangular ones"):
        assert said in text
    assert f"simulates the {SEEDS * SHEETS * len(_SHAPES):,} sheets again" in text


def test_the_caches_of_a_year_are_those_of_the_tables():
    text = " ".join((DOCS / "explanation" / "inversion.md").read_text(encoding="utf-8").split())
    of_2024 = median(exp(one.ln_kv) for one in typical_kv(shipped_data())["read"].caches if one.released.year == 2024)
    today = typical_kv(shipped_data())["read"].at(last_day(shipped_data()))[0]
    assert (
        f"reads {of_2024 / 1e3:.0f} kB per token of context, and the typical KV of this autumn is {exp(today.centre) / 1e3:.0f} kB" in text
    )


def test_what_memory_costs_more_since_the_shortage_is_that_of_the_table():
    text = (DOCS / "explanation" / "storage-tiers.md").read_text(encoding="utf-8")
    assert "DDR costs four times as much as before the shortage of late 2025" in " ".join(text.split())
    rows = [row for row in shipped_data().tables.rows_of(MemoryTierFigure) if (row.tier, row.quantity) == ("ddr", "holding_price")]
    held = {row.year: row.value for row in rows}
    assert held[None] / held[2025] == pytest.approx(4, rel=0.01)


def test_the_formulas_of_the_method_are_those_of_the_catalogue():
    text = (DOCS / "explanation" / "inversion.md").read_text(encoding="utf-8")
    for id in ("bands.prefill_cost", "bands.decode_cost", "bands.premium_in", "bands.balance_context"):
        assert f"```math\n{by_id()[id].latex}\n```" in text, id


# -- files ----------------------------------------------------------------------------------------------------------


@in_one_test("file", [file for file in PAGES if file.name != "CHANGELOG.md"], ids=lambda file: str(file.relative_to(ROOT)))
def test_files_that_a_page_names_exist(file: Path):
    text = re.sub(r"```console\n.*?```|\]\(.*?\)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = re.findall(r"(?<![\w/.-])(?:[a-z_]+/)+[a-z_]+\.(?:py|csv|json)\b|\.ci/[a-z]+", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def descriptions(picture: Path) -> list[str]:
    """What an SVG says that it shows."""
    return re.findall("<dc:description>(.*?)</dc:description>", picture.read_text(encoding="utf-8"), re.DOTALL)


def test_the_picture_of_the_readme_shows_what_its_command_draws(tmp_path: Path):
    """By its words: how its lines are drawn is another matter with every version of matplotlib."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (picture,) = re.findall(r"\]\((docs/figures/.*?\.svg)\)", readme)
    (command,) = re.findall(r"`backsolve (plot .*?)`", readme)
    assert command.endswith(f" --out {picture}")
    assert call(*command.split()[:-1], str(tmp_path / "now.svg")).status == 0
    assert descriptions(ROOT / picture) == descriptions(tmp_path / "now.svg") != [], f"run backsolve {command}"
    assert {one.name for one in (DOCS / "figures").iterdir()} == {Path(picture).name}
