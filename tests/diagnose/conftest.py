"""Running a few lines of training under the watch, in this process, and getting the findings."""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stdout
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
import torch

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rediagnose import asked_again
from stepscope.diagnose.source import Source
from stepscope.events import Installed
from stepscope.evidence.bundle import Bundle, pack, unpack
from stepscope.evidence.registry import tables
from stepscope.launch.child_processes import Children
from stepscope.launch.evaluations import Evaluations
from stepscope.launch.parts.sampled_lines import Sampling
from stepscope.launch.printed.series import PrintedSeries
from stepscope.record.observers import Watcher
from stepscope.record.observers.tape import Tapes
from stepscope.records import Finding

Diagnose = Callable[..., list[Finding]]

PRELUDE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
"""What every example starts with; `line_of` counts it."""


class WithoutTests(Source):
    """The script's files: the modules of the tests, which this process has loaded, are not among them."""

    def _loaded(self) -> list[str]:
        tests = str(Path(__file__).parent.parent)
        return [path for path in super()._loaded() if not path.startswith(tests)]


class Diagnosed(list[Finding]):
    """The findings, and the script they are about."""

    script: str = ""

    def rules(self, at_least: str = "warning") -> list[str]:
        """The ids found at this severity or above."""
        order = ("info", "warning", "error")
        return [f.rule for f in self if order.index(f.severity) >= order.index(at_least)]

    def one(self, rule: str) -> Finding:
        found = [f for f in self if f.rule == rule]
        assert len(found) == 1, f"expected one {rule}, found {[(f.rule, f.line, f.message) for f in self]}"
        return found[0]

    def text(self, finding: Finding) -> str:
        """The source line a finding points at, stripped."""
        assert finding.line is not None, finding
        return self.script.splitlines()[finding.line - 1].strip()


class ReadLines(io.StringIO):
    """What an example prints, read as the launcher reads it."""

    def __init__(self, series: PrintedSeries) -> None:
        super().__init__()
        self._series = series

    def write(self, text: str) -> int:
        if text.strip():
            self._series.line(text.strip())
        return len(text)


def is_asked_again(path: Path) -> bool:
    """One script in ten, always the same; all of them with STEPSCOPE_AGAIN=all."""
    return os.environ.get("STEPSCOPE_AGAIN") == "all" or zlib.crc32(path.read_bytes()) % 10 == 0


def check_again(engine: Engine, of_others: list[Finding]) -> None:
    """Rules find the same in what a run keeps as they found while it ran, without the script and from bytes alone."""
    evidence = engine.evidence
    found = {name: table for name, table in evidence.tables.items() if name in tables()}
    bundle = unpack(pack(Bundle(found, sources=evidence.source.texts(2 << 20)), strict=True))
    assert set(bundle.tables) == set(found)
    again = asked_again(bundle)
    own = [finding for finding in engine.findings if finding not in of_others]
    key = attrgetter("rule", "file", "line", "severity")  # the words may have later numbers in them
    assert sorted(map(key, again.findings), key=str) == sorted(map(key, own), key=str)


def run_watched(path: Path, probe: bool = False, sampled: bool = False, printed: bool = False) -> Diagnosed:
    watcher = Watcher()
    series = PrintedSeries(lambda values, step: None, lambda: watcher.steps.step_count, lambda: True)
    if printed:
        watcher.add(Evaluations(watcher, lambda values: None, printed=series))
    if probe:
        watcher.add(Tapes(watcher))
    evidence = Evidence.of(watcher, WithoutTests())
    evidence.source.file(str(path))
    all_files = evidence.source.files
    # The tests themselves are loaded too; a script's own files are those beside it.
    evidence.source.files = lambda: [file for file in all_files() if file.path.startswith(str(path.parent))]  # type: ignore[method-assign]
    engine = Engine(evidence)
    sampling: Sampling | None = None

    def moment(kind: str) -> None:
        nonlocal sampling
        step = watcher.steps.step_count
        if sampled and kind == "step" and step >= 5:  # the first ones are slow, because they are watched closely
            sampling = sampling or Sampling(step)
            sampling.stepped(step)
        engine.moment(kind)

    watcher.on_moment = moment
    children, installed = Children(), Installed()
    children.install(installed)
    before = set(sys.modules)
    crash: BaseException | None = None
    watcher.start()
    try:
        # The names of the script stay until the rules have been asked, as they do in `stepscope run`.
        with redirect_stdout(ReadLines(series)) if printed else nullcontext():
            names = runpy.run_path(str(path), run_name="__main__")
    except SystemExit:
        names = {}
    except BaseException as error:
        crash = error
    finally:
        if sampling is not None:
            sampling.fill(watcher.hot_lines)
        watcher.stop()
        installed.remove()
    own = len(engine.findings)
    children.gather(engine)
    children.remove()
    of_others = engine.findings[own:]
    if crash is not None:
        engine.crashed(crash)
    else:
        if probe:
            engine.probe()
        engine.finish()
        names.clear()
    if not probe and is_asked_again(path):
        check_again(engine, of_others)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(path.parent)):
            del sys.modules[name]
    found = Diagnosed(engine.findings)
    found.script = path.read_text()
    return found


@pytest.fixture(scope="session")
def in_clean_process() -> Iterator[Callable[[Path], Diagnosed]]:
    """Runs a script in a fork of a process that has not trained yet; the process starts with the first script."""
    process: subprocess.Popen[str] | None = None

    def run(path: Path) -> Diagnosed:
        nonlocal process
        if process is None:
            command = [sys.executable, str(Path(__file__).parent / "clean.py")]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        found = Diagnosed(msgspec.json.decode(process.stdout.readline(), type=list[Finding]))
        found.script = path.read_text()
        return found

    yield run
    if process is not None:
        # Told to end: a worker of a loader that is still alive holds the pipe open, and its end would never be seen.
        process.communicate("\n")


@pytest.fixture
def diagnose(tmp_path: Path, in_clean_process: Callable[[Path], Diagnosed]) -> Diagnose:
    """`diagnose(code)` runs the code as a script and gives its findings; `diagnose(code).rules()` their ids."""
    threads = torch.get_num_threads()

    def run(
        code: str,
        *,
        prelude: bool = True,
        name: str = "train.py",
        probe: bool = False,
        processes: bool = False,
        sampled: bool = False,
        printed: bool = False,
    ) -> Diagnosed:
        path = tmp_path / name
        path.write_text((PRELUDE if prelude else "") + textwrap.dedent(code))
        if processes:
            return in_clean_process(path)
        try:
            return run_watched(path, probe, sampled, printed)
        finally:
            torch.set_num_threads(threads)
            torch.set_grad_enabled(True)
            torch.autograd.set_detect_anomaly(False)

    return run
