"""What is wrong with the tables that ship, together: each with itself, and one with another."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta

from derive.errors import NotCovered, WrongData, shorten
from derive.preset_rows import AcceleratorFigure, Architecture, Efficiency, MemoryTierFigure, OpenModel
from derive.presets import kv_bytes
from derive.tables.lines import Row
from derive.tables.problems import BadRow, Problem
from derive.tables.rows import AnyRecord
from derive.tables.shipped import Tables
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, once_a_run
from invert.estimators import calibration
from invert.estimators.market import learnt
from invert.estimators.rent import rental
from invert.sheets.read import read_rows
from invert.sheets.rows import SHIPPED_PRICES, PriceBook, PriceRow
from invert.sheets.rules import check
from invert.sheets.tables import (
    CalibrationModel,
    Disclosure,
    FxRate,
    HostPrice,
    ListPrice,
    ModelRow,
    NaturalExperiment,
    PastPrice,
)
from invert.validation.claim_rows import Claim, WorkedProblem

_READ_BY_INFER = (
    *(ModelRow, Architecture, CalibrationModel, MemoryTierFigure, Disclosure),
    *(AcceleratorFigure, OpenModel, ListPrice, HostPrice),
)
"""Beside the prices, which `load` reads."""
_PRICES = ("prices", "prices_calibration")
_BESIDE = (Efficiency, *_PRICES, "prices_rivals", PastPrice, NaturalExperiment, Claim, WorkedProblem)
"""What is held against its description alone."""
_BEGINS = ("start", "first_seen")
"""Kinds of dates on which a price began, or had begun."""


def table_problems(book: PriceBook, data: Data, assumptions: Assumptions = USUAL) -> tuple[Problem, ...]:
    """What is wrong with the tables an inference reads, beyond the prices of `book` themselves."""
    found = (
        *data.tables.problems(*_READ_BY_INFER),
        *_of_rent(data, assumptions),
        *_of_calibration(data, assumptions),
        *_of_shipped_sheets(data),
        *unused_launches(data),
        *unused_rates(book, data.tables),
    )
    return (*found, *_misnamed(book, data.tables), *released_late(book, data.tables, assumptions), *_dated_late(data))


def all_problems(book: PriceBook, data: Data) -> tuple[Problem, ...]:
    """Everything wrong with any table that ships, on whatever day, and with the prices laid over them."""
    found = [*check(book), *check(calibration.calibration_book(data)), *table_problems(book, data, USUAL)]
    found += [*rivals(book, data.tables), *data.tables.problems(*_BESIDE), *_miscounted(data.tables), *without_change(book, data.tables)]
    of_place: dict[tuple[str, int | None, str | None], Problem] = {}
    for problem in (*found, *_undescribed(book, data.tables)):
        of_place.setdefault((problem.origin, problem.row, problem.column), problem)
    return tuple(of_place.values())


def note_on_calibration(data: Data, assumptions: Assumptions) -> list[str]:
    """A note on what the calibration lacks, where a bad row keeps it from learning from all models."""
    try:
        names = calibration.lacking(data, assumptions)
    except WrongData:
        return []
    return [f"the calibration is without {', '.join(names)}: a row that this rests on cannot be used"] if names else []


@once_a_run
def _of_shipped_sheets(data: Data) -> tuple[Problem, ...]:
    """Rows that ship and make no sheet on some day, under whatever tier: one with a name misspelt is missed where it belongs."""
    book = calibration.calibration_book(data)
    return tuple(check(replace(book, problems=(), far_off=())))


@once_a_run
def unused_launches(data: Data) -> tuple[Problem, ...]:
    """Launch sheets that no calibrating model was sold by, by the first of their rows."""
    used = {row.get("sheet") for row in _lines(data.tables, "calibration_models")}
    first: dict[str, PriceRow] = {}
    for row in calibration.calibration_book(data).rows:
        if row.origin.startswith(f"{calibration.LAUNCHED}:"):
            first.setdefault(f"{row.provider}/{row.model}", row)
    unused = {name: row for name, row in first.items() if name not in used}
    return tuple(row.problem("model", f"no row of calibration_models.csv calibrates with {shorten(name)}") for name, row in unused.items())


def unused_rates(book: PriceBook, tables: Tables) -> list[Problem]:
    """Rates of exchange of a currency that no price is in: a misspelt one would be out of use without a word."""
    used = {row.currency for row in book.rows} | {row.get("currency") for name in _PRICES for row in _lines(tables, name)}
    return [
        Problem(origin="fx.csv", row=row.place, column="currency", message=f"no price is in {row.currency!r}")
        for row in _sound(tables, FxRate)
        if row.currency not in used
    ]


def _of_rent(data: Data, assumptions: Assumptions) -> tuple[Problem, ...]:
    """Why the tables do not say what a byte and a FLOP rent for."""
    try:
        rental(data, assumptions)
    except BadRow as error:
        return (error.problem,)
    return ()


def _of_calibration(data: Data, assumptions: Assumptions) -> tuple[Problem, ...]:
    try:
        return calibration.class_problems(data, assumptions)
    except WrongData:
        return ()


def _miscounted(tables: Tables) -> Iterator[Problem]:
    """KV values counted by hand that are not what the equations make of the configuration: one of the two is wrong."""
    for row in _sound(tables, Architecture):
        try:
            stored, read = kv_bytes(row, 1.0)
        except (NotCovered, WrongData):
            continue
        counted = {"kv_values_stored_per_token": stored, "kv_values_read_per_context_token": read}
        for column, value in counted.items():
            if getattr(row, column) != value:
                fault = f"{getattr(row, column)} is not the {value:g} that {row.kv_formula} attention makes of the configuration"
                yield Problem(origin="architectures.csv", row=row.place, column=column, message=fault)


def without_change(book: PriceBook, tables: Tables) -> Iterator[Problem]:
    """Experiments on a model without prices, and on a day on which no price of the model begins and none ends."""
    providers, sold = {row.provider for row in book.rows}, {(row.provider, row.model) for row in book.rows}
    days = {(row.provider, row.model, day) for row in book.rows for day in (row.effective_date, row.valid_to)}
    for row in _sound(tables, NaturalExperiment):
        name = f"{row.provider}/{row.model}"
        if row.provider not in providers or (row.provider, row.model) not in sold:
            column = "model" if row.provider in providers else "provider"
            yield Problem(origin="natural_experiments.csv", row=row.place, column=column, message=f"{name} has no price in prices.csv")
        elif (row.provider, row.model, row.date) not in days:
            yield Problem(
                origin="natural_experiments.csv", row=row.place, column="date", message=f"no price of {name} begins or ends on {row.date}"
            )


def released_late(book: PriceBook, tables: Tables, assumptions: Assumptions) -> list[Problem]:
    """Rows of models.csv with a release after the newest day of the prices, or long after a price of the model began."""
    began: dict[tuple[str, str], date] = {}
    for row in book.rows:
        if row.effective_date and row.date_kind in _BEGINS and row.origin.startswith(f"{SHIPPED_PRICES}:"):
            pair = row.provider, row.model
            began[pair] = min(row.effective_date, began.get(pair, row.effective_date))
    ahead = timedelta(days=assumptions.days_sold_before_release)
    newest = book.newest_retrieved or date.max - ahead
    found: list[Problem] = []
    for model in _sound(tables, ModelRow):
        sold = began.get((model.provider, model.model), newest)
        if model.release_date and model.release_date > min(sold + ahead, newest):
            of = "a price of it began" if sold < newest else "the prices were read"
            fault = f"{model.release_date} is after {of}, on {min(sold, newest)}"
            found.append(Problem(origin="models.csv", row=model.place, column="release_date", message=fault))
    return found


@once_a_run
def _dated_late(data: Data) -> tuple[Problem, ...]:
    """Releases and prices of the market tables after the newest day of the prices: no class, record or fit has them."""
    rows = (row for record in learnt.DATED for row in _sound(data.tables, record))
    return tuple(late for row in rows if (late := learnt.dated_late(row, data)))


def rivals(book: PriceBook, tables: Tables) -> Iterable[Problem]:
    """What is wrong with the rows of other sources, which nothing is worked out from."""
    try:
        lines = tables.content("prices_rivals.csv").decode(errors="replace").splitlines()
        return read_rows(lines, "prices_rivals.csv", book.fx, data=Data(tables))[1]
    except WrongData as error:
        return [
            Problem(origin="prices_rivals.csv", row=None, column=None, message=str(error).removeprefix("prices_rivals.csv").lstrip(": "))
        ]


def _misnamed(book: PriceBook, tables: Tables) -> list[Problem]:
    """Rows of models.csv that describe no priced model, where a priced model has no row: one is likely meant for the other."""
    priced = {(row.get("provider"), row.get("model")) for row in _lines(tables, "prices")}
    return _undescribed(book, tables) and [
        Problem(origin="models.csv", row=row.place, column="model", message=f"{row.provider}/{row.model} has no price in prices.csv")
        for row in _sound(tables, ModelRow)
        if (row.provider, row.model) not in priced
    ]


def _undescribed(book: PriceBook, tables: Tables) -> list[Problem]:
    """Models of prices.csv without a row in models.csv, by the first of their rows."""
    known = {(row.get("provider"), row.get("model")) for row in _lines(tables, "models")}
    first: dict[tuple[str, str], PriceRow] = {}
    for row in book.rows:
        if known and row.origin.startswith(f"{SHIPPED_PRICES}:"):
            first.setdefault((row.provider, row.model), row)
    return [row.problem("model", f"{'/'.join(pair)} has no row in models.csv") for pair, row in first.items() if pair not in known]


def _lines(tables: Tables, name: str) -> tuple[Row, ...]:
    try:
        return tables.raw_rows(name)
    except WrongData:
        return ()


def _sound(tables: Tables, record: type[AnyRecord]) -> tuple[AnyRecord, ...]:
    try:
        return tables.rows_of(record)
    except WrongData:
        return ()
