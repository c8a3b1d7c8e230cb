"""Thousands of price sheets in one process, in a pool, and on a Dask cluster of which a worker is killed: the same table to the byte.

python -m campaigns.large_jobs --count 20000
"""

import argparse
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

_PAGE = Path(__file__).parents[1] / "docs/how-to/large-jobs.md"
_SCRIPTS = dict(zip(("pool", "dask"), re.findall(r"```py\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL), strict=True))
"""The scripts of the page."""
_ALONE = _SCRIPTS["pool"].replace(", executor=workers", "")
_MEGABYTE = 1e6


def price_sheets(count: int, seed: int) -> str:
    """Return a CSV of price sheets: half have a price of long prompts, half one of cached input."""
    generator = random.Random(seed)
    rows = ["provider,model,component,amount,threshold_tokens"]
    for number in range(count):
        price, model = round(generator.uniform(0.1, 5), 2), f"acme,m{number}"
        output = round(price * generator.uniform(2, 8), 2)
        rows += [f"{model},input,{price},", f"{model},output,{output},"]
        if number % 2:
            rows.append(f"{model},cache_read,{price / 10:.3f},")
        else:
            rows += [f"{model},input,{2 * price:.2f},200000", f"{model},output,{1.5 * output:.2f},200000"]
    return "\n".join([*rows, ""])


def run_script(script: str, folder: Path, kill_after: float = 0.0) -> dict[str, float]:
    """Return the seconds that a script takes, and the memory of it and of its largest worker [MB], a worker being killed on the way."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    started = time.monotonic()
    process = psutil.Popen([sys.executable, "script.py", "sheets.csv", "estimates.csv"], cwd=folder, stderr=subprocess.DEVNULL)
    most, killed = {"parent": 0.0, "worker": 0.0}, not kill_after
    while process.poll() is None:
        time.sleep(0.5)
        try:
            most["parent"] = max(most["parent"], process.memory_info().rss / _MEGABYTE)
            workers = process.children(recursive=True)
            most["worker"] = max(most["worker"], *(one.memory_info().rss / _MEGABYTE for one in workers), 0.0)
            if not killed and time.monotonic() - started > kill_after:
                max(workers, key=lambda one: one.memory_info().rss).kill()
                killed = True
        except (psutil.Error, ValueError):
            continue  # a process ended meanwhile
    if process.returncode or not killed:
        raise RuntimeError(f"the script ended with {process.returncode}, a worker was{'' if killed else ' not'} killed")
    return {"seconds": round(time.monotonic() - started), **{name: round(found) for name, found in most.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=71)
    asked = parser.parse_args()
    tables = {}
    for name, script in {"alone": _ALONE, **_SCRIPTS}.items():
        with TemporaryDirectory() as folder:
            (Path(folder) / "sheets.csv").write_text(price_sheets(asked.count, asked.seed), encoding="utf-8")
            # Halfway through the time of two workers.
            found = run_script(script, Path(folder), tables["alone"][0]["seconds"] / 4 if name == "dask" else 0.0)
            tables[name] = found, (Path(folder) / "estimates.csv").read_bytes()
        print({"sheets": asked.count, "by": name, **found}, flush=True)
    differing = [name for name, (_, table) in tables.items() if table != tables["alone"][1]]
    print({"differing": differing})
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
