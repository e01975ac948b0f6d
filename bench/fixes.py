"""Makes the edit of every finding of the corpus and runs both versions: is the finding gone, is the loss better?

    .venv/bin/python bench/fixes.py [--each N] [--skip N] [--groups opt loss] [--out fixes.json]

Each script of tests/corpus whose own rule has an edit is run as it is and with the edit, from the same seeds, in a
copy. The comparison is that of `stepscope fix`. `--each 1` takes one script of every rule, `--skip 1` the others.
Prints a table and counts.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "corpus"
sys.path.insert(0, str(CORPUS))

import recorded  # noqa: E402
import runner  # noqa: E402

from stepscope.diagnose.edits.apply import edited_texts, read_source  # noqa: E402
from stepscope.evidence.bundle import unpack  # noqa: E402
from stepscope.launch.fixing.compare import Difference, is_better  # noqa: E402
from stepscope.launch.fixing.version import VersionRun  # noqa: E402
from stepscope.records import Edit, Finding  # noqa: E402


def recorded_edits(groups: list[str]) -> tuple[set[str], list[str]]:
    """The scripts whose own finding has an edit, and those whose has none, by their recordings: no script is run."""
    entries = {entry.script: entry for entry in runner.truth() if entry.rule is not None}
    known, without = set(), []
    for group in groups:
        for one in recorded.recordings(group) if group in recorded.groups() else ():
            entry = entries.get(one.script)
            if entry is None:
                continue
            rules = (entry.rule, *entry.also)
            found = [finding for finding in recorded.findings(one) if finding.rule in rules]
            known |= {one.script} if any(finding.edits for finding in found) else set()
            without += [one.script] if one.script not in known else []
    return known, without


def version(entry: runner.Entry, timeout_s: float) -> VersionRun:
    """One version of a script, as the corpus runs it."""
    import msgspec

    result = runner.run(entry, watched=True, timeout_s=timeout_s)
    findings = msgspec.convert([_whole(one) for one in result.findings], list[Finding], strict=False)
    code = -1 if result.code is None else result.code
    losses = _losses(result.evidence)
    said = (result.said.strip().splitlines() or [""])[-1][:200]
    return VersionRun(findings=findings, exit_code=code, steps=len(losses), losses=losses, said=said if code else "")


def _whole(finding: dict[str, Any]) -> dict[str, Any]:
    return {**finding, "evidence": {}}


def _losses(evidence: list[bytes]) -> list[float]:
    if not evidence:
        return []
    steps = unpack(evidence[0]).tables.get("steps")
    return [] if steps is None else [float(one.loss) for one in steps.backwards if one.loss is not None]


def edited(entry: runner.Entry, edit: Edit, timeout_s: float) -> VersionRun:
    """The script with an edit, in a copy of its folder."""
    script = CORPUS / entry.script
    is_folder = script.parent.parent != CORPUS
    with tempfile.TemporaryDirectory(prefix="fixes-") as place:
        here = Path(place, "script")
        if is_folder:
            shutil.copytree(script.parent, here)
        else:
            here.mkdir()
            shutil.copy(script, here)
        for file, text in edited_texts(edit, lambda name: read_source(_found(name, script))).items():
            (here / os.path.relpath(_found(file, script), script.parent)).write_text(text)
        return version(dataclasses.replace(entry, script=str(here / script.name)), timeout_s)


def _found(name: str, script: Path) -> str:
    """A file of an edit: findings are told from the folder the script ran in."""
    path = Path(name)
    return str(path if path.is_absolute() and path.exists() else script.parent / path.name)


def judge(entry: runner.Entry, timeout_s: float) -> dict[str, Any] | None:
    """What the edit of a script's own finding does; None where it has none."""
    before = version(entry, timeout_s)
    rules = (entry.rule, *entry.also)
    found = next((one for one in before.findings if one.rule in rules and one.edits), None)
    if found is None:
        return None
    tried = [(edit, edited(entry, edit, timeout_s)) for edit in found.edits]
    edit, after = tried[0]
    for other, run in tried[1:]:
        was, now = Difference(found, edit, before, after).proved, Difference(found, other, before, run).proved
        if (now and not was) or (now == was and is_better(run, after)):
            edit, after = other, run
    told = Difference(found, edit, before, after)
    return {
        "script": entry.script,
        "rule": found.rule,
        "label": edit.label,
        "tried": len(tried),
        "finding": told.finding,
        "new": told.new,
        "uncovered": told.uncovered,
        "proved": told.proved,
        "why_not": told.why_not,
        "crashed": [before.crashed, after.crashed],
        "loss": [before.loss, after.loss],
        "said": after.said,
    }


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def line(row: dict[str, Any]) -> str:
    state = "proved" if row["proved"] else "NOT"
    was, now = row["loss"]
    return f"{state:<7}{row['rule']:<28}{_number(was):>10} -> {_number(now):<10}{row['script']}  {row['why_not']}"


def summary(rows: list[dict[str, Any]], without: list[str]) -> str:
    """Counts, and the scripts that failed."""
    proved = [row for row in rows if row["proved"]]
    both = [row for row in proved if None not in row["loss"] and all(map(math.isfinite, row["loss"]))]
    lower = sum(row["loss"][1] < row["loss"][0] for row in both)
    cured = sum(row["crashed"][0] and not row["crashed"][1] for row in proved)
    reasons = Counter(row["why_not"] for row in rows if not row["proved"])
    return "\n".join(
        [
            f"{len(rows)} scripts of {len({row['rule'] for row in rows})} rules have an edit; {len(without)} have none",
            f"{len(proved)} proved: the finding is gone and nothing new appears",
            f"of these {cured} crashed before; {lower} of {len(both)} with a finite loss in both end with a lower one",
            *(f"  not proved: {why or 'unknown'} ({count})" for why, count in reasons.most_common()),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, help="most scripts of a rule")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first scripts of each rule")
    parser.add_argument("--groups", nargs="*")
    parser.add_argument("--rules", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--list", action="store_true", help="only say which scripts have an edit")
    parser.add_argument("--timeout", type=float, default=240)
    options = parser.parse_args()
    entries = runner.truth()
    groups = options.groups or sorted({entry.group for entry in entries if entry.rule is not None})
    known, without = recorded_edits(groups)
    print(f"{len(known)} of {len(known) + len(without)} recorded faults have an edit", flush=True)
    if options.list:
        print("\n".join(without))
        return
    runner.warm_up()
    counts: Counter[str | None] = Counter()
    passed: Counter[str | None] = Counter()
    rows: list[dict[str, Any]] = []
    for entry in entries:
        wanted = entry.script in known and entry.is_runnable
        wanted = wanted and (not options.groups or entry.group in options.groups)
        wanted = wanted and (not options.rules or entry.rule in options.rules)
        if not wanted or (options.each is not None and counts[entry.rule] >= options.each):
            continue
        passed[entry.rule] += 1
        if passed[entry.rule] <= options.skip:
            continue
        row = judge(entry, options.timeout)
        if row is None:
            print(f"no edit live: {entry.script}", flush=True)
            without.append(entry.script)
            continue
        counts[entry.rule] += 1
        rows.append(row)
        print(line(row), flush=True)
        if options.out is not None:
            options.out.write_text(json.dumps({"rows": rows, "without": without}, indent=1))
    print(summary(rows, without))


if __name__ == "__main__":
    main()
