"""The tables of the benchmarks: that they are tables, and that an exponent is one. What they measure is for a quiet machine."""

import pytest

from benchmarks import bulk, commands, samples

BOUNDS = "What bounds a posterior"
PARTS = "Where the time of a question goes"
TITLES = ["What each command costs", PARTS, "What much at once costs", BOUNDS, "How times grow"]


def tables(page: str) -> dict[str, list[list[str]]]:
    """The rows of the table under each title, heads first."""
    found: dict[str, list[list[str]]] = {}
    for part in page.split("\n## ")[1:]:
        title, *lines = part.splitlines()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        found[title] = [rows[0], *rows[2:]]
    return found


def test_the_last_run_is_tables_of_what_is_measured_today():
    page = tables(commands.PAGE.read_text(encoding="utf-8"))
    assert list(page) == TITLES
    for title, (heads, *rows) in page.items():
        assert rows and all(len(row) == len(heads) for row in rows)
        assert title in (PARTS, BOUNDS) or {row[-1] for row in rows} <= {"yes", "no", ""}
    asked, parts, much, _, grown = page.values()
    assert {name for name, *_ in commands.COMMANDS} <= {row[0] for row in asked}
    assert parts[0][2:-1] == [*samples.ALL] and [row[0] for row in parts[1:]] == [name for name, *_ in commands.COMMANDS]
    for row in parts[1:]:
        *shares, whole = map(int, row[1:])
        assert abs(sum(shares) - whole) <= len(shares) and min(shares) >= 0
    assert {one.what for one in bulk.computations()} <= {row[0] for row in much}
    assert {one.what for one in bulk.curves(long=False)} <= {row[0] for row in grown}


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_an_exponent_is_that_of_the_largest_sizes(power):
    times = [(1, 100.0), *((size, 1e-6 * size**power) for size in (10, 100, 1000))]
    assert bulk.exponent(times) == pytest.approx(power, abs=1e-9)


def test_what_grows_runs_at_its_least_sizes():
    for curve in bulk.curves(long=False):
        assert bulk.least(curve.of_size(curve.sizes[0]), rounds=1) > 0
    assert [one.what for one in bulk.computations() if one.made == 1 and not one.run()] == []


@pytest.mark.slow
def test_a_command_is_sampled_where_its_time_goes():
    found = commands.sampled("list", 1)
    assert {*found} <= {*samples.ALL} and found["click"] and found["modules"]
