"""Jobs of two ranks as frameworks make them: one run of both ranks, its loss, and no false alarm?

    python bench/rank_frameworks.py              # all jobs in bench/framework_jobs
    python bench/rank_frameworks.py hf_ ray_     # those whose names begin so

Run it with an environment that has the frameworks (`scripts/ecosystem --python`, and `ray[train,tune]` beside them).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import RunFolder, open_run

JOBS = Path(__file__).parent / "framework_jobs"


def commands(path: Path) -> tuple[list[str], list[str]]:
    """How the job is run under Stepscope, and how it is without."""
    launcher = path.read_text().splitlines()[0].partition(": ")[2]
    script = [str(path)]
    if launcher == "torchrun":
        script = ["torchrun", "--standalone", "--nproc-per-node", "2", *script]
        return [sys.executable, "-m", "stepscope", "run", *script], script
    if launcher == "python":
        return [sys.executable, "-m", "stepscope", "run", *script], [sys.executable, *script]
    return [sys.executable, *script], [sys.executable, *script]  # the script opens the run itself


def try_job(path: Path) -> bool:
    ours, plain = commands(path)
    took_s = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": programs, "STEPSCOPE_DIR": f"{folder}/runs", "OMP_NUM_THREADS": "1"}
        for name, command in (("plain", plain), ("watched", ours)):
            if name == "plain" and ours == plain:
                continue
            began = time.monotonic()
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
            )
            took_s[name] = time.monotonic() - began
        runs = [open_run(one) for one in run_folders(Path(folder) / "runs")]
        said = "; ".join(_said(run) for run in runs) or done.stderr[-400:]
        loud = [finding for run in runs for finding in run.findings if finding.severity != "info"]
        is_good = done.returncode == 0 and bool(runs) and not loud and all(run.status == "finished" for run in runs)
    times = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in took_s.items())
    print(f"{path.stem:16} {'good' if is_good else 'BAD'}  {times}: {said}", flush=True)
    for finding in loud:
        print(f"    {finding.severity}[{finding.rule}] {finding.message}", flush=True)
    return is_good


def _said(run: RunFolder) -> str:
    names = [name for name in run.metrics() if "loss" in name]
    points = {rank: len(run.series(names[0], rank)) for rank in run.ranks_with(names[0])} if names else {}
    shown = ", ".join(f"{count} of rank {rank}" for rank, count in points.items())
    return f"{run.status}, ranks {run.ranks}, {names[0] if names else 'no loss'}: {shown}"


def main(prefixes: list[str]) -> int:
    jobs = [one for one in sorted(JOBS.glob("*.py")) if not prefixes or one.stem.startswith(tuple(prefixes))]
    results = [try_job(job) for job in jobs]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
