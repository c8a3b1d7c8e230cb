"""The tables of the benchmarks: that they are tables, and that an exponent is one. What they measure is for a quiet machine."""

import pytest

from benchmarks import bounds, bulk, commands, samples

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


def test_a_table_of_times_says_which_goals_are_met():
    times = dict.fromkeys(commands.BASELINES, 0.1) | {name: 0.15 for name, *_ in commands.COMMANDS}
    rows = tables(f"\n## {TITLES[0]}\n{commands.table(times)}")[TITLES[0]]
    assert [row[-1] for row in rows if row[-1]] == ["met", *("yes" if goal >= 1.5 else "no" for *_, goal in commands.COMMANDS)]


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_an_exponent_is_that_of_the_largest_sizes(power):
    times = [(1, 100.0), *((size, 1e-6 * size**power) for size in (10, 100, 1000))]
    assert bulk.exponent(times) == pytest.approx(power, abs=1e-9)


def test_what_grows_runs_at_its_least_sizes():
    for curve in bulk.curves(long=False):
        assert bulk.least(curve.of_size(curve.sizes[0]), rounds=1) > 0
    assert [one.what for one in bulk.computations() if one.made == 1 and not one.run()] == []


def test_what_is_done_with_the_draws_of_a_posterior_is_counted():
    """Of every operation two numbers are read and one is written, or one and one; nothing is done with fewer than all draws."""
    operations, touched = bounds.counted()
    assert {"exp", "log", "multiply", "divide"} <= operations.keys() and all(count == int(count) for count in operations.values())
    assert 8 * sum(operations.values()) < touched < 24 * sum(operations.values()) and operations == bounds.counted()[0]


@pytest.mark.slow
def test_a_command_is_sampled_where_its_time_goes():
    found = commands.sampled("list", 1)
    assert {*found} <= {*samples.ALL} and found["click"] and found["modules"]
