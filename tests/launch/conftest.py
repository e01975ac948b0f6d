"""Running many small scripts with the launcher, in forks of one process that has it imported."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
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
    process = _warm(("--torch", *also) if torch else tuple(also))
    surroundings = environment()
    request = [{**case, "env": {**surroundings, **case.get("env", {})}} for case in cases]
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, "the process that forks for the tests has ended; its error is above"
    return [Done(**each) for each in json.loads(answer)]


@cache
def _warm(words: tuple[str, ...]) -> subprocess.Popen[str]:
    """One process for all tests of this one, with torch or without it."""
    command = [sys.executable, str(FORKING), *words]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(), cwd=FORKING.parent
    )
    atexit.register(process.communicate)
    return process
