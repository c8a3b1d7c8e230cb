"""Tables as tests need them, in the place of those that ship: four good rows of hardware, and a table with its cells changed."""

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from derive import preset_rows
from derive.tables import shipped
from derive.tables.shipped import TableRow, Tables, read
from invert.sheets import rows
from invert.validation import claim_rows

RECORDS: dict[str, type[TableRow]] = {
    record.TABLE: record
    for module in (preset_rows, rows, claim_rows)
    for record in vars(module).values()
    if isinstance(record, type) and issubclass(record, TableRow) and record is not TableRow
}
"""The record of a row of every described table but those of prices, by the name of the table."""
SHIPPED, FROZEN = Path(shipped.__file__).parents[2] / "pricing_data", Path(__file__).parents[1] / "tables"
"""The folders of the tables that ship, and of those that tests read."""
HARDWARE = "accelerator,quantity,dtype,value,unit,preferred,source,date,verification,notes"
GOOD = [
    "H1,peak_flops,bf16,1e15,FLOP/s,true,page,,official,",
    "H1,hbm_bandwidth,,3e12,byte/s,TRUE,page,,official,",
    "H1,hbm_capacity,,8e10,byte,True,page,,official,",
    "H1,chip_price,,2,USD/h,false,page,2026-05-01,official,rent",
]


def rows_of_file(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def of_hardware(*rows: str, header: str = HARDWARE) -> Tables:
    """The tables that ship, with these rows for hardware.csv."""
    return read().edited(hardware="\n".join([header, *rows, ""]))


def with_cells(content: str, changes: Callable[[dict[str, str]], dict[str, str]]) -> str:
    """The text of a CSV with every row as `changes` makes it."""
    rows = [changes(row) for row in csv.DictReader(io.StringIO(content))]
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@contextmanager
def reading(tables: Tables | None = None) -> Iterator[Tables]:
    """Whoever reads the tables gets these, or those that are there now."""
    held, read = tables or shipped.read(), shipped.read
    shipped.read = lambda folder=None: held
    try:
        yield held
    finally:
        shipped.read = read


@cache
def of_80_gb() -> Tables:
    """The tables that ship, where a chip that is sold with 80 GB has these and not what its driver reports."""
    nominal = "80000000000"
    sizes = [row for row in read().raw_rows("hardware") if row["quantity"] == "hbm_capacity"]
    sold = {row["accelerator"] for row in sizes if row["value"] == nominal}

    def preferred(row: dict[str, str]) -> dict[str, str]:
        meant = row["quantity"] == "hbm_capacity" and row["accelerator"] in sold
        return row | {"preferred": str(row["value"] == nominal).lower()} if meant else row

    return read().edited(hardware=with_cells(read().content("hardware.csv").decode(), preferred))


@cache
def tiered_sonnet_tables() -> Tables:
    """The tables as they would be if Claude Sonnet 4.5 were still sold up to a million tokens, with its band above 200k.

    No other sheet has two bands and writes of two lifetimes.
    """

    def edited(name: str, **cells: str) -> str:
        return with_cells(read().content(f"{name}.csv").decode(), lambda row: row | cells if row["model"] == "claude-sonnet-4-5" else row)

    return read().edited(prices=edited("prices", valid_to=""), models=edited("models", max_context="1000000"))
