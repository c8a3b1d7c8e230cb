"""Sheets in, inferences out: the one place that runs the rooms in order."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import date
from functools import partial
from math import exp
from pathlib import Path
from typing import TextIO

from derive.briefly import Records
from derive.catalogue import equation
from derive.characters import is_same
from derive.errors import BacksolveError, UnknownName, WrongData, WrongValue
from derive.shipped import one_reading, refuse_bad
from invert.anchors import ALLOWED, ASSUMED_ACTIVE_PARAMS, common_anchors, given_anchors, held_beliefs
from invert.estimators import estimates, lecture
from invert.estimators.at_rent import MEANS
from invert.estimators.calibration import learn
from invert.estimators.cases import Case, broken_by, case_of, kv_estimates
from invert.estimators.joint_point import memory_bound_base_cost, rule_solutions
from invert.estimators.readings import implied_drain_time, known_cache, read_pair, tiers_of_lifetimes
from invert.identifiability import identified
from invert.posterior.summary import QUANTITIES, Summary, contracted, prior_spreads, summarise
from invert.priors import Beliefs
from invert.records import (
    Anchors,
    BandPair,
    Contraction,
    Estimate,
    KnownCache,
    LeftOut,
    Observables,
    PairInference,
    PriceSheet,
    PricingRules,
    Reading,
    Swing,
    TierEvidence,
    TierReading,
    TierRules,
    Worth,
)  # fmt: skip
from invert.result import Inference
from invert.sensitivity import convention, probabilities_by_cost, swings_of_calibrated, swings_of_common_markup
from invert.sheets.assemble import NotBegun, find, models, not_begun, places, sheets, with_amounts
from invert.sheets.observables import ratio
from invert.sheets.read import load, refuse_bad_rate
from invert.sheets.rows import ModelRow, PriceBook, Problem
from invert.soundness import table_problems, without
from invert.storage.tariffs import disclosed_tiers, drain_time_of, negative_controls, scoreboard
from invert.storage.tiers import storage_evidence
from invert.table import InferenceTable
from invert.worth import or_left_out, worths

POSTERIOR, HEADLINE = "common_markup", "calibrated"
"""The estimators of KV bytes whose swings are worked out; the convention is judged where the first has something to say."""
DRAIN_TIME_RULE = "cache.drain_time_rule"
STORED_SPREAD = 0.35
"""Of known KV bytes, in nats: the data type of the cache is not."""


@one_reading
def infer(
    names: str | Iterable[str] = (),
    *,
    prices: str | Path | TextIO | None = None,
    provider: str | None = None,
    tier: str | None = None,
    as_of: date | None = None,
    everything: bool = False,
    anchors: Mapping[str, float | str] | None = None,
    changes: Mapping[str, str] | None = None,
    executor: Executor | None = None,
) -> InferenceTable:
    """What every chosen price sheet implies, on one set of anchors.

    Without names all current sheets of the default tier; `prices` is laid over the shipped ones, `changes` are
    amounts to put into the chosen sheets, `anchors` outside facts to replace. Raises `UnknownName` for a model,
    provider, component or anchor that does not exist and `WrongData` for a file that cannot be read.

    >>> table = infer(["gemini-3.1-pro"])
    >>> round(table.inferences[0].pairs[0].lecture.values["kv_bytes_per_token"], 1)
    1666.7
    """
    given = given_anchors(anchors or {})
    common = common_anchors(given)
    book, known = load(prices), models()
    offered, faults = sheets(book, as_of, tier or "", everything)
    problems = [*book.problems, *faults, *table_problems(book)]
    day = as_of or book.newest_retrieved
    later, own_later = not_begun(book, day) if day else ({}, {})
    try:
        chosen, notes = _chosen((names,) if isinstance(names, str) else tuple(names), provider, offered, known, book, later, own_later)
    except (UnknownName, NotBegun) as error:
        # A row that could not be read may be why the name is not known.
        raise WrongData(f"{error}\n{problems[0]}") if problems else error from None
    notes = [*notes, *without()]
    if changes:
        chosen = [_changed(sheet, changes) for sheet in chosen]
    rows = {(row.provider, row.model): row for row in known}
    held = held_beliefs(common, given)
    read = []
    for sheet in chosen:
        try:
            if (sheet.provider, sheet.model) not in rows:
                refuse_bad("models", provider=sheet.provider, model=sheet.model)
            for currency in sorted({price.currency for price in places(sheet).values()} - {"USD"}):
                refuse_bad_rate(currency, sheet.as_of)
            read.append(case_of(sheet, rows.get((sheet.provider, sheet.model)), common, given, held))
        except (WrongData, WrongValue) as error:
            problems.append(_problem(sheet, error))
    evidence = [one.evidence for one in read]
    found, priors = summarise(evidence, held, executor=executor), prior_spreads(evidence, held, QUANTITIES)
    worth, inferences = worths((one.architecture for one in read), given), []
    for one, summary, prior in zip(read, found, priors, strict=True):
        try:
            inferences.append(_concluded(one, summary, prior, held, given, worth[one.architecture]))
        except (WrongData, WrongValue) as error:
            problems.append(_problem(one.sheet, error))
    premiums = _premiums(offered)
    inferences = _with_conventions(inferences, premiums, held)
    newest = book.newest_retrieved
    if book.day_moved and not as_of:
        notes = [*notes, book.day_moved]
    if as_of and newest and as_of > newest:
        notes = [*notes, f"the newest prices here were read on {newest}: what holds on {as_of} is not known"]
    return InferenceTable(
        inferences=Records(inferences),
        as_of=as_of or newest,
        anchors=common,
        held=held,
        premiums=premiums,
        problems=tuple(dict.fromkeys(problems)),
        notes=tuple(notes),
        changes=dict(changes or {}),
        facts=ALLOWED,
        assumed_active_params=ASSUMED_ACTIVE_PARAMS,
        mean_contexts={name: held[name].at(0.0) for name in MEANS if held[name].ends},
        drain_times={device: or_left_out(partial(_drain_times, device)) for device in ("lecture", "range")},
        tier_rules=or_left_out(_tier_rules),
        negative_controls=or_left_out(negative_controls),
    )


def _problem(sheet: PriceSheet, error: BacksolveError) -> Problem:
    return Problem(f"{sheet.provider}/{sheet.model}", None, None, str(error))


def _premiums(offered: Iterable[PriceSheet]) -> tuple[tuple[str, float, float], ...]:
    """Provider, premium in and premium out over the first threshold of every sheet, each pair of a provider once."""
    sold = {
        (sheet.provider, ratio(sheet.bands[1].input, sheet.bands[0].input), ratio(sheet.bands[1].output, sheet.bands[0].output)): None
        for sheet in offered
        if len(sheet.bands) > 1
    }
    return tuple(sold)


def _chosen(
    names: tuple[str, ...],
    provider: str | None,
    offered: list[PriceSheet],
    known: list[ModelRow],
    book: PriceBook,
    later: Mapping[tuple[str, str], str],
    own_later: Mapping[tuple[str, str], str],
) -> tuple[list[PriceSheet], list[str]]:
    if provider is not None:
        providers = sorted({sheet.provider for sheet in offered})
        offered = [sheet for sheet in offered if is_same(sheet.provider, provider)]
        own_later = {pair: said for pair, said in own_later.items() if is_same(pair[0], provider)}
        to_come = [said for pair, said in later.items() if is_same(pair[0], provider)]
        if not offered and to_come:
            raise NotBegun(_together(to_come))
        if not offered:
            raise UnknownName("provider", provider, providers)
    ever = dict.fromkeys((row.provider, row.model) for row in book.rows)
    chosen, notes = find(names, offered, known, list(ever), later) if names else (offered, [])
    meant = {(sheet.provider, sheet.model) for sheet in chosen}
    said = [said for pair, said in own_later.items() if not names or pair in meant]
    return chosen, [*notes, *([_together(said)] if said else [])]


def _together(said: list[str]) -> str:
    """What is said of several models, in one line: that of the first, and of how many more."""
    return said[0] + (f" (and {len(said) - 1} more model{'s' if len(said) > 2 else ''} with prices that begin later)" if said[1:] else "")


def _changed(sheet: PriceSheet, changes: Mapping[str, str]) -> PriceSheet:
    try:
        return with_amounts(sheet, changes)
    except BacksolveError as error:
        raise WrongValue(f"{sheet.provider}/{sheet.model}: {error}") from error


def _drain_times(device: str) -> dict[str, float]:
    return dict(lecture.drain_times(device))


def _tier_rules() -> TierRules:
    """The lecture's rule for tiers, and the score of every rule with the KV bytes of the reference class."""
    rule, usual = equation(DRAIN_TIME_RULE), learn().reference
    return TierRules(rule.reference, rule.kind, scoreboard((exp(usual.mean), usual.predictive_sd)))


def _concluded(
    read: Case, summary: Summary, prior: Mapping[str, float], held: Beliefs, given: Mapping[str, float], worth: Worth | LeftOut
) -> Inference:
    """Everything one sheet implies, from its reading and its posterior, but for what takes all sheets together."""
    sheet, seen, anchors = read.sheet, read.seen, read.anchors
    pairs = tuple(read_pair(sheet, seen, index, anchors.values) for index in range(len(seen.pairs)))
    known = known_cache(read.model)
    broken = broken_by(read, pairs, given)
    kv_bytes = kv_estimates(read, pairs, summary, prior, held, given)
    found = {"bandwidth_bound_fraction": estimates.bandwidth_bound_fraction(seen.output_input_ratio)}
    found |= estimates.posterior_estimates(summary, prior, broken, estimates.posterior_anchors(read.evidence))
    price, output = read.storage_price, sheet.bands[0].output.usd_per_token
    drain = drain_time_of(seen.pairs[0], output, price) if seen.pairs and price else None
    tiers, storage, no_storage = _storage_or_why(read, drain, known, given.get("kv_bytes_per_token"))
    if drain:
        found["implied_drain_time"] = estimates.implied_drain_time(drain)
    if price and price.value > 0:
        found["kv_bytes_per_token_stored"] = estimates.kv_bytes_stored(price)
    bandwidth_bound, drained = lecture.bandwidth_bound_fraction(seen.output_input_ratio.value), implied_drain_time(sheet, seen, price)
    firm = pairs and not broken and kv_bytes[POSTERIOR].kind == "interval"
    return Inference(
        sheet=sheet,
        model=read.model,
        observables=seen,
        anchors=anchors,
        bandwidth_bound=bandwidth_bound,
        pairs=pairs,
        rules=_rules(pairs[0].pair, anchors.values, read.max_context) if pairs else None,
        tiers=tiers,
        implied_drain_time=drained,
        known=known,
        evidence=read.evidence,
        summary=summary,
        contractions=_contractions(summary, prior),
        kv_bytes=kv_bytes,
        estimates=found,
        worth=worth,
        swings=_swings(read, held) if firm else None,
        convention=None,
        identifiability=identified(read.evidence.cells, seen.contexts, anchors.values, pairs[0].joint.values if pairs else {}),
        storage=storage,
        tariffs=read.tariffs,
        equations=_equations(pairs[:1], (bandwidth_bound, drained), (*kv_bytes.values(), *found.values()), bool(tiers)),
        contradiction=broken,
        flags=(*_flags(sheet, seen, anchors, pairs, known, {**kv_bytes, **found}), *(["storage left out"] if no_storage else [])),
        no_storage=no_storage,
    )


def _rules(pair: BandPair, anchors: Mapping[str, float], max_context: int | None) -> PricingRules:
    return PricingRules(rule_solutions(pair, anchors, max_context), memory_bound_base_cost(pair, anchors))


def _contractions(summary: Summary, prior: Mapping[str, float]) -> dict[str, Contraction]:
    """How much of what was open before the prices were seen they leave open, by quantity."""
    spreads = {name: marginal.spread for name, marginal in summary.marginals.items()}
    return {name: Contraction(prior[name], spread, contracted(spread, prior[name])) for name, spread in spreads.items()}


def _swings(read: Case, held: Beliefs) -> dict[str, tuple[Swing, ...] | LeftOut]:
    """What would change KV bytes, by estimator."""
    return {
        POSTERIOR: or_left_out(lambda: swings_of_common_markup(read.evidence, held)),
        HEADLINE: or_left_out(lambda: swings_of_calibrated(read.evidence, held, read.architecture)),
    }


def _with_conventions(inferences: list[Inference], premiums: Sequence[tuple[str, float, float]], held: Beliefs) -> list[Inference]:
    """The inferences, those that have one mark-up for their premiums with how likely it makes them."""
    asked = [
        place
        for place, one in enumerate(inferences)
        if one.pairs and not one.contradiction and one.kv_bytes[POSTERIOR].kind in ("interval", "given")
    ]
    of = [inferences[place] for place in asked]
    by_cost = probabilities_by_cost([one.evidence for one in of], [one.summary.log_evidence for one in of], held)
    found = list(inferences)
    for place, one, probability in zip(asked, of, by_cost, strict=True):
        pair = one.pairs[0].pair
        others = [(premium_in, premium_out) for provider, premium_in, premium_out in premiums if provider != one.sheet.provider]
        if probability is not None:
            found[place] = replace(one, convention=convention((pair.premium_in.value, pair.premium_out.value), probability, others))
    return found


def _equations(
    pairs: Sequence[PairInference], readings: Sequence[Reading | None], estimates: Sequence[Estimate], tiers: bool
) -> tuple[str, ...]:
    """Every equation that the readings and estimates of a sheet rest on, as id@version, in order."""
    read = [*(reading for pair in pairs for reading in (pair.lecture, pair.joint)), *readings]
    used = [id for reading in read if reading and reading.values for id in reading.solution.equations]
    used += [id for estimate in estimates for id in estimate.equations]
    return tuple(dict.fromkeys([*used, *([equation(DRAIN_TIME_RULE).reference] if tiers else [])]))


def _storage_or_why(
    read: Case, drain: tuple[float, float] | None, known: KnownCache | None, given: float | None
) -> tuple[tuple[TierReading, ...], tuple[TierEvidence, ...], str | None]:
    """Tiers by the lecture's rule and by prices; or neither, and which row of the tables they rest on cannot be used."""
    try:
        return tiers_of_lifetimes(read.sheet, read.seen), _storage(read, drain, known, given), None
    except WrongData as error:
        return (), (), str(error)


def _storage(
    read: Case, drain: tuple[float, float] | None, known: KnownCache | None, given: float | None
) -> tuple[TierEvidence, ...]:
    """The tier of each lifetime sold, and of a storage price.

    KV bytes are those given, which decode reads, else those of the architecture, else those of the reference class.
    """
    lifetimes: list[int | None] = [ttl for ttl, _ in read.seen.cache_write_premiums if ttl]
    if read.seen.storage_price:
        lifetimes.append(None)
    stored = known and known.stored
    if given:
        stored = given * known.stored / known.read if known else given
    kv = (stored, STORED_SPREAD) if stored else _usual_kv(read.architecture)
    price = read.storage_price
    return storage_evidence(
        lifetimes,
        storage_price=price.value if price else None,
        implied_drain_time=drain,
        kv_bytes=kv,
        disclosed=disclosed_tiers(read.sheet.provider, read.sheet.model, lifetimes),
    )


def _usual_kv(architecture: str | None) -> tuple[float, float] | None:
    """KV bytes of the reference class, median [byte/token] and spread [nat]; None where too few of its rows can be used."""
    try:
        usual = learn(architecture).reference
    except WrongData:
        return None
    return exp(usual.mean), usual.predictive_sd


def _flags(
    sheet: PriceSheet,
    seen: Observables,
    anchors: Anchors,
    pairs: tuple[PairInference, ...],
    known: KnownCache | None,
    found: Mapping[str, Estimate],
) -> tuple[str, ...]:
    """What a reader must know before using the row, in a few words each."""
    flags = []
    if pairs and anchors.origin["active_params"] == "assumed":
        flags.append("active_params assumed")
    if not pairs:
        flags.append("one band")
    elif len(pairs) > 1:
        flags.append(f"{len(pairs) + 1} bands, first pair shown")
    if seen.output_input_ratio.value <= 1:
        flags.append("output not above input")
    if known:
        flags.append("architecture known" if known.grade == "verified" else f"architecture {known.grade}")
    if found["calibrated"].kind == "given":
        flags.append("KV given")
    if found["calibrated"].prior_dominated:
        flags.append("KV PRIOR-DOMINATED")
    if found["balance_context"].kind == "undetermined":
        flags.append("inconsistent")
    currencies = sorted({price.currency for price in places(sheet).values()})
    if currencies != ["USD"]:
        flags.append(f"priced in {' and '.join(currencies)}")
    if not sheet.start_known:
        flags.append("start not known")
    if sheet.service_tier != "standard":
        flags.append(sheet.service_tier.replace("_", "-"))
    return tuple(flags)
