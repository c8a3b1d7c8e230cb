"""The exchange between chips: its link and the width of what is sent, if these are not given."""

from collections.abc import Iterable, Iterator, Mapping, Set
from math import ceil, inf

from derive.immutable import immutable
from derive.presets import Preset
from derive.quantities import quantity
from derive.units import show

LINK, _INSIDE, _OUT, _SIZE = "link_bandwidth", "scale_up_link_bandwidth", "scale_out_link_bandwidth", "scale_up_size"
_APART, _AMONG_EXPERTS = "kv_transfer_time", "all_to_all_time"
_ACTIVATIONS, _ALL_REDUCE, _SUM = "bytes_per_activation", "all_reduce_time", "all_reduce_bytes"
_EXCHANGED = {"dispatch_bytes_per_element": 1.0, "combine_bytes_per_element": 2.0}
"""What is sent to experts and back where nobody says: in fp8 and in bf16, as DeepSeek-V3 was served."""
_SUMMED = {"allreduces_per_layer": 2.0, "bytes_per_activation": 2.0}
"""What chips add up in a layer where nobody says: after attention and after the feed-forward part, in bf16."""
_SENT: Mapping[str, Mapping[str, float]] = {
    _APART: {},
    "tensor_parallel_time": _SUMMED,
    _ALL_REDUCE: {_ACTIVATIONS: 2.0},
    _SUM: {_ACTIVATIONS: 2.0},
    "weight_stationary_time": {_ACTIVATIONS: 2.0},
    _AMONG_EXPERTS: _EXCHANGED,
}
"""Times of an exchange, or the bytes of one, and what is taken of what it sends."""
_SUMS, _EXPOSED = "tensor_parallel_time", "exposed_communication_share"
_RINGS = (_SUMS, "all_reduce_time")
"""Of these, times of rings: as many as there are links out of the domains, which no chip leaves unused."""
_WHY = {
    "allreduces_per_layer": "after attention and after the feed-forward part",
    "bytes_per_activation": "activations in bf16",
    "dispatch_bytes_per_element": "in fp8, as DeepSeek-V3 was served",
    "combine_bytes_per_element": "in bf16, as DeepSeek-V3 was served",
}
_LENGTHS = ("prompt_tokens", "context_length", "kv_bytes_per_sequence")
"""What says how much of a cache there is, so that a given time to send it says something of the link."""
_OVER_ALL = "experts over all chips"
_Ends = Mapping[str, tuple[float, float]]


@immutable(kw_only=False)
class Taken:
    """A supposed input with its source and its reason."""

    value: float
    origin: str
    why: str


def link_of(chips: tuple[float, float], known: Mapping[str, float]) -> str | None:
    """Return the link that binds if so many chips exchange, from the fewest to the most, or None if both do or it is not known.

    >>> h100 = {"scale_up_size": 8.0, "scale_up_link_bandwidth": 450e9, "scale_out_link_bandwidth": 50e9}
    >>> link_of((8.0, 8.0), h100), link_of((16.0, 16.0), h100), link_of((4.0, 16.0), h100)
    ('scale_up_link_bandwidth', 'scale_out_link_bandwidth', None)
    """
    if _SIZE not in known:
        return None
    least, most = chips
    link = _INSIDE if most <= known[_SIZE] else _OUT if least > known[_SIZE] else ""
    return link if link in known else None


def ring_bandwidth(chips: float, size: float, inside: float, out: float) -> float:
    """Return the bandwidth of rings over domains of chips: the links inside one domain, else all links out of the domains, over
    which chips are spread evenly, and no more than the links inside.

    >>> ring_bandwidth(8, 8, 450e9, 50e9), ring_bandwidth(13, 8, 450e9, 50e9), ring_bandwidth(64, 8, 450e9, 50e9)
    (450000000000.0, 325000000000.0, 400000000000.0)
    """
    return inside if chips <= size else min(inside, out * chips / ceil(chips / size))


def links(unknown: str, known: Mapping[str, float], provenance: Mapping[str, str], spans: _Ends, overlap: str = "") -> Preset:
    """Return the inputs of an exchange that is asked for: its link by the tables, its usual width, and how experts exchange.

    `spans` are the ends of what runs over several values. Known quantities and the unknown are never supposed. Without a preset only the
    single given link is used. A given time gets no supposition that could contradict it.

    >>> chip = {"chips": 4.0, "scale_out_link_bandwidth": 50e9}
    >>> origin = {"scale_out_link_bandwidth": "hardware.csv H100-SXM scale_out_link_bandwidth: a table (source)"}
    >>> links("kv_transfer_time", chip, origin, {}).givens
    {'link_bandwidth': 50000000000.0}
    """
    of_sums = unknown == _EXPOSED or overlap == "exposed"
    taking_part = {_AMONG_EXPERTS} if overlap == "network" else {_SUMS} if of_sums and _adds_up(known, spans) else set()
    spoken = [name for name in _SENT if name == unknown or (name not in {*known, *spans} and name in taking_part)]
    open_end = unknown == LINK or known.keys().isdisjoint(_LENGTHS)
    spoken += [_APART] if _APART in {*known, *spans} and open_end else []
    settled = {*known, *spans, unknown}
    only = _only_link(known, spans) if spoken and LINK not in settled else None
    if not spoken or all(source == "given" for source in provenance.values()):
        return (
            Preset(givens={LINK: known[only]}, provenance={LINK: "given"}, variants={}, supposed={LINK: tell_given(only)})
            if only
            else Preset(givens={}, provenance={}, variants={})
        )
    taken = {name: Taken(value, f"taken: {_WHY[name]}", _WHY[name]) for name, value in _widths(spoken, settled)}
    if _AMONG_EXPERTS in spoken and "expert_parallel" not in settled and known.get("chips", 0.0) > 1 and "chips" not in spans:
        taken["expert_parallel"] = Taken(min(known["chips"], known.get("experts", inf)), f"taken: {_OVER_ALL}", _OVER_ALL)
    ways = {_link(name, {**known, **{one: what.value for one, what in taken.items()}}, spans) for name in spoken}
    link = ways.pop() if len(ways) == 1 and LINK not in settled else None
    if link is None and only:
        taken[LINK] = Taken(known[only], "given", tell_given(only))
    # A link that runs over values is no single one: the exchange asks for its own.
    if link is not None and link not in spans:
        origin = provenance.get(link, "given")
        place = tell_given(link) if origin == "given" else origin
        width, way = known[link], _way(spoken[0], link, known)
        if link == _OUT and _INSIDE in known and {*spoken} <= {*_RINGS} and "chips" in {*known, *spans}:
            rings = {ring_bandwidth(chips, known[_SIZE], known[_INSIDE], width) for chips in spans.get("chips", (known.get("chips", 1.0),))}
            # Of fewer chips in one domain than in another rings have less.
            width, way = min(rings), f"of rings over the links of all chips between domains of {known[_SIZE]:.4g}"
        taken[LINK] = Taken(width, origin, f"{way} ({place})")
    # Over one domain and over several: what holds of several holds of one too.
    racks = _AMONG_EXPERTS in spoken and LINK not in settled and (link == _INSIDE or {_INSIDE, _OUT, _SIZE} <= known.keys())
    return Preset(
        givens={name: what.value for name, what in taken.items()},
        provenance={name: what.origin for name, what in taken.items()},
        variants={_AMONG_EXPERTS: "in_one_rack" if link == _INSIDE else "over_racks"} if racks else {},
        supposed={name: what.why for name, what in taken.items()},
    )


def _adds_up(known: Mapping[str, float], spans: _Ends) -> bool:
    """Return whether chips share the layers of a dense model and the time of their exchange is not given."""
    dense = "total_params" in known and known["total_params"] == known.get("active_params")
    return dense and known.get("chips", 0.0) > 1 and {_EXPOSED, "prefill_chunk"}.isdisjoint({*known, *spans})


def _only_link(known: Mapping[str, float], spans: _Ends) -> str | None:
    """Return the known link of a chip if it is the only one, has one value, and nothing limits its reach."""
    found = [name for name in (_INSIDE, _OUT) if name in known]
    return found[0] if len(found) == 1 and _SIZE not in known and found[0] not in spans else None


def tell_given(name: str) -> str:
    """Return in words that a given stands in for another quantity."""
    return f"{name} as given"


def _widths(spoken: Iterable[str], settled: Set[str]) -> Iterator[tuple[str, float]]:
    """Yield what these exchanges send, unless the amount is known."""
    for one in spoken:
        if _SUM in settled and one == _ALL_REDUCE:
            continue
        for name, value in _SENT[one].items():
            if name not in settled:
                yield name, value


def _link(name: str, known: Mapping[str, float], spans: _Ends) -> str | None:
    """Return the link of an exchange, as a column of the tables."""
    if name == _APART:
        return _OUT if _OUT in known else None
    group = next((one for one in (*(("expert_parallel",) if name == _AMONG_EXPERTS else ()), "chips") if one in {*known, *spans}), None)
    return None if group is None else link_of(spans.get(group, (known.get(group, inf),) * 2), known)


def _way(name: str, link: str, known: Mapping[str, float]) -> str:
    """Return why it goes over this link."""
    if name == _APART:
        return "out of the scale-up domain, from the chips of prefill to the chips of decode"
    size = f"a scale-up domain of {known[_SIZE]:.4g}"
    return f"within {size}" if link == _INSIDE else f"out of {size}, as it does not hold all chips"


def tell_assumption(name: str, value: float, why: str) -> str:
    """Return a supposed given in words.

    >>> tell_assumption("bytes_per_activation", 2.0, "activations in bf16")
    'bytes_per_activation = 2 B unless it is given: activations in bf16'
    """
    return f"{quantity(name).name} = {show(name, value)} unless it is given: {why}"
