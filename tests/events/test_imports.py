"""Packages are heard of when they have been imported, and import as they would alone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.events.imports import Imports


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "imported_late.py").write_text("HERE = __loader__.exec_module.__func__.__name__\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "imported_late"
    sys.modules.pop("imported_late", None)


def test_two_that_wait_for_one_package_are_both_told(package: str) -> None:
    """A process that was forked has its own, beside that of its parent."""
    told: list[str] = []
    waiting = [Imports(), Imports()]
    for number, one in enumerate(waiting):
        one.when(package, lambda module, number=number: told.append(f"{number}: {module.__name__}"))
        one.install()
    try:
        module = importlib.import_module(package)
    finally:
        for one in waiting:
            one.remove()
    assert sorted(told) == ["0: imported_late", "1: imported_late"]
    assert "exec_module" not in vars(module.__loader__)
    assert module.HERE == "exec_module"
