"""A file of prices grows: what changed is closed and opened anew, what stands there is never another."""

import csv
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import WrongData
from derive.tables.problems import Problem
from derive.tables.writing import cell_text
from invert.sheets import append
from invert.sheets.append import (
    Rival,
    Update,
    cells_of,
    database,
    distinct,
    price_and_source,
    price_file,
    rivals_of,
    source_name,
    update_file,
    updated,
)
from invert.sheets.read import load, read_rows
from invert.sheets.rows import OWN_COLUMNS, PriceRow
from invert.sheets.rules import check

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
    assert pull(path, ROW, OUT) == Update(opened=(ROW, OUT), counts={("base", "added"): 2})
    before = path.read_bytes()
    for day in (DAY, NEXT):
        again = pull(path, replace(ROW, retrieved_date=day), replace(OUT, retrieved_date=day, notes="base 2"), day=day)
        assert again == Update(counts={("base", "kept"): 2}, held=2) and path.read_bytes() == before
    assert [replace(row, origin=ROW.origin) for row in held(path)] == [ROW, OUT] and [one.name for one in tmp_path.iterdir()] == [
        "mine.csv"
    ]


def test_a_changed_price_closes_its_row_and_opens_one(place):
    update = pull(place, replace(ROW, amount=3.0, effective_date=date(2026, 10, 1), date_kind="verified"), OUT, day=NEXT)
    assert (update.count("added"), update.count("changed"), update.count("kept")) == (0, 1, 1)
    assert spans(place) == [(2.0, None, "", NEXT), (3.0, NEXT, "first_seen", None)] and not load(str(place)).problems
    third = NEXT + timedelta(days=5)
    pull(place, replace(ROW, amount=4.0), OUT, day=third)
    assert spans(place) == [(2.0, None, "", NEXT), (3.0, NEXT, "first_seen", third), (4.0, third, "first_seen", None)]


def test_a_second_change_on_the_day_waits_for_the_next(place):
    pull(place, replace(ROW, amount=3.0), OUT, day=NEXT)
    before = place.read_bytes()
    update = pull(place, replace(ROW, amount=4.0), OUT, day=NEXT)
    assert place.read_bytes() == before and update.count("changed") == 0
    assert [str(one) for one in update.later] == [
        f"{place} row 4, column amount: began on 2026-11-23, and 4 by base 1: pull again on a later day"
    ]


def test_what_a_sheet_has_no_more_ends_and_comes_again_as_new(place):
    pull(place, ROW, OUT, READ, day=NEXT)
    assert spans(place, "cache_read") == [(0.2, NEXT, "first_seen", None)]
    later = NEXT + timedelta(days=9)
    assert pull(place, ROW, OUT, day=later).count("ended") == 1 and spans(place, "cache_read") == [(0.2, NEXT, "first_seen", later)]
    again = later + timedelta(days=9)
    assert pull(place, ROW, OUT, READ, day=again).count("added") == 1
    assert spans(place, "cache_read") == [(0.2, NEXT, "first_seen", later), (0.2, again, "first_seen", None)]


def test_a_sheet_that_is_not_listed_stays_open(place):
    assert pull(place, replace(ROW, model="n"), replace(OUT, model="n")).count("ended") == 0
    assert [(row.model, row.valid_to) for row in held(place)] == [("m", None), ("m", None), ("n", None), ("n", None)]


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


def test_a_disagreement_that_two_entries_say_is_one_and_others_show_in_what_they_differ(place):
    row = replace(ROW, amount=3.0, notes="other 7")
    elsewhere, lasting = replace(row, region="eu"), replace(row, component="cache_write", ttl_seconds=3600)
    same = [row, replace(row, source_url="https://acme.example/second"), replace(row, retrieved_date=NEXT)]
    rivals = [Rival(row=one, believed=ROW) for one in (*same, elsewhere, lasting, replace(row, amount=4.0))]
    assert [str(one) for one in distinct(rivals)] == [
        "acme/m (standard) input: 2 by base 1; 3 by other 7",
        "acme/m (eu, standard) input: 2 by base 1; 3 by other 7",
        "acme/m (standard) cache_write for 3,600 s: 2 by base 1; 3 by other 7",
        "acme/m (standard) input: 2 by base 1; 4 by other 7",
    ]
    update_file(str(place), lambda held: updated(held, [ROW], DAY), {}, rivals=rivals)
    assert len(Path(rivals_of(str(place))).read_text().splitlines()) == 1 + 4


def test_a_band_that_only_another_source_has_is_a_rival_and_a_cache_of_its_own_is_added(place):
    long = [replace(row, amount=row.amount * 2, threshold_tokens=200_000, notes="other 2") for row in (ROW, OUT)]
    update = pull(place, *long, replace(READ, notes="other 2"), day=NEXT)
    assert [one.row.component for one in update.rivals] == ["input", "output"] and [row.component for row in update.opened] == [
        "cache_read"
    ]
    of_its_own = [replace(row, notes="base 2") for row in long]
    assert pull(place, ROW, OUT, *of_its_own, day=NEXT).count("added") == 2 and not load(str(place)).problems


def test_a_price_that_somebody_wrote_by_hand_is_theirs(tmp_path):
    place = tmp_path / "own.csv"
    place.write_text("amount,component,model,provider\n2,input,m,acme\n8,output,m,acme\n")
    before = place.read_bytes()
    assert pull(place, replace(ROW, amount=3.0), OUT).rivals[0].believed.verification == "user" and place.read_bytes() == before
    pull(place, READ, day=NEXT)
    lines = place.read_text().splitlines()
    assert lines[0].startswith("amount,component,model,provider,region") and lines[1].startswith("2,input,m,acme,,") and len(lines) == 4
    assert {row.component: row.amount for row in held(place)} == {"input": 2.0, "output": 8.0, "cache_read": 0.2}


def test_prices_that_begin_later_are_written_with_the_file_and_hold_when_they_begin(tmp_path):
    place, later = tmp_path / "mine.csv", DAY + timedelta(days=30)
    ends = [replace(row, valid_to=later) for row in (ROW, OUT)]
    begins = [replace(row, amount=row.amount * 2, effective_date=later, date_kind="start") for row in (ROW, OUT)]
    pull(place, *ends, *begins)
    before = place.read_bytes()
    assert pull(place, *ends, *begins, day=NEXT).count("kept") == 4 and pull(place, *ends, *begins, day=later).count("kept") == 4
    assert place.read_bytes() == before


@pytest.mark.parametrize("content", [b"provider,model\na,b\n", b"provider,model,component,amount\nacme,m,input,=1\n", b"\xff\xfe", b"\n"])
def test_a_file_that_cannot_be_read_whole_is_left_as_it_is(tmp_path, content: bytes):
    place = tmp_path / "own.csv"
    place.write_bytes(content)
    with pytest.raises(WrongData, match=r"own\.csv"):
        pull(place, ROW, OUT)
    assert place.read_bytes() == content and len(list(tmp_path.iterdir())) == 1


def test_a_sheet_that_its_database_has_no_more_stands_and_is_named(place):
    other, another = (replace(row, model="other") for row in (ROW, OUT)), (replace(row, model="by hand", notes="") for row in (ROW, OUT))
    pull(place, *other, *another)
    before = spans(place)
    assert pull(place, ROW, OUT, day=NEXT).not_met == (("acme", "other", "", "standard"),), "nobody read anew what was written by hand"
    assert spans(place) == before
    elsewhere = [replace(row, provider="b", notes="base 2") for row in (ROW, OUT)]
    assert pull(place, *elsewhere, day=NEXT).not_met == (), "nothing was read of that seller"


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
            assert again.opened == () and not again.closed


def written(rows: Sequence[PriceRow]) -> list[PriceRow]:
    found, problems = read_rows(BytesIO(price_file(rows).encode()), "mine.csv", {}, overlay=True) if rows else ([], [])
    assert problems == []
    return found


def closed(rows: Sequence[PriceRow], update: Update) -> list[PriceRow]:
    return [replace(row, valid_to=update.closed.get(row.origin, row.valid_to)) for row in rows]


def test_a_row_as_cells_and_back():
    row = replace(
        READ, amount=1.25e-05, threshold_tokens=200_000, threshold_inclusive=True, effective_date=DAY, date_kind="start", notes='a "b", c'
    )
    (back,), problems = read_rows(BytesIO(price_file([row]).encode()), "mine.csv", {}, overlay=True)
    assert replace(back, origin=row.origin) == row and problems == [] and list(cells_of(row)) == list(OWN_COLUMNS)


@given(st.floats(1e-12, 1e12))
def test_an_amount_is_written_in_plain_decimals_to_the_last_digit(amount: float):
    assert float(cell_text(amount)) == amount and "e" not in cell_text(amount)


def test_who_says_what():
    mine = replace(ROW, verification="official", notes="seen", origin="/tmp/prices.csv:7", currency="CNY")
    assert (price_and_source(ROW), price_and_source(mine), source_name(mine)) == (
        "2 by base 1",
        "2 CNY by prices.csv:7 (official)",
        "prices.csv:7 (official)",
    )
    assert (database(ROW), database(mine)) == ("base", "")
    assert str(Rival(row=replace(ROW, amount=3.0), believed=ROW)) == "acme/m (standard) input: 2 by base 1; 3 by another entry of base 1"
    assert append.rivals_of("a.b/c.csv") == "a.b/c_rivals.csv"


def test_another_context_is_taken_over_by_the_rows_that_hold_and_by_no_others(place):
    pull(place, replace(ROW, amount=3.0), OUT, day=NEXT)
    closed, *_ = held(place)
    longer = [replace(row, max_context=1_000_000, release_date=date(2026, 1, 2)) for row in (replace(ROW, amount=3.0), OUT)]
    update = pull(place, *longer, day=NEXT + timedelta(days=1))
    assert list(map(str, update.redescribed)) == ["context 128k -> 1M", "release unsaid -> 2026-01-02"] and update.count("kept") == 2
    assert [(row.amount, row.max_context) for row in held(place)] == [(2.0, 128_000), (8.0, 1_000_000), (3.0, 1_000_000)]
    assert held(place)[0] == closed and not load(str(place)).problems
    before = place.read_bytes()
    assert not pull(place, *longer, day=NEXT + timedelta(days=2)).redescribed and place.read_bytes() == before


def test_a_context_that_is_said_no_more_or_by_another_source_changes_nothing(place):
    before = place.read_bytes()
    unsaid = [replace(row, max_context=None) for row in (ROW, OUT)]
    another = [replace(row, max_context=1_000_000, notes="other 1") for row in (ROW, OUT)]
    assert not pull(place, *unsaid, day=NEXT).redescribed and not pull(place, *another, day=NEXT).redescribed
    assert place.read_bytes() == before


def test_a_pull_of_an_earlier_day_moves_no_row_and_says_so(place):
    third = NEXT + timedelta(days=5)
    pull(place, replace(ROW, amount=3.0, retrieved_date=third), OUT, day=third)
    before = place.read_bytes()
    same = pull(place, ROW, OUT, day=NEXT)
    assert same.count("kept") == 2 and not same.later and place.read_bytes() == before
    other = pull(place, replace(ROW, amount=5.0, max_context=1_000_000), OUT, READ, day=NEXT)
    assert place.read_bytes() == before and (other.count("kept"), other.redescribed) == (1, ())
    said = "those of acme were read on 2026-11-28, and other prices of m on 2026-11-23: a pull of an earlier day changes no row"
    assert [str(one) for one in other.later] == [f"{place} row 4, column retrieved_date: {said}"]
    assert pull(place, replace(ROW, amount=5.0), OUT, day=third + timedelta(days=1)).count("changed") == 1


def test_a_sheet_that_was_found_unchanged_on_a_later_day_is_moved_by_no_earlier_one(place):
    """Its rows keep the day of their first reading; those of the same seller say that the source was read again."""
    other = [replace(row, model="n") for row in (ROW, OUT)]
    pull(place, ROW, OUT, *other, day=NEXT)
    third = NEXT + timedelta(days=5)
    pull(place, ROW, OUT, replace(other[0], amount=7.0, retrieved_date=third), other[1], day=third)
    before = place.read_bytes()
    update = pull(place, replace(ROW, amount=5.0), OUT, *other, day=NEXT + timedelta(days=2))
    assert place.read_bytes() == before and not update.opened and not update.closed
    assert len(update.later) == 1 and " other prices of m on 2026-11-25: a pull of an earlier day" in str(update.later[0])
    gone = [replace(row, model="gone") for row in (ROW, OUT)]
    assert not pull(place, *gone, day=NEXT + timedelta(days=2)).opened and place.read_bytes() == before, "not listed any more since"
    assert pull(place, *[replace(row, provider="other") for row in gone], day=NEXT + timedelta(days=2)).opened


def sound(place: Path) -> list[Problem]:
    return check(load(str(place)))


def test_all_rows_of_a_sheet_say_of_its_model_what_the_database_of_its_prices_says(place):
    other = replace(READ, notes="other 1", max_context=1_000_000)
    assert not pull(place, other, day=NEXT).redescribed
    assert {row.max_context for row in held(place)} == {128_000} and sound(place) == []
    update = pull(place, *(replace(row, max_context=400_000) for row in (ROW, OUT)), day=NEXT)
    assert list(map(str, update.redescribed)) == ["context 128k -> 400k"]
    assert {row.max_context for row in held(place)} == {400_000} and sound(place) == []
    assert not pull(place, other, day=NEXT).redescribed and sound(place) == []
