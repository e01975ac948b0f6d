"""Runs small jobs of 2 and 4 ranks under torchrun with planted faults: which are explained, with rank and line?

    python bench/ranks.py               # all jobs in bench/rank_jobs
    python bench/ranks.py ok_ hang_     # those whose names begin so

A job says in its first line what should be found (one of several rules, where the backend decides whether ranks that
part hang or fail), and marks the line of the cause with `# cause`. Healthy jobs expect
"nothing": hints (severity info) do not count there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

JOBS = Path(__file__).parent / "rank_jobs"
_NEAR = 2
"""Lines around the marked one that still lead the reader to it."""


@dataclass
class Result:
    name: str
    expected: str
    verdict: str
    said: str = ""
    others: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run_job(path: Path) -> Result:
    """Run one job under `stepscope run torchrun` and judge what was found."""
    lines = path.read_text().splitlines()
    expected, ranks = lines[0].partition(": ")[2], lines[1].partition(": ")[2]
    cause = next((number for number, line in enumerate(lines, 1) if line.endswith("# cause")), 0)
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "findings.json"
        launcher = ["torchrun", "--nproc-per-node", ranks, "--master-port", str(_free_port()), str(path)]
        ours = ["--json", str(found), "--kill-hang"]
        command = [sys.executable, "-m", "stepscope", "run", *ours, *launcher]
        environment = {**os.environ, "STEPSCOPE_DIR": f"{folder}/runs", "STEPSCOPE_HANG_S": "4", "OMP_NUM_THREADS": "1"}
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        seconds = time.monotonic() - began
        shown = subprocess.run(
            [sys.executable, "-m", "stepscope", "show", "last", "--json"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    try:
        findings = json.loads(shown.stdout)["findings"]
    except (ValueError, KeyError):
        return Result(path.stem, expected, "no run", done.stderr[-300:], [], seconds)
    return _judged(path.stem, expected, cause, findings, done.returncode, seconds)


def _judged(name: str, expected: str, cause: int, findings: list[dict], code: int, seconds: float) -> Result:
    loud = [one for one in findings if one["severity"] != "info"]
    others = sorted({one["rule"] for one in loud if one["rule"] not in expected.split(", ")})
    if expected == "nothing":
        verdict = "silent" if not loud and code == 0 else ("FALSE ALARM" if loud else f"FAILED ({code})")
        return Result(name, expected, verdict, "; ".join(one["message"] for one in loud), [], seconds)
    hits = [one for one in findings if one["rule"] in expected.split(", ")]
    if not hits:
        return Result(name, expected, "missed", "", others, seconds)
    near = any(one.get("line") and abs(one["line"] - cause) <= _NEAR for one in hits)
    related = any(abs(one["line"] - cause) <= _NEAR for hit in hits for one in hit.get("related", []))
    return Result(name, expected, "found" if near or related else "wrong line", hits[0]["message"], others, seconds)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main(prefixes: list[str]) -> int:
    jobs = [one for one in sorted(JOBS.glob("*.py")) if not prefixes or one.stem.startswith(tuple(prefixes))]
    results = []
    for job in jobs:
        result = run_job(job)
        results.append(result)
        more = f"  (also {', '.join(result.others)})" if result.others else ""
        print(f"{result.name:26} {result.verdict:12} {result.seconds:5.1f} s  {result.said[:150]}{more}", flush=True)
    bugs = [one for one in results if one.expected != "nothing"]
    healthy = [one for one in results if one.expected == "nothing"]
    found, silent = sum(one.verdict == "found" for one in bugs), sum(one.verdict == "silent" for one in healthy)
    print(
        f"\n{found} of {len(bugs)} planted faults found at their line; {silent} of {len(healthy)} healthy jobs silent"
    )
    return 0 if found == len(bugs) and silent == len(healthy) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
