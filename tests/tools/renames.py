"""Names that changed since something was recorded, from renames.csv beside it."""

import csv
import re
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_suffix(".csv")

with _FILE.open(encoding="utf-8", newline="") as _stream:
    NEW_NAMES = {row["old"]: row["new"] for row in csv.DictReader(_stream)}
OLD_NAMES = {new: old for old, new in NEW_NAMES.items()}
_WORDS = "|".join(re.escape(old).replace("_", r"\\?_") for old in NEW_NAMES)
_OLD = re.compile(rf"(?<![\w.])(?:{_WORDS})(?!\w)")
"""An old name alone, also as LaTeX writes it. After a point it is the end of an id of an equation, which has a row of its own."""


def with_new_names(recorded: Any) -> Any:
    """Return a recorded document with the new names in its keys and texts."""
    if isinstance(recorded, dict):
        return {with_new_names(key): with_new_names(value) for key, value in recorded.items()}
    if isinstance(recorded, list):
        return [with_new_names(value) for value in recorded]
    return _OLD.sub(lambda found: _new_name(found[0]), recorded) if isinstance(recorded, str) else recorded


def _new_name(found: str) -> str:
    """Return the new name of an old one, written as the old one is."""
    plain = found.replace(r"\_", "_")
    return NEW_NAMES[plain] if found == plain else NEW_NAMES[plain].replace("_", r"\_")
