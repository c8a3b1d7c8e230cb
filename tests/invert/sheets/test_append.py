"""A file of prices grows: what changed is closed and opened anew, what stands there is never another."""

import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import WrongData
from derive.tables.writing import cell_text
from invert.sheets.append import Update, price_file, rivals_of, update_file, updated
from invert.sheets.read import load, read_rows
from invert.sheets.rows import PriceRow

DAY = date(2026, 11, 22)
NEXT = DAY + timedelta(days=1)
ROW = PriceRow(
    provider="acme", model="m", region="", service_tier="standard", component="input", threshold_tokens=0, threshold_inclusive=False,
    ttl_seconds=None, utc_hours="", weekdays="", amount=2.0, currency="USD", per="mtok", effective_date=None, date_kind="", valid_to=None,
    retrieved_date=DAY, source_url="https://acme.example", verification="db", notes="base 1", origin="base 1: acme/m", max_context=128_000,
)  # fmt: skip
OUT = replace(ROW, component="output", amount=8.0)
READ = replace(ROW, component="cache_read", amount=0.2)


def pull(place: Path, *rows: PriceRow, day: date = DAY) -> Update:
    return update_file(str(place), lambda held: updated(held, rows, day), {})


def held(place: Path) -> list[PriceRow]:
    return list(load(str(place)).own)


def spans(place: Path, component: str = "input") -> list[tuple[float, date | None, str, date | None]]:
    return [(row.amount, row.effective_date, row.date_kind, row.valid_to) for row in held(place) if row.component == component]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    pull(path, ROW, OUT)
    return path


def test_a_file_is_made_and_the_same_again_changes_no_byte(tmp_path):
    path = tmp_path / "mine.csv"
    assert pull(path, ROW, OUT) == Update(opened=[ROW, OUT], counts=Counter({("base", "added"): 2}))
    before = path.read_bytes()
    for day in (DAY, NEXT):
        again = pull(path, replace(ROW, retrieved_date=day), replace(OUT, retrieved_date=day, notes="base 2"), day=day)
        assert again == Update(counts=Counter({("base", "kept"): 2}), held=2) and path.read_bytes() == before
    assert [replace(row, origin=ROW.origin) for row in held(path)] == [ROW, OUT] and [one.name for one in tmp_path.iterdir()] == [
        "mine.csv"
    ]


def test_a_changed_price_closes_its_row_and_opens_one(place):
    update = pull(place, replace(ROW, amount=3.0, effective_date=date(2026, 10, 1), date_kind="verified"), OUT, day=NEXT)
    assert (update.count("added"), update.count("changed"), update.count("kept")) == (0, 1, 1)
    assert spans(place) == [(2.0, None, "", NEXT), (3.0, NEXT, "first_seen", None)]
    third = NEXT + timedelta(days=5)
    pull(place, replace(ROW, amount=4.0), OUT, day=third)
    assert spans(place) == [(2.0, None, "", NEXT), (3.0, NEXT, "first_seen", third), (4.0, third, "first_seen", None)]


def test_what_a_sheet_has_no_more_ends_and_comes_again_as_new(place):
    pull(place, ROW, OUT, READ, day=NEXT)
    assert spans(place, "cache_read") == [(0.2, NEXT, "first_seen", None)]
    later = NEXT + timedelta(days=9)
    assert pull(place, ROW, OUT, day=later).count("ended") == 1 and spans(place, "cache_read") == [(0.2, NEXT, "first_seen", later)]
    again = later + timedelta(days=9)
    assert pull(place, ROW, OUT, READ, day=again).count("added") == 1
    assert spans(place, "cache_read") == [(0.2, NEXT, "first_seen", later), (0.2, again, "first_seen", None)]


OTHERS = [replace(ROW, amount=3.0, notes="other 2"), replace(ROW, amount=3.0, verification="db_host", notes="other 2; seen")]


@pytest.mark.parametrize("other", OTHERS)
def test_another_source_closes_nothing_and_is_listed_as_a_rival(place, other: PriceRow):
    before = place.read_bytes()
    update = pull(place, other, day=NEXT)
    assert place.read_bytes() == before and (update.count("changed"), update.count("ended")) == (0, 0)
    rivals = Path(rivals_of(str(place)))
    (row,) = csv.DictReader(rivals.read_text().splitlines())
    assert (row["amount"], row["notes"]) == ("3", f"{other.notes}; 2 by base 1") and "max_context" not in row
    was = rivals.read_bytes()
    pull(place, replace(other, retrieved_date=NEXT), day=NEXT + timedelta(days=1))
    assert rivals.read_bytes() == was, "the same is said once"


@pytest.mark.parametrize("content", [b"provider,model\na,b\n", b"provider,model,component,amount\nacme,m,input,=1\n", b"\xff\xfe", b"\n"])
def test_a_file_that_cannot_be_read_whole_is_left_as_it_is(tmp_path, content: bytes):
    place = tmp_path / "own.csv"
    place.write_bytes(content)
    with pytest.raises(WrongData, match=r"own\.csv"):
        pull(place, ROW, OUT)
    assert place.read_bytes() == content and len(list(tmp_path.iterdir())) == 1


WRITER = """
import sys
from dataclasses import replace
from tests.invert.sheets.test_append import OUT, ROW, pull
from pathlib import Path
for number in range(4):
    name = f"m-{sys.argv[2]}-{number}"
    pull(Path(sys.argv[1]), replace(ROW, model=name), replace(OUT, model=name))
"""


@pytest.mark.slow
def test_appends_at_once_lose_nothing(tmp_path):
    place = tmp_path / "mine.csv"
    root = str(Path(__file__).parents[3])
    started = [subprocess.Popen([sys.executable, "-c", WRITER, str(place), str(one)], cwd=root) for one in range(3)]
    assert [process.wait(timeout=60) for process in started] == [0] * 3
    assert len(held(place)) == 3 * 4 * 2 and [one.name for one in tmp_path.iterdir()] == ["mine.csv"]


AMOUNTS = st.sampled_from([1.0, 2.0, 0.0125, 3.75])
CHANGED = st.builds(lambda row, amount: replace(row, amount=amount), st.sampled_from([ROW, OUT, READ]), AMOUNTS)
PULLS = st.lists(st.tuples(st.integers(0, 3), st.lists(CHANGED, max_size=3, unique_by=lambda row: row.key)), max_size=6)


@given(PULLS)
def test_whatever_is_pulled_nothing_is_overwritten_and_the_newest_of_a_source_holds(pulls: list[tuple[int, list[PriceRow]]]):
    rows: list[PriceRow] = []
    day = DAY
    for wait, pulled in pulls:
        day += timedelta(days=wait)
        update = updated(rows, pulled, day)
        after = written([*closed(rows, update), *update.opened])
        before = [replace(row, origin="", valid_to=None) for row in rows]
        assert [replace(row, origin="", valid_to=None) for row in after[: len(rows)]] == before, "only ends are filled in"
        waiting = {one.origin + f":{one.row}" for one in update.later}
        for row in pulled:
            (now,) = (one for one in after if one.key == row.key and one.valid_on(day))
            assert now.amount == row.amount or now.origin in waiting
        rows = after
        if not waiting:
            again = updated(rows, pulled, day)
            assert not again.opened and not again.closed


def written(rows: Sequence[PriceRow]) -> list[PriceRow]:
    found, problems = read_rows(BytesIO(price_file(rows).encode()), "mine.csv", {}, overlay=True) if rows else ([], [])
    assert problems == []
    return found


def closed(rows: Sequence[PriceRow], update: Update) -> list[PriceRow]:
    return [replace(row, valid_to=update.closed.get(row.origin, row.valid_to)) for row in rows]


@given(st.floats(1e-12, 1e12))
def test_an_amount_is_written_in_plain_decimals_to_the_last_digit(amount: float):
    assert float(cell_text(amount)) == amount and "e" not in cell_text(amount)


def test_another_context_is_taken_over_by_the_rows_that_hold_and_by_no_others(place):
    pull(place, replace(ROW, amount=3.0), OUT, day=NEXT)
    closed, *_ = held(place)
    longer = [replace(row, max_context=1_000_000, release_date=date(2026, 1, 2)) for row in (replace(ROW, amount=3.0), OUT)]
    update = pull(place, *longer, day=NEXT + timedelta(days=1))
    assert list(map(str, update.redescribed)) == ["context 128k -> 1M", "release unsaid -> 2026-01-02"] and update.count("kept") == 2
    assert [(row.amount, row.max_context) for row in held(place)] == [(2.0, 128_000), (8.0, 1_000_000), (3.0, 1_000_000)]
    assert held(place)[0] == closed
    before = place.read_bytes()
    assert not pull(place, *longer, day=NEXT + timedelta(days=2)).redescribed and place.read_bytes() == before


def test_a_pull_of_an_earlier_day_moves_no_row_and_says_so(place):
    third = NEXT + timedelta(days=5)
    pull(place, replace(ROW, amount=3.0, retrieved_date=third), OUT, day=third)
    before = place.read_bytes()
    same = pull(place, ROW, OUT, day=NEXT)
    assert same.count("kept") == 2 and not same.later and place.read_bytes() == before
    other = pull(place, replace(ROW, amount=5.0, max_context=1_000_000), OUT, READ, day=NEXT)
    assert place.read_bytes() == before and (other.count("kept"), other.redescribed) == (1, [])
    said = "those of acme were read on 2026-11-28, and other prices of m on 2026-11-23: a pull of an earlier day changes no row"
    assert [str(one) for one in other.later] == [f"{place} row 4, column retrieved_date: {said}"]
    assert pull(place, replace(ROW, amount=5.0), OUT, day=third + timedelta(days=1)).count("changed") == 1
