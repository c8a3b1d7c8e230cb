"""The scoreboard: the readings compared with known values, section by section, as rows of numbers."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.resources import files
from math import log
from statistics import fmean, stdev

from derive.catalogue import equation
from derive.errors import UnknownName, WrongData
from derive.immutable import immutable
from derive.preset_rows import Efficiency
from derive.solving.api import solve
from derive.tables.cells import read_date
from derive.tables.lines import BadRow, Problem
from derive.tables.questions import read_givens
from derive.tables.shipped import in_si
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data, read_data
from invert.estimate_text import KV_NAMES, kv_heading, round_digits
from invert.estimators import known, panel, premium, size
from invert.estimators.cases import production_figure, rental
from invert.estimators.other_prices import params_times_price_cost
from invert.estimators.premium import ONE_TOKEN_MORE, Member, weighted_line
from invert.estimators.size import IN_WORDS, knowledge_forms, passes_gate
from invert.estimators.typical_kv import READ_OR_STORED, record_of_typical_kv, usual_stored
from invert.records import Record
from invert.sheets.assemble import models, sheets_that_ship
from invert.sheets.read import book_of, last_day
from invert.sheets.rows import HostPrice
from invert.storage.tariffs import scoreboard
from invert.validation import candidates
from invert.validation.algebra import algebra_problems, algebra_rows
from invert.validation.candidates import CANDIDATES, single_band_rows
from invert.validation.claim_rows import Claim, WorkedProblem
from invert.validation.claims import checked_rows, not_borne, price_facts
from invert.validation.efficiency import efficiency_rows
from invert.validation.experiments import experiment_rows, round_nats
from invert.validation.simulation import POOLED, RANKED, RankRow
from invert.validation.soundness import table_problems

ScoreRow = dict[str, object]
_NEGATIVE_CONTROLS = 20
"""Number of shuffles of prices among models."""
_POOL_DIGITS = 3
"""Digits of the gain of pools, which is small."""
MODELS_LEFT_OUT = "models left out"
"""Population of a calibration without simulated sheets."""
_RECORDED = "calibration_run.csv"
"""The last long run of `backsolve validate --section calibration --rerun`."""


def section_rows(section: str, data: Data | None = None) -> list[ScoreRow]:
    """Return the rows of one section, by default on the current tables. Raises `UnknownName` for an unknown section."""
    if section not in _SECTIONS:
        raise UnknownName("section", section, _SECTIONS)
    return _SECTIONS[section](data or read_data())


def sections(names: Iterable[str], starting: Callable[[str], object] = lambda _: None) -> tuple[dict[str, list[ScoreRow]], list[Problem]]:
    """Return the rows of the sections, all from one reading, the verdicts of claims and problems that contradict their figures, and the
    chapters whose closed forms differ from those of SymPy.

    Raise BadRow with everything that is wrong with the tables.
    """
    names, data = tuple(names), read_data()
    book = book_of(data)
    if {*names} - {"calibration", "algebra"} and (wrong := (*book.far_off, *table_problems(book, data, USUAL))):
        raise BadRow(*wrong)
    found: dict[str, list[ScoreRow]] = {}
    for name in names:
        starting(name)
        found[name] = section_rows(name, data)
    judged = (record for record in (Claim, WorkedProblem) if record.TABLE in found)
    contradicted = [problem for record in judged for problem in not_borne(data.tables.rows_of(record), found[record.TABLE])]
    return found, [*contradicted, *algebra_problems(found.get("algebra", ()))]


def known_models(data: Data, assumptions: Assumptions = USUAL) -> list[ScoreRow]:
    """Return printed KV estimates over the true cache for each model of known cache, and the bias.

    A ratio of 1 is exact. bias and sd are of its natural log. The columns are the medians of the printed estimators, and of attention
    FLOPs from input prices.

    >>> rows = known_models(read_data())
    >>> [rows[-2][name] for name in ("KV from premium at cost", "KV from all prices")]
    [-0.73, -3.85]
    """
    rows = known.judged(data, assumptions)
    readings: dict[str, Callable[[known.Judged], float | None]] = {
        kv_heading(name): partial(known.Judged.ratio, estimator=name) for name in KV_NAMES
    } | {"attention from input increments": lambda one: attention_ratio(data, one.member, assumptions)}
    found: list[ScoreRow] = [
        {
            "model": one.member.architecture,
            "KV bytes": round(one.member.kv_bytes_per_token),
            **{name: round_digits(reading(one), 3) for name, reading in readings.items()},
            "base price/cost": round_digits(base_price_over_cost(data, one.member, assumptions), 3),
        }
        for one in rows
    ]
    logs = {name: [log(ratio) for one in rows if (ratio := reading(one))] for name, reading in readings.items()}
    for label, of in (("bias (nats)", fmean), ("sd (nats)", stdev)):
        figures = {name: round(of(values), 2) if len(values) > 1 else None for name, values in logs.items()}
        found.append({"model": label, "KV bytes": None, **figures, "base price/cost": None})
    return found


def attention_ratio(data: Data, member: Member, assumptions: Assumptions) -> float | None:
    """Return the attention FLOPs from the input increment at rental cost, over the true ones, or None if either is missing."""
    _, slope = input_line(member)
    if slope <= 0 or not member.attention_flops_per_pair:
        return None
    given = {**rental(data, assumptions).values, **ONE_TOKEN_MORE, "input_increment": slope}
    return float(equation("bands.attention_flops_from_increment").right_side(given)) / member.attention_flops_per_pair


def base_price_over_cost(data: Data, member: Member, assumptions: Assumptions) -> float | None:
    """Return the input price at no context over the cost of a prompt token, or None if the parameters are unknown."""
    if not member.active_params:
        return None
    return params_times_price_cost(input_line(member)[0], data, assumptions) / member.active_params


def input_line(member: Member) -> tuple[float, float]:
    """Return the input price as a line in the context: at no context [USD/token], and its slope [USD/token per token]."""
    bands = member.case.sheet.bands
    at_none, slope = weighted_line(member.case.observables.contexts, [band.input.usd_per_token for band in bands])
    return float(at_none), float(slope)


def skill(data: Data, assumptions: Assumptions = USUAL) -> list[ScoreRow]:
    """Return the record of every printed estimator on unseen models, and the gain of each candidate over the typical KV.

    Gains are in mean log density over the baseline [nat], with equal weight per family for KV bytes. The gain of a candidate is the gain of
    its prediction alone. It is used in the estimate if its pool with the baseline gains more than one standard error, with families left
    out and on later releases. The left-out part is the family of a model, its vendor, all later releases, or the model alone.
    """
    of_estimators = [_skill(one, assumptions) for one in scored(data, assumptions)]
    # A control: the gain of the best fit on prices shuffled among models must be about 0.
    found = [size.shuffled_record(data, size.ANY, seed, assumptions) for seed in range(_NEGATIVE_CONTROLS)]
    shuffled = [one for one in found if one]
    control = {"estimate": f"active, {len(shuffled)} shuffles", "left out": "family", "models": shuffled[0].count}
    control |= {"families": shuffled[0].groups, "gain": round_nats(fmean(one.gain for one in shuffled))}
    return [*of_estimators, *_candidates(data, assumptions), {**dict.fromkeys(SKILL), **control}]


@immutable
class Scored:
    """An estimator with its record: `left_out` describes the unseen part, `baseline` what it is compared with, or "" without a verdict."""

    estimate: str
    left_out: str
    record: Record
    baseline: str


@cache_with_data
def scored(data: Data, assumptions: Assumptions = USUAL) -> tuple[Scored, ...]:
    """Return every printed estimator that has a record on unseen models."""
    rows = known.judged(data, assumptions)
    by_baseline = partial(Scored, baseline="the typical KV", left_out="family")
    found = [
        by_baseline(estimate=kv_heading(name), record=one)
        for name, one in known.records(rows, data, assumptions).items()
        if name != "typical"
    ]
    found += [
        Scored(estimate=quantity.replace("_", " "), left_out="family", record=one, baseline="the result of the other families")
        for quantity, one in known.records_beside(rows, assumptions).items()
    ]
    if of_storage_price := known.record_of_storage_price(data, assumptions):
        found.append(by_baseline(estimate="KV stored by storage price", record=of_storage_price))
    found += [
        Scored(estimate=f"KV {of}", left_out="later", record=one, baseline="all earlier models alike")
        for of in READ_OR_STORED
        if (one := record_of_typical_kv(data, of, assumptions))
    ]
    return (*found, *_scored_sizes(data, assumptions))


def _skill(scored: Scored, assumptions: Assumptions) -> ScoreRow:
    one = scored.record
    shares = {
        f"in {found.level:.0%}{end}": round(value, 2)
        for found in one.coverage
        for end, value in (("", found.share), (", low", found.low), (", high", found.high))
    }
    low, high = one.interval
    return {
        **dict.fromkeys(SKILL),
        **{"estimate": scored.estimate, "left out": scored.left_out, "models": one.count, "families": one.groups},
        **{"rms": round(one.rms, 2), "class": round(one.rms_of_baseline, 2), "gain": round_nats(one.gain)},
        **{"standard error": round_nats(one.standard_error), "gain, low": round_nats(low), "gain, high": round_nats(high), **shares},
        **{"right": one.coverage[-1].right, "verdict": judge_record(one, scored.baseline, assumptions) if scored.baseline else None},
    }


def _candidates(data: Data, assumptions: Assumptions) -> list[ScoreRow]:
    """Return for each candidate its gain alone, the gain of its pool with the baseline, and the weight after the gate."""
    found = {("premium", "family"): premium.verdict_on_premium(data, assumptions), **candidates.verdicts(data, assumptions)}
    return [
        {
            **dict.fromkeys(SKILL),
            **{"estimate": f"KV {CANDIDATES.get(name, 'read')}, {name}", "left out": left_out},
            **{"models": one.count, "families": one.families},
            **{"gain": round_nats(one.by_price - one.by_baseline), "pool gain": round_nats(one.gain_of_pool, _POOL_DIGITS)},
            **{"pool gain, standard error": round_nats(one.standard_error, _POOL_DIGITS), "weight": one.weight},
        }
        for (name, left_out), one in found.items()
        if one
    ]


_SIZE_FITS: tuple[tuple[str, size.SizeForm, tuple[size.LeftOut, ...]], ...] = (
    ("active, sparse, list", size.ACTIVE, ("family", "vendor", "later")),
    ("active, any, list", size.ANY, ("family", "vendor", "later")),
    ("all, sparse, list", size.TOTAL, ("family", "vendor", "later")),
    ("active, sparse, hosts", replace(size.ACTIVE, hosts=True), ("family", "vendor")),
    ("all, sparse, hosts", replace(size.TOTAL, hosts=True), ("family", "vendor")),
    ("active, closed, list", size.ACTIVE, ("closed vendor",)),
    ("all, closed, list", size.TOTAL, ("closed vendor",)),
)
"""The fits of sizes to prices by their name in the scoreboard, with what is left out in each test."""


def _scored_sizes(data: Data, assumptions: Assumptions) -> Iterator[Scored]:
    """Yield the fits of size on open models, and the printed estimates for closed models on closed models of known size."""
    of_knowledge = [(f"all, {form.benchmark}, {IN_WORDS[form.priced]}", form) for form in knowledge_forms(data, assumptions)]
    for name, form, tests in (*_SIZE_FITS, *((name, form, _KNOWLEDGE_TESTS) for name, form in of_knowledge)):
        baseline = "sizes without the score" if form.benchmark else "sizes without a price"
        printed = not form.benchmark or passes_gate(data, form, assumptions)
        for left_out in tests:
            # A test of too few models has no row. Other tests of a form and forms that are not printed have no verdict.
            with suppress(WrongData):
                one = size.size_record(data, form, left_out, assumptions)
                shown = "model" if left_out == "closed vendor" else left_out
                yield Scored(
                    estimate=name, left_out=shown, record=one, baseline=baseline if printed and shown in ("family", "model") else ""
                )


_KNOWLEDGE_TESTS: tuple[size.LeftOut, ...] = ("family", "later", "closed vendor")


SKILL = (
    "estimate", "left out", "models", "families", "rms", "class", "gain", "standard error", "gain, low", "gain, high", "in 50%",
    "in 50%, low", "in 50%, high", "in 90%", "in 90%, low", "in 90%, high", "pool gain", "pool gain, standard error", "weight",
    "right", "verdict",
)  # fmt: skip


def storage_rules(data: Data, assumptions: Assumptions = USUAL) -> list[ScoreRow]:
    """Score every tier rule and a uniform guess on the lifetimes with a disclosed tier."""
    usual = usual_stored(data, last_day(data), assumptions)
    scores = scoreboard(data, usual, assumptions) if usual else ()
    return [
        {"rule": row.rule, "mean log score": round(row.mean_log_score, 2), "right": row.right, "answered": row.answered, "cases": row.cases}
        for row in scores
    ]


def controls(data: Data, assumptions: Assumptions = USUAL) -> list[ScoreRow]:
    """List vendors with the same storage price for open models of different caches."""
    return [
        {"provider": one.provider, "price": f"{one.amount:g} {one.currency}/MTok/h", "models": len(one.models),
         "KV bytes": f"{one.kv_low:.0f} to {one.kv_high:.0f}", "ratio": round(one.ratio, 1)}
        for one in known.negative_controls(data, assumptions)
    ]  # fmt: skip


def production(data: Data) -> list[ScoreRow]:
    """Compare the nodes that DeepSeek's daily tokens and rates per node imply with the reported nodes."""
    nodes = []
    for tokens, rate in (("input_tokens_per_day", "prefill_throughput_per_node"), ("output_tokens_per_day", "decode_throughput_per_node")):
        figures = (production_figure(data.tables, name) for name in (tokens, rate))
        of_all, of_one = (in_si("throughput", value, row.unit) for value, row in figures)
        nodes.append(solve("replicas", fleet_throughput=of_all, throughput=of_one).value)
    said, _ = production_figure(data.tables, "nodes")
    return [{
        "quantity": "nodes of a day", "for prefill": round(nodes[0], 1), "for decode": round(nodes[1], 1),
        "computed": round(sum(nodes), 1), "disclosed": said, "off by": f"{sum(nodes) / said - 1:+.2%}",
    }]  # fmt: skip


def claims(data: Data, assumptions: Assumptions = USUAL) -> list[ScoreRow]:
    """Compare claims of the lecture, or attributed to it, with the results of equations and tables."""
    rows = data.tables.rows_of(Claim)
    days = {read_date(named["sheet"].partition("@")[2]) for row in rows if "sheet" in (named := read_givens(row.givens).rows)}
    facts = price_facts([one for day in days for one in sheets_that_ship(data, day)], models(data), assumptions)
    return checked_rows(rows, facts, data.tables)


def recorded_calibration(data: Data, assumptions: Assumptions = USUAL) -> list[ScoreRow]:
    """Compare the coverage of ranges with their level, with a verdict on each.

    First comes the last simulation-based calibration (truths drawn from the priors, pooled over shapes), then every estimator on
    unseen models.
    """
    recorded = files("invert.posterior").joinpath(_RECORDED).read_text(encoding="utf-8")
    of_estimators: list[ScoreRow] = [
        {
            **{"run": MODELS_LEFT_OUT, "quantity": one.estimate, "shape": one.left_out, "sheets": str(one.record.count), "simulations": ""},
            **{f"coverage_{100 * found.level:.0f}": f"{found.share:.4f}" for found in one.record.coverage},
            **{"ks_p": "", "seeds": "", "draws": "", "verdict": judge_record(one.record, one.baseline, assumptions)},
        }
        for one in scored(data, assumptions)
        if one.baseline
    ]
    return [*pooled(csv.DictReader(recorded.splitlines())), *of_estimators]


def pooled(rows: Iterable[RankRow]) -> list[ScoreRow]:
    """Return the pooled rows of a calibration run, each with a verdict."""
    return [
        {**row, "verdict": judge_ranks(float(row["coverage_90"]), float(row["ks_p"]), faulty=row["run"] != "calibrated")}
        for row in rows
        if row["shape"] == POOLED
    ]


_SECTIONS: Mapping[str, Callable[[Data], list[ScoreRow]]] = {
    "truth": known_models,
    "skill": skill,
    "single-band": lambda data: single_band_rows(panel.rows_so_far(data, HostPrice), data),
    "storage": storage_rules,
    "controls": controls,
    "production": production,
    "efficiency": lambda data: efficiency_rows(data.tables.rows_of(Efficiency)),
    "experiments": experiment_rows,
    "claims": claims,
    "problems": lambda data: checked_rows(data.tables.rows_of(WorkedProblem), {}, data.tables),
    "calibration": recorded_calibration,
    "algebra": lambda _: algebra_rows(),
}
"""The rows of each section, by its name."""

_TRUSTED, _NOT_TRUSTED = "trusted", "not trusted"


def judge_record(record: Record, class_: str, assumptions: Assumptions = USUAL) -> str:
    """Return a verdict on an estimator from its coverage on left-out models, then from its gain over `class_`.

    It is overconfident if the 90 % interval of its coverage is below the coverage that the level promises.

    >>> from invert.estimators.prediction import coverage_at
    >>> error = {"rms": 4.2, "rms_of_baseline": 1.1, "gain": -12.0, "standard_error": 3.6, "interval": (-18.0, -6.0)}
    >>> judge_record(Record(count=9, groups=6, coverage=(coverage_at(0.9, 0, 9),), **error), "typical KV")
    'not trusted: its ranges were right for 0 of 9, and at most 23% of these ranges are right, but 90% is promised'
    """
    level, errors = assumptions.level, assumptions.least_gain_in_errors
    found = record.at(level)
    if found is None:
        return f"{_NOT_TRUSTED}: no range of {level:.0%} was counted"
    told = f"its ranges were right for {found.right} of {found.count}"
    if found.high < level:
        return f"{_NOT_TRUSTED}: {told}, and at most {found.high:.0%} of these ranges are right, but {level:.0%} is promised"
    if record.gain < 0:
        return f"{_NOT_TRUSTED}: {told}, but it knows less than {class_} does, by {-record.gain:.2f} nats"
    said = "one standard error" if errors == 1 else f"{errors:g} standard errors"
    beyond = "" if record.has_skill(errors) else f", for no more than {said}"
    return f"{_TRUSTED}: {told} where {level:.0%} is promised, and it knows {record.gain:.2f} nats more than {class_}{beyond}"


def judge_ranks(coverage: float, p_value: float, faulty: bool) -> str:
    """Return a verdict on the sampler from the ranks of truths drawn from its priors, for one of the ranked quantities.

    It fails if the ranks of one quantity are less uniform than chance allows. The level is for all quantities together.
    """
    level = USUAL.level
    found_out = p_value < (1 - level) / len(RANKED)
    if faulty:
        return "detected, as intended: this control has a built-in error" if found_out else "the built-in error is not visible here"
    told = f"ranges were right in {coverage:.1%} of cases where {level:.0%} is promised"
    return f"unsound: {told}, and ranks are not uniform" if found_out else f"sound: {told}"
