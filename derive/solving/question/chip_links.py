"""The exchange between chips: its link and the width of what is sent, if these are not given."""

from collections.abc import Mapping, Set
from math import ceil, inf

from derive.exchanges import EXCHANGES, WIDTHS, Exchange, Links
from derive.immutable import immutable
from derive.preset_record import PARAMETERS, Preset
from derive.quantities import quantity
from derive.roles import Replica
from derive.units import show

_Values = Mapping[str, float]


@immutable(kw_only=False)
class Taken:
    """A supposed input with its source and its reason."""

    value: float
    origin: str
    why: str


def link_of(chips: float, known: _Values) -> str | None:
    """Return the link that binds between so many chips, or None if it is not known.

    >>> h100 = {"scale_up_size": 8.0, "scale_up_link_bandwidth": 450e9, "scale_out_link_bandwidth": 50e9}
    >>> link_of(8.0, h100), link_of(16.0, h100)
    ('scale_up_link_bandwidth', 'scale_out_link_bandwidth')
    """
    if Replica.domain not in known:
        return None
    link = Links.inside if chips <= known[Replica.domain] else Links.out
    return link if link in known else None


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
    taken: dict[str, Taken] = {}
    if any(source != "given" for source in provenance.values()):
        taken = _suppose_inputs(rows, known, settled)
        supposed = {**known, **{name: one.value for name, one in taken.items()}}
        ways = {_link(row, supposed) for row in rows}
        link = ways.pop() if len(ways) == 1 else None
        if link and is_open:
            taken[Links.taken] = _take_link(link, rows, known, provenance)
        is_open = is_open and link is None
        # Over one domain and over several: what holds of several holds of one too.
        across = link == Links.inside or {Links.inside, Links.out, Replica.domain} <= known.keys()
        variants = {row.quantity: row.variants[link != Links.inside] for row in rows if row.variants and across}
    else:
        variants = {}
    if is_open and (only := _only_link(known)):
        taken[Links.taken] = Taken(known[only], "given", tell_given(only))
    return Preset(
        givens={name: one.value for name, one in taken.items()},
        provenance={name: one.origin for name, one in taken.items()},
        variants=variants,
        supposed={name: one.why for name, one in taken.items()},
    )


def _takes_part(row: Exchange, unknown: str, known: _Values, overlap: str, exchanged: bool) -> bool:
    """Return whether a question is about an exchange, or counts it in a step."""
    if row.quantity == unknown:
        return True
    if row.quantity in known:
        return exchanged or (row.apart and (unknown == Links.taken or known.keys().isdisjoint(row.lengths)))
    total, active = (known.get(name) for name in PARAMETERS)
    alike = not row.dense or (total is not None and total == active and known.get(Replica.chips, 0.0) > 1)
    counted = unknown in row.asked_by or (overlap and overlap == row.overlap)
    return bool(counted and alike and known.keys().isdisjoint(row.absent))


def _suppose_inputs(rows: list[Exchange], known: _Values, settled: Set[str]) -> dict[str, Taken]:
    """Return the bytes of the exchanges and the number of chips that exchange, unless they are known."""
    names = {name for row in rows if row.unless not in settled for name in row.widths} - settled
    taken = {name: Taken(value, f"taken: {why}", why) for name, (value, why) in WIDTHS.items() if name in names}
    for row in rows:
        if row.spread and row.spread not in settled and known.get(Replica.chips, 0.0) > 1:
            why = f"{row.at_most} over all {Replica.chips}"
            taken[row.spread] = Taken(min(known[Replica.chips], known.get(row.at_most, inf)), f"taken: {why}", why)
    return taken


def _link(row: Exchange, known: _Values) -> str | None:
    """Return the link of an exchange, as a column of the tables."""
    if row.apart:
        return Links.out if Links.out in known else None
    group = next((one for one in (row.spread, Replica.chips) if one in known), None)
    return None if group is None else link_of(known[group], known)


def _take_link(link: str, rows: list[Exchange], known: _Values, provenance: Mapping[str, str]) -> Taken:
    """Return the bandwidth of a link with its source, and why the exchanges go over it."""
    origin, width = provenance.get(link, "given"), known[link]
    size = f"a scale-up domain of {known.get(Replica.domain, 0.0):.4g}"
    if rows[0].apart:
        way = "out of the scale-up domain, from prefill chips to decode chips"
    elif link == Links.inside:
        way = f"within {size}"
    elif Links.inside in known and all(row.rings for row in rows):
        # Of fewer chips in one domain than in another rings have less.
        width = ring_bandwidth(known.get(Replica.chips, 1.0), known[Replica.domain], known[Links.inside], width)
        way = f"of rings over the links of all chips between domains of {known[Replica.domain]:.4g}"
    else:
        way = f"out of {size}, because it does not have all chips"
    return Taken(width, origin, f"{way} ({tell_given(link) if origin == 'given' else origin})")


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
