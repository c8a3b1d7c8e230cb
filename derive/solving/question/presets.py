"""Add presets to a question: a layout, copies of the cache, and the links and widths of exchanges between chips."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from math import ceil, inf

from derive.catalogue import definitions, equation
from derive.errors import WrongValue
from derive.layouts import EXCHANGES, LAYOUTS, WIDTHS, Exchange, Links, layout_line
from derive.preset_record import OF_MIXTURES, PARAMETERS, Preset, merge
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import Equation
from derive.roles import READS_OF_WEIGHTS, DecodeStep, Memory, Replica
from derive.solving.question.conventions import Conventions, Switches
from derive.solving.question.propagation import list_reached
from derive.solving.question.rows import choose_variants, copies_condition
from derive.units import show

_Values = Mapping[str, float]
_CHIPS = Memory.bought

_BY_HEADS = "chips as given. Tensor parallelism divides attention by heads, and chips that share a head store the same cache"
"""Why a cache is taken to lie several times on chips that were named by a word for it."""


def complete_presets(unknown: str, typed: Mapping[str, float], switches: Switches) -> tuple[Preset, tuple[str, ...], Mapping[str, str]]:
    """Return the named presets with their layout, links and copies of the cache, the ids of all named equations, and equal quantities."""
    preset, joined, follows, by_heads = _with_layouts(_named_preset(unknown, typed, switches), unknown, typed, switches.conventions)
    using = tuple(dict.fromkeys((*switches.using, *joined)))
    preset = _with_links(preset, unknown, typed, switches, using)
    shared = {Memory.attention_groups: NEUTRAL_DEFAULTS[Memory.attention_groups], **preset.givens, **typed}
    cut = switches.conventions.tensor_parallel or by_heads
    row = _copied_by_heads(unknown, shared, preset.variants, using) if cut else None
    if not row:
        return preset, using, follows
    if unknown in (Memory.copies, Memory.attention_groups, _CHIPS):
        return preset, (*using, row.id), follows
    copied = {Memory.copies: row.right_side(shared)}
    copies = Preset(givens=copied, provenance={Memory.copies: "supposed"}, supposed={Memory.copies: _BY_HEADS})
    return merge([("presets", preset), ("tensor parallelism", copies)], set()), using, follows


def _with_layouts(
    preset: Preset, unknown: str, typed: Mapping[str, float], conventions: Conventions
) -> tuple[Preset, tuple[str, ...], Mapping[str, str], bool]:
    """Return the presets with what the layouts set, the rules that join by name, the quantities that equal another one by a layout,
    and whether attention is cut by heads.
    """
    rows = [LAYOUTS[key] for key in conventions.layouts]
    if not rows:
        return preset, (), {}, False
    known, taken, follows = {**preset.givens, **typed}, dict[str, float](), dict[str, str]()
    dense = known.keys().isdisjoint(OF_MIXTURES) and unknown not in OF_MIXTURES
    if dense and (wrong := next((row for row in rows if not (row.dense or row.variants)), None)):
        raise WrongValue(f"{wrong.part}={wrong.name} is a layout of a mixture of experts: for a dense model give tp=8, or replicas=8")
    for name, value in (item for row in rows for item in row.given.items() if item[0] not in typed):
        if isinstance(value, str) and (value == unknown or value not in known):
            follows[name] = value
        else:
            taken[name] = known[value] if isinstance(value, str) else value
    why = layout_line(conventions.layouts)
    # Several copies of attention have weights of their own, in each layout.
    copied = LAYOUTS["attention", "dp"].dense if Memory.attention_groups in typed else ""
    read = [(READS_OF_WEIGHTS, copied or row.dense) for row in rows if dense and row.dense]
    variants = dict([*read, *(choice for row in rows for choice in row.variants.items())])
    layout = Preset(givens=taken, provenance=dict.fromkeys(taken, why), variants=variants)
    return (
        merge([("presets", preset), ("the layout", layout)], typed.keys() | {unknown}),
        tuple(id for row in rows for id in row.using if equation(id).symbols[0] not in typed),
        follows,
        any(row.dense for row in rows),
    )


def _copied_by_heads(unknown: str, known: Mapping[str, float], variants: Mapping[str, str], using: Iterable[str]) -> Equation | None:
    """Return the condition for the copies of a cache on chips that share all heads, if it is asked for, or is more than 1 and not given."""
    if (Memory.copies in known and unknown != Memory.attention_groups) or any(equation(id).symbols[0] == Memory.copies for id in using):
        return None
    row, chips = copies_condition({**choose_variants(unknown, known, ()), **variants}), known.get(_CHIPS)
    if unknown == Memory.attention_groups:
        return row
    if unknown == _CHIPS and known.keys() | {_CHIPS} >= row.inputs:
        return row
    if not chips or not row.inputs <= known.keys():
        return None
    return row if unknown == Memory.copies or row.right_side(known) > 1 else None


def _with_links(preset: Preset, unknown: str, typed: Mapping[str, float], switches: Switches, using: Iterable[str]) -> Preset:
    """Return the presets with the inputs of an exchange between chips that the question mentions."""
    known = {**preset.givens, **typed}
    provenance = {n: "given" if n in typed else preset.provenance[n] for n in known}
    overlap = next((row.variant.name for row in map(equation, using) if row.variant and row.variant.group == DecodeStep.overlap), "")
    taken = links(unknown, known, provenance, overlap or switches.variants.get(DecodeStep.overlap, ""), switches.exchanged)
    return merge([("presets", preset), ("links", taken)], {*known, unknown}) if taken.givens else preset


def _named_preset(unknown: str, typed: Mapping[str, float], switches: Switches) -> Preset:
    """Return all named presets as one. The tables are read only if one is named."""
    usual = replace(switches.conventions, efficiency="ideal", price="given", tier="") == switches.conventions
    if not switches.hardware and not switches.model and usual:
        return Preset()
    from derive.solving.question.named_presets import combine_presets

    return combine_presets(unknown, typed, switches)


def ring_bandwidth(chips: float, size: float, inside: float, out: float) -> float:
    """Return the bandwidth of rings over domains of chips: the links inside one domain, else all links out of the domains, over
    which chips are spread evenly, and no more than the links inside.

    >>> ring_bandwidth(8, 8, 450e9, 50e9), ring_bandwidth(13, 8, 450e9, 50e9), ring_bandwidth(64, 8, 450e9, 50e9)
    (450000000000.0, 325000000000.0, 400000000000.0)
    """
    return inside if chips <= size else min(inside, out * chips / ceil(chips / size))


def links(unknown: str, known: _Values, provenance: Mapping[str, str], overlap: str = "", exchanged: bool = False) -> Preset:
    """Return the inputs of an exchange that is asked for: its link from the tables, its usual width, and how experts exchange data.

    Known quantities and the unknown are never supposed. Without a preset only the single given link is used. A given time gets no
    supposition that could contradict it, unless exchanges that are given are `exchanged`.

    >>> chip = {"chips": 4.0, "scale_out_link_bandwidth": 50e9}
    >>> origin = {"scale_out_link_bandwidth": "hardware.csv H100-SXM scale_out_link_bandwidth: a table (source)"}
    >>> links("kv_transfer_time", chip, origin).givens
    {'link_bandwidth': 50000000000.0}
    """
    settled = {*known, unknown}
    rows = [row for row in EXCHANGES if _takes_part(row, unknown, known, overlap, exchanged)]
    is_open = bool(rows) and Links.taken not in settled
    found = Preset()
    if any(source != "given" for source in provenance.values()):
        found = _suppose_inputs(rows, known, settled)
        ways = {_link(row, {**known, **found.givens}) for row in rows}
        link = ways.pop() if len(ways) == 1 else None
        if link and is_open:
            found = _take_link(found, link, rows, known, provenance)
        # Over one domain and over several: what holds of several holds of one too.
        across = link == Links.inside or {Links.inside, Links.out, Replica.domain} <= known.keys()
        variants = {row.quantity: row.variants[link != Links.inside] for row in rows if row.variants and across}
        found = replace(found, variants=variants)
    if is_open and Links.taken not in found.givens and (only := _only_link(known)):
        found = _suppose(found, Links.taken, known[only], "given", tell_given(only))
    return found


def _takes_part(row: Exchange, unknown: str, known: _Values, overlap: str, exchanged: bool) -> bool:
    """Return whether a question is about an exchange, or counts it in a step."""
    if row.quantity == unknown:
        return True
    if row.quantity in known:
        return exchanged
    total, active = (known.get(name) for name in PARAMETERS)
    alike = not row.dense or (total is not None and total == active and (unknown == Replica.chips or known.get(Replica.chips, 0.0) > 1))
    counted = unknown in row.asked_by or (overlap and overlap == row.overlap)
    return bool(counted and alike and known.keys().isdisjoint(row.absent))


def _suppose(found: Preset, name: str, value: float, origin: str, why: str) -> Preset:
    """Return a preset with one more supposed input, its source and its reason."""
    return found.add_givens({name: value}, origin, supposed={**found.supposed, name: why})


def _suppose_inputs(rows: list[Exchange], known: _Values, settled: Set[str]) -> Preset:
    """Return the widths behind the exchanges and the number of chips that exchange, unless they are known."""
    found, made, starts = Preset(), definitions(), [row.quantity for row in rows]
    behind = list_reached(starts, lambda name: made[name].inputs if name in made and (name in starts or name not in settled) else ())
    for name, (value, why) in ((name, one) for name, one in WIDTHS.items() if name in behind and name not in settled):
        found = _suppose(found, name, value, f"taken: {why}", why)
    for spread, most in (row.spread for row in rows if row.spread):
        if spread not in settled and known.get(Replica.chips, 0.0) > 1:
            why = f"{most} over all {Replica.chips}"
            found = _suppose(found, spread, min(known[Replica.chips], known.get(most, inf)), f"taken: {why}", why)
    return found


def _link(row: Exchange, known: _Values) -> str | None:
    """Return the link that binds in an exchange, as a column of the tables, or None if it is not known."""
    link = Links.out
    if not row.apart:
        group = next((one for one in (*row.spread[:1], Replica.chips) if one in known), None)
        if Replica.domain not in known or (group is None and not row.rings):
            return None
        # A replica that is not sized yet is within one domain.
        link = Links.inside if group is None or known[group] <= known[Replica.domain] else Links.out
    return link if link in known else None


def _take_link(found: Preset, link: str, rows: list[Exchange], known: _Values, provenance: Mapping[str, str]) -> Preset:
    """Return a preset with the bandwidth of a link, its source, and why the exchanges go over it."""
    origin, width = provenance.get(link, "given"), known[link]
    size = f"a scale-up domain of {known.get(Replica.domain, 0.0):.4g}"
    if rows[0].apart:
        way = f"out of the scale-up domain, {rows[0].apart}"
    elif link == Links.inside:
        way = f"within {size}"
    elif Links.inside in known and all(row.rings for row in rows):
        # Of fewer chips in one domain than in another rings have less.
        width = ring_bandwidth(known.get(Replica.chips, 1.0), known[Replica.domain], known[Links.inside], width)
        way = f"of rings over the links of all chips between domains of {known[Replica.domain]:.4g}"
    else:
        way = f"out of {size}, because it does not have all chips"
    return _suppose(found, Links.taken, width, origin, f"{way} ({tell_given(link) if origin == 'given' else origin})")


def _only_link(known: _Values) -> str | None:
    """Return the known link of a chip if it is the only one and has no limit of its reach."""
    found = [name for name in (Links.inside, Links.out) if name in known]
    return found[0] if len(found) == 1 and Replica.domain not in known else None


def tell_given(name: str) -> str:
    """Return the text that a given replaces another quantity."""
    return f"{name} as given"


def tell_assumption(name: str, value: float, why: str) -> str:
    """Return a supposed given in words.

    >>> tell_assumption("bytes_per_activation", 2.0, "activations in bf16")
    'bytes_per_activation = 2 B unless it is given: activations in bf16'
    """
    return f"{quantity(name).name} = {show(name, value)} unless it is given: {why}"
