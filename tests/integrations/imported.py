"""For tests of importers: bring a folder of another tool into a store of ours and open what came."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from stepscope.importers.import_writer import Landed, Landing
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

OFFLINE = {
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
    "HF_HUB_OFFLINE": "1",
    "USE_TF": "0",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "OMP_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "NO_ALBUMENTATIONS_UPDATE": "1",
}


def python(script: str | Path, *arguments: str, cwd: Path, fails: bool = False, **environment: str) -> str:
    """Run a script (a file, or its text) with this interpreter in a folder of its own; what it printed."""
    if isinstance(script, str):
        file = cwd / "script.py"
        file.write_text(script)
        script = file
    return command(sys.executable, str(script), *arguments, cwd=cwd, fails=fails, **environment)


def command(*line: str, cwd: Path, fails: bool = False, **environment: str) -> str:
    surroundings = {**os.environ, **OFFLINE, "HOME": str(cwd), **environment}
    done = subprocess.run(line, cwd=cwd, env=surroundings, capture_output=True, text=True, timeout=300)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def bring(kind: str, path: Path, store: Path) -> tuple[list[RunFolder], Landed]:
    """Import what one tool wrote; the runs by their name."""
    source: Any = import_module(f"stepscope.importers.{kind}").find(path)
    assert source is not None, f"{kind} finds nothing in {path}"
    store.mkdir(parents=True, exist_ok=True)
    landed = Landing(source, store).look()
    return sorted(runs(store), key=lambda run: run.name), landed
