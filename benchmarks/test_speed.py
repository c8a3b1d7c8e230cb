"""How fast the project is, as ratios: each subject and its reference are timed in turn in one run."""

import csv
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

import derive
import invert
from backsolve.cli.main import backsolve
from backsolve.figures.picture import picture
from benchmarks.bulk import drawn, market_rows, price_rows, price_sheets
from derive.catalogue import by_id, equation
from derive.expressions.branches import branches
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import Equation
from derive.show.plot import sweep_charts
from derive.solving.engine.one_equation import solve_equation
from derive.solving.engine.plan import find_way
from derive.solving.question.questions import question
from derive.tables import shipped
from invert.assumptions import USUAL
from invert.data import Data, read_data
from invert.estimators import size
from invert.estimators.cases import rental
from invert.estimators.typical_kv import READ_OR_STORED, record_of_typical_kv
from invert.posterior.sampler import summarise
from invert.sheets.read import load
from invert.sheets.rules import check
from tests.tools.compiled import vectorised
from tests.tools.draws import assignments

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    Record = Callable[[str, object], None]

EVALUATIONS = 1_000_000
DESK = 0.15
"""Seconds of processor time that a question of the desk may take."""
STEP_TIME = "roofline.step_time"
STEP_INPUTS = (
    "batch", "context_length", "active_params", "total_params", "bytes_per_weight", "kv_bytes_per_token", "chips", "peak_flops",
    "hbm_bandwidth", "mfu", "mbu", "kv_replication",
)  # fmt: skip
PAIRS = [(row, name) for row in by_id().values() for name in row.symbols]
PRICE_PER_FLOP = rental(read_data()).values["price_per_flop"]
MAIN = "from backsolve.__main__ import main; main()"


def against(
    benchmark: "BenchmarkFixture", record: "Record", subject: Callable[[], Any], reference: Callable[[], Any],
    rounds: int, label: str, target: float | None = None,
) -> None:  # fmt: skip
    """Time the subject, and the reference before each of its rounds; keep both medians, and the median ratio of a round."""
    times: list[float] = []

    def first_the_reference() -> None:
        start = perf_counter()
        reference()
        times.append(perf_counter() - start)

    benchmark.pedantic(subject, setup=first_the_reference, rounds=rounds, warmup_rounds=1)
    ours, theirs = benchmark.stats.stats.data, times[-rounds:]
    ratio = median(own / other for own, other in zip(ours, theirs, strict=True))
    benchmark.extra_info.update(subject_s=median(ours), reference_s=median(theirs), ratio=ratio, target=target, reference=label)
    verdict = "" if target is None else f"   target at most {target}: {'met' if ratio <= target else 'MISSED'}"
    found = f"{1e3 * median(ours):.3g} ms against {1e3 * median(theirs):.3g} ms of {label}"
    record("ratio", f"{ratio:6.2f}   {benchmark.name}: {found}{verdict}")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Callable[[], object]]:
    """A whole run of the interpreter, from start to exit, bytecode kept as in ordinary use; output is thrown away."""
    kept = {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | kept

    def run(code: str, *arguments: str) -> Callable[[], object]:
        command = [sys.executable, "-c", code, *arguments]
        return partial(subprocess.run, command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return run


# -- whole processes --------------------------------------------------------------------------------------------


def test_infer_all_sheets_as_a_process(benchmark, record_property, process):
    """At most 2.5 times `import sympy`, and 20 ms a sheet on top."""
    subject, reference, times = process(MAIN, "infer"), process("import sympy"), []

    def first_the_reference() -> None:
        start = perf_counter()
        reference()
        times.append(perf_counter() - start)

    benchmark.pedantic(subject, setup=first_the_reference, rounds=15, warmup_rounds=1)
    sheets = len(invert.infer().inferences)
    ours, theirs = benchmark.stats.stats.data, times[-15:]
    ratio = median((own - 0.02 * sheets) / other for own, other in zip(ours, theirs, strict=True))
    benchmark.extra_info.update(subject_s=median(ours), reference_s=median(theirs), ratio=ratio, target=2.5, sheets=sheets)
    found = f"{1e3 * median(ours):.0f} ms, less 20 ms for each of {sheets} sheets, against {1e3 * median(theirs):.0f} ms of import sympy"
    record_property("ratio", f"{ratio:6.2f}   {benchmark.name}: {found}   target at most 2.5: {'met' if ratio <= 2.5 else 'MISSED'}")


def test_infer_every_tier_as_a_process(benchmark, record_property, process):
    against(benchmark, record_property, process(MAIN, "infer", "--all"), process("import sympy"), 9, "import sympy")


def test_help_as_a_process(benchmark, record_property, process):
    against(benchmark, record_property, process(MAIN, "--help"), process("import click"), 15, "import click")


def test_import_derive_as_a_process(benchmark, record_property, process):
    against(benchmark, record_property, process("import derive"), process("pass"), 15, "an empty program")


def test_import_derive_solve_as_a_process(benchmark, record_property, process):
    against(benchmark, record_property, process("from derive import solve"), process("pass"), 15, "an empty program")


# -- a million evaluations ---------------------------------------------------------------------------------------


def composed(id: str, inputs: tuple[str, ...]) -> sympy.Expr:
    """The right side of an equation with every quantity that is not an input replaced by what defines it."""
    defining = {row.defines: row for row in by_id().values() if row.defines and (row.variant is None or row.variant.default)}
    expression = equation(id).sides[1]
    while between := [part for part in expression.free_symbols if part.name not in inputs]:
        expression = expression.xreplace({part: defining[part.name].sides[1] for part in between})
    return expression


def draws(names: tuple[str, ...]) -> list[np.ndarray]:
    """A contiguous array for each quantity, log-uniform over the values met in practice."""
    rng = np.random.default_rng(20260429)
    return [np.exp(rng.uniform(np.log(row.low), np.log(row.high), EVALUATIONS)) for row in map(quantity, names)]


def by_hand(B, L, N_a, N_t, b_w, b_kv, n, F, W, mfu, mbu):
    """What one would write in numpy for `roofline.step_time`, chips and utilisations included."""
    return np.maximum(2 * B * N_a / (n * F * mfu), (N_t * b_w + B * L * b_kv) / (n * W * mbu))


def test_a_million_steps_down_to_the_inputs(benchmark, record_property):
    compiled, arrays = vectorised(composed(STEP_TIME, STEP_INPUTS), STEP_INPUTS), draws(STEP_INPUTS)
    assert np.allclose(compiled(*arrays), by_hand(*arrays), rtol=1e-12, atol=0)
    against(benchmark, record_property, partial(compiled, *arrays), partial(by_hand, *arrays), 31, "numpy by hand", target=1.5)


def test_a_million_right_sides_of_one_equation(benchmark, record_property):
    row, names = equation(STEP_TIME), ("compute_time", "memory_time")
    values = dict(zip(names, draws(names), strict=True))
    against(benchmark, record_property, partial(row.right_side, values), partial(np.maximum, *values.values()), 31, "np.maximum")


# -- symbolic work with nothing remembered -----------------------------------------------------------------------


def forget() -> None:
    """Every cache of derive and of SymPy as in a process that has only imported them."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "derive":
            for part in vars(module).values():
                if hasattr(part, "cache_clear"):
                    part.cache_clear()
    shipped._last = shipped.Tables({})
    for row in by_id().values():
        for name in ("sides", "expression", "parameters", "symbols", "inputs"):
            row.__dict__.pop(name, None)
    sympy.core.cache.clear_cache()


def givens(row: Equation, unknown: str) -> dict[str, float]:
    """Numbers that satisfy the equation, without that of the unknown."""
    return {name: float(array[0]) for name, array in assignments(row, 1, seed=1).items() if name != unknown}


def test_one_equation_one_unknown_over_all_pairs(benchmark, record_property):
    """The median is over the pairs: every round asks another one."""
    questions = iter([(row, name, givens(row, name)) for row, name in PAIRS])

    def forget_and_ask_the_next() -> tuple[tuple, dict]:
        question = next(questions)
        forget()
        return question, {}

    benchmark.pedantic(solve_equation, setup=forget_and_ask_the_next, rounds=len(PAIRS))
    times = benchmark.stats.stats
    benchmark.extra_info.update(pairs=len(PAIRS), median_s=times.median, slowest_s=times.max)
    found = f"median {1e3 * times.median:.3g} ms of {len(PAIRS)} pairs, slowest {1e3 * times.max:.3g} ms"
    record_property("ratio", f"     -   one equation, one unknown: {found}")


def test_all_closed_forms_of_the_catalogue(benchmark, record_property):
    def all_closed_forms() -> None:
        for row, name in PAIRS:
            branches(row, name)

    benchmark.pedantic(all_closed_forms, setup=forget, rounds=5, warmup_rounds=1)
    record_property("ratio", f"     -   all closed forms: median {benchmark.stats.stats.median:.3g} s for {len(PAIRS)} pairs")


# -- chains ----------------------------------------------------------------------------------------------------------

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "chip_price": "2 USD/h", "context_length": 4000},
}
CHAINS = {
    "forwards, seven equations": ("cost_per_token", {"batch": 2400}),
    "backwards, five in one block": ("batch", {"cost_per_token": 1e-7}),
    "two unknowns in one block": ("context_length", {"memory_time_share": 0.9, "step_time": 0.02, "context_length": None}),
}


def chained(unknown: str, more: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in (DEPLOYED | more).items() if value is not None}


@pytest.mark.parametrize(("unknown", "more"), CHAINS.values(), ids=CHAINS)
def test_a_chained_solve_never_asked_before(benchmark, record_property, unknown, more):
    given = chained(unknown, more)
    benchmark.pedantic(lambda: derive.solve(unknown, **given), setup=forget, rounds=9, warmup_rounds=1)
    within(record_property, benchmark, "a chained solve", 0.15)


@pytest.mark.parametrize(("unknown", "more"), CHAINS.values(), ids=CHAINS)
def test_the_route_of_a_chained_solve(benchmark, record_property, unknown, more):
    """Without numbers."""
    given = chained(unknown, more)
    hardware, model = given.pop("hardware"), given.pop("model")
    asked = question(unknown, given, hardware, model)
    known = frozenset({*asked.known, *NEUTRAL_DEFAULTS})

    def forget_routes() -> None:
        forget()
        for row in asked.active:
            _ = row.sides

    benchmark.pedantic(find_way, args=(asked.unknown, asked.active, known), setup=forget_routes, rounds=9, warmup_rounds=1)
    within(record_property, benchmark, "its route", 0.03)


def test_a_sweep_of_a_million_points(benchmark, record_property):
    benchmark.pedantic(lambda: derive.solve("cost_per_token", **DEPLOYED, batch="1..4000:log:1e6"), rounds=9, warmup_rounds=1)
    within(record_property, benchmark, "a million points of a chained quantity", 0.2)


def within(record: "Record", benchmark: "BenchmarkFixture", label: str, target: float) -> None:
    found = benchmark.stats.stats.median
    benchmark.extra_info.update(median_s=found, target_s=target)
    verdict = "met" if found <= target else "MISSED"
    record("ratio", f"     -   {benchmark.name}: {label}, median {1e3 * found:.3g} ms   target {1e3 * target:g} ms: {verdict}")


# -- the desk --------------------------------------------------------------------------------------------------------

LLAMA = ["--hardware", "H200-SXM:fp8", "--model", "Llama-3.1-70B", "chips=8", "context_length=4k", "bytes_per_element=1"]
TEN = "H100:fp8,H200:fp8,B200:fp8,H20:fp8,H800:fp8,MI300X:fp8,MI325X:fp8,MI355X:fp8,L40S:fp8,GB200-NVL72:fp8"


def commanded(*arguments: str) -> Callable[[], object]:
    return partial(CliRunner().invoke, backsolve, arguments, catch_exceptions=False)


def test_every_question_of_the_desk(benchmark, record_property):
    """Each asked once, as a command, in a process that has answered another."""
    path = Path(__file__).parents[1] / "tests/validation/questions.csv"
    with path.open(encoding="utf-8") as stream:
        asked = [commanded(*shlex.split(row["command"])) for row in csv.DictReader(stream)]
    commanded("solve", "step_time", *LLAMA, "batch=8")()
    times = []
    for one in asked:
        start = process_time()
        one()
        times.append(process_time() - start)
    benchmark.pedantic(asked[0], rounds=1)
    slow = sum(time > DESK for time in times)
    found = f"median {1e3 * median(times):.3g} ms, longest {1e3 * max(times):.3g} ms"
    record_property("ratio", f"     -   questions of the desk: {found}; {slow} of {len(times)} over the target of {1e3 * DESK:g} ms")


def test_ten_chips_side_by_side(benchmark, record_property):
    asked = commanded("solve", "step_time,throughput,cost_per_token", *LLAMA[2:], "batch=32", "chip_price=2USD/h", "--hardware", TEN)
    benchmark.pedantic(asked, rounds=9, warmup_rounds=1)
    within(record_property, benchmark, "three results of ten chips", 0.3)


def test_a_front_of_a_hundred_thousand_points(benchmark, record_property):
    """From Python, where batches need not be whole."""
    served = {"hardware": "H200-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "context_length": 4000, "bytes_per_element": 1}
    given: dict[str, Any] = {**served, "chip_price": "2 USD/h", "batch": np.geomspace(1, 400, 100_000)}
    unknowns = ("tokens_per_second_per_user", "cost_per_token")

    def drawn() -> bytes:
        return picture(sweep_charts([("", [derive.solve(name, **given) for name in unknowns])]), "svg")

    benchmark.pedantic(drawn, rounds=3, warmup_rounds=1)
    within(record_property, benchmark, "speed a user against cost, drawn", 1.0)


# -- the market ------------------------------------------------------------------------------------------------------


def test_fits_and_records_of_sizes_and_of_the_class(benchmark, record_property):
    """From the tables as read: what a run learns of the market once."""

    def learnt_anew() -> None:
        data = Data(read_data().tables)
        for form in (size.ACTIVE, size.ANY, size.TOTAL):
            size.size_draws(data, form, "", form == size.ACTIVE, USUAL)
            size.size_record(data, form)
        for kind in READ_OR_STORED:
            record_of_typical_kv(data, kind)

    benchmark.pedantic(learnt_anew, rounds=9, warmup_rounds=1)
    within(record_property, benchmark, "fits and records", 0.05)


def test_a_market(benchmark, record_property, process, tmp_path):
    """1,500 models at prices of their own, from the file to the page of what they have in common."""
    (place := tmp_path / "market.csv").write_bytes(market_rows(1500))
    benchmark.pedantic(process(MAIN, "infer", "--prices", str(place)), rounds=2, warmup_rounds=1)
    within(record_property, benchmark, "1,500 sheets, 16,384 draws each", 10.0)


def test_the_scoreboard(benchmark, record_property):
    benchmark.pedantic(commanded("validate"), rounds=3, warmup_rounds=1)
    within(record_property, benchmark, "every section", 10.0)


# -- price files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sheets", "validities"), [(15_000, 1), (10, 1_500)], ids=["15000 sheets", "10 sheets over 1500 days"])
def test_load_and_check_thirty_thousand_rows(benchmark, record_property, sheets, validities):
    content = price_rows(sheets, validities)
    benchmark.pedantic(lambda: check(load(BytesIO(content))), rounds=5, warmup_rounds=1)
    within(record_property, benchmark, f"30,000 rows; peak {getrusage(RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB", 1.0)


def test_pull_of_a_database(benchmark, record_property, tmp_path):
    """2,000 models with a cache and two bands, from the file to rows that are checked: 16,000 of them."""
    entry = {"litellm_provider": "acme", "mode": "chat", "cache_read_input_token_cost": 1e-7, "cache_creation_input_token_cost": 1.25e-6}
    costs = {
        f"{name}_cost_per_token{above}": 1e-6 * times
        for name, times in (("input", 1), ("output", 4))
        for above in ("", "_above_200k_tokens")
    }
    costs["output_cost_per_token_above_200k_tokens"] = 6e-6
    (place := tmp_path / "prices.json").write_text(json.dumps({f"m-{number}": entry | costs for number in range(2000)}))
    benchmark.pedantic(commanded("prices", "pull", str(place), "--into", str(tmp_path / "market.csv")), rounds=3, warmup_rounds=1)
    within(record_property, benchmark, "2,000 models into a file", 3.0)


# -- warm ----------------------------------------------------------------------------------------------------------


def test_infer_all_sheets_warm(benchmark, record_property):
    invert.infer()
    found = benchmark(invert.infer)
    record_property("ratio", f"     -   infer, warm: median {1e3 * benchmark.stats.stats.median:.3g} ms for {len(found.inferences)} sheets")


def test_the_posterior_of_one_sheet(benchmark, record_property):
    """16,384 draws, price_data to summary."""
    price_data, held = invert.infer(["gemini-3.1-pro"]).inferences[0].price_data, USUAL
    asked = price_data, held, PRICE_PER_FLOP
    summarise(*asked)
    benchmark.pedantic(summarise, args=asked, rounds=41, warmup_rounds=3)
    within(record_property, benchmark, "full posterior of one sheet, six quantities", 0.02)


def test_posteriors_in_bulk(benchmark, record_property):
    """2,048 draws a sheet, 2,000 sheets, two processes; the peak of memory is that of one process and does not grow with sheets."""
    from concurrent.futures import ProcessPoolExecutor

    sheets = price_sheets(2000)
    with ProcessPoolExecutor(2) as executor:
        parts = [sheets[start : start + 50] for start in range(0, len(sheets), 50)]

        def run() -> None:
            list(executor.map(partial(drawn, per_flop=PRICE_PER_FLOP), parts))

        benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    rate = len(sheets) / benchmark.stats.stats.median
    benchmark.extra_info.update(sheets_per_second=rate, target=3000)
    verdict = "met" if rate >= 3000 else "MISSED"
    peak = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    record_property("ratio", f"     -   {benchmark.name}: {rate:.0f} sheets/s   target 3,000: {verdict}; peak {peak:.0f} MiB")
