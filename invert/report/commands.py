"""Build the shell commands in reports, with the prices, day and outside facts of their run."""

import shlex
from collections.abc import Iterable, Iterator
from datetime import date

from derive.files import called
from invert.report.layout import NONE
from invert.result import Inference, Run
from invert.sheets.rows import SheetKey


def infer_in_full(one: Inference, run: Run) -> str:
    """Return the command for the full report of a sheet."""
    tier = ("--tier", run.request.tier) if run.request.tier else ("--all",) if run.request.everything else ()
    anchors = (word for name, value in run.given.items() for word in ("--anchor", f"{name}={value:.12g}"))
    changes = (word for place, amount in run.changes.items() for word in ("--set", f"{place}={amount}"))
    regions = {region for provider, model, region, _ in run.base_inputs if f"{provider}/{model}" == one.name}
    region = ("--where", f"region={one.sheet.region or NONE}") if len(regions) > 1 else ()
    return _command("infer", one.name, *_prices(run), *tier, *region, *anchors, *changes, "--full")


def infer_against_day(key: SheetKey, run: Run, since: date) -> str:
    """Return the command that shows all changes of a sheet since a day."""
    provider, model, _, _ = key
    return _command("infer", f"{provider}/{model}", *_prices(run), "--against", str(since))


def infer_all(run: Run) -> str:
    """Return the command that shows every service tier of the run's models."""
    return _command("infer", *_prices(run), "--all")


def cite_sheet(one: Inference, run: Run, equations: Iterable[str]) -> str:
    """Return the command that cites a price sheet and these equations, with the service tier if the user gave another one than standard."""
    asked = run.request.tier or run.request.everything
    tier = ("--tier", one.sheet.service_tier) if asked and one.sheet.service_tier != "standard" else ()
    return _command("cite", one.name, *equations, *_prices(run), *tier)


def _prices(run: Run) -> Iterator[str]:
    """Return the options for the prices and the day."""
    if run.request.prices:
        yield from ("--prices", "-" if run.request.prices.place == called("-") else run.request.prices.place)
        yield from (word for currency, rate in run.request.prices.rates for word in ("--rate", f"{currency}={rate:.12g}"))
    if run.request.as_of:
        yield from ("--as-of", str(run.request.as_of))


def _command(*words: str) -> str:
    return shlex.join(("backsolve", *words))
