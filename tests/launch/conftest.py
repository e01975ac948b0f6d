"""Running many small scripts with the launcher, in forks of one process that has it imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

FORKING = Path(__file__).parent / "forking.py"


class Done(NamedTuple):
    out: str
    err: str
    code: int


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "PYTEST"))}
    return {**clean, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def launch_all(cases: Sequence[dict[str, Any]], *, torch: bool = False, also: Sequence[str] = ()) -> list[Done]:
    """What each `stepscope ARGS...` printed and how it ended; `also` names packages that all of them import."""
    command = [sys.executable, str(FORKING), *(["--torch"] if torch else []), *also]
    done = subprocess.run(
        command, input=json.dumps(list(cases)), capture_output=True, text=True, env=environment(), timeout=300
    )
    assert done.returncode == 0, done.stderr
    return [Done(**each) for each in json.loads(done.stdout)]
