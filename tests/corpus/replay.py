"""Asks today's rules of every recorded script of the corpus, and prints what became of it as a confusion table.

    .venv/bin/python tests/corpus/replay.py [GROUP...]     # fails where a verdict is not the one in known.json
    .venv/bin/python tests/corpus/replay.py --renew        # write known.json again; then look at the diff

`known.json` lists the scripts that are not judged as they should be: faults that no rule names at the line, and false
alarms. Everything else must be right: each fault named at its line, nothing said of a healthy script.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import runner

KNOWN = Path(__file__).parent / "known.json"
AT_LINE, ELSEWHERE, OTHER, SILENT, RIGHT, ALARM = "at its line", "elsewhere", "other rule", "silent", "quiet", "alarm"
TOGETHER = 20
COLUMNS = (AT_LINE, ELSEWHERE, OTHER, SILENT, RIGHT, ALARM)


def verdict(entry: runner.Entry, found: list[recorded.Found]) -> str:
    """Which column of the table a script falls into."""
    findings = [{"rule": one.rule, "line": one.line, "file": one.file, "severity": one.severity} for one in found]
    loud = [one for one in found if one.severity != "info"]
    if entry.rule is None:
        return ALARM if loud else RIGHT
    if runner.is_placed(entry, findings):
        return AT_LINE
    if runner.is_found(entry, findings):
        return ELSEWHERE
    return OTHER if loud else SILENT


def judge(group: str) -> list[tuple[str, str, str, list[str]]]:
    """Of each script of a group: its name, the verdict, what was said, and what went wrong."""
    from stepscope import fence

    entries = {entry.script: entry for entry in runner.truth()}
    judged = []
    gc.disable()  # looking for what a recording has left, while the next one is read, takes a third of the time
    for number, one in enumerate(recorded.recordings(group)):
        if number % TOGETHER == TOGETHER - 1:
            gc.collect()
        if one.script not in entries:
            continue
        trouble: list[str] = []
        fence.reset()
        fence.on_fault(lambda fault, trouble=trouble: trouble.append(f"{fault.where} failed: {fault.error}"))
        found, not_asked = recorded.replay(one)
        trouble += [f"{one.script}: {why}" for why in not_asked]
        loud = ", ".join(f"{each.rule} at {each.line}" for each in found if each.severity != "info")
        judged.append((one.script, verdict(entries[one.script], found), loud, trouble))
    return judged


def confusion(judged: list[tuple[str, str, str, list[str]]]) -> str:
    """A line for each group, and one for all."""
    rows: dict[str, Counter[str]] = {}
    for script, what, _, _ in judged:
        rows.setdefault(script.split("/")[0], Counter())[what] += 1
    rows["all"] = sum(rows.values(), Counter())
    lines = [f"{'':<10}{'faults':>44}{'healthy':>20}", f"{'':<10}" + "".join(f"{name:>12}" for name in COLUMNS)]
    for name, row in rows.items():
        lines.append(f"{name:<10}" + "".join(f"{row[column] or '·':>12}" for column in COLUMNS))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help="all of them by default")
    parser.add_argument("--renew", action="store_true", help="take what is found now for known")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    groups = options.groups or recorded.groups()
    with ProcessPoolExecutor(options.workers) as pool:
        judged = [one for those in pool.map(judge, groups) for one in those]
    print(confusion(judged))
    wrong = {script: f"{what}: {said}".rstrip(": ") for script, what, said, _ in judged if what not in (AT_LINE, RIGHT)}
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    others = {script: what for script, what in known.items() if script.split("/")[0] not in groups}
    known = {script: what for script, what in known.items() if script not in others}
    if options.renew:
        KNOWN.write_text(json.dumps(dict(sorted({**others, **wrong}.items())), indent=1) + "\n")
        return
    problems = [
        f"{script}: {what}; known was {known.get(script, 'nothing wrong')}"
        for script, what in wrong.items()
        if known.get(script) != what
    ]
    problems += [f"{script}: is right now; known was {what}" for script, what in known.items() if script not in wrong]
    entries = {entry.script for entry in runner.truth() if entry.group in groups}
    missing = sorted(entries - {script for script, *_ in judged})
    troubles = recorded.stale() + [f"{script} is not recorded" for script in missing]
    troubles += sorted({trouble for *_, those in judged for trouble in those})
    for line in problems + troubles:
        print(line)
    if troubles:
        print("record the corpus again: make corpus")
    if problems:
        print("fix the rule, or accept the verdict: .venv/bin/python tests/corpus/replay.py --renew")
    sys.exit(1 if problems or troubles else 0)


if __name__ == "__main__":
    main()
