"""What is written in C can be built from its source alone, and one that is missing, broken or old is no fault."""

from __future__ import annotations

import ctypes
import importlib
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope import extension
from stepscope.profile.trace import library

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts/build-compiled"
SMALL = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_small", NULL, -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__small(void) {
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddIntConstant(made, "VERSION", 3) < 0) Py_CLEAR(made);
    return made;
}
"""


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def small(script: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / "small.c"
    source.write_text(SMALL)
    target = tmp_path / str(script["built_name"](source))
    try:
        script["build"](source, target, "-Wall", "-Wextra", "-Werror")
    except script["CannotBuild"] as why:
        pytest.skip(str(why))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "_small", raising=False)
    return target


def build(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_the_scanner_is_built_where_there_is_a_compiler(tmp_path: Path, script: dict[str, Any]) -> None:
    if not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        pytest.skip("no C compiler here")
    done = build("scanner", "--to", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (built,) = tmp_path.iterdir()
    assert built.name == script["built_name"](script["LIBRARIES"][0])
    assert ctypes.CDLL(str(built)).ss_version() == library._VERSION


def test_without_a_compiler_it_says_what_happens_instead(tmp_path: Path) -> None:
    done = build("scanner", "--to", str(tmp_path), PATH=str(tmp_path), CC="")
    said = "src/stepscope/profile/trace/scanner.c was not built, Python does its work: there is no C compiler\n"
    assert (done.returncode, done.stderr) == (1, said)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_none_is_answered_with_those_there_are() -> None:
    done = build("scaner")
    assert done.returncode == 2
    assert "scaner: these can be built: " in done.stderr


@pytest.mark.parametrize("content", [None, b"not a library"])
def test_a_missing_or_foreign_library_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    monkeypatch.setattr(library, "LIBRARY", tmp_path / "scanner.so")
    if content is not None:
        (tmp_path / "scanner.so").write_bytes(content)
    assert library.library.__wrapped__() is None


def test_an_extension_is_loaded_if_it_is_of_the_version_wanted(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPSCOPE_PURE", raising=False)
    found = extension.load("_small", 3)
    assert found is not None
    assert found.VERSION == 3
    assert extension.load("_small", 4) is None
    monkeypatch.setenv("STEPSCOPE_PURE", "1")
    assert extension.load("_small", 3) is None


@pytest.mark.parametrize("content", [None, b"not a module"])
def test_a_missing_or_broken_extension_is_done_without(small: Path, content: bytes | None) -> None:
    small.unlink()
    importlib.invalidate_caches()
    if content is not None:
        small.write_bytes(content)
    assert extension.load("_small", 3) is None


def test_only_what_is_older_than_its_source_is_built_again(script: dict[str, Any], tmp_path: Path, small: Path) -> None:
    source = tmp_path / "small.c"
    before = small.stat().st_ino
    assert script["build_all"]([source]) == {small: source}
    assert small.stat().st_ino == before
    os.utime(source, (small.stat().st_mtime + 5,) * 2)
    assert script["build_all"]([source]) == {small: source}
    assert small.stat().st_ino != before


def test_a_wheel_with_an_extension_is_for_one_python(script: dict[str, Any]) -> None:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert script["wheel_tag"](script["LIBRARIES"]).startswith("py3-none-")
    assert script["wheel_tag"]([*script["LIBRARIES"], "small.c"]).startswith(f"{python}-{python}")
