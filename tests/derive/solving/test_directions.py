"""A result of a bound is a bound: which way it errs, held against worlds in which the bounds are not reached."""

from collections import Counter
from collections.abc import Mapping
from csv import DictReader
from io import StringIO
from itertools import islice
from json import loads
from random import Random

import pytest

from campaigns.states import states
from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import LOWER, UPPER, Equation, right_side_at
from derive.show.text import render
from derive.solving.api import solve
from derive.solving.limits.answering import answer_with_way
from derive.solving.question.conventions import Switches
from derive.solving.question.defaults import IDEALS, defaults_in_force, evaluate_defaults
from derive.solving.question.questions import question
from derive.solving.result import Answer, Solution
from tests.tools.together import in_one_test, some

TIMES = {"compute_time": 0.01, "memory_time": 0.02}
MACHINE = {"chips": 8, "peak_flops": 2e15, "hbm_bandwidth": 3e12, "bytes_per_weight": 1, "active_params": 7e10, "total_params": 7e10}
STEP = {**MACHINE, "kv_bytes_per_token": 3e5, "context_length": 4000}

ERRS = [
    # what is asked, from what, and which way it errs where a step takes longer than the bound
    ("step_time", TIMES, "lower"),
    ("cost_per_token", {**TIMES, "batch": 64, "chips": 8, "chip_price": 5e-4}, "lower"),
    ("throughput", {**TIMES, "batch": 64}, "upper"),
    ("fleet_throughput", {**TIMES, "batch": 64, "replicas": 3}, "upper"),
    ("replicas", {**TIMES, "batch": 64, "fleet_throughput": 1e5}, "lower"),
    ("chip_price", {**TIMES, "batch": 64, "chips": 8, "cost_per_token": 4e-7}, "upper"),
    # backwards, from a step time that was measured: what is left over was something else
    ("compute_time", {"step_time": 0.02, "memory_time": 0.01}, "upper"),
    ("context_length", {**STEP, "context_length": None, "batch": 64, "step_time": 0.02}, "upper"),
    ("mfu", {**STEP, "batch": 6400, "context_length": 1, "step_time": 0.5}, "lower"),
    # through a block, in which the batch stands twice
    ("batch", {**STEP, "step_time": 0.02}, "upper"),
    ("chips", {**STEP, "chips": None, "batch": 64, "step_time": 0.02}, "lower"),
    ("batch", {**STEP, "cost_per_token": 4e-7, "chip_price": 5e-4}, "lower"),
    # nothing of a bound in it
    ("balance_batch", {"machine_balance_ratio": 300, "sparsity": 8}, None),
    ("throughput", {"step_time": 0.02, "batch": 64}, None),
    ("memory_time", {"weight_time": 0.01, "kv_time": 0.01}, None),
]  # fmt: skip


def given(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


@in_one_test(("unknown", "values", "expected"), ERRS, ids=lambda one: one if isinstance(one, str) else None)
def test_what_rests_on_a_bound_errs_one_way(unknown: str, values: Mapping[str, float | None], expected: str | None):
    (found,) = solve(unknown, anyway=True, **given(values)).answers
    assert (found.kind, found.bound) == ("point", expected)


def test_what_an_estimate_has_a_part_in_is_no_bound():
    for name in ("sum", "exposed"):
        values = {**TIMES, "batch": 64, "exposed_communication_share": 0.2}
        assert solve("throughput", variants={"overlap": name}, **values).answers[0].bound is None
    assumed = solve("step_time", variants={"overlap": "sum"}, **TIMES).assumptions
    assert "roofline.step_time_serial is an estimate, not a bound" in assumed


SHARED = ("roofline.compute_time", "roofline.weight_time", "roofline.kv_time", "roofline.memory_time", "roofline.step_time")
RESULTS = ("pipeline.hop_latency", "scheduling.throughput", "scheduling.fleet_throughput", "serving.cost_per_token")
ROWS = tuple(map(equation, (*SHARED, *RESULTS)))
INPUTS = sorted({name for row in ROWS for name in row.symbols} - {row.defines for row in ROWS})
ASKED = [(result.split(".")[1], unknown) for result in ("roofline.step_time", *RESULTS) for unknown in INPUTS]


def slack(rows: tuple[Equation, ...], drawn: Mapping[str, float], random: Random) -> dict[str, float]:
    """What follows from these values where each bound is missed by up to half."""
    values = dict(drawn)
    while left := [row for row in rows if row.defines not in values and row.inputs <= values.keys()]:
        for row in left:
            missed = 1 + random.random() / 2
            values[row.defines] = right_side_at(row, values) * {"": 1.0, "lower": missed, "upper": 1 / missed}[row.direction]
    return values


def with_untrue_defaults(
    unknown: str, given: Mapping[str, float], world: Mapping[str, float], made: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Return what is given, and the value of each quantity whose default is not true in this world."""
    given = dict(given)
    while differs := supposed_otherwise(unknown, given, world, made):
        given |= differs
    return given


def supposed_otherwise(
    unknown: str, given: Mapping[str, float], world: Mapping[str, float], made: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Defaults that would stand and are something else in this world."""
    defaults = evaluate_defaults(defaults_in_force(unknown, given.keys(), made=made), world)
    return {name: world[name] for name, value in defaults.items() if world.get(name, value) != value}


def wrong(found: Answer, truth: float) -> bool:
    """Whether the truth lies where the answer says that it does not."""
    margin = 1e-9 * truth * max(1.0, sum(map(abs, found.elasticities.values())))
    over, under = found.value > truth + margin, found.value < truth - margin
    return {LOWER: over, UPPER: under}.get(found.bound, False)


@pytest.mark.slow
@in_one_test(("result", "unknown"), ASKED)
def test_the_truth_lies_where_the_answer_says(result: str, unknown: str):
    """One input asked for from a result that a step longer than its bound led to, all other inputs known."""
    random = Random(f"{result} {unknown}")
    for _ in some(range(3), every=3):
        drawn = {name: NEUTRAL_DEFAULTS.get(name) or quantity(name).at(0.3 + 0.4 * random.random()) for name in INPUTS}
        # A dense model: of a mixture without its router all weights are read, which errs the other way.
        world = slack(ROWS, drawn | {"total_params": drawn["active_params"]}, random)
        given = {name: world[name] for name in (*INPUTS, result) if name != unknown}
        solution, _ = answer_with_way(question(unknown, given, Switches(anyway=True)))
        points = [one for one in solution.answers if one.kind == "point"]
        assert not any(wrong(one, world[unknown]) for one in points)
        # More weights found than are active are those of a mixture. One chip has one copy of the cache, whatever was measured.
        of_dense = unknown != "total_params" or all(one.value <= world["active_params"] for one in points)
        certain = of_dense and {name for row in solution.equations for name in equation(row).symbols} != {"kv_replication", "chips"}
        assert all(one.bound for one in points if certain), "the step is in it, and it is longer than its bound"


@pytest.mark.slow
def test_the_truth_lies_where_the_answers_say_over_the_whole_catalogue():
    """Results that rest on a bound, from what they rest on; and one of the inputs from such a result."""
    random = Random(20261123)
    ends: Counter[str | None] = Counter()
    for state in islice(states(random), 60):
        made = {row.defines: row for row in state.rows if row.defines and row.sense == "="}
        inputs = state.values.keys() - made.keys()
        world = slack(tuple(made.values()), {name: state.values[name] for name in inputs}, random)
        if any(row.violated(world) for row in made.values()):
            continue
        resting = {name: rests(name, made) for name in made}
        bounded = sorted(name for name, names in resting.items() if any(made[one].direction for one in (names | {name}) & made.keys()))
        for result in random.sample(bounded, min(len(bounded), 6)):
            inputs_of_it = sorted(resting[result] & inputs)
            for unknown in (result, random.choice(inputs_of_it)):
                given = {name: world[name] for name in (*inputs_of_it, result) if name != unknown}
                known = with_untrue_defaults(unknown, given, world, state.made)
                limits = {name: quantity(name).limits() for name in known}
                if not all(value == 0 or limits[name][0] <= value <= limits[name][1] for name, value in known.items()):
                    continue
                solution, _ = answer_with_way(question(unknown, known, Switches(using=state.using, variants=state.variants, anyway=True)))
                instead = any("follows from the givens" in one for one in solution.assumptions)
                if [one.kind for one in solution.answers] == ["point"] and not instead:
                    assert not wrong(solution.answers[0], world[unknown]), (unknown, known, solution)
                    ends[solution.answers[0].bound] += 1
    assert ends[LOWER] > 5 and ends[UPPER] > 5, ends


def rests(name: str, made: Mapping[str, Equation]) -> set[str]:
    """All that a quantity is made of, down to what nothing makes."""
    found: set[str] = set()
    queue = [name]
    while queue:
        row = made.get(queue.pop())
        new = (row.inputs if row else set()) - found
        found |= new
        queue += sorted(new)
    return found


# -- at the values at hand ------------------------------------------------------------------------------------------

SERVED = {"model": "Llama-3-70B", "hardware": "H200:fp8", "chips": 16, "batch": 64, "context_length": 20000, "bytes_per_element": 1}
DRAFTED = {**SERVED, "acceptance_rate": 0.7, "draft_cost_ratio": 0.1}


def bounds(solution: Solution) -> list[str | None]:
    return [one.bound for one in solution.answers]


def test_every_root_has_its_own_direction():
    """A rate of a few drafts and of many is reached or surpassed in between, as drafts first speed a step up and then slow it down."""
    rate = solve("throughput", draft_tokens=3, anyway=True, **DRAFTED).answers[0].value
    solution = solve("draft_tokens", throughput=rate, anyway=True, **DRAFTED)
    few, many = solution.answers
    assert (few.bound, many.bound) == (LOWER, UPPER)
    between = solve("throughput", draft_tokens=(few.value + many.value) / 2, anyway=True, **DRAFTED).answers[0].value
    beyond = solve("throughput", draft_tokens=2 * many.value, anyway=True, **DRAFTED).answers[0].value
    assert between > rate > beyond
    assert "or more" in render(solution, "table") and "or less" in render(solution, "table")
    assert [row["bound"] for row in DictReader(StringIO(render(solution, "csv")))] == [LOWER, UPPER]
    assert [one["bound"] for one in loads(render(solution, "json"))["answers"]] == [LOWER, UPPER]


# -- ideals that stand by default -----------------------------------------------------------------------------------


def test_ideals_are_the_defaults_that_they_bound():
    for name, bound in IDEALS.items():
        default, row = NEUTRAL_DEFAULTS[name], quantity(name)
        assert default == row.ceiling if bound == UPPER else default <= row.low, name
