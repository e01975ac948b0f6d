"""Runs the scripts of the corpus, plain or under `stepscope run`, and scores what is found against truth.jsonl.

A script gets a process of its own, forked from one that has imported torch already: that takes half a second instead of
four. Used by tests/diagnose/test_corpus.py and bench/diagnose.py; it is no script of the corpus itself.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NEAR = 3
"""A finding's line is right when it is at most so far from the cause's."""
UNNAMED = "?"
"""The rule of a fault nobody has matched with a rule yet: a warning near its line counts as found."""


@dataclass
class Entry:
    """One line of truth.jsonl."""

    script: str
    rule: str | None = None
    line: int | None = None
    lines: list[int] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    file: str | None = None
    twin: str | None = None
    crashes: bool = False
    args: list[str] = field(default_factory=list)
    style: str = ""
    deterministic: bool = True
    needs: str = ""
    """A package the script imports that not every environment has."""

    @property
    def group(self) -> str:
        return self.script.split("/")[0]

    @property
    def is_runnable(self) -> bool:
        return not self.needs or importlib.util.find_spec(self.needs) is not None


@dataclass
class Result:
    """What became of one run."""

    code: int | None
    """The exit code; None when it had to be killed."""
    printed: str
    weights: str
    """A hash of all parameters of all optimizers that stepped, at the end."""
    findings: list[dict[str, Any]]
    said: str
    seconds: float
    evidence: list[bytes] = field(default_factory=list)
    """What its processes have kept of what was seen, the script's own first."""
    told: dict[str, float] = field(default_factory=dict)
    """Seconds from the start of the process to the first finding of each rule."""

    @property
    def loud(self) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if finding["severity"] != "info"]


def truth() -> list[Entry]:
    known = Entry.__dataclass_fields__
    rows = [json.loads(line) for line in (HERE / "truth.jsonl").read_text().splitlines() if line.strip()]
    return [Entry(**{name: value for name, value in row.items() if name in known}) for row in rows]


def is_found(entry: Entry, findings: Iterable[dict[str, Any]]) -> bool:
    if entry.rule == UNNAMED:
        return is_placed(entry, findings)
    return any(_is_named(entry, finding) for finding in findings)


def is_placed(entry: Entry, findings: Iterable[dict[str, Any]]) -> bool:
    """Whether a finding of the right rule points at the cause."""
    wanted = [line for line in (entry.line, *entry.lines) if line is not None]
    name = Path(entry.file or entry.script).name
    return any(
        _is_named(entry, finding)
        and Path(finding["file"] or "").name == name
        and any(abs((finding["line"] or -99) - line) <= NEAR for line in wanted)
        for finding in findings
    )


def _is_named(entry: Entry, finding: dict[str, Any]) -> bool:
    if entry.rule == UNNAMED:
        return bool(finding["severity"] != "info")
    return finding["rule"] in (entry.rule, *entry.also)


def warm_up() -> None:
    """Import once what every script imports."""
    import sklearn.datasets
    import sklearn.model_selection
    import sklearn.preprocessing
    import torch
    import torch._dynamo  # what every first optimizer step imports

    import stepscope.cli.run
    from stepscope.diagnose.rule import all_rules

    os.environ["USE_TF"] = "0"  # transformers would import TensorFlow where it is installed
    torch.set_num_threads(1)
    all_rules()
    del sklearn


def run(entry: Entry, *, watched: bool, options: Iterable[str] = (), timeout_s: float = 300) -> Result:
    """Run one script in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        here = Path(folder)
        (here / "work").mkdir()
        started, began = time.perf_counter(), time.time()
        pid = os.fork()
        if pid == 0:
            _in_child(entry, here, watched, list(options))
        code = _wait(pid, timeout_s)
        findings = here / "findings.json"
        weights = here / "weights"
        return Result(
            code=code,
            printed=(here / "stdout").read_text(errors="replace"),
            weights=weights.read_text() if weights.exists() else "",
            findings=json.loads(findings.read_text())["findings"] if findings.exists() else [],
            said=(here / "stderr").read_text(errors="replace"),
            seconds=time.perf_counter() - started,
            evidence=_evidence(here / "work"),
            told=_told(here / "work", began) if watched else {},
        )


def _evidence(work: Path) -> list[bytes]:
    kept = work.glob("stepscope-runs/*/evidence/*.gz")
    return [path.read_bytes() for path in sorted(kept, key=lambda path: (path.name.count("."), path.name))]


def _told(work: Path, began: float) -> dict[str, float]:
    from stepscope.records import FindingEvent
    from stepscope.runs.read.folder import RunFolder

    told: dict[str, float] = {}
    for path in sorted(one for one in work.glob("stepscope-runs/*") if one.is_dir()):
        for event in RunFolder(path).events(FindingEvent):
            told.setdefault(event.finding.rule, round(event.time - began, 3))
    return told


def run_all(jobs: Iterable[Callable[[], Any]], workers: int) -> Iterator[Any]:
    """Several at a time, in threads that each wait for their own child; results in order."""
    # Not an executor: its threads are joined at exit, in a process that a script forks by the thread itself.
    from multiprocessing.pool import ThreadPool

    with ThreadPool(workers) as pool:
        yield from pool.imap(lambda job: job(), jobs)


def _wait(pid: int, timeout_s: float) -> int | None:
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def _forget_tests() -> None:
    """In a process of the tests their modules are loaded, and would be read as the script's own files."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(str(HERE.parent)) and module is not sys.modules.get(__name__):
            del sys.modules[name]


def _in_child(entry: Entry, here: Path, watched: bool, options: list[str]) -> None:
    code = 70
    try:
        os.setsid()
        warnings.resetwarnings()  # the tests' "warnings are errors" is not the script's
        warnings.simplefilter("default")
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(here / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(file, number)
        sys.stdin = open(os.devnull)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        os.chdir(here / "work")
        _forget_tests()
        os.environ.update(OMP_NUM_THREADS="1", STEPSCOPE_CACHE=str(here / "cache"))
        for name in ("STEPSCOPE_DIR", "GITHUB_ACTIONS", "PYTEST_CURRENT_TEST"):
            os.environ.pop(name, None)
        weights = _watch_weights()
        script = str(HERE / entry.script)
        if watched:
            code = _run_watched([*options, "--json", str(here / "findings.json"), script, *map(str, entry.args)])
        else:
            code = _run_plain(script, [str(arg) for arg in entry.args])
        (here / "weights").write_text(weights())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watch_weights() -> Callable[[], str]:
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    seen: dict[int, Any] = {}
    register_optimizer_step_post_hook(lambda optimizer, args, kwargs: seen.setdefault(id(optimizer), optimizer))

    def digest() -> str:
        sha = hashlib.sha256()
        for optimizer in seen.values():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    values = parameter.detach().cpu()
                    values = values.to_dense() if values.layout is not torch.strided else values
                    sha.update(values.contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return sha.hexdigest()

    return digest


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _run_watched(arguments: list[str]) -> int:
    from stepscope.cli.main import main

    sys.argv = ["stepscope", "run", *arguments]
    try:
        main(["run", *arguments])
    except SystemExit as error:
        return _exit_code(error)
    return 0


def _run_plain(script: str, arguments: list[str]) -> int:
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(script)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    try:
        exec(compile(Path(script).read_text(), script, "exec"), module.__dict__)
    except SystemExit as error:
        return _exit_code(error)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
