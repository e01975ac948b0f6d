"""Run scripts of this folder by hand: `python tests/untouched/one.py jit_trace --arm run --show`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from arms import ARMS
from harness import SCRIPTS, Zygote, arms_of, differences, known_in


def main() -> int:
    """Print in which arms which scripts differ from plain Python; the exit code is the number that do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="scripts without .py; all by default")
    parser.add_argument("--arm", action="append", choices=["plain", *ARMS], help="all by default; plain: twice plain")
    parser.add_argument("--source", type=Path, help="the src folder of another checkout of Stepscope")
    parser.add_argument("--show", action="store_true", help="print what the script wrote")
    given = parser.parse_args()
    zygote = Zygote(Path(tempfile.mkdtemp()) / "run", given.source)
    failed = tried = 0
    for name in given.names or sorted(path.stem for path in SCRIPTS.glob("*.py")):
        script = SCRIPTS / f"{name}.py"
        plain = zygote.run(script, "plain")
        if given.show:
            print(f"--- {name} plain: exit {plain.code} ({plain.cpu_s:.2f} s)\n{plain.out}{plain.err}", end="")
        for arm in given.arm or arms_of(script, ARMS):
            done = zygote.run(script, arm)
            if given.show:
                print(f"--- {name} {arm}: exit {done.code}\n{done.out}{done.err}", end="")
            found = differences(plain, done, arm)
            known = known_in(script).get(arm)
            tried, failed = tried + 1, failed + (bool(found) != (known is not None))
            said = ("same" if not found else "DIFFERS") + ("" if known is None else f", known to differ: {known}")
            print(f"{name} {arm}: {said} ({done.cpu_s:.2f} s)", flush=True)
            for line in found:
                print(f"    {line}")
    zygote.close()
    print(f"{failed} of {tried} differ or no longer differ as they are known to")
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main())
