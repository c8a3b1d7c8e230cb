"""The inference from sheets: this module runs every step in order."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import chain
from typing import TypedDict, Unpack

from derive.catalogue import equation
from derive.errors import BacksolveError, WrongData, WrongValue, shorten
from derive.immutable import Records, immutable
from derive.tables.lines import BadRow, Problem
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, made_with, read_data
from invert.estimate_text import KV_NAMES
from invert.estimators import known, lecture, other_prices, size
from invert.estimators.all_prices import broken_by, convention, posterior_of, probability_by_cost
from invert.estimators.cases import ASSUMED_SIZE, Case, assumptions_of, case_of, common_anchors, given_anchors, known_cache, same_weights
from invert.estimators.lecture import PairInference, tiers_of_lifetimes
from invert.estimators.other_prices import pair_fast_mode, price_cost_of_lists
from invert.estimators.premium import MEANS, learn, verdict_on_premium
from invert.estimators.typical_kv import usual_stored
from invert.records import EXTRAPOLATED, Estimate, KnownCache, Premiums, Reliability, TierEvidence, TierRules, finished_estimate
from invert.result import DRAIN_TIME_RULE, FIRST_PAIR, RELEASE_NOT_KNOWN, WEIGHTS_UNSURE, Inference, InferenceTable, Request
from invert.sheets.assemble import absence, base_inputs, choose_sheets, models, released_sheets, rows_used, sheets
from invert.sheets.diff import Difference, changes_since_release, released_prices
from invert.sheets.doubts import doubts_about
from invert.sheets.models import described, first_days, model_row_by_weights
from invert.sheets.observables import ratio, with_given_context
from invert.sheets.read import Prices, book_of, own_file
from invert.sheets.rows import FileText, ModelRow, PriceBook, PriceRow, SheetKey
from invert.sheets.sheet import PriceSheet, bands_the_wrong_way_round, with_amounts
from invert.storage.tariffs import disclosed_tiers, implied_drain_time, scoreboard, shared_tariffs, sole_source
from invert.storage.tiers import storage_evidence


def infer(
    names: str | Iterable[str] = (),
    *,
    prices: Prices | None = None,
    provider: str | Iterable[str] | None = None,
    tier: str | None = None,
    as_of: date | None = None,
    everything: bool = False,
    anchors: Mapping[str, float | str] | None = None,
    set: Mapping[str, str | float] | None = None,
    changes: Mapping[str, str] | None = None,
    executor: Executor | None = None,
    assumptions: Assumptions = USUAL,
    knowledge: str | FileText | None = None,
) -> InferenceTable:
    """Infer the estimates of every chosen price sheet, with one set of anchors.

    Without names, use all current sheets of the default tier. `prices` replaces shipped prices and adds new ones. `set` (once called
    `changes`) replaces amounts in the chosen sheets. `anchors` are outside facts that replace those of `assumptions`. Sheets dated before
    the release of their model are left out, with a note. Raises `UnknownName` for a model, provider, component or anchor that does not
    exist, `NotReleased` for a model of a later day and `WrongData` for a file that cannot be read.

    >>> table = infer(["gemini-3.1-pro"])
    >>> round(table.inferences[0].pairs[0].lecture.values["kv_bytes_per_token"], 1)
    1666.7
    """
    amounts = {name: str(value) for name, value in {**(changes or {}), **(set or {})}.items()}
    _, _, found = run_of(
        names, changes=amounts, prices=prices, provider=provider, tier=tier, as_of=as_of, everything=everything, anchors=anchors,
        executor=executor, assumptions=assumptions, knowledge=knowledge,
    )  # fmt: skip
    return found


@immutable
class Extent:
    """The parts of a run that an answer needs: the estimators of KV bytes to run, and the estimators whose record is computed.

    Without `checks_tables` the run checks only the tables that it reads.
    """

    estimators: tuple[str, ...] = tuple(KV_NAMES)
    judged: tuple[str, ...] = tuple(KV_NAMES)
    checks_tables: bool = True


_MOST_NOTES = 3
"""Maximum number of sheets with a note of their own."""

WHOLE = Extent()
"""Every part."""


class RunOptions(TypedDict, total=False):
    """Keyword options of `infer`, except changes, shared by the functions that run it."""

    prices: Prices | None
    provider: str | Iterable[str] | None
    tier: str | None
    as_of: date | None
    everything: bool
    anchors: Mapping[str, float | str] | None
    executor: Executor | None
    assumptions: Assumptions
    knowledge: str | FileText | None


def run_of(
    names: str | Iterable[str],
    extent: Extent = WHOLE,
    changes: Mapping[str, str] | None = None,
    data: Data | None = None,
    most_flagships: int = 0,
    **asked: Unpack[RunOptions],
) -> tuple[Data, PriceBook, InferenceTable]:
    """Run `infer` and return the tables, the prices and the result. Tables given as `data` are not read again.

    With `most_flagships` the sheets are those of the default table: flagships, the user's own sheets, and sheets with a price newer than
    the last release. If these are none or more than `most_flagships`, all sheets are used. The others are `not_picked`.
    """
    provider, assumptions = asked.get("provider"), asked.get("assumptions", USUAL)
    as_of = asked.get("as_of")
    if not isinstance(as_of, date | None):
        raise WrongValue(f"as_of = {shorten(str(as_of))}: a day is a date of datetime, as date(2026, 11, 20)")
    assumptions = assumptions_of(given_anchors(asked.get("anchors") or {}, assumptions), assumptions)
    scores = own_file(file) if (file := asked.get("knowledge")) else None
    if data is None:
        data = size.with_scores(read_data(), scores)
    book = book_of(data, asked.get("prices"))
    if extent.checks_tables:
        # The short report of one sheet checks only the tables that it reads, and needs none of these checks.
        from invert.validation.soundness import table_problems

        if bad := table_problems(book, data, assumptions):
            raise BadRow(*bad)
    request = Request(
        names=(names,) if isinstance(names, str) else tuple(names),
        providers=(provider,) if isinstance(provider, str) else tuple(provider or ()),
        tier=asked.get("tier") or None,
        as_of=as_of,
        everything=asked.get("everything", False),
        prices=book.overlay,
        knowledge=scores,
    )
    return data, book, _answered(data, book, request, assumptions, changes or {}, asked.get("executor"), extent, most_flagships)


def _answered(
    data: Data,
    book: PriceBook,
    request: Request,
    assumptions: Assumptions,
    changes: Mapping[str, str],
    executor: Executor | None,
    extent: Extent,
    most_flagships: int = 0,
) -> InferenceTable:
    offered = sheets(book, request.as_of, request.tier or "", request.everything)
    rows = described(offered, data)
    day = request.as_of or book.newest_retrieved
    chosen, notes = choose_sheets(request.names, request.providers, offered, rows, book, day)
    unseen = sorted({(row.provider, row.model) for row in book.own} - {(one.provider, one.model) for one in offered})
    if unseen and not (request.names or request.providers or request.tier or request.everything):
        more = f" (and {len(unseen) - 1} more of these prices)" if unseen[1:] else ""
        notes = [*dict.fromkeys([*notes, f"{absence(book, day, '/'.join(unseen[0]), unseen[:1])}{more}"])]
    first = first_days(offered, book, data)
    every, left_out = released_sheets(chosen, rows, first, named=bool(request.names))
    offered, _ = released_sheets(offered, rows, first)
    notes += left_out
    new = changes_since_release(data, day)
    chosen = published = _pick_flagships(every, rows, (*new, *book.own), most_flagships)
    if changes:
        chosen = [_change_prices(sheet, changes) for sheet in published]
        notes += _notes_on_bands(chosen)
    inferences, problems = infer_sheets(chosen, data, assumptions, executor, extent)
    before, _ = infer_sheets(published if changes else (), data, assumptions, executor, extent)
    premiums, of_day = premiums_of(offered), base_inputs(book, day)
    inferences, before = (complete_inferences(found, premiums, of_day, data, assumptions) for found in (inferences, before))
    notes += [*(() if request.as_of else book.notes_on_day), *note_on_unread_day(book, request.as_of)]
    return InferenceTable(
        inferences=Records(inferences),
        as_of=day,
        anchors=common_anchors(assumptions),
        assumptions=assumptions,
        premiums=premiums,
        premium_verdict=verdict_on_premium(data, assumptions),
        price_cost_of_lists=price_cost_of_lists(data, assumptions),
        problems=tuple(dict.fromkeys(problems)),
        notes=tuple(notes),
        changes=dict(changes),
        mean_contexts={name: assumptions.priors[name].at(0.0) for name in MEANS if assumptions.priors[name].ends},
        drain_times={device: lecture.drain_times(data, device) for device in ("lecture", "range")},
        tier_rules=_tier_rules(data, day, assumptions),
        negative_controls=known.negative_controls(data, assumptions),
        shared_tariffs=shared_tariffs(offered),
        base_inputs=of_day,
        of_other_days=len({row.sheet_key for row in book.rows}) - len(of_day),
        request=request,
        rows=Records(rows_used(chosen, book)),
        made=made_with(data),
        lecture_error=known.error_of_lecture(data, assumptions),
        # The prices of a release are checked already.
        doubts=doubts_about((sheet.key for sheet in chosen), book, assumptions) if book.own or released_prices(data) else (),
        since_release=new,
        before={one.key: one for one in before},
        not_picked=frozenset(sheet.key for sheet in every) - frozenset(sheet.key for sheet in chosen),
    )


def _pick_flagships(
    chosen: list[PriceSheet], models: Iterable[ModelRow], new: Iterable[Difference | PriceRow], most: int
) -> list[PriceSheet]:
    """Return the sheets of flagships and of models with new prices, or all sheets if these are zero or more than the most."""
    names = {one.sheet_key[:2] for one in new} | {(row.provider, row.model) for row in models if row.flagship}
    flagships = [sheet for sheet in chosen if sheet.key[:2] in names]
    return flagships if 0 < len(flagships) <= most else chosen


def _notes_on_bands(sheets: Iterable[PriceSheet]) -> list[str]:
    """Return a note for some of the long prices that are below the base price after a change, and the number of the others."""
    turned = dict.fromkeys(f"{one.provider}/{one.model}: {fault}" for one in sheets for fault in bands_the_wrong_way_round(one))
    notes = [f"{fault}. The long price is now below the base price. Set both" for fault in turned]
    more = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], *([f"{more} more long prices are below the base price"] if more > 0 else [])]


def note_on_unread_day(book: PriceBook, day: date | None) -> tuple[str, ...]:
    """Return a note if a day is after the newest retrieval of a price."""
    newest = book.newest_retrieved
    return (f"the newest prices here were read on {newest}: what holds on {day} is not known",) if day and day > newest else ()


def infer_sheets(
    chosen: Iterable[PriceSheet], data: Data, assumptions: Assumptions, executor: Executor | None = None, extent: Extent = WHOLE
) -> tuple[list[Inference], list[Problem]]:
    """Infer each sheet alone, and return the problems of sheets without a result.

    Inferences are cached with the data by sheet and model: a second run computes only the differences.
    """
    read, problems = _read(chosen, data, assumptions)
    judged = tuple(name for name in extent.judged if name in extent.estimators)
    # The sheet is dated at the day of its baseline. If the release is known, later days give the same result.
    dated = [replace(one.sheet, as_of=one.day if one.released else one.sheet.as_of, start_known=True) for one in read]
    keys = [(infer_sheets, sheet, one.model, assumptions, extent.estimators, judged) for sheet, one in zip(dated, read, strict=True)]
    found = {key: data.known[key] for key in keys if key in data.known}
    new = {key: one for key, one in zip(keys, read, strict=True) if key not in found}
    reliability = known.reliabilities((one.architecture for one in read), data, assumptions, judged)
    cases = [*new.values()]
    batches = [cases[start : start + _BATCH] for start in range(0, len(cases), _BATCH)]
    work = partial(_infer_cases, data=data, assumptions=assumptions, reliability=reliability, names=extent.estimators)
    inferred = chain.from_iterable(executor.map(work, batches) if executor and len(batches) > 1 else map(work, batches))
    found |= zip(new, inferred, strict=True)
    completed = []
    for key, one in zip(keys, read, strict=True):
        if isinstance(inference := found[key], Inference):
            data.keep(key, inference)
            flags = inference.flags if one.sheet.start_known else (*inference.flags, "start not known")
            completed.append(replace(inference, sheet=one.sheet, flags=flags))
        else:
            problems.append(Problem(origin=f"{one.sheet.provider}/{one.sheet.model}", message=str(inference)))
    return completed, problems


_BATCH = 64
"""Number of sheets in one task. They need about three seconds, a few times the start of a process."""


def _infer_cases(
    cases: Sequence[Case], data: Data, assumptions: Assumptions, reliability: Mapping[str | None, Reliability], names: tuple[str, ...]
) -> list[Inference | WrongData | WrongValue]:
    """Return the result or the error of each sheet."""
    found: list[Inference | WrongData | WrongValue] = []
    for one in cases:
        try:
            found.append(_conclude(one, data, assumptions, reliability[one.architecture], names))
        except (WrongData, WrongValue) as error:
            found.append(error)
    return found


def _read(chosen: Iterable[PriceSheet], data: Data, assumptions: Assumptions) -> tuple[list[Case], list[Problem]]:
    """Prepare the sheets for the estimators. Return also a problem for each sheet that fails."""
    rows = {(row.provider, row.model): row for row in models(data)}
    read, problems = [], []
    for sheet in chosen:
        try:
            model = rows.get((sheet.provider, sheet.model)) or model_row_by_weights(sheet, data)
            read.append(case_of(with_given_context(sheet, assumptions), model, data, assumptions))
        except (WrongData, WrongValue) as error:
            problems.append(Problem(origin=f"{sheet.provider}/{sheet.model}", message=str(error)))
    return read, problems


def premiums_of(offered: Iterable[PriceSheet]) -> tuple[Premiums, ...]:
    """Return the premiums above the first threshold of all sheets, each pair of a provider once."""
    sold = [
        Premiums(
            provider=sheet.provider,
            premium_in=ratio(sheet.bands[1].input, sheet.bands[0].input),
            premium_out=ratio(sheet.bands[1].output, sheet.bands[0].output),
        )
        for sheet in offered
        if len(sheet.bands) > 1
    ]
    return tuple(dict.fromkeys(sold))


def _change_prices(sheet: PriceSheet, changes: Mapping[str, str]) -> PriceSheet:
    try:
        return with_amounts(sheet, changes)
    except BacksolveError as error:
        raise WrongValue(f"{sheet.provider}/{sheet.model}: {error}") from error


def _tier_rules(data: Data, day: date, assumptions: Assumptions) -> TierRules:
    """Return the lecture's tier rule, and the score of every rule, by the typical KV bytes before the day of the prices."""
    rule, usual = equation(DRAIN_TIME_RULE), usual_stored(data, day, assumptions)
    return TierRules(rule.reference, rule.kind, scoreboard(data, usual, assumptions) if usual else ())


def _conclude(read: Case, data: Data, assumptions: Assumptions, reliability: Reliability, names: tuple[str, ...]) -> Inference:
    """Infer from one sheet alone, by its readings and its posterior."""
    pairs = tuple(PairInference(case=read, place=place) for place, _ in enumerate(read.observables.pairs))
    cache, broken = known_cache(read.model, data, assumptions), broken_by(read, assumptions)
    kv_bytes, beside = known.side_by_side(read, data, assumptions, names)
    kv_bytes["from_premium_at_cost"] = known.with_bounds(kv_bytes["from_premium_at_cost"], data, assumptions)
    by_storage = other_prices.estimate_by_storage(read, data, assumptions)
    stored = {"typical": beside.pop("kv_bytes_stored_per_token")}
    if by_price := by_storage.pop("kv_bytes_stored_per_token", None):
        stored["by_storage_price"] = replace(by_price, record=known.record_of_storage_price(data, assumptions))
    others = {
        "bandwidth_bound_fraction": lecture.bandwidth_bound(read, data, assumptions),
        "total_params_by_knowledge": size.total_params_by_knowledge(read, data, assumptions, priced=False),
        "total_params_by_price_and_knowledge": size.total_params_by_knowledge(read, data, assumptions, priced=True),
        **beside,
        **by_storage,
    }
    finish = partial(finished_estimate, assumptions=assumptions)
    kv_bytes = {name: finish("kv_bytes_per_token", one, record=reliability.records.get(name)) for name, one in kv_bytes.items()}
    # The records of other quantities are of sheets with several bands.
    found = {name: finish(name, one, record=reliability.beside.get(name) if pairs else None) for name, one in others.items()}
    price, drained = read.storage_price, None
    if pairs and price and price.value > 0:
        drained = implied_drain_time(pairs[0].pair, read.sheet.bands[0].output.usd_per_token, price.value, assumptions)
    return Inference(
        **vars(read),
        pairs=pairs,
        tiers=tiers_of_lifetimes(read, data),
        implied_drain_time=drained,
        known=cache,
        summary=posterior_of(read.price_data, data, assumptions) if "from_all_prices" in names else None,
        kv_bytes=kv_bytes,
        kv_bytes_stored={name: finish("kv_bytes_stored_per_token", one) for name, one in stored.items()},
        estimates=found,
        by_price={name: finish(name, one) for name, one in other_prices.estimate_by_input(read, data, assumptions).items()},
        reliability=reliability,
        convention=None,
        storage=_storage(read, cache, data, assumptions),
        contradiction=broken,
        flags=_flags(read, pairs, cache, {**kv_bytes, **found}),
        calibration=learn(data, read.architecture, assumptions),
    )


def complete_inferences(
    inferences: list[Inference], premiums: Sequence[Premiums], of_day: Mapping[SheetKey, float], data: Data, assumptions: Assumptions
) -> list[Inference]:
    """Add the results that need other sheets: the habit-against-cost Bayes factor of an output premium, and the fast mode.

    `of_day` are the input prices [USD/token] of all sheets of the day, in which a fast mode is looked for.
    """
    found = []
    for one in inferences:
        others, habit = [asked for asked in premiums if asked.provider != one.sheet.provider], None
        if one.pairs and one.summary and not one.contradiction and one.kv_bytes["from_all_prices"].kind in ("interval", "given"):
            by_cost = probability_by_cost(one.price_data, one.summary.log_evidence, data, assumptions)
            habit = None if by_cost is None else convention(one.pairs[0].pair, by_cost, others, assumptions)
        fast = pair_fast_mode(one.key, one.observables.output_input_ratio.value, of_day, data)
        found.append(replace(one, convention=habit, fast_mode=fast))
    return found


def _storage(read: Case, cache: KnownCache | None, data: Data, assumptions: Assumptions) -> tuple[TierEvidence, ...]:
    """Return the tier evidence of each sold lifetime, and of a storage price.

    The KV bytes are given (as decode reads them), else from the architecture, else typical for the date.
    """
    lifetimes: list[int | None] = [one.ttl_seconds for one in read.observables.cache_write_premiums if one.ttl_seconds]
    if read.observables.storage_price:
        lifetimes.append(None)
    stored = cache and cache.stored
    given = assumptions.kv_bytes_per_token
    if given:
        stored = given * cache.stored / cache.read if cache else given
    usual = usual_stored(data, read.day, assumptions, read.kv_family)
    kv = (stored, assumptions.known_cache_spread) if stored else usual
    price, source = read.storage_price, sole_source(read.sheet)
    found = storage_evidence(
        data,
        lifetimes,
        storage_price=price.value if price else None,
        implied_drain_time=other_prices.drain_time(read, assumptions),
        kv_bytes=kv,
        disclosed=disclosed_tiers(data, read.sheet.provider, read.sheet.model, lifetimes),
        assumptions=assumptions,
    )
    return tuple(replace(one, sole_source=source) if one.anchors else one for one in found)


def _flags(read: Case, pairs: tuple[PairInference, ...], cache: KnownCache | None, found: Mapping[str, Estimate]) -> tuple[str, ...]:
    """List short flags that a reader must know before using the row."""
    sheet, by_price, ends = read.sheet, read.size_price, read.sheet.bands[0].input.ends
    listed, balance = by_price.listed if by_price else None, found.get("balance_context")
    currencies = sorted({price.currency for price in sheet.rows})
    flags = {
        "active_params assumed": pairs and read.anchors.origin["active_params"] == ASSUMED_SIZE,
        "context assumed": read.max_context is None,
        "one band": not pairs,
        f"{len(pairs) + 1} bands, {FIRST_PAIR}": len(pairs) > 1,
        "output price not above input price": read.observables.output_input_ratio.value <= 1,
        f"introductory, ends {ends}": ends,
        EXTRAPOLATED: by_price and by_price.extrapolated,
        RELEASE_NOT_KNOWN: read.released is None,
        f"{WEIGHTS_UNSURE} {listed and listed.model}": listed and not same_weights(listed, read.model),
        f"architecture {'known' if cache and cache.grade == 'verified' else cache and cache.grade}": cache,
        "KV given": found["typical"].kind == "given",
        "KV PRIOR-DOMINATED": found["typical"].prior_dominated,
        "inconsistent": balance and balance.kind == "undetermined",
        f"priced in {' and '.join(currencies)}": currencies != ["USD"],
        sheet.service_tier.replace("_", "-"): sheet.service_tier != "standard",
    }
    return tuple(flag for flag, holds in flags.items() if holds)
