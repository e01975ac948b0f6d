"""How much `stepscope run` finds in the scripts of tests/corpus, how often it is wrong, and what peers find there.

    .venv/bin/python bench/diagnose.py                         # ours, on the whole corpus (some minutes)
    .venv/bin/python bench/diagnose.py --only 'opt/*,loss/*'   # a part of it
    .venv/bin/python bench/diagnose.py --peers                 # and the peers, on a fixed part; makes them a venv
    .venv/bin/python bench/diagnose.py --peers torch_audit,mldoct --no-ours
    .ecosystem/pinned/bin/python bench/diagnose.py --only 'projects/lit_*,projects/hf_*,projects/acc_*'

A fault counts as found when a finding has its rule id (or one the corpus holds for as good), the line as right within
three lines. Any finding at warning or above in a healthy script is a false alarm. Healthy scripts run twice, with us
and without: exit code, printed text and final weights must be the same to the bit. Scripts whose package is missing
here (Lightning, transformers, Accelerate) are skipped and named. Peers: see bench/diagnosers.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from diagnosers.corpus import HEALTHY, PAIRS, load_runner, sample
from diagnosers.peers import PEERS, judge_with
from diagnosers.scoring import Judged, as_json, by_group, side_by_side, totals

runner = load_runner()
SAID = ("rule", "severity", "line", "message")
"""What the JSON keeps of each finding."""


def judge(entry: Any, bitwise: bool) -> Judged:
    """One script under `stepscope run`; a healthy one also without us."""
    watched = runner.run(entry, watched=True)
    judged = Judged(entry.script, entry.group, entry.rule, entry.crashes, seconds=watched.seconds)
    if entry.rule is not None:
        judged.found = runner.is_found(entry, watched.findings)
        judged.placed = runner.is_placed(entry, watched.findings)
    judged.said = [{name: one[name] for name in SAID} for one in watched.findings]
    judged.alarms = [f"{one['rule']} at {one['line']}" for one in watched.loud]
    judged.told = _first_told(entry, watched)
    judged.faults = [line for line in watched.said.splitlines() if "failed and was skipped" in line]
    if watched.code is None:
        judged.faults.append("had to be killed")
    if entry.rule is None and bitwise:
        plain = runner.run(entry, watched=False)
        compared = ("code", "printed", "weights") if entry.deterministic else ("code",)
        judged.differs = [what for what in compared if getattr(plain, what) != getattr(watched, what)]
    return judged


def _first_told(entry: Any, watched: Any) -> tuple[int, float] | None:
    """The step and the seconds after which the fault was reported; None where it was not."""
    rules = (entry.rule, *entry.also)
    told = [(one["step"] or 0, watched.told.get(one["rule"])) for one in watched.findings if one["rule"] in rules]
    return next(((step, seconds) for step, seconds in told if seconds is not None), None)


def judge_all(entries: list[Any], workers: int, bitwise: bool) -> list[Judged]:
    runner.warm_up()
    judged: list[Judged] = []
    started = time.perf_counter()
    for one in runner.run_all([lambda entry=entry: judge(entry, bitwise) for entry in entries], workers):
        judged.append(one)
        if sys.stderr.isatty() or len(judged) % 50 == 0:
            print(f"\r  {len(judged)}/{len(entries)}  {time.perf_counter() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    return judged


def show(judged: list[Judged]) -> None:
    print(by_group(judged), "\n")
    for one in judged:
        if one.rule and not one.found:
            print(f"missed     {one.script}: {one.rule}; said {one.alarms or 'nothing'}")
        elif one.rule and not one.placed:
            print(f"misplaced  {one.script}: {one.rule}; said {one.alarms}")
        elif not one.rule and one.alarms:
            print(f"FALSE      {one.script}: {one.alarms}")
        if one.differs:
            print(f"DIFFERS    {one.script}: {', '.join(one.differs)}")
        for fault in one.faults:
            print(f"FAULT      {one.script}: {fault}")
    print("\n" + json.dumps(totals(judged)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="scripts to run: globs of their names, with commas between")
    parser.add_argument("--peers", nargs="?", const=",".join(PEERS), default="", help="which; all if not said")
    parser.add_argument("--sample", action="store_true", help="only the part of the corpus that the peers get")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of that part: scripts with a fault, with their twins")
    parser.add_argument("--healthy", type=int, default=HEALTHY, help="of that part: other healthy scripts")
    parser.add_argument("--no-ours", action="store_true", help="peers only")
    parser.add_argument("--no-bitwise", action="store_true", help="healthy scripts only once, with us")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, default=Path(".bench/diagnose.json"), help="where the figures go")
    options = parser.parse_args()
    globs = options.only.split(",")
    entries = [e for e in runner.truth() if any(fnmatch.fnmatchcase(e.script, glob) for glob in globs)]
    for entry in (e for e in entries if not e.is_runnable):
        print(f"skipped    {entry.script}: {entry.needs} is not installed here")
    entries = [e for e in entries if e.is_runnable]
    part = sample(entries, options.pairs, options.healthy)
    entries = part if options.sample else entries
    tools: dict[str, list[Judged]] = {}
    if not options.no_ours:
        tools["stepscope"] = judge_all(entries, options.workers, not options.no_bitwise)
        show(tools["stepscope"])
    if options.peers:
        names = {entry.script for entry in part}
        beside = {tool: [j for j in judged if j.script in names] for tool, judged in tools.items()}
        for peer in options.peers.split(","):
            for tool, judged in judge_with(peer, part, options.workers).items():
                beside[tool] = tools[tool] = judged
        print(f"\n{len(part)} scripts of the corpus:\n\n{side_by_side(beside)}")
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(as_json(tools), indent=1))


if __name__ == "__main__":
    main()
