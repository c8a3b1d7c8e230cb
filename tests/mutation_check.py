"""Inject each wrong formula of mutations.py in turn, run the tests, and see that they go red.

    python tests/mutation_check.py [NAME ...]

Only tests that were there for another reason count: published figures, derivations, properties, the inference. Those that
notice any change at all, right or wrong, are left out of the run: the fingerprints, the generated pages, the citations
kept as golden files, and the README's blocks. Exits 1 if a wrong formula survives, or if the tests are red without one.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from mutations import MUTATIONS

TESTS = Path(__file__).parent
ROOT = TESTS.parent
WHERE = ("validation", "derive/test_derivations.py", "derive/test_chain.py", "derive/test_presets.py", "invert")
RED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
AT_MOST = 3


def run(mutant: str | None) -> tuple[int, list[str]]:
    """The exit status of pytest and the first tests that were red."""
    options = ["--mutant", mutant] if mutant else []
    command = [sys.executable, "-m", "pytest", "-p", "mutations", "-q", f"--maxfail={AT_MOST}", "--tb=no", *options]
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [*command, *(str(TESTS / place) for place in WHERE)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, RED.findall(done.stdout)


def main(names: list[str]) -> int:
    """Run the tests with each of the wrong formulas, two at a time, and say what saw them."""
    unknown = set(names) - set(MUTATIONS)
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; allowed: {', '.join(MUTATIONS)}", file=sys.stderr)
        return 2
    chosen = [*(names or MUTATIONS)]
    survivors = []
    with ThreadPoolExecutor(2) as pool:
        status, red = run(None) if not names else (0, [])
        print(f"no fault: {'green' if status == 0 else 'RED: ' + ', '.join(red)}", flush=True)
        for name, (code, seen) in zip(chosen, pool.map(run, chosen), strict=True):
            mutation = MUTATIONS[name]
            # 1 is red; anything else is a run that did not come to its tests.
            if code != 1 or not seen:
                survivors.append(name)
            print(f"{name} ({mutation.fault}; {mutation.place}): {'red' if code == 1 and seen else f'SURVIVED, exit {code}'}", flush=True)
            for test in seen:
                print(f"    {test}", flush=True)
    return 1 if survivors or status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
