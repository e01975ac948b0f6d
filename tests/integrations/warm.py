"""Scripts and `stepscope` commands, each in a process of its own that is forked from one with the heavy imports done.

Importing transformers takes longer than training a small model ten times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Done", "Warm"]

QUIET = {
    "HF_HUB_OFFLINE": "1", "USE_TF": "0", "WANDB_MODE": "offline", "OMP_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": "", "NO_COLOR": "1",
    "COLUMNS": "140", "TOKENIZERS_PARALLELISM": "0",
}  # fmt: skip


@dataclass(frozen=True)
class Done:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    def value(self, name: str) -> Any:
        """What the script printed as `name=JSON`."""
        line = next(one for one in reversed(self.out.splitlines()) if one.startswith(f"{name}="))
        return json.loads(line.partition("=")[2])

    @property
    def rules(self) -> list[str]:
        """The rules that spoke, in order."""
        heads = [line for line in self.err.splitlines() if line.startswith(("error[", "warning["))]
        return [line.partition("[")[2].partition("]")[0] for line in heads]

    def place_of(self, rule: str) -> str:
        """`train.py:7`: where a finding points."""
        lines = self.err.splitlines()
        at = next(number for number, line in enumerate(lines) if f"[{rule}]" in line)
        return next(line.split("--> ")[1] for line in lines[at:] if "--> " in line)


class Warm:
    """A process that has imported `preload` and forks for every command. To be closed."""

    def __init__(self, *preload: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **QUIET, **environment},
        )

    def python(self, folder: Path, script: str, *words: str) -> Done:
        """`python script.py words...` in a folder; the script is written first."""
        return self._run(folder, script, ["python", *words])

    def stepscope(self, folder: Path, script: str, *words: str) -> Done:
        """`stepscope words... train.py`, or with `train.py` among the words."""
        return self._run(folder, script, ["stepscope", *words])

    def _run(self, folder: Path, script: str, words: list[str]) -> Done:
        (folder / "train.py").write_text(script)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(folder), words]) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return Done(code, (folder / ".out").read_text(), (folder / ".err").read_text())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def _child(folder: str, words: list[str]) -> int:
    os.chdir(folder)
    for number, name in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.path[0] = folder
    if words[0] == "python":
        import runpy

        sys.argv = ["train.py", *words[1:]]
        runpy.run_path("train.py", run_name="__main__")
        return 0
    from stepscope.cli.main import main

    sys.argv = words if "train.py" in words else [*words, "train.py"]
    main()
    return 0


def _leave(code: Any) -> None:
    """End as a process does: threads and atexit handlers of the script's have their turn."""
    import atexit

    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _serve(preload: list[str]) -> None:
    import importlib

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # packages may greet when they are imported
    for name in preload:
        importlib.import_module(name)
    for line in sys.stdin:
        folder, words = json.loads(line)
        child = os.fork()
        if not child:
            try:
                code: Any = _child(folder, words)
            except SystemExit as end:
                code = end.code
            except BaseException:
                sys.excepthook(*sys.exc_info())
                code = 1
            _leave(code)
        answers.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        answers.flush()


if __name__ == "__main__":
    sys.modules["warm"] = sys.modules.pop("__main__")  # the scripts are `__main__`
    sys.modules["__main__"] = type(sys)("__main__")
    _serve(sys.argv[1:])
