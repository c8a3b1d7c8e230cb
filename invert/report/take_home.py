"""What to take home of one sheet: size, KV bytes, mark-up, decode and tier, each in a line with what it rests on."""

from derive.units import show
from invert.records import EXTRA_MARKUP, Estimate, TierEvidence
from invert.report.findings import estimate_text, held_in_words
from invert.report.size import how_stated
from invert.report.tiers import any_of, deciding_source, lifetime, likeliest
from invert.result import EXTRAPOLATED, Inference


def headlines(one: Inference) -> list[str]:
    """At most six lines that an analyst would quote, each with what it rests on and how often ranges like it held."""
    found = (_size(one), _read(one), _stored(one), _markup(one), _decode(one), _tier(one))
    return [line for line in found if line]


def _size(one: Inference) -> str:
    active = one.market["active_params"]
    # The longer price leaves no room for the longer record.
    price, models = ("introductory price", " open") if one.sheet.bands[0].input.ends else ("its price", " open models")
    held = _held(active, models * (EXTRA_MARKUP in active.because)) or ", extrapolated" * (EXTRAPOLATED in one.flags)
    by_price = f"{_ranged('active_params', active)} by {price}{held}" if active.kind == "interval" else ""
    if one.size_stated:
        stated = _short("active_params", one.anchors.values["active_params"])
        return f"Size: {stated} active as {how_stated(one)}{by_price and f'; {by_price}'}."
    return f"Size: {by_price.replace(' ', ' active ', 1)}." if by_price else f"Size: not identified, {active.because}."


def _read(one: Inference) -> str:
    found = one.kv_bytes["headline"]
    if one.known:
        return f"KV known: {_short('kv_bytes_per_token', one.known.read)} by its architecture ({one.known.grade})."
    if found.kind != "interval":
        return f"KV read: {estimate_text('kv_bytes_per_token', found)}."
    return f"KV read: {_ranged('kv_bytes_per_token', found)} as models of its time{_held(found)}."


def _stored(one: Inference) -> str:
    found = one.kv_bytes_stored["headline"]
    if one.known:
        return f"KV stored: {_short('kv_bytes_per_token', one.known.stored)} by its architecture."
    how = "likewise" if one.kv_bytes["headline"].kind == "interval" else "as models of its time"
    return f"KV stored: {_ranged('kv_bytes_per_token', found)} {how}{_held(found)}." if found.kind == "interval" else ""


def _markup(one: Inference) -> str:
    found = one.market["input_markup"]
    if found.kind != "interval":
        return ""
    of = "its" if one.size_stated else "that"
    return f"Mark-up: input at {_ranged('input_markup', found)} times cost at rent, by {of} size; no record."


def _decode(one: Inference) -> str:
    found = one.estimates["bandwidth_bound_fraction"]
    if found.low is None or found.high is None:
        return ""
    return f"Decode: waits for memory {100 * found.low:.0f} to {found.high:.0%} as hosts vary, if priced at cost; no record."


def _tier(one: Inference) -> str:
    """What each lifetime has for an answer, lifetimes of one answer together; nothing where none is sold."""
    said: dict[str, list[str]] = {}
    for found in one.storage:
        if answer := _priced_as(found):
            said.setdefault(answer, []).append(lifetime(found.ttl_seconds))
    answers = [f"{', '.join(sold)} {answer}" for answer, sold in said.items()]
    return f"Tier: {'; '.join(answers)}{'; one source' if deciding_source(one) else ''}." if answers else ""


def _priced_as(found: TierEvidence) -> str:
    """`as HBM or DDR (98%), HBM alone 47 to 99%`, or what the vendor says."""
    if found.probabilities is None or found.ranges is None:
        return ""
    if found.disclosed:
        return f"in {any_of(found.agreed)}, says the vendor"
    tier, _, share = likeliest(found.probabilities, found.ranges).partition(" ")
    if len(found.agreed) == len(found.probabilities):
        return f"as any tier ({tier} {share})"
    if len(found.agreed) == 1:
        return f"as {tier} ({share})"
    return f"as {any_of(found.agreed)} ({found.agreed_share:.0%}), {tier} alone {share}"


def _ranged(name: str, found: Estimate) -> str:
    """`45B (14B to 150B)`, and `20 kB/token (2.8 to 140 kB)`."""
    low, median, high = (_short(name, end or 0.0) for end in (found.low, found.median, found.high))
    number, _, unit = low.removesuffix("/token").partition(" ")
    least = number if unit and high.endswith(f" {unit}/token") else low.removesuffix("/token")
    return median if low == high else f"{median} ({least} to {high.removesuffix('/token')})"


def _short(name: str, value: float) -> str:
    return show(name, value, digits=2)


def _held(found: Estimate, models: str = "") -> str:
    """`; held for 38 of 42 open models`: for how many such a range held what is true, in as few words as a line has room for."""
    if not found.kept or found.level is None:
        return ""
    return f"; held for {held_in_words(found)}{models}"
