"""The lowest versions that pyproject.toml allows, as constraints of pip.

    python -m campaigns.lowest > lowest.txt
    pip install -c lowest.txt .

Of what runs; the tests are run by the newest tools.
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("plot", "prices")


def constraints(requirements: Iterable[str]) -> list[str]:
    """Every requirement at its lowest.

    >>> constraints(["click>=8.1,<9", "numpy>=1.26"])
    ['click==8.1', 'numpy==1.26']
    """
    forms = [(text, re.match(r"([\w-]+)>=([0-9.]+)", text)) for text in requirements]
    without = [text for text, form in forms if form is None]
    if without:
        raise ValueError(f"without a lowest version: {', '.join(without)}")
    return [f"{form[1]}=={form[2]}" for _, form in forms if form]


def main() -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    optional = (text for extra in EXTRAS for text in project["optional-dependencies"][extra])
    print(*constraints([*project["dependencies"], *optional]), sep="\n")


if __name__ == "__main__":
    main()
