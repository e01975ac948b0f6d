"""The same script gives the same findings on a quiet and on a busy machine (bench/busy.py does it with 40 scripts)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from .test_corpus import runner

SCRIPTS = ("opt/no_zero_grad_digits_mlp.py", "loss/broadcast_diabetes_mse.py", "opt/lr_too_low_logistic.py")
SPINNING = 4
SPIN = "import os; started = os.getppid()\nwhile os.getppid() == started: pass"
"""Ends with the test, also where that is killed."""


@pytest.fixture
def load() -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-S", "-c", SPIN]) for _ in range(SPINNING)]
    yield
    for one in spinning:
        one.kill()
        one.wait()


def found(script: str) -> set[tuple[str, int | None]]:
    (entry,) = (one for one in runner.truth() if one.script == script)
    return {(one["rule"], one["line"]) for one in runner.run(entry, watched=True).findings}


@pytest.fixture(scope="module")
def quiet() -> dict[str, set[tuple[str, int | None]]]:
    runner.warm_up()
    return {script: found(script) for script in SCRIPTS}


def test_a_busy_machine_finds_the_same(quiet: dict[str, set[tuple[str, int | None]]], load: None) -> None:
    assert all(quiet.values())
    assert {script: found(script) for script in SCRIPTS} == quiet
