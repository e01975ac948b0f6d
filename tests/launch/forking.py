"""A process that has imported the launcher once and runs each script in a fork of itself: a start costs milliseconds.

It serves one process of pytest until stdin ends. A request is a line with a JSON list of {"args": [...], "cwd": "...",
"env": {...}, "stdin": "..."}; the answer is a line with a JSON list of {"out", "err", "code"}. Children without torch
leave through the interpreter's own front door, `atexit`, threads and all.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import shutil
import sys
import tempfile

import stepscope.cli.main
import stepscope.cli.run
import stepscope.launch.launch

if "--torch" in sys.argv:  # with what every first optimizer step and every first rule would import
    import torch._dynamo  # noqa: F401

    import stepscope.launch.evaluations
    from stepscope.diagnose.rule import all_rules

    all_rules()


def read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def know_profiles() -> None:
    """Import what every profile is looked at with."""
    import stepscope.cli.profile
    import stepscope.launch.profiling.session
    import stepscope.profile.advice.verdict  # noqa: F401
    from stepscope.diagnose.rule import rules_for
    from stepscope.profile.analyses.analysis import all_analyses

    rules_for("profile")
    all_analyses()


def start(case: dict[str, object], folder: str, number: int) -> int:
    given = os.path.join(folder, f"{number}.in")
    with open(given, "w", encoding="utf-8") as file:
        file.write(str(case.get("stdin", "")))
    pid = os.fork()
    if pid == 0:
        for stream, name, flags in ((0, given, os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
            path = name if stream == 0 else os.path.join(folder, f"{number}.{name}")
            os.dup2(os.open(path, flags | (os.O_CREAT if stream else 0), 0o600), stream)
        os.chdir(str(case["cwd"]))
        os.environ.clear()
        os.environ.update(case["env"])  # type: ignore[call-overload]
        sys.stdin = open(0)  # noqa: SIM115
        sys.path[0] = str(case["cwd"])
        for name in case.get("break", []):  # type: ignore[attr-defined]
            break_down(name)
    return pid


def break_down(name: str) -> None:
    """Have `module:function`, `module:Class.method` or every method of `module:Class` raise when it is called."""
    module, path = name.split(":")
    owner = getattr(importlib.import_module(module), path.split(".")[0])
    if not isinstance(owner, type):
        setattr(importlib.import_module(module), path, broken)
        return
    own = [key for key, value in vars(owner).items() if callable(value) and not key.startswith("__")]
    for method in own if "." not in path else [path.split(".")[1]]:
        setattr(owner, method, broken)


def broken(*args: object, **kwargs: object) -> None:
    raise ZeroDivisionError("broken on purpose")


def leave_soon(args: list[str]) -> None:
    """Run, close what must be closed, and spare the interpreter the taking apart of torch."""
    code = 0
    try:
        stepscope.cli.main.main(args)
    except SystemExit as end:
        code = int(end.code or 0)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


def serve() -> list[str] | None:
    """Answer requests until stdin ends. In a child: the arguments of its case."""
    answers = os.dup(1)
    os.dup2(2, 1)  # packages may greet when they are imported
    for package in sys.argv[1:]:
        if package != "--torch":
            importlib.import_module(package)
    for line in iter(sys.stdin.readline, ""):
        cases = json.loads(line)
        if "--torch" in sys.argv and any(case["args"][0] == "profile" for case in cases):
            know_profiles()
        gc.collect()
        gc.freeze()  # children look at none of it, and so copy none of it
        folder = tempfile.mkdtemp()
        children: list[int] = []
        for number, case in enumerate(cases):
            pid = start(case, folder, number)
            if pid == 0:
                os.close(answers)
                return list(case["args"])
            children.append(pid)
            if len(children) % 2 == 0:
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        answer = json.dumps([ending(pid, folder, number) for number, pid in enumerate(children)]) + "\n"
        shutil.rmtree(folder)
        with os.fdopen(os.dup(answers), "w") as file:
            file.write(answer)
    return None


def ending(pid: int, folder: str, number: int) -> dict[str, object]:
    """Wait for a child; what it wrote and its exit code."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    out, err = (read(os.path.join(folder, f"{number}.{name}")) for name in ("out", "err"))
    return {"out": out, "err": err, "code": code}


def main() -> None:
    args = serve()
    if args is None:
        return
    if "--torch" in sys.argv:
        leave_soon(args)
    stepscope.cli.main.main(args)


if __name__ == "__main__":
    main()
