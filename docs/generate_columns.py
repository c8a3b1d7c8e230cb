"""Write docs/reference/columns.md: every column of every table that ships, from datapackage.json.

python docs/generate_columns.py           writes the file
python docs/generate_columns.py --check   exits 1 if the file differs from what would be written
"""

import json
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from written import REFERENCE, main, table

from invert.report.columns import CSV_KEYS

PAGE = REFERENCE / "columns.md"
BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "pattern": "written as"}


def page() -> str:
    """Return the page, with a section for each table."""
    tables = json.loads(files("pricing_data").joinpath("datapackage.json").read_text(encoding="utf-8"))["resources"]
    return "\n\n".join([*heading(), *(paragraph for one in tables for paragraph in section(one))]) + "\n"


def heading() -> Iterator[str]:
    """Yield the introduction of the page."""
    yield "# Columns of the tables"
    yield "Made by `python docs/generate_columns.py` from `pricing_data/datapackage.json`. Edit that file instead of this page."
    yield (
        "[pricing_data](../../pricing_data/README.md) explains how to add and read rows. [JSON Schemas](schema) describe the JSON"
        " of `backsolve infer --as json` and `backsolve solve --as json`."
    )
    yield (
        f"In the CSV and the frames of `infer`, `currency` is the currency of the price list. {' and '.join(converted())} are already"
        " in US dollars, and every other number is in SI units."
    )


def converted() -> Iterator[str]:
    """Return the columns of prices that are converted from the currency of their list, as code."""
    return (f"`{name}`" for name in CSV_KEYS if "usd_per" in name)


def section(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield one table: its key, its references and its columns."""
    schema = one["schema"]
    yield f"## {one['path']}"
    yield f"{one['title']}."
    key = [f"Key: {', '.join(f'`{name}`' for name in schema['primaryKey'])}."] if schema.get("primaryKey") else []
    for foreign in schema.get("foreignKeys", ()):
        named = ", ".join(f"`{name}`" for name in foreign["fields"])
        key.append(f"{named}: a row of [{foreign['reference']['resource']}.csv](#{foreign['reference']['resource']}csv).")
    if key:
        yield " ".join(key)
    yield table(("column", "type", "what it holds"), (column(field) for field in schema["fields"]))


def column(field: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return one column as cells: whether it is required, and its allowed values."""
    rules = field.get("constraints", {})
    said = [field["description"]]
    said += [f"One of {', '.join(f'`{word}`' for word in rules['enum'])}."] if "enum" in rules else []
    said += [f"{words[0].upper()}{words[1:]} `{rules[rule]}`." for rule, words in BOUNDS.items() if rule in rules]
    return f"`{field['name']}`", f"{field['type']}{', required' if rules.get('required') else ''}", " ".join(said)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
