"""Inject each wrong formula of mutations.py in turn, run the tests, and see that they go red.

    python -m campaigns.mutation_check [NAME ...]

Three kinds of test count: figures that somebody published, figures recomputed by hand, and derivations. None that counts was
written for one fault alone (`FOR_ONE_FAULT_ALONE`). What notices any change, right or wrong, does not count and is not run:
the fingerprints, the generated pages, the citations kept in files, the blocks of the README; nor is what holds for any
formula whatever: that an unknown taken away comes back. The control shows it: an equation that is changed and not wrong.

Exits 1 if a wrong formula survives, if no published figure sees one and mutations.py does not say why, or if the control is red.

Each fault gets a run of pytest of its own, with this file as its plugin:

    python -m pytest -p campaigns.mutation_check --mutant NAME --seen FILE ...

It puts the wrong in the place of the right before any test is collected and notes which tests saw it and what they said.
Nothing on disk changes but FILE.
"""

import csv
import io
import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from campaigns.mutations import CONTROL, MUTATIONS, Cell, Mutation
from derive.catalogue import by_id
from derive.derivations import parents
from derive.quantities import CONSTANTS
from derive.tables import shipped

ROOT = Path(__file__).parents[1]
WHERE = ("tests/validation", "tests/derive/test_derivations.py")
WORKERS = 2
ENOUGH = 3
"""Tests of one kind that saw a fault; the rest of that kind is skipped, and all other kinds once a published figure has seen it."""

KINDS = PUBLISHED, RECOMPUTED, DERIVED = ("published", "recomputed", "derived")
CRASHED, UNANSWERED = "crashed", "unanswered"
"""Red that does not count: a formula that breaks a test, or asks for other givens, is not shown to be wrong."""

BLIND = ("test_samplers.py", "test_market.py", "test_kv_class.py")
"""What sees no wrong formula: samplers are held against others of the same model, and fits to the market rest on no formula."""

FOR_ONE_FAULT_ALONE = {
    "test_line_26_the_ratio_of_tokens_is_not_that_of_the_upside_down_efficiency": "the efficiency upside down",
    "test_what_other_tools_got_wrong_is_not_in_the_formulas": "query heads, all layers of a hybrid, no rotary key",
}

Red = list[dict[str, str]]


# -- the plugin -----------------------------------------------------------------------------------------------------


def inject(mutation: Mutation) -> None:
    """Put the wrong in the place of the right, before anything was worked out from it."""
    for id, relation in mutation.relations.items():
        row = by_id()[id]
        assert "parameters" not in vars(row), f"{id} was already used"
        object.__setattr__(row, "relation", relation)
    for name, value in mutation.constants.items():
        CONSTANTS[name] = replace(CONSTANTS[name], value=value)
    if mutation.cell:
        _rewrite(mutation.cell)


def _rewrite(cell: Cell) -> None:
    """One cell of a table, for whoever reads the tables."""
    file, chosen = f"{cell.table}.csv", {**cell.row, "preferred": "true"}
    rows = list(csv.DictReader(io.StringIO(shipped.content(file).decode())))
    (wrong,) = (row for row in rows if chosen.items() <= row.items())
    wrong[cell.column] = cell.value
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    edited = shipped.read().edited(**{cell.table: out.getvalue()})
    shipped.read = lambda folder=None: edited


def kind(item: pytest.Item) -> str:
    """What a test holds a formula against."""
    if item.path.name == "test_derivations.py":
        return DERIVED
    published = item.path.name == "test_production.py" or item.originalname == "test_published_figures"
    claimed = item.originalname == "test_a_claim" and item.callspec.params["row"]["type"] in ("lecture", "external")
    return PUBLISHED if published or claimed else RECOMPUTED


class Injection:
    """One run with one fault in place."""

    def __init__(self, name: str, seen: Path):
        self.mutation, self.seen = MUTATIONS[name], seen
        # The control is held against everything; a fault only against what rests on it, to save time.
        self.whole = name == CONTROL
        self.red: Red = []

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if collection_path.name in BLIND:
            return True
        elsewhere = not any(id.startswith("architecture.") for id in self.mutation.relations)
        return True if collection_path.name == "test_architectures.py" and elsewhere and not self.whole else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(filter(self._can_see, items), key=lambda item: KINDS.index(kind(item)))

    def _can_see(self, item: pytest.Item) -> bool:
        if item.originalname in FOR_ONE_FAULT_ALONE:
            return False
        if self.whole or self.mutation.constants or kind(item) != DERIVED or not hasattr(item, "callspec"):
            return True
        row = item.callspec.params["row"]
        return bool(self.mutation.relations.keys() & {row.id, *parents(row)})

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        seen = Counter(one["kind"] for one in self.red)
        if seen[kind(item)] >= ENOUGH or (seen[PUBLISHED] and kind(item) != PUBLISHED):
            pytest.skip("enough have seen it")

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        if call.excinfo is None or call.excinfo.errisinstance(pytest.skip.Exception):
            return
        lines = str(call.excinfo.value).splitlines() or [""]
        said = next((line for line in lines if line.startswith("assert ")), lines[0])
        asserted = call.when == "call" and call.excinfo.errisinstance((AssertionError, pytest.fail.Exception))
        found = CRASHED if not asserted else UNANSWERED if "missing_givens" in said else kind(item)
        self.red.append({"kind": found, "test": item.nodeid, "said": said})

    def pytest_sessionfinish(self) -> None:
        self.seen.write_text(json.dumps(self.red), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutant", choices=list(MUTATIONS), required=True, help="the fault to inject")
    parser.addoption("--seen", type=Path, required=True, help="where to write what went red")


def pytest_configure(config: pytest.Config) -> None:
    inject(MUTATIONS[config.getoption("--mutant")])
    config.pluginmanager.register(Injection(config.getoption("--mutant"), config.getoption("--seen")))


# -- the command ----------------------------------------------------------------------------------------------------


def run(name: str) -> Red | None:
    """What went red with a fault in place; None if the run did not come to its end."""
    with TemporaryDirectory() as folder:
        seen = Path(folder) / "seen.json"
        # Without the plugin of hypothesis a run starts in half the time; nothing that is run here needs it.
        options = [
            "-p",
            "campaigns.mutation_check",
            "-p",
            "no:hypothesispytest",
            "--mutant",
            name,
            "--seen",
            str(seen),
            "-q",
            "--tb=no",
            "-m",
            "",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *WHERE],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        # 0 is green and 1 is red; anything else is a fault of the run.
        if done.returncode not in (0, 1) or not seen.exists():
            print(done.stdout + done.stderr, file=sys.stderr)
            return None
        return json.loads(seen.read_text(encoding="utf-8"))


def amiss(name: str, red: Red | None) -> str:
    """What is not as it should be after a run, or nothing."""
    if red is None:
        return "THE TESTS DID NOT RUN"
    kinds = {one["kind"] for one in red}
    if name == CONTROL:
        return "RED WITHOUT A FAULT" if red else ""
    if not kinds & set(KINDS):
        return "SURVIVED"
    if PUBLISHED in kinds:
        return "A PUBLISHED FIGURE SEES IT, and it is said that none does" if MUTATIONS[name].unpublished else ""
    return "" if MUTATIONS[name].unpublished else "NO PUBLISHED FIGURE SEES IT, and it is not said why"


def report(name: str, red: Red | None) -> bool:
    """Prints what saw a fault; returns whether all is as it should be."""
    mutation, fault = MUTATIONS[name], amiss(name, red)
    print(f"{name}: {fault or ('green' if name == CONTROL else 'red')}\n    {mutation.fault} [{mutation.place}]")
    if mutation.unpublished:
        print(f"    no published figure: {mutation.unpublished}")
    counted = [one for one in red or () if one["kind"] in KINDS or name == CONTROL]
    for one in counted:
        print(f"    {one['kind']:<11} {one['test'].removeprefix('tests/')}\n                {one['said'].removeprefix('assert ')}")
    if len(red or ()) > len(counted):
        print(f"    not counted {len(red) - len(counted)} that crashed or asked for other givens")
    sys.stdout.flush()
    return not fault


def main(names: list[str]) -> int:
    """Runs the tests with each of the faults, two at a time, and says what saw them."""
    unknown = [name for name in names if name not in MUTATIONS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; allowed: {', '.join(MUTATIONS)}", file=sys.stderr)
        return 2
    chosen = names or list(MUTATIONS)
    with ThreadPoolExecutor(WORKERS) as pool:
        fine = [report(name, red) for name, red in zip(chosen, pool.map(run, chosen), strict=True)]
    print(f"{sum(fine)} of {len(fine)} as they should be")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
