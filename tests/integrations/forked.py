"""Run a command of ours on a script in a fork of this process, where the slow imports have been made already."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Outcome", "plain", "stepscope"]


class Outcome(NamedTuple):
    code: int
    text: str

    def line(self, start: str) -> str:
        """The last line that begins so."""
        return next(line for line in reversed(self.text.splitlines()) if line.startswith(start))


def stepscope(folder: Path, *args: str) -> Outcome:
    """`stepscope ARGS` in a folder."""
    return _forked(folder, ["stepscope", *args], _main)


def plain(folder: Path, *args: str) -> Outcome:
    """`python ARGS` in a folder."""
    return _forked(folder, list(args), lambda: runpy.run_path(args[0], run_name="__main__"))


def _main() -> None:
    from stepscope.cli.main import main

    main()


def _forked(folder: Path, argv: list[str], call: Callable[[], object]) -> Outcome:
    out = folder / "out.txt"
    child = os.fork()
    if child == 0:
        code = 98
        try:
            code = _inside(folder, out, argv, call)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return Outcome(os.waitstatus_to_exitcode(status), out.read_text(errors="replace"))


def _inside(folder: Path, out: Path, argv: list[str], call: Callable[[], object]) -> int:
    import atexit
    import traceback
    import warnings

    file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = argv
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    code = 0
    try:
        call()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code
