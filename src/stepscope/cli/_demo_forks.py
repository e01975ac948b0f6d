"""The demo's commands, in forks of a process that has imported torch: importing costs more than such a training.

`python -m stepscope.cli._demo_forks` reads a line of JSON for each command, and answers with one. What measures its own
start, or starts processes, gets a fresh interpreter; everything does where a fork is not safe.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from stepscope.runs.format.writer_identity import process_started
from stepscope.sweep.process import Process

NEEDED = (
    "torch._dynamo",
    "sklearn.datasets",
    "matplotlib.pyplot",
    "optuna",
    "stepscope.cli.run",
    "stepscope.launch.launch",
    "stepscope.launch.evaluations",
)
"""What every first step, first rule and first figure would import."""
FORKS = sys.platform == "linux"
"""Elsewhere libraries of the system may not be used after a fork."""
_TAIL = 2000


def main() -> None:
    for line in iter(sys.stdin.readline, ""):
        print(json.dumps(_played(**json.loads(line))), flush=True)


@cache
def _import_all() -> None:
    from stepscope.diagnose.rule import all_rules

    for name in NEEDED:
        with suppress(ImportError):  # the command that needs it will say so
            import_module(name)
    all_rules()
    gc.collect()
    gc.freeze()  # forks look at none of it, and so copy none of it


def _played(words: list[str], environment: dict[str, str], fresh: bool) -> dict[str, Any]:
    """How a command ended, and the end of what it printed."""
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, "-m", "stepscope", *words]
        if FORKS and not fresh:
            _import_all()
            pid = _forked(partial(_stepscope, words), command, environment, output)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        else:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
            code = done.returncode
        output.seek(max(output.seek(0, os.SEEK_END) - _TAIL, 0))
        return {"code": code, "output": output.read().decode(errors="replace")}


def _stepscope(words: list[str]) -> None:
    if words[0] == "sweep":
        _sweep(Path(words[1]), int(words[words.index("--runs") + 1]))
        return
    from stepscope.cli.main import main

    main(words)


def _sweep(file: Path, runs: int) -> None:
    """`stepscope sweep FILE --runs N --parallel 1`, with forks for its runs."""
    from stepscope.cli._sweep_progress import signals_to
    from stepscope.sweep.opening import open_sweep, store_of
    from stepscope.sweep.spec import read_sweep

    sweep = replace(read_sweep(file), runs=runs, parallel=1)
    runner = open_sweep(sweep, store_of(sweep, None))
    runner.launch = _fork_of_run
    with signals_to(runner):
        runner.go()
    runner.journal.close()
    failed = [trial for trial in runner.trials.values() if trial.state == "failed"]
    for trial in failed:
        print(f"run {trial.number} failed: {trial.reason}; see {trial.output(runner.journal.folder)}")
    sys.exit(bool(failed))


def _fork_of_run(command: Sequence[str], environment: Mapping[str, str], output: Path) -> Process:
    """What `Process.start` does, for `python -m stepscope run ...`, without a new interpreter."""

    def run() -> None:
        os.setsid()  # the sweep ends a run together with what it started
        _stepscope(list(command[3:]))

    with open(output, "ab") as log:
        pid = _forked(run, command, environment, log)
    return Process(pid, process_started(pid), _Child(pid))


class _Child:
    """A fork, asked like a `Popen`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code


def _forked(work: Callable[[], None], command: Sequence[str], environment: Mapping[str, str], output: IO[bytes]) -> int:
    """Its process. It ends as Python would, except that nothing is taken apart."""
    pid = os.fork()
    if pid:
        return pid
    code = 0
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        os.environ.clear()
        os.environ.update(environment)
        sys.orig_argv[:] = command
        work()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    with suppress(BaseException):
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
