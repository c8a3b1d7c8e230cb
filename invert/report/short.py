"""One sheet on one screen: what to take home, its prices, what is known of KV bytes, and why it is not known more firmly."""

from collections.abc import Iterator

from derive.units import show
from invert.estimators import KV_ESTIMATORS
from invert.records import Estimate, TierEvidence
from invert.report.findings import estimate_text, held_in_words, premium_in_words
from invert.report.glance import SEEN
from invert.report.layout import NONE, Table, aligned, kv, laid_out
from invert.report.prices import grades_and_page, price_table, unit_of_prices
from invert.report.sheet import cited_by, heading
from invert.report.tiers import any_of, deciding_source, lifetime, likeliest, record_of_tiers, share_of
from invert.result import EXTRAPOLATED, RELEASE_NOT_KNOWN, Inference, Run

MOST_PRICES = 7
"""Rows of prices that are shown."""


SAID = (*SEEN, RELEASE_NOT_KNOWN, EXTRAPOLATED)
"""Flags that other lines of the screen put into words."""


def headlines(one: Inference) -> list[str]:
    """At most six lines that an analyst would quote, each with what it rests on and how often ranges like it held."""
    found = (_size(one), _read(one), _stored(one), _markup(one), _decode(one), _tier(one))
    return [line for line in found if line]


def _size(one: Inference) -> str:
    active = one.market["active_params"]
    price = "introductory price" if one.sheet.bands[0].input.ends else "price"
    held = _held(active) or ", extrapolated" * (EXTRAPOLATED in one.flags)
    by_price = f"{_ranged('active_params', active)} by its {price}{held}" if active.kind == "interval" else ""
    if one.size_stated:
        stated, given = _short("active_params", one.anchors.values["active_params"]), one.anchors.origin["active_params"] == "given"
        return f"Size: {stated} active as {'given' if given else 'stated'}{by_price and f'; {by_price}'}."
    return f"Size: {by_price.replace(' ', ' active ', 1)}." if by_price else f"Size: not identified, {active.because}."


def _read(one: Inference) -> str:
    found = one.kv_bytes["headline"]
    if one.known:
        return f"KV read: {_short('kv_bytes_per_token', one.known.read)} by its architecture ({one.known.grade})."
    if found.kind != "interval":
        return f"KV read: {estimate_text('kv_bytes_per_token', found)}."
    return f"KV read: {_ranged('kv_bytes_per_token', found)} as models of its time{_held(found)}."


def _stored(one: Inference) -> str:
    found = one.kv_bytes_stored["headline"]
    if one.known:
        return f"KV stored: {_short('kv_bytes_per_token', one.known.stored)} by its architecture."
    return f"KV stored: {_ranged('kv_bytes_per_token', found)} likewise{_held(found)}." if found.kind == "interval" else ""


def _markup(one: Inference) -> str:
    found = one.market["input_markup"]
    if found.kind != "interval":
        return ""
    return f"Mark-up: input at {_ranged('input_markup', found)} times its cost at rent, by {'its' if one.size_stated else 'that'} size."


def _decode(one: Inference) -> str:
    found = one.estimates["bandwidth_bound_fraction"]
    if found.low is None or found.high is None:
        return ""
    return f"Decode: waits for memory {found.low:.0%} to {found.high:.0%} of the time, if output/input is a cost."


def _tier(one: Inference) -> str:
    """What each lifetime has for an answer, lifetimes of one answer together; nothing where none is sold."""
    said: dict[str, list[str]] = {}
    for found in one.storage:
        if answer := _priced_as(found):
            said.setdefault(answer, []).append(lifetime(found.ttl_seconds))
    answers = [f"{' and '.join(sold)} {answer}" for answer, sold in said.items()]
    return f"Tier: {'; '.join(answers)}{'; one source' if deciding_source(one) else ''}." if answers else ""


def _priced_as(found: TierEvidence) -> str:
    """`as HBM or DDR 98%, HBM 47 to 99%`, or what the vendor says."""
    if found.probabilities is None or found.ranges is None:
        return ""
    if found.disclosed:
        return f"in {any_of(found.agreed)}, says the vendor"
    likely = likeliest(found.probabilities, found.ranges)
    if len(found.agreed) == len(found.probabilities):
        return f"in any tier, {likely}"
    shared = f"{any_of(found.agreed)} {share_of(found.agreed, found.probabilities)}, " if len(found.agreed) > 1 else ""
    return f"as {shared}{likely}"


def _ranged(name: str, found: Estimate) -> str:
    """`45B (14B to 150B)`, and `20 kB/token (2.8 to 140 kB)`."""
    low, median, high = (_short(name, end or 0.0) for end in (found.low, found.median, found.high))
    number, _, unit = low.removesuffix("/token").partition(" ")
    least = number if unit and high.endswith(f" {unit}/token") else low.removesuffix("/token")
    return median if low == high else f"{median} ({least} to {high.removesuffix('/token')})"


def _short(name: str, value: float) -> str:
    return show(name, value, digits=2)


def _held(found: Estimate) -> str:
    return f"; such held {held_in_words(found)}" if found.kept else ""


def short_report(one: Inference, table: Run, width: int = 100) -> str:
    """The sheet on one screen of so many columns: what to take home first."""
    return laid_out(short_parts(one, table), width)


def short_parts(one: Inference, table: Run) -> list[str]:
    """The same as paragraphs and tables."""
    read = (*one.kv_bytes.values(), one.estimates["bandwidth_bound_fraction"])
    shown = dict.fromkeys(id for found in read for id in found.equations[-1:])
    more = f"more  backsolve infer {one.name} --full"
    return [
        *(*heading(one, table), "", *headlines(one), ""),
        *(price_table(one, unit_of_prices(one), MOST_PRICES), grades_and_page(one), "", kv_table(one), ""),
        *(*reasons(one, table), "", more, cited_by(shown)),
    ]


def kv_table(one: Inference) -> Table:
    """What every estimator makes of KV bytes, the lecture's reading, and the truth where it is known."""
    rows = [_row(KV_ESTIMATORS[key].name, estimate) for key, estimate in one.kv_bytes.items()]
    lecture = one.pairs[0].lecture.values.get("kv_bytes_per_token") if one.pairs else None
    rows += [_point("the lecture's reading", lecture)] if lecture else []
    rows += [_point(f"its architecture ({one.known.grade})", one.known.read)] if one.known else []
    return aligned(tuple(rows[0]), rows)


def _row(label: str, found: Estimate) -> dict[str, str]:
    ends = f"{kv(found.low)} to {kv(found.high)}" if found.kind == "interval" else estimate_text("kv_bytes_per_token", found)
    return {**_point(label, found.median), "range": ends, "held": held_in_words(found)}


def _point(label: str, value: float | None) -> dict[str, str]:
    return {"KV bytes per token": label, "median": kv(value), "range": NONE, "held": NONE}


def reasons(one: Inference, table: Run) -> Iterator[str]:
    """What the numbers rest on, and why they are not known more firmly, a sentence a line."""
    active, markup, read = one.market["active_params"], one.market["input_markup"], one.kv_bytes["headline"]
    if active.kind == "interval":
        yield f"Size is by {active.because}."
    if markup.kind == "interval":
        yield f"Mark-up is {markup.because}."
    if read.kind == "interval":
        yield f"KV read is {read.because}."
    if one.contradiction:
        yield one.contradiction
    elif one.pairs and table.premium_verdict.value:
        yield premium_in_words(table.premium_verdict.value)
    if one.convention and one.convention.bayes_factor:
        found = one.convention
        yield f"Convention: {found.same} of {found.others} other vendors ask the same premiums; Bayes factor {found.bayes_factor:.2g}."
    of_tiers = record_of_tiers((term for found in one.storage if not found.disclosed for term in found.evidence), table.tier_rules)
    if of_tiers or deciding_source(one):
        yield " ".join(filter(None, (of_tiers, deciding_source(one))))
    if flags := [flag for flag in one.flags if flag not in SAID]:
        yield f"Flags: {'; '.join(flags)}."
