"""Check the shipped tables, each alone and against the others."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from derive.errors import NotCovered, WrongData, shorten
from derive.preset_rows import AcceleratorFigure, Architecture, Efficiency, FittedEfficiency, MemoryTierFigure, OpenModel, ShortName
from derive.presets import kv_bytes
from derive.tables.lines import BadRow, Problem, first_of_each_place
from derive.tables.shipped import Table, Tables
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel, premium
from invert.estimators.cases import rental
from invert.sheets.models import context_below
from invert.sheets.read import Prices, book_of, read_rows
from invert.sheets.rows import (
    SHIPPED_PRICES,
    CalibrationModel,
    DisclosedSize,
    Disclosure,
    FxRate,
    HostPrice,
    KnowledgeScore,
    ListPrice,
    ModelRow,
    NaturalExperiment,
    PriceBook,
    grouped,
)
from invert.sheets.rules import check
from invert.storage import tiers
from invert.validation.claim_rows import Claim, WorkedProblem

_READ_BY_INFER = (
    *(ModelRow, Architecture, CalibrationModel, MemoryTierFigure, Disclosure),
    *(AcceleratorFigure, OpenModel, ListPrice, HostPrice, DisclosedSize, KnowledgeScore),
)
"""Tables besides the prices, which `load` reads."""
_PRICES = ("prices", "prices_calibration")
_BESIDE = (Efficiency, FittedEfficiency, ShortName, *_PRICES, "prices_rivals", "price_history", NaturalExperiment, Claim, WorkedProblem)
"""Tables that are only compared with their description."""
_MOST_ALIKE = 3
"""The most problems of one column of a table that are listed."""
_BEGINS = ("start", "first_seen")
"""Kinds of dates on which a price began or was already valid."""


def table_problems(book: PriceBook, data: Data, assumptions: Assumptions = USUAL) -> tuple[Problem, ...]:
    """List problems of the tables that an inference reads: wrong rows, or else rows that contradict each other."""
    if wrong := _faults_of(data, *_READ_BY_INFER):
        return wrong
    if wrong := _problems_of(premium.calibration_book, data):
        return wrong
    found = (
        # The tables must give the rent of a byte and a FLOP, and the sheets of the calibration.
        *_problems_of(rental, data, assumptions),
        *_problems_of(premium.members, data, assumptions),
        *_problems_of(tiers.drain_times, data, "lecture", assumptions),
        *(
            one
            for basis in tiers.BASES
            for year in assumptions.price_years
            for one in _problems_of(tiers.tier_parameters, data, basis, year, assumptions)
        ),
        *_sheet_problems(data),
        *unused_rates(book, data.tables),
    )
    # No record or fit uses a release or a price after the newest price day.
    late = (panel.dated_late(row, data) for record in panel.DATED for row in data.tables.rows_of(record))
    return (*found, *_misnamed(data.tables), *released_late(book, data.tables, assumptions), *filter(None, late))


def all_problems(data: Data, prices: Prices | None = None) -> tuple[PriceBook | None, list[Problem | str]]:
    """Return the book of the shipped prices and those that replace or extend them, and the problems of all tables on all days.

    Without a readable price file there is no book, and the problems are those of the file and of each table alone.
    """
    try:
        book = book_of(data, prices)
    except BadRow as error:
        return None, [*first_of_each_place([*error.problems, *_faults_of(data, *_READ_BY_INFER, *_BESIDE)])]
    except WrongData as error:
        return None, [*str(error).splitlines(), *_faults_of(data, *_READ_BY_INFER, *_BESIDE)]
    found = [*check(book), *table_problems(book, data, USUAL), *_faults_of(data, *_BESIDE)]
    if not found:
        found = [*_short_contexts(book, data), *rivals(book, data.tables), *_miscounted(data.tables), *without_change(book, data.tables)]
    return book, [*first_of_each_place(found)]


def _faults_of(data: Data, *tables: Table) -> tuple[Problem, ...]:
    """Return the problems of tables, of many in one column the first ones and the number of others: they have probably one cause."""
    found: list[Problem] = []
    for (origin, column), alike in grouped(((one.origin, one.column), one) for one in data.tables.problems(*tables)).items():
        found += alike[:_MOST_ALIKE]
        if more := len(alike[_MOST_ALIKE:]):
            found.append(Problem(origin=origin, column=column, message=f"has {more} more faults like these"))
    return tuple(found)


@cache_with_data
def _sheet_problems(data: Data) -> tuple[Problem, ...]:
    """List shipped rows that form no sheet on any day in any tier, for example because of a misspelt name, and launch sheets that no
    calibrating model uses, by their first row.
    """
    book, used = premium.calibration_book(data), {row.get("sheet") for row in data.tables.raw_rows("calibration_models")}
    launched = (row for row in book.rows if row.origin.startswith(f"{premium.LAUNCHED}:"))
    unused = {name: rows for name, rows in grouped((f"{row.provider}/{row.model}", row) for row in launched).items() if name not in used}
    fault = "no row of calibration_models.csv calibrates with"
    return (*check(book), *(row.problem("model", f"{fault} {shorten(name)}") for name, (row, *_) in unused.items()))


def _short_contexts(book: PriceBook, data: Data) -> Iterator[Problem]:
    """List rows of models.csv with a context below the last band of a sheet of today. A context in a price file replaces it."""
    today = (row for row in book.rows if row.valid_on(book.newest_retrieved) and not row.max_context)
    thresholds = grouped(((row.provider, row.model), row.threshold_tokens) for row in today)
    last = ((row, max(thresholds.get((row.provider, row.model), [0]))) for row in data.tables.rows_of(ModelRow))
    return (fault for row, threshold in last if (fault := context_below(row, threshold)))


def unused_rates(book: PriceBook, tables: Tables) -> list[Problem]:
    """List exchange rates for currencies that no price uses. A misspelt currency would otherwise go unnoticed."""
    used = {row.currency for row in book.rows} | {row.get("currency") for name in _PRICES for row in tables.raw_rows(name)}
    return [row.problem_in("currency", f"no price is in {row.currency!r}") for row in tables.rows_of(FxRate) if row.currency not in used]


def _problems_of(read: Callable[..., object], *of: object) -> tuple[Problem, ...]:
    """Return the problems of the rows that a function cannot use."""
    try:
        read(*of)
    except BadRow as error:
        return error.problems
    return ()


def _miscounted(tables: Tables) -> Iterator[Problem]:
    """List hand-counted KV values that differ from the values computed from the configuration."""
    for row in tables.rows_of(Architecture):
        try:
            stored, read = kv_bytes(row, 1.0)
        except (NotCovered, WrongData):
            continue
        counted = {"kv_values_stored_per_token": stored, "kv_values_read_per_context_token": read}
        for column, value in counted.items():
            if getattr(row, column) != value:
                fault = f"{getattr(row, column)} is not the {value:g} that {row.kv_formula} attention makes of the configuration"
                yield row.problem_in(column, fault)


def without_change(book: PriceBook, tables: Tables) -> Iterator[Problem]:
    """List experiments on a model without prices, or on a day without a price change of the model."""
    providers = {row.provider for row in book.rows}
    days = grouped(((row.provider, row.model), day) for row in book.rows for day in (row.effective_date, row.valid_to))
    for one in tables.rows_of(NaturalExperiment):
        name, changes = f"{one.provider}/{one.model}", days.get((one.provider, one.model))
        if changes is None:
            yield one.problem_in("model" if one.provider in providers else "provider", f"{name} has no price in prices.csv")
        elif one.date not in changes:
            yield one.problem_in("date", f"no price of {name} begins or ends on {one.date}")


def released_late(book: PriceBook, tables: Tables, assumptions: Assumptions) -> list[Problem]:
    """List rows of models.csv with a release after the newest price day, or long after the model's first price."""
    begins = (row for row in book.rows if row.date_kind in _BEGINS and row.origin.startswith(f"{SHIPPED_PRICES}:"))
    began = grouped(((row.provider, row.model), row.effective_date) for row in begins if row.effective_date)
    ahead = timedelta(days=assumptions.days_sold_before_release)
    newest = book.newest_retrieved
    found: list[Problem] = []
    for model in tables.rows_of(ModelRow):
        sold = min(began.get((model.provider, model.model), [newest]))
        if model.release_date and model.release_date > min(sold + ahead, newest):
            of = "a price of it began" if sold < newest else "the prices were read"
            found.append(model.problem_in("release_date", f"{model.release_date} is after {of}, on {min(sold, newest)}"))
    return found


def rivals(book: PriceBook, tables: Tables) -> Iterable[Problem]:
    """List problems of rival rows, which no result uses."""
    try:
        lines = tables.content("prices_rivals.csv").decode(errors="replace").splitlines()
        return read_rows(lines, "prices_rivals.csv", book.fx, data=Data(tables))[1]
    except WrongData as error:
        return [Problem(origin="prices_rivals.csv", message=str(error).removeprefix("prices_rivals.csv").lstrip(": "))]


def _misnamed(tables: Tables) -> list[Problem]:
    """List rows of models.csv without a priced model while a priced model has no row: one of the two names is misspelt."""
    priced, known = ({(row.get("provider"), row.get("model")) for row in tables.raw_rows(name)} for name in ("prices", "models"))
    return [
        row.problem_in("model", f"{row.provider}/{row.model} has no price in prices.csv")
        for row in tables.rows_of(ModelRow)
        if (row.provider, row.model) not in priced and not priced <= known
    ]
