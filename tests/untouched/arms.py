"""The five ways to run a script, as they happen in a process that has torch loaded already."""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType, TracebackType
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "scripts")
BEFORE = os.path.join(HERE, "before")
ARMS = ("run", "check", "profile", "record")
WITH_WINDOW = (
    "aot",
    "checkpointing",
    "compile",
    "cprofile",
    "custom",
    "detect",
    "dispatch",
    "double",
    "export",
    "function_mode",
    "fx",
    "gc_live",
    "global",
    "graph_nodes",
    "hooks",
    "inspect_stack",
    "jit",
    "loader_workers",
    "modes",
    "module_hooks",
    "parameter_subclass",
    "parametrizations",
    "patch_mock",
    "patch_relu",
    "patch_torch",
    "per_sample",
    "referrers",
    "sam",
    "saved",
    "step_in",
    "settrace",
    "sys_",
    "tensor_hooks",
    "thread",
    "train_mlp",
    "transformer",
    "user_profiler",
    "weakref",
)
"""Scripts that a window of torch's profiler could disturb; in the others it shows nothing new and costs 0.25 CPU-s."""
INTERRUPTED = -int(signal.SIGINT)


def command(arm: str, script: str) -> list[str]:
    """The arguments of `stepscope` that let a short script run to its end.

    `check` stops a script after 6 batches of a loader, 2 epochs or 24 steps: the scripts stay below that. `profile`
    stops it after its window, so it gets --keep-running; --steps opens the window early, because `profile` would wait
    for the eleventh step and a second. Findings go to lines and to a file, which tells them from the script's output.
    """
    if arm == "check":
        return ["check", "--output", "lines", "--json", "../found.json", script]
    if arm == "profile":
        window = ["--steps", "1:3"] if os.path.basename(script).startswith(WITH_WINDOW) else []
        return ["profile", "--dir", "../runs", "--keep-running", *window, script]
    return ["run", "--dir", "../runs", "--output", "lines", "--json", "../found.json", script]


def run_arm(arm: str, script: str) -> int:
    """Run it and do what Python does at the end, up to but without taking the interpreter apart; its exit code."""
    before = os.path.join(BEFORE, os.path.basename(script))
    if os.path.exists(before):  # what a user's sitecustomize or .pth file does, before anybody can watch
        spec = importlib.util.spec_from_file_location("users_site", before)
        assert spec is not None
        assert spec.loader is not None
        sys.modules["users_site"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    code = _ended(lambda: _by_command(arm, script) if arm in ("run", "check", "profile") else _by_exec(arm, script))
    _ended(threading._shutdown)  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    return code


def _by_command(arm: str, script: str) -> None:
    from stepscope.cli.main import main

    sys.argv[:] = ["stepscope", *command(arm, script)]
    main()


def _by_exec(arm: str, script: str) -> None:
    """As `python script` does; under `record` with the block around all of it."""
    sys.argv[:] = [script]
    sys.path[0] = os.path.dirname(script)
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=script,
        __builtins__=sys.modules["builtins"],
        __spec__=None,
        __cached__=None,
        __package__=None,
        __annotations__={},
        __doc__=None,
        __loader__=importlib.machinery.SourceFileLoader("__main__", script),
    )
    sys.modules["__main__"] = module
    with io.open_code(script) as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    with _around(arm):
        exec(code, module.__dict__)


def _around(arm: str) -> AbstractContextManager[Any]:
    if arm == "plain":
        return nullcontext()
    import stepscope

    context: AbstractContextManager[Any] = stepscope.record()
    return context


def _ended(work: Callable[[], object]) -> int:
    """The exit code of what was done, after what Python says of it."""
    try:
        work()
    except SystemExit as end:
        if end.code is None:
            return 0
        if isinstance(end.code, int):
            return end.code & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = _without_driver(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _without_driver(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace
