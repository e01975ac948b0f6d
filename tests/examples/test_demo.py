"""The demo makes what it promises: runs that finish, one that diverges, one that crashes, and all kinds of media."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import stepscope
from stepscope.profile.profile import Profile, profiles_in
from stepscope.records import Alert, End
from stepscope.runs.artifacts import choose, restore
from stepscope.runs.format.layout import log_files, run_folders
from stepscope.runs.format.meta import read_meta
from stepscope.runs.read.logs import LogReader

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"
KINDS = {"image", "histogram", "figure", "table", "curve", "confusion", "embedding", "video", "text"}


def test_the_quick_demo_records_its_runs(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "STEPSCOPE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(DEMO), "--quick", "--no-ui", "--dir", str(runs)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "diverged, as planned" in done.stdout
    assert "failed, as planned (list index out of range)" in done.stdout
    assert "not logged" not in done.stderr
    ends: dict[str, str] = {}
    kinds: dict[str, set[str]] = {}
    losses: dict[str, float] = {}
    for folder in run_folders(runs):
        name = read_meta(folder).name
        kinds[name] = set()
        for file in log_files(folder):
            for batch in LogReader(file).poll(final=True):
                kinds[name] |= {record.kind for _, record in batch.media}
                for _, event in batch.events:
                    if isinstance(event, End):
                        ends[name] = event.status
                    elif isinstance(event, Alert):
                        kinds[name].add("alert")
                for rows in batch.rows:
                    if "train/loss" in rows.names:
                        losses[name] = float(rows.values[-1, rows.names.index("train/loss")])
    assert ends.pop("slow") in ("finished", "stopped")
    assert ends == {"baseline": "finished", "momentum": "finished", "diverges": "finished", "crashes": "failed"}
    slow = next(folder for folder in run_folders(runs) if read_meta(folder).name == "slow")
    assert any(Profile.load(one).meta.kind == "pytorch" for one in profiles_in(slow))
    assert "no profile" not in done.stdout
    assert kinds["baseline"] >= KINDS
    assert "alert" in kinds["diverges"]
    assert math.isnan(losses["diverges"])
    assert losses["baseline"] < 35
    baseline = next(folder for folder in run_folders(runs) if read_meta(folder).name == "baseline")
    run = stepscope.run(baseline)
    artifact = choose(run.artifacts, "vae:v0")
    assert [path.name for path in restore(run, artifact, tmp_path / "out")] == ["vae.pt"]
