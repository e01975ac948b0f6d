"""A process that has imported torch once and runs each script in a fork of itself: a start costs milliseconds.

A tree of four: torch alone, torch with dynamo (which the first optimizer of any script imports, in 1.7 s), and each of
them with Stepscope's modules. Plain scripts run where Stepscope was never imported. Requests come on stdin as JSON
lines {"script", "arm", "load", "folder", "seconds"}; the answer {"code", "cpu_s"} follows when the child has ended, and
its output and fingerprint lie in the folder.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import weakref
from typing import IO, Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import arms
from fingerprint import fingerprint, patchable

WARMING = os.path.join(arms.HERE, "warming.py")


def load_ours() -> None:
    """Import what our commands import, as seen in a fork that runs each of them: modules only, nothing installed.

    Packages are imported, torch is not: a script that finds more of it loaded than plain Python loads is a difference.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(f"{folder}/work")
            quiet(f"{folder}/work")
            for arm in arms.ARMS:
                arms.run_arm(arm, WARMING)
        os.write(writing, json.dumps([name for name in sys.modules if is_loadable(name)]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        names = json.load(file)
    os.waitpid(pid, 0)
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def is_loadable(name: str) -> bool:
    """Ours, and what we import late; what the optimizer of the warming script imports is the script's."""
    return name.partition(".")[0] in ("stepscope", "click", "msgspec", "numpy", "psutil", "rich", "yaml")


def quiet(folder: str) -> None:
    """Be in this folder and write nowhere."""
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


class Server:
    """Runs the scripts that want exactly what it has loaded; hands the others on to a fork that has loaded more."""

    def __init__(self, requests: IO[str], answers: IO[str], loaded: frozenset[str]) -> None:
        self._requests, self._answers, self._loaded = requests, answers, loaded
        self._branches: dict[str, Branch] = {}

    def serve(self) -> None:
        """Answer until there is nobody left who asks."""
        for one in list(weakref.finalize._registry):  # type: ignore[attr-defined]
            one.atexit = False  # torch would take its operator libraries apart: half of the time of a small script
        gc.collect()
        gc.freeze()  # children look at none of it, and so copy none of it
        before = patchable()
        for line in iter(self._requests.readline, ""):
            request = json.loads(line)
            missing = [name for name in request["load"] if name not in self._loaded]
            self._answers.write(self._handed_on(missing[0], line) if missing else self._done(request, before))
            self._answers.flush()
        for branch in self._branches.values():
            branch.writing.close()
        for branch in self._branches.values():
            os.waitpid(branch.pid, 0)

    def _handed_on(self, more: str, line: str) -> str:
        if more not in self._branches:
            self._branches[more] = Branch(more, self._loaded)
        return self._branches[more].ask(line)

    def _done(self, request: dict[str, Any], before: dict[str, Any]) -> str:
        pid = os.fork()
        if pid == 0:
            work(request, before)
        code, cpu_s = end_of(pid, request["seconds"])
        return json.dumps({"code": code, "cpu_s": cpu_s}) + "\n"


class Branch:
    """A fork of this process that loads some more and then serves requests."""

    def __init__(self, more: str, loaded: frozenset[str]) -> None:
        ask, requests = os.pipe()
        answers, answer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(requests)
            os.close(answers)
            LOADERS[more]()
            Server(os.fdopen(ask, "r"), os.fdopen(answer, "w"), loaded | {more}).serve()
            os._exit(0)
        os.close(ask)
        os.close(answer)
        self.reading, self.writing = os.fdopen(answers, "r"), os.fdopen(requests, "w")

    def ask(self, line: str) -> str:
        self.writing.write(line)
        self.writing.flush()
        return self.reading.readline()


def end_of(pid: int, seconds: float) -> tuple[int | None, float]:
    """The exit code, negative for a signal, or None when it took too long and was killed; the CPU time it took."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        time.sleep(0.002)
    os.killpg(pid, signal.SIGKILL)
    _, _, used = os.wait4(pid, 0)
    return None, used.ru_utime + used.ru_stime


def work(request: dict[str, Any], before: dict[str, Any]) -> None:
    """In the child: the script, then the fingerprint."""
    os.setpgid(0, 0)
    os.closerange(3, 256)  # the pipes of the servers
    folder, pid = request["folder"], os.getpid()
    for stream, name in ((0, os.devnull), (1, f"{folder}/out"), (2, f"{folder}/err")):
        handle = os.open(name, os.O_RDONLY if stream == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, stream)
        os.close(handle)
    os.chdir(f"{folder}/work")
    random.seed(0)  # Python seeds it again in every fork
    code = arms.run_arm(request["arm"], request["script"])
    if os.getpid() == pid:  # not a child of the script that came back here
        found = fingerprint(vars(sys.modules["__main__"]), before)
        with open(f"{folder}/state.json", "w") as file:
            json.dump(found, file)
    if code == arms.INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def load_torch() -> None:
    """As every script does."""
    importlib.import_module("numpy.random")
    importlib.import_module("torch").set_num_threads(1)


def load_dynamo() -> None:
    """As the first optimizer of a script does."""
    importlib.import_module("torch._dynamo")


LOADERS = {"dynamo": load_dynamo, "ours": load_ours}


def main() -> None:
    """Keep stdin and stdout for the requests; load torch and serve."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    load_torch()
    Server(os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w"), frozenset()).serve()


if __name__ == "__main__":
    main()
