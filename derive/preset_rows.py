"""Rows of the tables of presets: chips, memory devices, published runs, open models. Each record has the rules of its table."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from derive.errors import BacksolveError, shorten, suggest
from derive.preset_record import HARDWARE_GIVENS, KV_INPUTS
from derive.tables.lines import Row
from derive.tables.questions import amount_in_si, read_givens, unknown_names
from derive.tables.shipped import Fault, RowFault, TableRow, is_known, misplaced, more_active, partly_filled, unit_faults
from derive.tables.writing import cell_text

PUBLISHED_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5, "mxfp4": 0.5, "int4": 0.5}
"""Bytes of one weight in the data types that models are published in."""
FIXED_PARTS = {
    "window_kv_bytes": ("window_layers", "window_tokens", "window_kv_heads", "window_key_dim", "window_value_dim"),
    "linear_state_bytes": ("linear_layers", "state_heads", "state_key_dim", "state_value_dim"),
    "selected_kv_bytes": ("sparse_layers", "selected_entries"),
}
"""Columns of what a step reads at any context. The first column counts the layers. A model without such layers has it blank."""
FIT, HELD_OUT = "fit", "held-out"
"""Uses of a run of efficiencies.csv: an input of the fit, or a test of it."""
_FIT_COLUMNS = ("layers", "arithmetic_ms", "memory_ms")
_STATE = (*FIXED_PARTS["linear_state_bytes"][1:], "state_bytes_per_element")
_INDEXER = ("indexer_dim", "indexer_heads", "indexer_bytes_per_element")
_EXPERTS = ("experts", "active_experts", "shared_experts", "moe_layers", "model_dim", "vocab_size", "experts_source")
_WHOLE_GROUPS = (FIXED_PARTS["window_kv_bytes"], FIXED_PARTS["selected_kv_bytes"], _STATE, _INDEXER, _EXPERTS)
"""Groups of columns of architectures.csv: all of a group are filled, or none."""
_DEVICE = ("tier_capacity", "tier_bandwidth", "drain_time")
_HARDWARE_PRICES = ("purchase_price", "holding_price")
_RANGES = ("lecture", "range")
"""Names in memory_tiers.csv of ranges over devices: they have a drain time only."""
_OTHER_UNITS = {"purchase_price": "USD/GB", "chip_power": "W"}
"""Units of quantities without an equation, and of quantities in another unit than the registry."""
_DATED = ("chip_price", "chip_power")
"""Quantities of a chip that change with time."""
_EXPERTS_AND = " experts + "
"""The text between the data type of routed experts and the one of all other weights."""


class AcceleratorFigure(TableRow):
    """A row of hardware.csv: one figure of an accelerator, in `unit`. Among rival figures the `preferred` one is used."""

    TABLE = "hardware"

    def faults(self) -> Iterator[Fault]:
        yield from misplaced(self, "dtype", self.quantity == "peak_flops", self.quantity)
        yield from misplaced(self, "date", self.quantity in _DATED, self.quantity)
        yield from unit_faults(self.quantity, self.unit, _OTHER_UNITS.get(self.quantity, ""), value=self.value)

    @classmethod
    def faults_across(cls, sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
        yield from _missing_figures(sound, present)
        yield from _wrongly_preferred(sound, present)


class MemoryTierFigure(TableRow):
    """A row of memory_tiers.csv: one figure of a memory device, in `unit`, with its span if known."""

    TABLE = "memory_tiers"

    def faults(self) -> Iterator[Fault]:
        known = [one for one in (self.low, self.value, self.high) if one is not None]
        if known != sorted(known):
            yield "value", f"low, value and high do not ascend: {', '.join(f'{one:g}' for one in known)}"
        for column, value in (("low", self.low), ("high", self.high)):
            if value is None and (self.device == "range" or self.quantity == "holding_price"):
                yield column, f"is blank, and a {self.quantity} over devices has a span"
        yield from misplaced(self, "basis", self.quantity == "holding_price", self.quantity)
        if self.quantity not in _HARDWARE_PRICES:
            yield from misplaced(self, "year", False, self.quantity)
        yield from unit_faults(
            self.quantity, self.unit, _OTHER_UNITS.get(self.quantity, ""), value=self.value, low=self.low, high=self.high
        )

    @classmethod
    def faults_across(cls, sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
        has: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in present:
            has[row["tier"], row["device"]].add(row["quantity"])
        for row in sound:
            wanted = {"drain_time"} if row["device"] in _RANGES else {*_DEVICE}
            known = has[row["tier"], row["device"]] & {*_DEVICE}
            if row["quantity"] in _DEVICE and known != wanted:
                lacking = ", ".join(sorted(wanted - known))
                why = f"it lacks {lacking}" if lacking else f"{row['device']} is a drain time alone"
                yield row, "device", f"{row['tier']} {shorten(row['device'])} is not a whole device: {why}"
        bases: dict[tuple[str, str, str], Row] = {}
        for row in sound:
            if row["basis"] and bases.setdefault((row["tier"], row["basis"], row["year"]), row) is not row:
                yield row, "basis", f"{row['tier']} has another holding_price that is {row['basis']}"


class Efficiency(TableRow):
    """A row of efficiencies.csv: one published run, and the prediction of the calibrated efficiency for it.

    The fit uses the marked rows, with the ideal time of arithmetic and of reads. `low` and `high` are predicted, in `unit`.
    """

    TABLE = "efficiencies"

    def faults(self) -> Iterator[Fault]:
        if blank := [column for column in _FIT_COLUMNS if self.use == FIT and not is_known(self, column)]:
            yield blank[0], "is blank, but the fit uses the run"
            return
        column = "unknown"
        try:
            unknown_names(self.unknown)
            column = "measured"
            amount_in_si(self.unknown, cell_text(self.measured), self.unit)
            column = "givens"
            read_givens(self.givens)
        except BacksolveError as fault:
            yield column, str(fault)


class FittedEfficiency(TableRow):
    """A row of efficiency_fit.csv: the efficiency that models of a kind sustain on a number of chips, with the ends of its range."""

    TABLE = "efficiency_fit"

    def faults(self) -> Iterator[Fault]:
        if not self.low <= self.value <= self.high:
            yield "value", "lies outside of its range"
        yield from unit_faults(self.quantity, self.unit, value=self.value)


class Architecture(TableRow):
    """A row of architectures.csv: the configuration of an open model, and the KV values counted from it by hand."""

    TABLE = "architectures"

    def faults(self) -> Iterator[Fault]:
        for column in KV_INPUTS.get(self.kv_formula, ()):
            if not is_known(self, column):
                yield column, f"is blank, and the formula {self.kv_formula} needs it"
        for group in _WHOLE_GROUPS:
            yield from partly_filled(self, *group)
        if "value_dim" not in KV_INPUTS.get(self.kv_formula, ()):
            # A formula that needs the width of values has no width without position.
            yield from partly_filled(self, "nope_dim", "value_dim")
        if self.kv_shards == "kv_heads" and self.kv_heads is None:
            yield "kv_shards", "is kv_heads, but the column kv_heads is blank"
        if self.linear_layers is None and any(is_known(self, column) for column in _STATE):
            yield "linear_layers", "is blank, but the linear layers have a state"
        yield from more_active(self.active_params, self.total_params)
        yield from _expert_faults(self)
        yield from _data_type_faults(self)


class OpenModel(TableRow):
    """A row of open_models.csv: a model with open weights and a price, its parameters, and the organisation that sets its price."""

    TABLE = "open_models"

    def faults(self) -> Iterator[Fault]:
        yield from more_active(self.active_params, self.total_params)


class ShortName(TableRow):
    """A row of short_names.csv: the beginning of a name, and the accelerator or model it means although other names begin like this."""

    TABLE = "short_names"


def published_types(native: str) -> tuple[str, str]:
    """Return the data types of the routed experts and of the other weights, from native_dtype.

    >>> published_types("mxfp4 experts + bf16"), published_types("fp8")
    (('mxfp4', 'bf16'), ('fp8', 'fp8'))
    """
    of_experts, mixed, of_others = native.partition(_EXPERTS_AND)
    return of_experts, of_others if mixed else of_experts


def _data_type_faults(row: Architecture) -> Iterator[Fault]:
    for dtype in published_types(row.native_dtype) if row.native_dtype else ():
        if dtype not in PUBLISHED_BYTES:
            hint = f"{suggest(dtype, PUBLISHED_BYTES)}; two are written as 'mxfp4{_EXPERTS_AND}bf16'"
            yield "native_dtype", f"{shorten(dtype)} is not a data type{hint}"
            return
    yield from partly_filled(row, "stored_bytes", "stored_source")
    for dtype in (one.split()[0] for one in row.stored_bytes):
        if dtype not in PUBLISHED_BYTES:
            yield "stored_bytes", f"{shorten(dtype)} is not a data type{suggest(dtype, PUBLISHED_BYTES)}"
    if _EXPERTS_AND in row.native_dtype and row.experts == 0:
        yield "native_dtype", "names experts, but experts is 0"


def _expert_faults(row: Architecture) -> Iterator[Fault]:
    experts, active, shared, layers = row.experts, row.active_experts, row.shared_experts, row.moe_layers
    if (row.experts_grade == "unread") != (experts is None):
        yield "experts_grade", "is unread, but there are experts" if experts is not None else "is not unread, but experts is blank"
    # The message names the blanks of an incomplete group.
    if experts is None or active is None or shared is None or layers is None or not all(is_known(row, column) for column in _EXPERTS):
        return
    for column, value in (("active_experts", active), ("moe_layers", layers)):
        if (value > 0) != (experts > 0):
            yield column, f"is {value:g}, and experts is {experts:g}"
    if active > experts:
        yield "active_experts", f"{active:g} is more than the {experts:g} experts"
    if shared and not experts:
        yield "shared_experts", f"is {shared:g}, but experts is 0"
    if layers > row.layers:
        yield "moe_layers", f"{layers:g} is more than the {row.layers} layers"
    if (row.moe_ffn_dim is not None) != (experts > 0):
        yield "moe_ffn_dim", f"is {row.moe_ffn_dim or 'blank'}, and experts is {experts:g}"
    if row.dense_ffn_dim is None and layers < row.layers:
        yield "dense_ffn_dim", f"is blank, and {row.layers - layers:g} layers have no experts"


def _missing_figures(sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
    has: dict[str, set[str]] = defaultdict(set)
    for row in present:
        has[row["accelerator"]].add(row["quantity"])
    for row in sound:
        if lacking := [quantity for quantity in HARDWARE_GIVENS if quantity not in has[row["accelerator"]]]:
            yield row, "accelerator", f"{shorten(row['accelerator'])} has no {', '.join(lacking)}"


def _wrongly_preferred(sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
    rivals: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in present:
        rivals[row["accelerator"], row["quantity"], row["dtype"]].append(row)
    for (_, quantity, _), same in rivals.items():
        chosen = [row for row in same if row["preferred"].lower() == "true"]
        # No rent is preferred: a question names one.
        wanted = 0 if quantity == "chip_price" else 1
        if len(chosen) != wanted:
            # All rows that may be wrong, because the right one is not known.
            why = f"is true in {len(chosen)} of {len(same)} rows of one quantity. It must be true in one row"
            why = why if wanted else f"is true, and no {quantity} is preferred; write false"
            yield from ((row, "preferred", why) for row in sound if any(row is one for one in (same if wanted else chosen)))
