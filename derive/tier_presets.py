"""Return devices of memory_tiers.csv as givens: capacity, read bandwidth and price, each with its source."""

from dataclasses import replace

from derive.errors import UnknownName
from derive.preset_record import Preset
from derive.preset_rows import MemoryTierFigure
from derive.quantities import quantity
from derive.tables import shipped
from derive.tables.shipped import Tables, in_si
from derive.units import show

_TIER_WORDS = {"nvme": "flash", "ssd": "flash", "dram": "ddr", "cpu": "ddr", "host": "ddr", "disk": "hdd"}
"""Other words for the tiers of memory_tiers.csv."""
_OF_DEVICE = ("tier_capacity", "tier_bandwidth")
_HBM = "hbm"
_COST_BASES = ("owned", "rented")
"""Cost bases of a holding price. Every tier except HBM has only the first one."""


def _devices(tables: Tables) -> dict[str, dict[str, MemoryTierFigure]]:
    """Return the rows of each device that has a capacity and a bandwidth, by device and quantity."""
    found: dict[str, dict[str, MemoryTierFigure]] = {}
    for row in tables.rows_of(MemoryTierFigure):
        found.setdefault(row.device, {})[row.quantity] = row
    return {device: rows for device, rows in found.items() if rows.keys() >= {*_OF_DEVICE}}


def matching_devices(text: str, tables: Tables | None = None) -> list[str]:
    """Return the devices of a tier, or the devices with every word of a text in their names, in the order of the table.

    >>> matching_devices("solidigm 7.68"), matching_devices("nvme")[0]
    (['Solidigm D7-PS1010 7.68 TB PCIe 5'], 'Micron 9650 7.68 TB PCIe 6')
    """
    devices = _devices(tables or shipped.read())
    word = text.strip().lower()
    if exact := [device for device in devices if device.lower() == word]:
        return exact
    of_tier = [device for device, rows in devices.items() if rows["tier_capacity"].tier == _TIER_WORDS.get(word, word)]
    words = word.split()
    return of_tier or [device for device in devices if words and all(word in device.lower() for word in words)]


def tier(text: str, tables: Tables | None = None) -> Preset:
    """Return capacity, read bandwidth and price of one device: the device that a text names, or the middle one of a tier.

    The middle device is the one with the median drain time. The price is the newest holding price of the tier times the capacity. A
    tier without a holding price sets no price. Raises UnknownName for a text that names neither a tier nor a device.

    >>> tier("nvme").supposed["tier_capacity"].partition(":")[0], tier("solidigm 7.68").givens["tier_bandwidth"]
    ('Micron 9650 30.72 TB PCIe 6', 14500000000.0)
    """
    from statistics import median_low

    tables = tables or shipped.read()
    devices, names = _devices(tables), matching_devices(text, tables)
    if not names:
        tiers = dict.fromkeys(rows["tier_capacity"].tier for rows in devices.values())
        raise UnknownName("memory tier", text, (*tiers, *_TIER_WORDS, *devices), f"the tiers are {', '.join(tiers)}")
    drain_times = {name: _si_value(devices[name]["tier_capacity"]) / _si_value(devices[name]["tier_bandwidth"]) for name in names}
    device = next(name for name in names if drain_times[name] == median_low(drain_times.values()))
    why, rows = f"{device}: the median by drain time of {len(names)} devices of {text}", devices[device]
    found = Preset(supposed=dict.fromkeys(_OF_DEVICE, why) if len(names) > 1 else {})
    for name in _OF_DEVICE:
        found = found.add_givens({name: _si_value(rows[name])}, _origin(rows[name], name))
    of_tier = (row for row in tables.rows_of(MemoryTierFigure) if row.tier == rows["tier_capacity"].tier and row.value)
    prices = [row for row in of_tier if row.quantity == "holding_price"]
    # Rows without a year are the newest, and a purchase comes before a rent.
    if price := min(prices, key=lambda row: (row.year is not None, _COST_BASES.index(row.basis)), default=None):
        value = quantity("tier_price").check(_si_value(price) * found.givens["tier_capacity"])
        why = f"{price.device}, {price.basis}: {price.value:g} {price.unit} times the capacity"
        origin = _origin(price, "holding_price times the capacity")
        found = found.add_givens({"tier_price": value}, origin, supposed={**found.supposed, "tier_price": why})
    return found


def tier_of_chip(text: str, chip: Preset, tables: Tables | None = None, chip_price: float | None = None) -> Preset:
    """Return a tier, of which the HBM is that of this chip, at the price of the chip if it is given, else at the holding price of HBM."""
    found = tier(text, tables)
    own = {name: name.replace("tier", _HBM) for name in _OF_DEVICE}
    if text.strip().lower() != _HBM or not chip.givens.keys() >= {*own.values()}:
        return found
    if chip_price is not None:
        why = "chip_price as given. The cache keeps the chip from other work"
        found = found.add_givens({"tier_price": chip_price}, "given", supposed={**found.supposed, "tier_price": why})
    elif price := found.givens.get("tier_price"):
        of_chip = price * chip.givens[own["tier_capacity"]] / found.givens["tier_capacity"]
        found = found.add_givens({"tier_price": of_chip}, found.provenance["tier_price"])
    for name, of_hbm in own.items():
        found = found.add_givens({name: chip.givens[of_hbm]}, chip.provenance[of_hbm])
    return replace(found, supposed={name: why for name, why in found.supposed.items() if name not in own})


def tier_lines(text: str) -> list[str]:
    """Return a line for each storage device that a text names, with the option of `solve` that selects it. Chips are listed elsewhere."""
    devices = _devices(shipped.read())
    return [
        f"{device} ({devices[device]['tier_capacity'].tier}): "
        + ", ".join(show(name, _si_value(devices[device][name])) for name in _OF_DEVICE)
        + f". solve ... --tier '{device}'"
        for device in matching_devices(text)
        if devices[device]["tier_capacity"].tier != _HBM
    ]


def _si_value(row: MemoryTierFigure) -> float:
    return in_si(row.quantity, row.value, row.unit)


def _origin(row: MemoryTierFigure, name: str) -> str:
    return f"{MemoryTierFigure.TABLE}.csv {row.tier} {row.device} {name}: {row.source} ({row.verification})"
