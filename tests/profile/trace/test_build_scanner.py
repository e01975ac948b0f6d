"""The library can be built from its source alone, and a broken or missing one is no fault."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.profile.trace import library

ROOT = Path(__file__).parents[3]


def build(target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/build-scanner"), str(target)]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_it_is_built_where_there_is_a_compiler(tmp_path: Path) -> None:
    if not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        pytest.skip("no C compiler here")
    done = build(tmp_path / "scanner.so")
    assert done.returncode == 0, done.stderr
    assert ctypes.CDLL(str(tmp_path / "scanner.so")).ss_version() == library._VERSION
    assert [path.name for path in tmp_path.iterdir()] == ["scanner.so"]


def test_without_a_compiler_it_says_what_happens_instead(tmp_path: Path) -> None:
    done = build(tmp_path / "scanner.so", PATH=str(tmp_path), CC="")
    assert (done.returncode, done.stderr) == (1, "no C compiler: traces will be read by msgspec\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b"not a library"])
def test_a_missing_or_foreign_library_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    monkeypatch.setattr(library, "LIBRARY", tmp_path / "scanner.so")
    if content is not None:
        (tmp_path / "scanner.so").write_bytes(content)
    assert library.library.__wrapped__() is None
