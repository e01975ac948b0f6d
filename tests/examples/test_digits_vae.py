"""The tracked VAE logs every kind of thing there is to log, and keeps one step of its training."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.runs.artifacts import choose, restore
from stepscope.runs.format.layout import log_files
from stepscope.runs.read.logs import LogReader

SCRIPT = Path(__file__).parents[2] / "examples" / "digits_vae.py"
KINDS = {"image", "histogram", "figure", "table", "curve", "confusion", "embedding", "video", "text", "step"}


@pytest.mark.slow
def test_it_logs_all_kinds_of_media_a_model_and_a_step(tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "STEPSCOPE_DIR": str(tmp_path / "runs")}
    command = [sys.executable, str(SCRIPT), "--epochs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "not logged" not in done.stderr
    (run,) = stepscope.runs(tmp_path / "runs")
    batches = (batch for file in log_files(run.path) for batch in LogReader(file).poll(final=True))
    assert {media.kind for batch in batches for _, media in batch.media} == KINDS
    artifact = choose(run.artifacts, "vae:v0")
    assert [path.name for path in restore(run, artifact, tmp_path / "out")] == ["vae.pt"]
