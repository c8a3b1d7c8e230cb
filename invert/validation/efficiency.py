"""Fit the calibrated efficiency to published runs of efficiencies.csv, and test it on runs that the fit does not see.

A run lasts max(arithmetic / mfu, reads / mbu) + layers * layer_time. The three are fitted together for each kind of model on one chip, one
node and several nodes, with their spreads, by maximum likelihood under weak priors. The fit is deterministic. `python -m
invert.validation.efficiency` writes the fit to efficiency_fit.csv and its predictions to efficiencies.csv.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist, median

import numpy as np
from scipy.optimize import minimize

from derive.errors import WrongData
from derive.preset_record import MODEL_KINDS
from derive.preset_rows import FIT, HELD_OUT, Efficiency, FittedEfficiency
from derive.presets import DEPLOYMENTS, PHASES, deployment_of, is_inside, predicted_over_measured
from derive.show.layout import csv_text
from derive.tables import shipped
from derive.tables.questions import amount_in_si, read_givens
from derive.tables.shipped import rows_of
from invert.arrays import Array
from invert.validation.claims import solve_asked

_GROUPS = [(kind, deployment) for kind in MODEL_KINDS for deployment in DEPLOYMENTS]
_QUANTITIES = ("mfu", "mbu", "layer_time")
_PRIORS, _WIDTHS = np.log([[0.5], [0.7], [1e-4]]), np.array([[0.5], [0.2], [0.8]])
"""Prior of the logarithm of each quantity, and its spread."""
_SPREADS, _SPREAD_WIDTH = np.log([[0.3], [0.15], [0.6]]), 0.5
"""Prior of the logarithm of the spread between runs by quantity, and its spread."""
_LEVEL = 0.9
"""Share of runs whose value is in the range, if the fit is right."""
_ENDS = NormalDist().inv_cdf((1 + _LEVEL) / 2)
"""The same in standard deviations."""
_DIGITS = 2

Rows = Sequence[Efficiency]


def fit_efficiencies(rows: Rows, start: Array | None = None) -> Array:
    """Return the most likely quantities by group and spreads by kind of model for these runs, from the priors or from another fit.

    All are logarithms [quantity, group or kind].
    """
    runs = _Runs(rows)
    begin = np.hstack([np.tile(_PRIORS, len(_GROUPS)), np.tile(_SPREADS, len(MODEL_KINDS))]) if start is None else start
    found = minimize(lambda flat: runs.loss(*_parts(flat.reshape(begin.shape))), begin.ravel(), method="L-BFGS-B")
    if not found.success:
        raise WrongData(f"efficiencies.csv: the fit does not converge: {found.message}")
    return np.asarray(found.x).reshape(begin.shape)


def _parts(fit: Array) -> tuple[Array, Array]:
    """Return the quantities by group and the spreads by kind of model."""
    return fit[:, : len(_GROUPS)], fit[:, len(_GROUPS) :]


def _quantities(fit: Array, deviations: float) -> Array:
    """Return the quantities at this number of standard deviations towards slower runs [quantity, group]."""
    values, spreads = _parts(fit)
    kinds = [list(MODEL_KINDS).index(kind) for kind, _ in _GROUPS]
    found = np.exp(values + np.array([[-1.0], [-1.0], [1.0]]) * deviations * np.exp(spreads)[:, kinds])
    found[:2] = np.minimum(found[:2], 1.0)
    return np.asarray(found)


class _Runs:
    """Runs as arrays: ideal times of arithmetic and reads [s], layers, measured time [s], and the group and kind of each."""

    def __init__(self, rows: Rows) -> None:
        table = [(1e-3 * (row.arithmetic_ms or 0), 1e-3 * (row.memory_ms or 0), row.layers or 0, 1e-3 * row.measured) for row in rows]
        self.arithmetic, self.reads, self.layers, self.measured = np.array(table).T
        self.group = np.array([_GROUPS.index((row.kind, deployment_of(row.chips))) for row in rows])
        self.kind = np.array([list(MODEL_KINDS).index(row.kind) for row in rows])

    def times(self, quantities: Array) -> tuple[Array, Array, Array]:
        """Return the times of arithmetic, of reads and of all layers [s]."""
        mfu, mbu, layer_time = quantities[:, self.group]
        return self.arithmetic / mfu, self.reads / mbu, self.layers * layer_time

    def loss(self, values: Array, spreads: Array) -> float:
        """Return the negative log posterior without its constant. Runs differ in the parts that limit them."""
        arithmetic, reads, layers = self.times(np.exp(values))
        waits = np.maximum(arithmetic, reads)
        whole = waits + layers
        of_arithmetic, of_reads, of_layers = np.exp(spreads)[:, self.kind]
        spread = np.where(arithmetic > reads, of_arithmetic, of_reads)
        variance = (waits / whole * spread) ** 2 + (layers / whole * of_layers) ** 2
        off = np.log(self.measured / whole)
        away = np.hstack([(values - _PRIORS) / _WIDTHS, (spreads - _SPREADS) / _SPREAD_WIDTH])
        return float(0.5 * ((off**2 / variance + np.log(variance)).sum() + (away**2).sum()))


def fitted_rows(fit: Array, rows: Rows) -> list[dict[str, str]]:
    """Return the fit as rows of efficiency_fit.csv."""
    faster, middle, slower = (_quantities(fit, deviations) for deviations in (-_ENDS, 0.0, _ENDS))
    found = []
    for index, (kind, deployment) in enumerate(_GROUPS):
        runs = sum((row.kind, deployment_of(row.chips)) == (kind, deployment) for row in rows)
        for number, name in enumerate(_QUANTITIES):
            unit, scale = ("us", 1e6) if name == "layer_time" else ("1", 1.0)
            low, high = sorted((faster[number, index], slower[number, index]))
            values = {"low": low, "value": middle[number, index], "high": high}
            shown = {column: _digits(scale * value) for column, value in values.items()}
            found.append({"kind": kind, "deployment": deployment, "quantity": name, **shown, "unit": unit, "runs": str(runs)})
    return found


def predicted_without_run(rows: Rows, fit: Array) -> dict[str, tuple[float, float]]:
    """Return for each run of the fit the least and the most that the fit of the others predicts [ms]."""
    found = {}
    for row in rows:
        others = fit_efficiencies([one for one in rows if one is not row], fit)
        ends = (_Runs([row]).times(_quantities(others, deviations)) for deviations in (-_ENDS, _ENDS))
        low, high = (float(1e3 * (np.maximum(arithmetic, reads) + layers)[0]) for arithmetic, reads, layers in ends)
        found[row.run] = low, high
    return found


def predicted_of_question(row: Efficiency) -> tuple[float, float]:
    """Return the least and the most that `--efficiency calibrated` answers to the question of a run [unit of the run]."""
    asked = read_givens(row.givens)
    solution = solve_asked(row.unknown, replace(asked, switches={"efficiency": "calibrated", "anyway": ""}))
    if not solution.spans:
        raise WrongData(f"{row.run}: {solution.refusal.message if solution.reason else 'the answer has no range'}")
    one = amount_in_si(row.unknown, "1", row.unit)
    return solution.spans.low / one, solution.spans.high / one


def efficiency_rows(rows: Iterable[Efficiency]) -> list[dict[str, object]]:
    """Return the record by group: of runs that the fit never sees, and of its own runs without themselves. Runs outside are named."""
    known = [row for row in rows if row.low is not None]
    found: list[dict[str, object]] = []
    for use, label in ((HELD_OUT, "never seen"), (FIT, "left out")):
        some = [row for row in known if row.use == use]
        groups = {
            **{f"{kind}, {deployment}, {phase}": (kind, deployment, phase) for kind, deployment in _GROUPS for phase in PHASES},
            **{f"engines of {year}": year for year in sorted({row.engine_year for row in some})},
            "all": None,
        }
        for group, key in groups.items():
            part = [row for row in some if key in (None, row.engine_year, (row.kind, deployment_of(row.chips), row.phase))]
            found += [_record_row(label, group, part)] if part else []
    return found


def _record_row(label: str, group: str, rows: Rows) -> dict[str, object]:
    ratios = [predicted_over_measured(row) for row in rows]
    outside = [f"{row.run.partition(':')[0]} {predicted_over_measured(row):.2g}" for row in rows if not is_inside(row)]
    return {
        "runs": label,
        "group": group,
        "inside": f"{len(rows) - len(outside)} of {len(rows)}",
        "ratio": round(float(np.exp(np.mean(np.log(ratios)))), 2),
        "least": round(min(ratios), 2),
        "most": round(max(ratios), 2),
        "width": round(median((row.high or 0.0) / (row.low or 1.0) for row in rows), 2),
        "outside": "" if group == "all" or group.startswith("engines") else "; ".join(outside),
    }


def _digits(value: float, precision: int = _DIGITS) -> str:
    return np.format_float_positional(value, precision=precision, unique=False, fractional=False, trim="-")


def write_tables(folder: str = shipped.FOLDER) -> None:
    """Write the fit and its prediction for every run into the tables of a folder."""
    rows = rows_of(Efficiency)
    runs = [row for row in rows if row.use == FIT]
    fit = fit_efficiencies(runs)
    _write(folder, FittedEfficiency.TABLE, fitted_rows(fit, runs))
    predicted = predicted_without_run(runs, fit) | {row.run: predicted_of_question(row) for row in rows if row.use == HELD_OUT}
    ends = {run: {"low": _digits(low, 4), "high": _digits(high, 4)} for run, (low, high) in predicted.items()}
    _write(folder, Efficiency.TABLE, [{**row, **ends.get(row["run"], {})} for row in shipped.read().raw_rows(Efficiency.TABLE)])


def _write(folder: str, table: str, rows: Iterable[Mapping[str, str]]) -> None:
    rows = [*rows]
    with open(os.path.join(folder, f"{table}.csv"), "w", encoding="utf-8", newline="\n") as file:
        print(csv_text([*rows[0]], rows), file=file)


if __name__ == "__main__":
    write_tables()
