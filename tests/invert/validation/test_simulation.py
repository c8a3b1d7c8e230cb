"""Calibration by simulation: what is simulated is what the priors and the forward model say, and the truth ranks evenly.

docs/explanation/inversion.md, "Is the computation right?": pooled over five seeds and 5,000 sheets or more, 90 % intervals hold
.885 to .915 of the truths, 50 % intervals .48 to .52, ranks are uniform at p > .01, and a run with a fault put in is rejected.
"""

import csv
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.resources import files
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, kstest

from invert.assumptions import USUAL, Assumptions
from invert.data import read_data
from invert.estimators.cases import Case, case_of
from invert.forward_model import forward
from invert.posterior import inverse, likelihood, sampler
from invert.posterior.data import PriceData, price_data_of
from invert.posterior.likelihood import log_likelihood
from invert.posterior.parameters import Points
from invert.posterior.sampler import log_quantity
from invert.priors import OBSERVED
from invert.sheets.assemble import sheets
from invert.sheets.observables import rounding_cell
from invert.sheets.read import load
from invert.sheets.rules import _LARGEST, _SMALLEST
from invert.sheets.tables import ModelRow
from invert.validation import simulation
from invert.validation.simulation import (
    _SHAPES,
    LOG_LIKELIHOOD,
    POOLED,
    PRICE_PER_FLOP,
    RANKED,
    Ranking,
    Shape,
    calibration_run,
    cells_about,
    point_of_truth,
    price_data_of_numbers,
    published,
    published_sheets,
    rankings_as_csv,
    ranks,
    run_made_of,
    simulate,
    stale,
)

RECORD = Path(str(files("invert.posterior").joinpath("calibration_run.csv")))


# -- what is simulated --------------------------------------------------------------------------------------------------


def test_what_is_published_is_the_nearest_nice_number_by_ratio():
    values = np.exp(np.random.default_rng(0).uniform(-20, 20, 2000))
    lattice = np.array([number * 10.0**power for power in range(-11, 11) for number in USUAL.nice_numbers])
    nearest = lattice[np.abs(np.log(values[:, None] / lattice)).argmin(axis=1)]
    assert published(values) == pytest.approx(nearest, rel=1e-12)


def test_a_published_price_lies_in_the_cell_of_its_truth():
    values = np.exp(np.random.default_rng(1).uniform(-15, 15, 2000))
    low, high = cells_about(values)
    assert (low <= values).all() and (values <= high).all()
    assert (low[0], high[0]) == rounding_cell(float(published(values[:1])[0]))


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda shape: shape.name)
def test_truths_are_draws_of_the_priors(shape):
    truth, simulated = simulate(shape, 4000, 2, USUAL)
    for name in ("attention_intensity", "weight_compute_ratio", "ridge_point", "sweep_time"):
        centre, spread = USUAL.priors[name].normal
        assert kstest(np.log(truth[name]), "norm", (centre, spread)).pvalue > 1e-3, name
    centre, spread = stated_sizes(simulated)
    assert kstest((np.log(truth["active_params"]) - centre) / spread, "norm").pvalue > 1e-3
    per_parameter = np.log(truth["kv_bytes_per_token"] / truth["active_params"])
    assert kstest(per_parameter, "norm", USUAL.priors["kv_bytes_per_token"].normal).pvalue > 1e-3
    assert truth["kv_bytes_per_token"] * truth["balance_context"] * truth["ridge_point"] == pytest.approx(2 * truth["active_params"])
    assert ((truth["short_context"] > 0) & (truth["short_context"] < 0.6 * shape.edges[0])).all()
    assert ((truth["long_context"] > shape.edges[0]) & (truth["long_context"] < shape.edges[1])).all()
    assert set(simulated[0].cells) == set(shape.prices) and len(simulated) == 4000


def stated_sizes(simulated: list[PriceData]) -> np.ndarray:
    """Return ln active_params and its spread [2, sheets]."""
    return np.transpose([one.log_active_params for one in simulated])


def middles(simulated: list[PriceData], name: str) -> np.ndarray:
    """Return the middles of the cells of a price [sheets, bands]."""
    return np.mean([one.cells[name] for one in simulated], axis=-1)


def test_the_noise_of_a_price_is_that_of_the_priors():
    """The middle of a cell strays from the price at cost by the noise, and by a rounding of a tenth of a nat at most."""
    loud, quiet = (simulate(_SHAPES[0], 4000, 3, USUAL.with_noise(dict.fromkeys(USUAL.noise, spread))) for spread in (0.6, 0.0))
    # Of hidden quantities, a mark-up alone is over a price as it was published.
    assert [name for name in loud[0] if not np.array_equal(loud[0][name], quiet[0][name])] == ["active_params_times_markup"]
    for name in loud[1][0].cells:
        away = middles(loud[1], name) - middles(quiet[1], name)
        # The storage price is over the input price as published, whose noise it shares.
        assert away.std() == pytest.approx(0.6, rel=0.06), name
        assert abs(away.mean()) < 0.04, name


def test_a_size_is_stated_as_firmly_as_each_shape_says():
    for shape in _SHAPES:
        truth, simulated = simulate(shape, 4000, 8, USUAL)
        centre, spread = stated_sizes(simulated)
        price = middles(simulated, "input_price")[:, 0]
        by_price, across = np.corrcoef(centre, price)[0, 1] if np.ptp(centre) else 0.0, np.log(truth["active_params"]).std()
        if shape.size == "prior":
            assert (centre[0], spread[0]) == USUAL.priors["active_params"].normal and not np.ptp(centre)
        elif shape.size == "stated":
            assert set(spread) == {USUAL.known_size_spread} and 0.5 < by_price < 0.9
            assert np.std(centre) == pytest.approx(USUAL.priors["active_params"].spread, rel=0.05)
        else:
            # A published price and the middle of its cell are not quite in one ratio.
            assert by_price > 0.998 and across > USUAL.priors["active_params"].spread
        assert simulated[0].size_by_price is (shape.size == "price")
    assert {shape.size for shape in _SHAPES} == {"prior", "stated", "price"}


def test_a_price_that_said_the_size_tells_nothing_of_what_a_prompt_costs():
    truth, simulated = simulate(_SHAPES[-1], 4000, 9, USUAL)
    price, cost = middles(simulated, "input_price")[:, 0], np.log(truth["prefill_decode_flops_ratio"])
    assert _SHAPES[-1].size == "price" and abs(np.corrcoef(price, cost)[0, 1]) < 0.05


def test_the_bands_further_up_are_priced_at_one_share_of_the_way_up():
    """Without noise the premium of every band lies in the cell of what the forward model says at its mean context."""
    shape = next(shape for shape in _SHAPES if len(shape.edges) > 2)
    truth, simulated = simulate(shape, 50, 10, USUAL.with_noise(dict.fromkeys(USUAL.noise, 0.0)))
    first, second = shape.edges[:2]
    share = (truth["long_context"] - first) / (second - first)
    for name in ("premium_in", "premium_out"):
        low, high = np.moveaxis([one.cells[name] for one in simulated], -1, 0)
        assert low.shape == (50, len(shape.edges) - 1)
        for band, (bottom, top) in enumerate(pairwise(shape.edges)):
            predicted = np.log(forward(truth, (truth["short_context"], bottom + share * (top - bottom)))[name][1])
            assert (low[:, band] <= predicted).all() and (predicted <= high[:, band]).all()


@pytest.mark.parametrize("shape", [shape for shape in _SHAPES if "storage_ratio" not in shape.prices], ids=lambda shape: shape.name)
def test_the_points_of_the_truth_give_its_prices(shape: Shape):
    """Where prices do not stray from cost, the truth has all of the likelihood of the prices that the mark-up drops out of."""
    quiet = USUAL.with_noise(dict.fromkeys(USUAL.noise, 1e-9))
    truth, simulated = simulate(shape, 50, 11, quiet)
    for place, price_data in enumerate(simulated):
        ratios = {name: cell for name, cell in price_data.cells.items() if name in ("output_input_ratio", "premium_in", "premium_out")}
        of_sheet = {name: float(values[place]) for name, values in truth.items()}
        points = point_of_truth(of_sheet, price_data)
        assert log_likelihood(points, replace(price_data, cells=ratios), quiet) == pytest.approx([0.0], abs=1e-9)
        for name in ("kv_bytes_per_token", "balance_context", "attention_intensity", "memory_time_share", "active_params_times_markup"):
            found = log_quantity(name, points, np.log([of_sheet["active_params"]]), price_data, PRICE_PER_FLOP)
            assert found == pytest.approx([np.log(of_sheet[name])], abs=1e-9), name


def test_one_seed_gives_the_same_sheets():
    one, other = (simulate(_SHAPES[1], 20, (4, 1), USUAL) for _ in range(2))
    assert all(np.array_equal(one[0][name], other[0][name]) for name in one[0])
    assert not np.array_equal(one[0]["ridge_point"], simulate(_SHAPES[1], 20, (5, 1), USUAL)[0]["ridge_point"])


# -- through a price file -----------------------------------------------------------------------------------------------

COMPONENTS = ("provider", "model", "component", "threshold_tokens", "amount")
READ_BACK = 120
"""Sheets of each shape that are written and read again."""


@dataclass(frozen=True)
class ReadBack:
    """One sheet as it was drawn, and as the reader of prices made it out of rows of a CSV."""

    shape: Shape
    drawn: PriceData
    read: Case


def amounts_of(shape: Shape, numbers: Mapping[str, np.ndarray], row: int) -> Iterator[tuple[str, int, Decimal]]:
    """(component, threshold, amount) of one sheet: multipliers are multiplied out, with all digits that takes."""

    def number(name: str, band: int | None = None) -> Decimal:
        return Decimal(repr(float(numbers[name][row] if band is None else numbers[name][row, band])))

    base = number("input_price")
    yield "input", 0, base
    yield "output", 0, base * number("output_input_ratio")
    for band, threshold in enumerate(shape.edges[:-1] if "premium_in" in shape.prices else ()):
        yield "input", int(threshold), base * number("premium_in", band)
        yield "output", int(threshold), base * number("output_input_ratio") * number("premium_out", band)
    if "cache_read_ratio" in shape.prices:
        yield "cache_read", 0, base * number("cache_read_ratio")
    if "storage_ratio" in shape.prices:
        yield "cache_storage", 0, number("storage_ratio")


def model_row(any_model: ModelRow, name: str, shape: Shape, centre: float) -> ModelRow:
    """What models.csv would say of a simulated model."""
    params, grade = (float(np.exp(centre)), "verified") if shape.size == "stated" else (None, "")
    said = {"max_context": int(shape.edges[-1]), "active_params": params, "active_params_grade": grade, "total_params": None}
    return replace(any_model, provider="simulated", model=name, aliases=(), first_party=True, architecture="", **said)


@pytest.fixture(scope="module")
def read_back() -> list[ReadBack]:
    """All but the sheets of a price that the reader takes for a slip of the pen, as a model may well have and no vendor asks."""
    lines, drawn, absurd = [",".join(COMPONENTS)], {}, set()
    for place, shape in enumerate(_SHAPES):
        _, size, numbers = published_sheets(shape, READ_BACK, (51, place), USUAL)
        for row, price_data in enumerate(price_data_of_numbers(shape, size, numbers, USUAL)):
            name = f"shape-{place}-sheet-{row}"
            drawn[name] = shape, price_data
            for component, threshold, amount in amounts_of(shape, numbers, row):
                lines.append(f"simulated,{name},{component},{threshold},{amount}")
                if not _SMALLEST[component] <= amount <= _LARGEST:
                    absurd.add(name)
    book, data = load(BytesIO("\n".join(lines).encode())), read_data()
    any_model = data.tables.rows_of(ModelRow)[0]
    refused = {lines[problem.row - 1].split(",")[1] for problem in book.problems}
    assert refused == absurd and len(absurd) < 0.02 * len(drawn)
    found = {sheet.model: sheet for sheet in sheets(book)[0] if sheet.provider == "simulated" and sheet.model not in absurd}
    assert set(found) == set(drawn) - absurd
    return [
        ReadBack(shape, price_data, case_of(found[name], model_row(any_model, name, shape, price_data.log_active_params[0]), data, USUAL))
        for name, (shape, price_data) in drawn.items()
        if name in found
    ]


@pytest.mark.parametrize("cell", OBSERVED)
def test_a_cell_read_from_a_file_is_the_one_it_was_drawn_with(read_back: list[ReadBack], cell: str):
    """Premiums of every band, over the base band and not over the one below."""
    seen = set()
    for one in read_back:
        assert (cell in one.read.price_data.cells) == (cell in one.drawn.cells) == (cell in one.shape.prices)
        if cell in one.drawn.cells:
            seen.add(one.shape.name)
            for read, drawn in zip(one.read.price_data.cells[cell], one.drawn.cells[cell], strict=True):
                assert read == pytest.approx(drawn, abs=1e-9), one.read.sheet
    assert seen == {shape.name for shape in _SHAPES if cell in shape.prices}


def test_a_size_read_from_a_file_is_known_as_firmly_as_it_was_drawn(read_back: list[ReadBack]):
    """A size that nobody states is the market's, and the input price has said it; the prior stands in where sheets are simulated."""
    for one in read_back:
        read, (centre, spread) = one.read.price_data, one.drawn.log_active_params
        if one.shape.size == "stated":
            assert not read.size_by_price and read.log_active_params == pytest.approx((centre, spread), abs=1e-9)
        else:
            assert read.size_by_price and one.read.anchors.origin["active_params"] == "market"
        if one.shape.size == "prior":
            given = price_data_of(one.read.sheet, one.read.seen, int(one.shape.edges[-1]), USUAL, (centre, spread))
            assert not given.size_by_price and given.log_active_params == (centre, spread)


# -- ranks --------------------------------------------------------------------------------------------------------------


def test_a_rank_is_the_share_of_the_posterior_below_the_truth():
    truth, simulated = simulate(_SHAPES[2], 4, 5, USUAL)
    found = ranks(simulated, truth, USUAL, 1024, 1)
    assert found.shape == (4, len(RANKED)) and ((found >= 0) & (found <= 1)).all()
    far, near = ({name: values * scale for name, values in truth.items()} for scale in (1e30, 1e-30))
    above, below = (ranks(simulated, one, USUAL, 1024, 1) for one in (far, near))
    assert above[:, :-1] == pytest.approx(1) and (below[:, :-1] == 0).all()
    # Either is less likely than any draw.
    assert RANKED[-1] == LOG_LIKELIHOOD and not above[:, -1].any() and not below[:, -1].any()


@pytest.mark.slow
def test_a_sheet_is_dropped_for_its_prices_and_never_for_its_truth():
    truth, simulated = simulate(_SHAPES[0], 40, 6, USUAL)
    other = {name: values[::-1] if np.ndim(values) else values for name, values in truth.items()}
    kept = np.isfinite(ranks(simulated, truth, USUAL, 512, 1))
    assert np.array_equal(kept, np.isfinite(ranks(simulated, other, USUAL, 512, 1)))
    assert np.array_equal(kept.all(axis=1), kept.any(axis=1))


def test_the_table_as_text_has_a_row_a_quantity_and_shape():
    rows = calibration_run(3, (1, 2), 512)
    assert [(row.shape, row.quantity) for row in rows] == [
        (shape, quantity) for shape in (*(shape.name for shape in _SHAPES), POOLED) for quantity in RANKED
    ]
    assert {(row.run, row.seeds, row.draws) for row in rows} == {("calibrated", 2, 512)}
    assert [row.sheets for row in rows if row.shape == POOLED] == [6 * len(_SHAPES)] * len(RANKED)
    assert {row.made_of for row in rows} == {run_made_of()}
    told = list(csv.DictReader(rankings_as_csv(rows).splitlines()))
    assert len(told) == len(rows) and told[0]["quantity"] == RANKED[0]
    assert float(told[-1]["coverage_90"]) == pytest.approx(rows[-1].coverage_90, abs=1e-4)


def inside(row: Ranking, level: float, covered: float) -> bool:
    """Whether a coverage is within the binomial error of its level, one false alarm in a hundred thousand."""
    low, high = binom.ppf([5e-6, 1 - 5e-6], row.simulations, level) / row.simulations
    return low <= covered <= high


@pytest.mark.slow
def test_truths_rank_evenly():
    """The short version of the record: 450 sheets of three seeds."""
    with ProcessPoolExecutor(2) as pool:
        rows = [row for row in calibration_run(25, (21, 22, 23), 4096, executor=pool) if row.shape == POOLED]
    for row in rows:
        assert row.simulations >= 0.98 * row.sheets
        assert inside(row, 0.5, row.coverage_50) and inside(row, 0.9, row.coverage_90), row
        assert row.ks_p > 1e-4, row


@pytest.mark.slow
def test_weights_without_their_jacobian_are_seen(monkeypatch: pytest.MonkeyPatch):
    """The short version of a fault: believing the premiums quieter, as the record does, shows in thousands of sheets alone."""
    monkeypatch.setattr(simulation, "trusted", lambda found: found)  # few draws do here
    truth, simulated = simulate(_SHAPES[1], 250, 31, USUAL)
    column = RANKED.index("weight_compute_ratio")
    assert kstest(ranks(simulated, truth, USUAL, 2048, 1)[:, column], "uniform", nan_policy="omit").pvalue > 0.01
    monkeypatch.setattr(inverse, "log_jacobian_of_both", lambda costs, at: 0.0)
    assert kstest(ranks(simulated, truth, USUAL, 2048, 1)[:, column], "uniform", nan_policy="omit").pvalue < 1e-6


COUNTED_TWICE = "cache_read_ratio"


@pytest.mark.slow
def test_a_price_that_is_counted_twice_shows_in_the_likelihood_alone(monkeypatch: pytest.MonkeyPatch):
    """A thousand sheets: the posterior is too narrow in what a cache read tells, which is no quantity that is printed."""
    monkeypatch.setattr(simulation, "trusted", lambda found: found)  # few draws do here
    truth, simulated = simulate(_SHAPES[2], 1000, 32, USUAL)
    once = likelihood.unused_prices

    def twice(points: Points, part: PriceData, assumptions: Assumptions) -> np.ndarray:
        alone = replace(part, cells={COUNTED_TWICE: part.cells[COUNTED_TWICE]})
        return once(points, part, assumptions) + once(points, alone, assumptions)

    right = p_values(ranks(simulated, truth, USUAL, 2048, 1))
    for module in (likelihood, sampler):
        monkeypatch.setattr(module, "unused_prices", twice)
    wrong = p_values(ranks(simulated, truth, USUAL, 2048, 1))
    assert wrong.pop(LOG_LIKELIHOOD) < 1e-9
    assert min(*right.values(), *wrong.values()) > 0.01


def p_values(found: np.ndarray) -> dict[str, float]:
    """Of uniform ranks, by quantity."""
    return {name: float(kstest(found[:, column], "uniform", nan_policy="omit").pvalue) for column, name in enumerate(RANKED)}


# -- the record ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record() -> dict[tuple[str, str], dict[str, str]]:
    with RECORD.open(newline="") as file:
        return {(row["run"], row["quantity"]): row for row in csv.DictReader(file) if row["shape"] == POOLED}


@pytest.mark.parametrize("quantity", RANKED)
def test_the_recorded_run_meets_what_is_asked(record: dict, quantity: str):
    row = record["calibrated", quantity]
    assert int(row["seeds"]) >= 5 and int(row["simulations"]) >= 5000
    assert 0.885 <= float(row["coverage_90"]) <= 0.915
    assert 0.48 <= float(row["coverage_50"]) <= 0.52
    assert float(row["ks_p"]) > 0.01


def test_the_record_is_of_these_assumptions_and_this_sampler():
    with RECORD.open(newline="") as file:
        (made,) = {row["made_of"] for row in csv.DictReader(file)}
    why = stale(made)
    assert not why, f"the record was {why}: run backsolve validate --section calibration --rerun --save {RECORD}"


@pytest.mark.parametrize(
    "change",
    [
        {"premium_in_noise": 0.14},
        {"known_size_spread": 0.06},
        {"machine_balance_ratio": 200.0},
        {"overlap_prior": replace(USUAL.overlap_prior, centre=0.4)},
        {"nice_numbers": (1.0, 2.0, 5.0, 10.0)},
    ],
)
def test_a_record_of_other_assumptions_is_stale(change: dict):
    assert stale(run_made_of(), USUAL.with_fields(change)) == "made with other assumptions"


def test_a_record_of_another_sampler_is_stale(monkeypatch: pytest.MonkeyPatch):
    made = run_made_of()
    monkeypatch.setattr(inverse, "log_jacobian_of_both", lambda costs, at: 0.0)
    assert stale(made) == "made with another sampler"


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda shape: shape.name)
def test_no_shape_hides_behind_the_others(shape: Shape):
    """Among 54 rows one in a thousand is one in twenty; what a shape may be off by is the error of its coverage."""
    with RECORD.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["run"], row["shape"]) == ("calibrated", shape.name)]
    assert [row["quantity"] for row in rows] == list(RANKED)
    for row in rows:
        count = int(row["simulations"])
        assert float(row["ks_p"]) > 1e-3 and count > 0.98 * int(row["sheets"])
        for level, name in ((0.5, "coverage_50"), (0.9, "coverage_90")):
            assert abs(float(row[name]) - level) < 4 * np.sqrt(level * (1 - level) / count), row


def test_the_recorded_run_dropped_few(record: dict):
    """Under 2 percent had no draws that can be trusted, even from the mixture."""
    assert {quantity for run, quantity in record if run == "calibrated"} == set(RANKED)
    for (run, _), row in record.items():
        # Premiums of four bands that are believed so quiet contradict each other, and few draws fit.
        least = 0.98 if run == "calibrated" else 0.95
        assert least * int(row["sheets"]) <= int(row["simulations"]) <= int(row["sheets"])


def test_the_recorded_fault_is_rejected(record: dict):
    """Premiums believed to be 0.3 as noisy as they are, in as many simulations."""
    rows = [row for (run, _), row in record.items() if run == "premium noise x 0.3"]
    assert len(rows) == len(RANKED) and all(int(row["simulations"]) >= 5000 for row in rows)
    assert sum(float(row["ks_p"]) < 0.001 for row in rows) >= 2
    for quantity, most, half in (("attention_intensity", 0.885, 0.48), (LOG_LIKELIHOOD, 0.6, 0.3)):
        (row,) = [row for row in rows if row["quantity"] == quantity]
        assert float(row["coverage_90"]) < most and float(row["coverage_50"]) < half
