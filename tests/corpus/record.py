"""Records the corpus: every script once under `stepscope run`, and what was seen kept for tests to replay.

    make corpus                                       # what is missing or older than its script; resumable
    .venv/bin/python tests/corpus/record.py --only 'opt/*' --workers 4
    .ecosystem/pinned/bin/python tests/corpus/record.py   # also those that need the packages of others

Each run's evidence goes to .corpus/ (not in git) with what was found live. Then all of it is packed, one file for each
group, into tests/corpus/recorded/, which tests/diagnose/test_corpus_replayed.py reads: see `recorded.py`. What `--only`
leaves out stays there as it is.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import runner

KEPT = Path(__file__).parents[2] / ".corpus"


def digest(entry: Any) -> str:
    """Of all that a recording depends on: the script, its neighbors, its arguments, and the versions of the tables."""
    from stepscope.evidence.registry import tables

    path = runner.HERE / entry.script
    beside = sorted(path.parent.glob("*.py")) if entry.script.count("/") > 1 else [path]
    sha = hashlib.sha256(json.dumps([entry.args, {name: one.version for name, one in tables().items()}]).encode())
    for one in beside:
        sha.update(one.read_bytes())
    return sha.hexdigest()[:16]


def kept_file(entry: Any, kept: Path) -> Path:
    return kept / f"{entry.script.replace('/', '__')}.{digest(entry)}.json"


def record(entry: Any, kept: Path) -> str:
    """Run one script and keep what was seen; gives a line to show if something went wrong."""
    result = runner.run(entry, watched=True)
    if not result.evidence:
        return f"{entry.script}: kept no evidence (exit code {result.code}): {result.said[-300:]}"
    file = kept_file(entry, kept)
    for old in kept.glob(f"{entry.script.replace('/', '__')}.*"):
        old.unlink()
    about = {"roots": roots(), "findings": result.findings, "evidence": [one.hex() for one in result.evidence]}
    file.with_suffix(".new").write_text(json.dumps(about))
    file.with_suffix(".new").replace(file)
    faults = [line for line in result.said.splitlines() if "failed and was skipped" in line]
    return f"{entry.script}: {faults}" if faults else ""


def roots() -> dict[str, str]:
    """Folders of this machine, and what they are called in a recording."""
    import torch

    return {
        str(runner.HERE): recorded.CORPUS,
        str(Path(torch.__file__).parents[1]): "/python/site-packages",
        sysconfig.get_path("stdlib"): "/python/lib",
        str(Path(__file__).parents[2]): "/stepscope",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="scripts to run: globs of their names, with commas between")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=KEPT, help="where each recording is kept")
    parser.add_argument("--no-pack", action="store_true", help="only record")
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    globs = options.only.split(",")
    entries = [e for e in runner.truth() if any(fnmatch.fnmatchcase(e.script, glob) for glob in globs)]
    missing = [entry for entry in entries if not kept_file(entry, options.kept).exists()]
    waiting = [entry for entry in missing if entry.is_runnable]
    print(f"{len(entries)} scripts: {len(entries) - len(missing)} are recorded, {len(waiting)} to do", flush=True)
    runner.warm_up()
    began = time.monotonic()
    jobs = [lambda entry=entry: record(entry, options.kept) for entry in waiting]
    for number, trouble in enumerate(runner.run_all(jobs, options.workers), 1):
        if trouble:
            print(f"\n{trouble}")
        if sys.stderr.isatty() or number % 50 == 0:
            print(f"\r  {number}/{len(waiting)}  {time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True)
    for entry in (e for e in missing if not e.is_runnable):
        print(f"not recorded: {entry.script} needs {entry.needs}")
    if not options.no_pack:
        found = {entry.script: kept_file(entry, options.kept) for entry in entries}
        recorded.pack({script: json.loads(file.read_text()) for script, file in found.items() if file.exists()})


if __name__ == "__main__":
    main()
