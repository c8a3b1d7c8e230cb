"""What the cells of a shipped table must make together, beyond what its description says of each column."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from derive.catalogue import equation
from derive.claim_cells import AS_PUBLISHED, UNDECIDED, amount, asked, givens, said
from derive.errors import BacksolveError, WrongUnit, shorten, suggest
from derive.preset_record import HARDWARE_GIVENS, KV_INPUTS
from derive.quantities import QUANTITIES
from derive.shipped_rows import NUMBER, Fault, in_si, is_known, written

if TYPE_CHECKING:
    from derive.preset_rows import AcceleratorFigure, Architecture, Efficiency, FittedEfficiency
    from derive.price_rows import Claim, Disclosure, FxRate, MemoryTierFigure, ModelRow, WorkedProblem

PUBLISHED_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5, "mxfp4": 0.5, "int4": 0.5}
SCALES = {"fp4": 1 / 32, "mxfp4": 1 / 32, "int4": 2 / 32}
"""Bytes of one weight in the data types that models are published in, and what its share of a scale adds: 32 weights have one in common."""
LINKS = ("scale_up_size", "scale_up_link_bandwidth", "scale_out_link_bandwidth")
"""What hardware.csv has of the links of a chip."""
POWER = ("chip_power",)
"""Under load; the unit of the table is not that of the registry."""
FIXED_PARTS = {
    "window_kv_bytes": ("window_layers", "window_tokens", "window_kv_heads", "window_key_dim", "window_value_dim"),
    "linear_state_bytes": ("linear_layers", "state_heads", "state_key_dim", "state_value_dim"),
    "selected_kv_bytes": ("sparse_layers", "selected_entries"),
}
"""What a step reads at any context, by the layers that do so: none where that first column is blank."""
_STATE = (*FIXED_PARTS["linear_state_bytes"][1:], "state_bytes_per_element")
_INDEXER = ("indexer_dim", "indexer_heads", "indexer_bytes_per_element")
_EXPERTS = ("experts", "active_experts", "shared_experts", "moe_layers", "model_dim", "vocab_size", "experts_source")
_WHOLE_GROUPS = (FIXED_PARTS["window_kv_bytes"], FIXED_PARTS["selected_kv_bytes"], ("nope_dim", "value_dim"), _STATE, _INDEXER, _EXPERTS)
"""Columns of architectures.csv of which all are known or none."""
COPIES = {"kv_heads": "heads", "1": "latents"}
"""The variant of kv_replication that goes with what kv_shards says: how many chips one cache divides over."""
_MAY_STAND_ALONE = "value_dim"
"""Where a formula asks for the width of values, it has nothing to do with a width without position."""
_DEVICE = ("tier_capacity", "tier_bandwidth", "drain_time")
_PRICES_OF_HARDWARE = ("purchase_price", "holding_price")
_SPANS = ("lecture", "range")
"""Devices of memory_tiers.csv that are none: a drain time alone."""
DISCLOSED = {
    "cache_tier": {"storage_tier": ""},
    "fast_mode": {"fast_speed_ratio": "1", "fast_price_ratio": "1"},
    "production": {
        **dict.fromkeys(("input_tokens_per_day", "cached_input_tokens_per_day", "output_tokens_per_day"), "token/day"),
        **dict.fromkeys(("prefill_throughput_per_node", "decode_throughput_per_node"), "token/s"),
        **dict.fromkeys(("nodes", "peak_nodes", "chips_per_node", "cache_hit_share"), "1"),
        **dict.fromkeys(("input_price", "cache_read_price", "output_price"), "USD/mtok"),
        **{"context_length": "token", "chip_price": "USD/h"},
    },
}
"""What is disclosed on a topic, and in which unit."""

_NOT_OF_THE_REGISTRY = {"purchase_price": "USD/GB", "chip_power": "W"}
"""Units of quantities that no equation uses, or that people write in another."""
_DATED = ("chip_price", "chip_power")
"""What changes while the chip does not: a figure has a day."""

_EXPERTS_AND = " experts + "
"""Between the data type of routed experts and that of all other weights, where they differ."""

_Cells = Mapping[str, str]
_AnyRow = TypeVar("_AnyRow", bound=_Cells)


# In one row: (column, what is wrong).


def _measured(quantity: str, unit: str, **figures: float | None) -> Iterator[Fault]:
    """Figures by column whose unit is not that of their quantity, or that lie outside its domain."""
    wanted = _NOT_OF_THE_REGISTRY.get(quantity, unit)
    if unit != wanted:
        yield "unit", f"{quantity} is in {wanted}, not {shorten(unit)}"
    for column, value in figures.items():
        if value is not None and quantity in QUANTITIES:
            try:
                in_si(quantity, value, unit)
            except BacksolveError as fault:
                yield ("unit" if isinstance(fault, WrongUnit) else column), str(fault)
                return


def _hardware(row: "AcceleratorFigure") -> Iterator[Fault]:
    if (row.quantity == "peak_flops") != bool(row.dtype):
        yield "dtype", "peak_flops needs a data type" if not row.dtype else f"{row.quantity} has no data type: leave it blank"
    if (row.quantity in _DATED) != (row.date is not None):
        yield "date", f"is blank, and {row.quantity} needs one" if row.date is None else f"{row.quantity} has no date: leave it blank"
    yield from _measured(row.quantity, row.unit, value=row.value)


def _memory_tier(row: "MemoryTierFigure") -> Iterator[Fault]:
    known = [one for one in (row.low, row.value, row.high) if one is not None]
    if known != sorted(known):
        yield "value", f"low, value and high do not ascend: {', '.join(f'{one:g}' for one in known)}"
    for column, value in (("low", row.low), ("high", row.high)):
        if value is None and (row.device == "range" or row.quantity == "holding_price"):
            yield column, f"is blank, and a {row.quantity} over devices has a span"
    if (row.quantity == "holding_price") != bool(row.basis):
        yield "basis", "a holding_price is rented or owned" if not row.basis else f"{row.quantity} has no cost basis: leave it blank"
    if row.year is not None and row.quantity not in _PRICES_OF_HARDWARE:
        yield "year", f"{row.quantity} has no year: leave it blank"
    yield from _measured(row.quantity, row.unit, value=row.value, low=row.low, high=row.high)


def published_types(native: str) -> tuple[str, str]:
    """The data types of the routed experts and of the other weights, from native_dtype.

    >>> published_types("mxfp4 experts + bf16"), published_types("fp8")
    (('mxfp4', 'bf16'), ('fp8', 'fp8'))
    """
    of_experts, mixed, of_others = native.partition(_EXPERTS_AND)
    return of_experts, of_others if mixed else of_experts


def _published(row: "Architecture") -> Iterator[Fault]:
    for dtype in published_types(row.native_dtype) if row.native_dtype else ():
        if dtype not in PUBLISHED_BYTES:
            hint = f"{suggest(dtype, PUBLISHED_BYTES)}; two are written as 'mxfp4{_EXPERTS_AND}bf16'"
            yield "native_dtype", f"{shorten(dtype)} is no data type{hint}"
            return
    if bool(row.stored_bytes) != bool(row.stored_source):
        yield "stored_source", "is blank, and stored_bytes is not" if row.stored_bytes else "is of no stored_bytes"
    for dtype in (one.split()[0] for one in row.stored_bytes):
        if dtype not in PUBLISHED_BYTES:
            yield "stored_bytes", f"{shorten(dtype)} is no data type{suggest(dtype, PUBLISHED_BYTES)}"
    if _EXPERTS_AND in row.native_dtype and row.experts == 0:
        yield "native_dtype", "names experts, and experts is 0"


def _architecture(row: "Architecture") -> Iterator[Fault]:
    for column in KV_INPUTS.get(row.kv_formula, ()):
        if not is_known(row, column):
            yield column, f"is blank, and the formula {row.kv_formula} needs it"
    for group in _WHOLE_GROUPS:
        filled = [column for column in group if is_known(row, column)]
        alone = filled == [_MAY_STAND_ALONE] and _MAY_STAND_ALONE in KV_INPUTS.get(row.kv_formula, ())
        if filled and len(filled) < len(group) and not alone:
            lacking = next((column for column in group if not is_known(row, column)), "")
            yield lacking, f"is blank, and {filled[0]} is not"
    if row.kv_shards == "kv_heads" and row.kv_heads is None:
        yield "kv_shards", "is kv_heads, and that is blank"
    if row.linear_layers is None and any(is_known(row, column) for column in _STATE):
        yield "linear_layers", "is blank, and there is a state of linear layers"
    yield from _experts(row)
    yield from _published(row)


def _experts(row: "Architecture") -> Iterator[Fault]:
    experts, active, shared, layers = row.experts, row.active_experts, row.shared_experts, row.moe_layers
    if (row.experts_grade == "unread") != (experts is None):
        yield "experts_grade", "is unread, and there are experts" if experts is not None else "is not unread, and experts is blank"
    # Of a group that is not whole its blanks are named.
    if experts is None or active is None or shared is None or layers is None or not all(is_known(row, column) for column in _EXPERTS):
        return
    for column, value in (("active_experts", active), ("moe_layers", layers)):
        if (value > 0) != (experts > 0):
            yield column, f"is {value:g}, and experts is {experts:g}"
    if active > experts:
        yield "active_experts", f"{active:g} is more than the {experts:g} experts"
    if shared and not experts:
        yield "shared_experts", f"is {shared:g}, and experts is 0"
    if layers > row.layers:
        yield "moe_layers", f"{layers:g} is more than the {row.layers} layers"
    if (row.moe_ffn_dim is not None) != (experts > 0):
        yield "moe_ffn_dim", f"is {row.moe_ffn_dim or 'blank'}, and experts is {experts:g}"
    if row.dense_ffn_dim is None and layers < row.layers:
        yield "dense_ffn_dim", f"is blank, and {row.layers - layers:g} layers have no experts"


def _model(row: "ModelRow") -> Iterator[Fault]:
    for known, grade in (
        ("architecture", "architecture_grade"),
        ("active_params", "active_params_grade"),
        ("release_date", "release_grade"),
    ):
        if is_known(row, known) != is_known(row, grade):
            missing, there = (known, grade) if is_known(row, grade) else (grade, known)
            yield missing, f"is blank, and {there} is not"
    if row.weights_until is not None:
        if not row.architecture and row.active_params is None:
            yield "weights_until", "ends the known weights, but neither an architecture nor a size is known"
        elif row.release_date is not None and row.weights_until <= row.release_date:
            yield "weights_until", f"is not after the release, on {row.release_date}"


def _disclosure(row: "Disclosure") -> Iterator[Fault]:
    known = DISCLOSED[row.topic]
    if row.quantity not in known:
        yield "quantity", f"{shorten(row.quantity)} is not known of {row.topic}{suggest(row.quantity, known)}"
        return
    unit = known[row.quantity]
    if row.unit != unit:
        yield "unit", f"{row.quantity} is in {unit or 'no unit'}, not {shorten(row.unit)}"
    elif (row.value is not None) != bool(unit):
        yield "value", "is blank" if unit else f"{row.quantity} is a tier, not a number"
    elif unit:
        yield from _measured(row.quantity, row.unit, value=row.value)
    if (row.date is not None) != bool(row.date_kind):
        lacking, there = ("date", "date_kind") if row.date_kind else ("date_kind", "date")
        yield lacking, f"must be filled when {there} is"
    if bool(row.disclosed_tier) != (row.quantity == "storage_tier"):
        yield "disclosed_tier", f"{row.quantity} has no tier: leave it blank" if row.disclosed_tier else "is blank"


def _rate(row: "FxRate") -> Iterator[Fault]:
    if not 1e-9 < row.units_per_usd < 1e9:
        yield "units_per_usd", f"{row.units_per_usd:g} is not a rate of exchange"


FIT, HELD_OUT = "fit", "held-out"
"""What a run of efficiencies.csv is for: the fit uses it, or never sees it."""
_OF_FIT = ("layers", "arithmetic_ms", "memory_ms")


def _efficiency(row: "Efficiency") -> Iterator[Fault]:
    if blank := [column for column in _OF_FIT if row.use == FIT and not is_known(row, column)]:
        yield blank[0], "is blank, and the fit uses the run"
        return
    measured = ("measured", lambda: amount(row.unknown, written(row.measured), row.unit))
    yield from _first_unreadable((("unknown", lambda: asked(row.unknown)), measured, ("givens", lambda: givens(row.givens))))


def _fitted(row: "FittedEfficiency") -> Iterator[Fault]:
    if not row.low <= row.value <= row.high:
        yield "value", "lies outside of its range"
    yield from _measured(row.quantity, row.unit, value=row.value)


def _first_unreadable(cells: Iterable[tuple[str, Callable[[], object]]]) -> Iterator[Fault]:
    for column, read in cells:
        try:
            read()
        except BacksolveError as fault:
            yield column, str(fault)
            return


_WORKED_OUT = ("unknown", "stated", "givens", "tolerance")
"""What a claim has that is held against a number."""


def _claim(row: "Claim") -> Iterator[Fault]:
    undecided = row.verdict == UNDECIDED
    for column in _WORKED_OUT:
        if is_known(row, column) == undecided and (column != "stated" or not undecided):
            yield column, "is known, and the claim is not decidable" if undecided else "is blank, and the claim has a verdict"
            return
    if not row.reason and row.verdict != "reproduced":
        yield "reason", "is blank, and the claim is not just reproduced"
    if not undecided:
        yield from _readable(row, ("equations", lambda: [equation(id) for id in row.equations]))


def _problem(row: "WorkedProblem") -> Iterator[Fault]:
    if not row.reason and row.verdict != "reproduced":
        yield "reason", "is blank, and the answer is not just reproduced"
    if not row.arithmetic and row.verdict not in AS_PUBLISHED:
        yield "arithmetic", "is blank, and the answer is not what was published"
    if "/" in row.unknown:
        yield "unknown", f"{shorten(row.unknown)} is a quotient: a problem has one unknown"
    yield from _readable(row, ("givens", lambda: [equation(id) for id in givens(row.givens).using]))


def _readable(row: "Claim | WorkedProblem", *more: tuple[str, Callable[[], object]]) -> Iterator[Fault]:
    """The first cell that cannot be read, of those that claims and problems share and of `more`."""
    cells: tuple[tuple[str, Callable[[], object]], ...] = (
        ("unknown", lambda: asked(row.unknown)),
        ("stated", lambda: said(row.unknown, row.stated, row.unit)),
        ("givens", lambda: givens(row.givens)),
    )
    for column, read in (*cells, *more):
        try:
            read()
        except BacksolveError as fault:
            wrong_unit = column == "stated" and isinstance(fault, WrongUnit) and all(map(NUMBER.fullmatch, row.stated.split("..")))
            yield ("unit" if wrong_unit and row.unit else column), str(fault)
            return


ROW: Mapping[str, Callable[[Any], Iterator[Fault]]] = {
    "fx": _rate,
    "hardware": _hardware,
    "memory_tiers": _memory_tier,
    "architectures": _architecture,
    "models": _model,
    "disclosures": _disclosure,
    "efficiencies": _efficiency,
    "efficiency_fit": _fitted,
    "claims": _claim,
    "problems": _problem,
}
"""By the name of the table; each takes the record of a row."""


# Across rows: (row, column, what is wrong) of the sound rows; `present` are the bad ones too, which are named by themselves.


def _whole_accelerators(rows: list[_AnyRow], present: list[_AnyRow]) -> Iterator[tuple[_AnyRow, str, str]]:
    has: dict[str, set[str]] = defaultdict(set)
    for row in present:
        has[row["accelerator"]].add(row["quantity"])
    for row in rows:
        if lacking := [quantity for quantity in HARDWARE_GIVENS if quantity not in has[row["accelerator"]]]:
            yield row, "accelerator", f"{shorten(row['accelerator'])} has no {', '.join(lacking)}"


def _one_preferred(rows: list[_AnyRow], present: list[_AnyRow]) -> Iterator[tuple[_AnyRow, str, str]]:
    rivals: dict[tuple[str, ...], list[_AnyRow]] = defaultdict(list)
    for row in present:
        rivals[row["accelerator"], row["quantity"], row["dtype"]].append(row)
    for (_, quantity, _), of_one in rivals.items():
        chosen = [row for row in of_one if row["preferred"].lower() == "true"]
        # No rent is preferred: whoever asks names one.
        wanted = 0 if quantity == "chip_price" else 1
        if len(chosen) != wanted:
            # All of those that may be wrong: which is meant is not known.
            why = f"is true in {len(chosen)} of {len(of_one)} rows of one quantity; it must be in one"
            why = why if wanted else f"is true, and a {quantity} has no preferred row; write false"
            yield from ((row, "preferred", why) for row in rows if any(row is one for one in (of_one if wanted else chosen)))


def _whole_devices(rows: list[_AnyRow], present: list[_AnyRow]) -> Iterator[tuple[_AnyRow, str, str]]:
    found: dict[tuple[str, str], list[_AnyRow]] = defaultdict(list)
    has: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in present:
        has[row["tier"], row["device"]].add(row["quantity"])
    for row in rows:
        if row["quantity"] in _DEVICE:
            found[row["tier"], row["device"]].append(row)
    for (tier, device), of_one in found.items():
        wanted = {"drain_time"} if device in _SPANS else set(_DEVICE)
        known = has[tier, device] & set(_DEVICE)
        if known != wanted:
            lacking = f"it lacks {', '.join(sorted(wanted - known))}" if wanted - known else f"{device} is a drain time alone"
            yield from ((row, "device", f"{tier} {shorten(device)} is not a whole device: {lacking}") for row in of_one)
    bases: dict[tuple[str, str, str], _AnyRow] = {}
    for row in rows:
        if row["basis"] and bases.setdefault((row["tier"], row["basis"], row["year"]), row) is not row:
            yield row, "basis", f"{row['tier']} has another holding_price that is {row['basis']}"


ACROSS: Mapping[str, tuple[Callable[[list[Any], list[Any]], Iterator[tuple[Any, str, str]]], ...]] = {
    "hardware": (_one_preferred, _whole_accelerators),
    "memory_tiers": (_whole_devices,),
}
