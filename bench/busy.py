"""Does a busy machine find the same bugs? Scripts of tests/corpus under `stepscope run`, quiet and under load.

    .venv/bin/python bench/busy.py                          # 40 scripts of all groups, 24 processes (about 10 minutes)
    .venv/bin/python bench/busy.py --scripts 6 --load 8

Each script runs twice, the second time beside processes that spin. What differs is printed with the findings of both;
the exit code is the number of scripts that differ.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from diagnosers.corpus import load_runner, sample

SPIN = "while True: pass"
LEFT_OUT = ("dist", "perf", "projects")
"""Groups whose scripts start processes of their own, depend on waiting by their nature, or need packages."""
Found = set[tuple[str, int | None]]


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that do nothing but compute."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(processes)]
    try:
        yield
    finally:
        for one in spinning:
            one.kill()
        for one in spinning:
            one.wait()


def chosen(entries: list[Any], count: int) -> list[Any]:
    """Always the same: faults of all groups, in turn, that do not end in a crash."""
    faulty = [e for e in sample(entries) if e.rule and not e.crashes and not e.needs and e.group not in LEFT_OUT]
    groups: dict[str, list[Any]] = {}
    for entry in faulty + [e for e in entries if e.rule and not e.crashes and not e.needs and e.group not in LEFT_OUT]:
        members = groups.setdefault(entry.group, [])
        if entry not in members:
            members.append(entry)
    picked: list[Any] = []
    while len(picked) < count and any(groups.values()):
        picked += [members.pop(0) for members in groups.values() if members]
    return picked[:count]


def findings(runner: Any, entries: list[Any]) -> dict[str, Found]:
    found = {}
    for entry in entries:
        result = runner.run(entry, watched=True)
        found[entry.script] = {(one["rule"], one["line"]) for one in result.findings}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scripts", type=int, default=40)
    parser.add_argument("--load", type=int, default=24, help="processes that spin beside the second run")
    asked = parser.parse_args()
    runner = load_runner()
    runner.warm_up()
    entries = chosen(runner.truth(), asked.scripts)
    began = time.perf_counter()
    quiet = findings(runner, entries)
    middle = time.perf_counter()
    with load(asked.load):
        busy = findings(runner, entries)
    ended = time.perf_counter()
    differ = [script for script in quiet if quiet[script] != busy[script]]
    for script in differ:
        print(f"{script}\n  only quiet: {sorted(quiet[script] - busy[script], key=str)}")
        print(f"  only busy:  {sorted(busy[script] - quiet[script], key=str)}")
    named = sum(runner.is_found(e, [{"rule": rule, "line": line} for rule, line in busy[e.script]]) for e in entries)
    print(
        f"{len(entries)} scripts, {asked.load} spinning processes: {len(differ)} differ, {named} faults found when busy"
    )
    print(f"quiet {middle - began:.0f} s, busy {ended - middle:.0f} s")
    return len(differ)


if __name__ == "__main__":
    sys.exit(main())
