"""What to take home of one sheet: size, KV bytes, mark-up, decode and tier, each in a line with what it rests on."""

from collections.abc import Mapping

from derive.units import show
from invert.records import Estimate, TierEvidence
from invert.report.findings import estimate_text, held_in_words
from invert.report.tiers import BETWEEN, any_of, deciding_source, likeliest, record_of_tiers, share_of
from invert.result import Inference, Run


def take_home(one: Inference, table: Run) -> list[str]:
    """The first lines of a full report, the sentences that an analyst would quote."""
    return [line for line in (_size(one), _kv(one), _stored(one), _markup(one), _decode(one), *_tiers(one, table)) if line]


def _introductory(one: Inference) -> str:
    """That what the line rests on is the price of an introduction."""
    ends = one.sheet.bands[0].input.ends
    return f" The price is introductory, and ends {ends}." if ends else ""


def _size(one: Inference) -> str:
    """Active parameters as stated, else as the price has them."""
    if one.size_stated:
        size = show("active_params", one.anchors.values["active_params"], digits=3)
        return f"Size: {size} active parameters, {one.anchors.origin['active_params']}."
    found = one.market["active_params"]
    if found.kind != "interval":
        return f"Size: not identified, {found.because}."
    by_price = f"{ranged('active_params', found)} active parameters, by {found.because}"
    return f"Size: {by_price}.{_record(found, 'Of open models such')}{_introductory(one)}"


def _kv(one: Inference) -> str:
    found = one.kv_bytes["headline"]
    if found.kind == "given":
        return f"KV read: {estimate_text('kv_bytes_per_token', found)}."
    if found.kind != "interval":
        return f"KV read: not identified, {found.because}."
    by_class = f"{ranged('kv_bytes_per_token', found)} by {found.because}.{_record(found, 'Of open models such')}"
    if not one.known:
        return f"KV read: {by_class}"
    return f"KV read: {show('kv_bytes_per_token', one.known.read, digits=3)} by its architecture ({one.known.grade}); {by_class}"


def _stored(one: Inference) -> str:
    if one.known:
        return f"KV stored: {show('kv_bytes_per_token', one.known.stored, digits=3)} by its architecture."
    found = one.kv_bytes_stored["headline"]
    if found.kind != "interval":
        return ""
    return f"KV stored: {ranged('kv_bytes_per_token', found)} likewise.{_record(found, 'Of open models such')}"


def _record(found: Estimate, such: str = "Such") -> str:
    return f" {such} ranges held {held_in_words(found)}." if found.kept else ""


def _markup(one: Inference) -> str:
    found = one.market["input_markup"]
    if found.kind != "interval":
        return ""
    return f"Mark-up: {ranged('input_markup', found)}, {found.because}.{_introductory(one)}"


def _decode(one: Inference) -> str:
    found = one.estimates["bandwidth_bound_fraction"]
    if found.median is None or found.low is None or found.high is None:
        return ""
    spread = f"{found.low:.0%} to {found.high:.0%} as hosts of one model differ"
    return f"Decode: output over input reads as waiting for memory {found.median:.0%} of the time ({spread}); it {found.because}."


def _tiers(one: Inference, table: Run) -> list[str]:
    """A line for what each lifetime has for an answer, lifetimes of one answer together; none where none is sold."""
    said: dict[tuple[str, str], list[str]] = {}
    for found in one.storage:
        if found.probabilities and found.ranges:
            sold = show("ttl", found.ttl_seconds) if found.ttl_seconds else "storage by the hour"
            answer = _tier(found, found.probabilities, found.ranges)
            record = record_of_tiers(found.evidence, table.tier_rules) if "%" in answer else ""
            said.setdefault((answer, record), []).append(sold)
    source = deciding_source(one)
    return [" ".join(filter(None, (f"Tier: {' and '.join(sold)} {answer}.", record, source))) for (answer, record), sold in said.items()]


def _tier(found: TierEvidence, shares: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]) -> str:
    """`in HBM or DDR (98%); HBM 47 to 99% by cost basis and year`."""
    if len(found.agreed) == len(shares):
        return "not identified: over cost bases and years no memory tier can be left out"
    why = f"the vendor says {found.disclosed}" if found.disclosed else share_of(found.agreed, shares)
    alone = "" if len(found.agreed) == 1 and found.disclosed else f"; {likeliest(shares, ranges)} {BETWEEN}"
    return f"in {any_of(found.agreed)} ({why}){alone}"


def ranged(name: str, found: Estimate) -> str:
    """`45.2B (13.5B to 155B)`, or one number where nothing is left open."""
    low, median, high = (show(name, end or 0.0, digits=3) for end in (found.low, found.median, found.high))
    return median if low == high else f"{median} ({low} to {high})"
