"""Many runs of the program at once in one folder: every reader says what one alone says, and of many writers of a file none is lost.

python -m campaigns.crowd --count 100
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from invert.sheets.read import load
from tests.tools.commands import SCRIPT

READS = ("list", "--chapter", "roofline")


def faults_of(count: int, folder: Path) -> list[str]:
    """What went wrong in so many runs at once, every fourth of which adds a sheet to one file."""
    alone = subprocess.run([str(SCRIPT), *READS], capture_output=True, text=True, check=True).stdout
    adds = [("prices", "add", f"acme/m{number}", "input=2", "output=8", "--into", "mine.csv") for number in range(count // 4)]
    asked = [command for add in adds for command in (add, READS, READS, READS)]
    started = [
        subprocess.Popen([str(SCRIPT), *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for command in asked
    ]
    said = [(process.communicate(timeout=600), process.returncode) for process in started]
    faults = [f"{' '.join(command)}: {status} {err}" for command, ((_, err), status) in zip(asked, said, strict=True) if status or err]
    faults += [f"said {out!r}" for command, ((out, _), _) in zip(asked, said, strict=True) if command is READS and out != alone]
    there = [path.name for path in folder.iterdir()]
    if there != ["mine.csv"]:
        return [*faults, f"left {there}"]
    book = load(str(folder / "mine.csv"))
    lost = {f"m{number}" for number in range(len(adds))} ^ {row.model for row in book.own}
    return [*faults, *(f"lost or more: {name}" for name in sorted(lost))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        start = time.monotonic()
        faults = faults_of(asked.count, Path(folder))
    print(*faults, sep="\n", end="\n" if faults else "")
    print({"at once": asked.count, "seconds": round(time.monotonic() - start), "wrong": len(faults)})
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
