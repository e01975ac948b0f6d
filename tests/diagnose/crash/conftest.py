"""Crashing a script on purpose, with or without a watch, and reading the crash."""

from __future__ import annotations

import runpy
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.source import Source, SourceFile
from stepscope.record.observers import Watcher
from stepscope.records import Finding

PRELUDE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"


class Crashed:
    """A script that has crashed: the crash, what the rules say, and the script's text."""

    def __init__(self, engine: Engine, findings: list[Finding], script: str) -> None:
        assert engine.evidence.crash is not None
        self.crash, self.evidence, self.all = engine.evidence.crash, engine.evidence, engine.findings
        self.findings, self.script = findings, script

    def one(self) -> tuple[str, str]:
        """The one finding: its rule and the line of source it points at."""
        assert len(self.findings) == 1, [(f.rule, f.line, f.message) for f in self.findings]
        found = self.findings[0]
        assert found.line is not None
        return found.rule, self.script.splitlines()[found.line - 1].strip()


class OneFile(Source):
    """The script alone: the modules of the tests, which this process has loaded, are not its files."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def files(self) -> list[SourceFile]:
        file = self.file(self._path)
        return [] if file is None else [file]


@pytest.fixture
def crash(tmp_path: Path) -> Callable[..., Crashed]:
    """`crash(code)` runs code that must fail; by default nobody watches it, so the exception alone has to tell."""

    def run(code: str, *, watched: bool = False) -> Crashed:
        path = tmp_path / "train.py"
        path.write_text(PRELUDE + textwrap.dedent(code))
        watcher = Watcher()
        engine = Engine(Evidence.of(watcher, OneFile(str(path))))
        if watched:
            watcher.start()
        try:
            runpy.run_path(str(path), run_name="__main__")
        except BaseException as error:
            raised = error
        else:
            pytest.fail("the script did not crash")
        finally:
            watcher.stop()
        findings = engine.crashed(raised)
        return Crashed(engine, findings, path.read_text())

    return run
