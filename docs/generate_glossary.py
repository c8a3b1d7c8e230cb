"""Write docs/reference/glossary.md: the words of the outputs, the columns of the price tables, and the quantities.

python docs/generate_glossary.py           writes the file
python docs/generate_glossary.py --check   exits 1 if the file differs from what would be written
"""

import sys
from pathlib import Path

from written import REFERENCE, main, table

from derive.glossary import TERMS
from derive.quantities import QUANTITIES, aliases
from invert.report.columns import REGISTRY

PAGE = REFERENCE / "glossary.md"
ALIASES = 4
"""Other names that are listed for a quantity."""


def page() -> str:
    """Return the whole page."""
    columns = [(f"{one.heading}", f"`{one.key}`", one.about) for one in REGISTRY.values() if one.about]
    quantities = [
        (f"[`{one.name}`](catalogue.md#{one.name})", one.unit, one.meaning, ", ".join(f"`{name}`" for name in aliases(one.name)[:ALIASES]))
        for one in sorted(QUANTITIES.values(), key=lambda one: one.name)
    ]
    parts = [
        "# Glossary",
        "Made by `python docs/generate_glossary.py` from the registries of the program. Edit them instead of this page.",
        "`backsolve explain WORD` prints the entry of a word.",
        "## Words",
        table(("word", "meaning"), sorted(TERMS.items(), key=lambda term: term[0].lower())),
        "## Columns of the price tables",
        table(("column", "key in CSV and JSON", "meaning"), columns),
        "## Quantities",
        table(("quantity", "unit", "meaning", "also"), quantities),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
