"""The wide table of sheets, and what stands below it: anchors, how to read the columns, what they are worth."""

from collections.abc import Mapping, Sequence

from derive.show.folding import fold
from derive.units import show
from invert.assumptions import FACTS
from invert.estimators.names import KV_NAMES
from invert.records import Counted
from invert.report.columns import WIDE_KEYS, column_of, in_order
from invert.report.layout import aligned, count_in_words, kv
from invert.report.size import record_in_words
from invert.report.tiers import BETWEEN, record_of_tiers
from invert.result import Inference, Run

WIDEST = 100
"""Columns of a paragraph; a table may be wider."""


def summary(table: Run, by: str | None = None) -> str:
    """One row a sheet in all columns, then the date, the anchors, how to read the columns and what they are worth."""
    columns = [column_of(key) for key in WIDE_KEYS]
    rows = [{column.heading: column.text(one) for column in columns} for one in in_order(table.inferences, by)]
    return "\n".join([aligned([column.heading for column in columns], rows), "", *(fold(text, WIDEST) for text in footer(table))])


def footer(table: Run) -> list[str]:
    """Date and anchors; why the lecture's readings cannot both hold; what the readings are worth, computed here."""
    of_premium = [one for one in KV_NAMES.values() if one.paid_with]
    reading = (
        "How to read it: KV is bytes of cache per token of context. KV from threshold assumes that cache reads exceed arithmetic from"
        " the threshold on, so below it an output token would cost about the same as an input token. bandwidth-bound reads the"
        f" output/input price ratio{_typical_ratio(table)} as the time that decode is bound by memory"
        f" bandwidth, at every length. Both cannot be true of one model. {_listed([one.heading for one in of_premium])} assume"
        f" that the premium is paid {_listed([f'with {one.paid_with}' for one in of_premium])}. < is a bound. {_headline(table)}"
        " backsolve infer MODEL says why, and how firmly."
    )
    return [
        f"{count(table)}, prices of {table.as_of.isoformat()}.{_what_if(table)}",
        f"Anchors: {_anchors(table)}{_mean_contexts(table)}.{_rests_on(table)}",
        reading,
        *_size(table),
        *_storage(table),
        worth(table),
    ]


def _what_if(table: Run) -> str:
    """The prices that were set by hand, those in place of published ones first."""
    added = [place for place in table.changes if all(one.adds(place) for one in table.inferences)]
    kinds = {
        "in place of the published amounts": [place for place in table.changes if place not in added],
        "where none is published": added,
    }
    said = [f"{', '.join(f'{place} = {table.changes[place]}' for place in places)}, {kind}" for kind, places in kinds.items() if places]
    return f" What if: {'; '.join(said)}." if said else ""


def _size(table: Run) -> list[str]:
    """What the sizes rest on, and what estimates like them have got right."""
    records = [one.market["active_params"].record for one in table.inferences if one.size_by_price]
    if not records:
        return []
    # A size beyond the prices that are learned from has none.
    record = next(filter(None, records), None)
    right = f" {record_in_words(record).capitalize()}. No closed one is among them." if record else ""
    return [
        "Size: active by price is what open models of that input price have, less a mark-up of closed vendors that is a stated prior."
        " A stated size is active known."
        f" Price/cost is input over its cost at rent.{right}"
    ]


def _storage(table: Run) -> list[str]:
    """What the range of a tier is over, and which sheets here say one thing together."""
    if not any(one.storage for one in table.inferences):
        return []
    here = {(one.sheet.provider, one.sheet.model) for one in table.inferences if one.storage}
    shared = [(of.provider, sum((of.provider, model) in here for model in of.models)) for of in table.shared_tariffs]
    groups = _listed([f"{count} of {provider}" for provider, count in shared if count > 1])
    once = f" Sheets of one tariff are counted once: {groups}." if groups else ""
    record = record_of_tiers((term for one in table.inferences for of in one.storage for term in of.evidence), table.tier_rules)
    by_price = f"Tier: by price is the likeliest memory tier with its least and its most {BETWEEN} of hardware prices."
    return [f"{by_price}{' ' if record else ''}{record}{once}"]


def _headline(table: Run) -> str:
    if "kv_bytes_per_token" not in table.given:
        return f"The headline is {KV_NAMES['headline'].heading}: {_class_in_words(table)}"
    said = f"KV is given, {kv(table.given['kv_bytes_per_token'])}: that is the headline"
    estimated = [one.heading for name, one in KV_NAMES.items() if any(of.kv_bytes[name].kind != "given" for of in table.inferences)]
    alone = f"{_listed(estimated)} alone {'is' if len(estimated) == 1 else 'are'} estimated"
    return f"{said}, and of the {count_in_words(len(KV_NAMES))} {alone}." if estimated else f"{said}."


def _listed(words: Sequence[str]) -> str:
    """`this, that, and the other`."""
    return ", ".join([*words[:-1], f"and {words[-1]}"]) if len(words) > 1 else "".join(words)


def worth(table: Run) -> str:
    """How far the lecture's reading and the estimates are from the caches of the models here whose architecture is public."""
    found = table.held_here
    if found.times_lecture is None:
        return "Worth: no sheet here has both a long-context band and a public architecture to hold the readings against."
    by_name = f", {found.unsure} of them by the model's name only" if found.unsure else ""
    sheets, times = ("1 sheet" if found.sheets == 1 else f"{found.sheets} sheets"), found.times_lecture
    ends = f" ({times.low:.3g} to {times.high:.3g})" if found.sheets > 1 else ""
    ranges, bounds = _listed_counts(found.ranges), _listed_counts(found.bounds)
    by_ranges = f" Ranges here that hold the true cache: {ranges}" if ranges else ""
    by_bounds = f". Bounds that do, on sheets without a premium: {bounds}{_loose(table.inferences)}" if bounds else ""
    return (
        f"Worth: on {sheets} with two bands and a public architecture (KV known: what decode reads, in bf16{by_name}) the true"
        f" cache is {times.median:.3g} times{ends} the lecture's reading: that reading is low by a large factor.{by_ranges}{by_bounds}."
    )


def _listed_counts(found: Mapping[str, Counted]) -> str:
    """`at rent 1 of 6, increment 5 of 6`, or nothing where there are none."""
    return ", ".join(f"{KV_NAMES[name].heading} {of.held} of {of.count}" for name, of in found.items())


def _loose(inferences: Sequence[Inference]) -> str:
    """How far above the true cache a bound by price lies, here or not."""
    of = next((one.kv_bytes["at_rent"].bounds for one in inferences if one.kv_bytes["at_rent"].bounds), None)
    if of is None:
        return ""
    return (
        f" ({KV_NAMES['at_rent'].heading}, on {of.count} such sheets of known cache: {of.median:.3g} times"
        f" ({of.least:.3g} to {of.most:.3g}) it,"
        f" held {of.held} of {of.count} in bf16, {of.held_at_one_byte} at one byte)"
    )


def _class_in_words(table: Run) -> str:
    """What the headline is, and what such ranges have held."""
    of_released, of_others = (
        {one.kv_bytes["headline"].kept for one in table.inferences if one.release_known is known} - {None} for known in (True, False)
    )
    since, held = table.assumptions.horizon_chosen_before, []
    held += [f" Of {count} models released since {since} such ranges held {right}." for right, count in filter(None, of_released)]
    held += [
        f" Where a release is not known the class is of the earliest day that a table has: of {count} such models the class of"
        f" {table.as_of} held {right}."
        for right, count in filter(None, of_others)
    ]
    return f"what models released before it have, the younger the more.{''.join(held)}"


def count(table: Run) -> str:
    """`34 sheets`."""
    return "1 sheet" if len(table) == 1 else f"{len(table)} sheets"


def _typical_ratio(table: Run) -> str:
    return f" (median {table.typical_ratio:.3g} here)" if table.typical_ratio else ""


def _mean_contexts(table: Run) -> str:
    """The rule for what was not given, as shares."""
    shares = {
        "short_context": "{:.2g} of the first threshold",
        "long_context": "{:.2g} of the way through each band above it",
    }
    return "".join(f"; {name} {text.format(table.mean_contexts[name])}" for name, text in shares.items() if name in table.mean_contexts)


def _rests_on(table: Run) -> str:
    """Which of the anchors the headline rests on, as the estimates themselves say."""
    names = {name for one in table.inferences for name in one.kv_bytes["headline"].anchors} - {"kv_bytes_per_token"}
    if "kv_bytes_per_token" in table.given or not table.inferences:
        return ""
    headline = " and ".join(name for name in FACTS if name in names) or "none"
    return f" The headline uses {headline}. Ranges draw missing anchors from priors."


def _anchors(table: Run) -> str:
    values = table.anchors.values
    shared = [f"{name} {show(name, value)}" for name, value in values.items() if name != "active_params"]
    if "active_params" in values:
        size = f"active_params {show('active_params', values['active_params'])} (given)"
    else:
        assumed = show("active_params", table.assumptions.assumed_active_params)
        size = f"active_params of the architecture where it is public, else by price (KV from threshold: {assumed}, as the lecture has it)"
    return "; ".join([size, *shared])
