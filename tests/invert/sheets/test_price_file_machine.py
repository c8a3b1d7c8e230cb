"""A price file in the hands of everybody at once: whatever is added, pulled, edited by hand or fails, no price is lost or another."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from derive import files
from derive.errors import BacksolveError, WrongData
from invert.sheets.add import add_to_file
from invert.sheets.append import cells_of, rivals_of, update_file, updated
from invert.sheets.read import load
from invert.sheets.rows import PriceRow
from tests.invert.sheets.test_append import DAY, OUT, READ, ROW
from tests.tools.data import shipped_data

MODELS = st.sampled_from(["m", "n", "o"])
AMOUNTS = st.sampled_from([1.0, 2.0, 0.0125, 3.75])
FAILING = ("open", "fsync", "replace")


def meant(row: PriceRow) -> tuple[object, ...]:
    """What a row says, but for its end, which may be filled in, and its place."""
    return tuple(cells_of(replace(row, valid_to=None)).values())


@contextmanager
def failing(step: str) -> Iterator[None]:
    """A disk that is full at a step of a write."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files if step == "open" else files.os, step, full, raising=False)
        yield


class PriceFile(RuleBasedStateMachine):
    """A file, what was ever written into it, and the day."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.place = Path(self.folder.name, "mine.csv")
        self.known: list[tuple[object, ...]] = []
        self.day: date = DAY
        self.by_hand = 0

    def teardown(self) -> None:
        self.folder.cleanup()

    def rows(self) -> list[PriceRow]:
        return list(load(str(self.place)).own) if self.place.exists() else []

    def grown(self) -> None:
        """What was there is there, and what is new is known from now on."""
        now = [meant(row) for row in self.rows()]
        assert now[: len(self.known)] == self.known
        self.known = now

    @rule(model=MODELS, amounts=st.lists(AMOUNTS, min_size=3, max_size=3), parts=st.sampled_from([2, 3]))
    def pull(self, model: str, amounts: list[float], parts: int) -> None:
        listed = [replace(row, model=model, amount=amount) for row, amount in zip((ROW, OUT, READ), amounts, strict=True)][:parts]
        update_file(str(self.place), lambda held: updated(held, listed, self.day), {})
        self.grown()

    @rule(model=MODELS, amount=AMOUNTS)
    def add(self, model: str, amount: float) -> None:
        before = self.place.read_bytes() if self.place.exists() else None
        try:
            add_to_file(f"acme/{model}", {"input": str(amount), "output": "8"}, shipped_data(), str(self.place))
        except BacksolveError:
            assert (self.place.read_bytes() if self.place.exists() else None) == before
        self.grown()

    @precondition(lambda self: self.place.exists())
    @rule(mark=st.sampled_from(["\n", "\r\n", "\n\n"]), blank=st.booleans())
    def edit_by_hand(self, mark: str, blank: bool) -> None:
        """Somebody saves it with other ends of lines, and writes a row more."""
        lines = self.place.read_text(encoding="utf-8-sig").splitlines()
        self.by_hand += 1
        cells = dict.fromkeys(lines[0].split(","), "") | {"provider": "acme", "component": "input", "amount": "2"}
        more = [",".join((cells | {"model": f"by-hand-{self.by_hand}", "component": one}).values()) for one in ("input", "output")]
        text = mark.join([*lines, *more]) + ("" if blank else mark)
        self.place.write_bytes(text.encode("utf-8-sig" if blank else "utf-8"))
        self.grown()

    @rule(model=MODELS, step=st.sampled_from(FAILING), adds=st.booleans())
    def disk_is_full(self, model: str, step: str, adds: bool) -> None:
        before = self.place.read_bytes() if self.place.exists() else None
        name, place = f"{model}-{len(self.known)}", str(self.place)
        listed = [replace(row, model=name) for row in (ROW, OUT)]
        with failing(step), pytest.raises(WrongData, match="No space left on device"):
            _ = (
                add_to_file(f"acme/{name}", {"input": "2", "output": "8"}, shipped_data(), place)
                if adds
                else update_file(place, lambda held: updated(held, listed, self.day), {})
            )
        assert (self.place.read_bytes() if self.place.exists() else None) == before

    @rule(days=st.integers(1, 40))
    def wait(self, days: int) -> None:
        self.day += timedelta(days=days)

    @invariant()
    def can_be_read_and_stands_alone(self) -> None:
        assert not self.place.exists() or load(str(self.place))
        assert {*os.listdir(self.folder.name)} <= {"mine.csv", Path(rivals_of(str(self.place))).name}


PriceFile.TestCase.settings = settings(
    max_examples=15, stateful_step_count=12, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
test_whatever_happens_to_a_price_file = PriceFile.TestCase
