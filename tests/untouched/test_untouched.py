"""Training is untouched: awkward scripts end the same, to the last bit, with Stepscope and without it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .arms import ARMS
from .harness import SCRIPTS, Done, arms_of, differences, known_in

NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))
ALL = os.environ.get("STEPSCOPE_UNTOUCHED") == "all"
"""Otherwise `check` and `profile` run every second script: they watch with the same parts as `run`."""


def _cases() -> Iterator[Any]:
    for number, name in enumerate(NAMES):
        script = SCRIPTS / f"{name}.py"
        known = known_in(script)
        for arm in arms_of(script, ARMS):
            marks = [pytest.mark.xfail(reason=known[arm], strict=True)] if arm in known else []
            if ALL or arm in ("run", "record") or number % 2 == (arm == "check"):
                yield pytest.param(name, arm, marks=marks, id=f"{name}-{arm}")


def test_there_are_enough_scripts_to_mean_something() -> None:
    assert len(NAMES) >= 90


@pytest.mark.parametrize(("name", "arm"), list(_cases()))
def test_a_script_cannot_tell_that_it_is_watched(run_script: Callable[[str, str], Done], name: str, arm: str) -> None:
    plain = run_script(name, "plain")
    assert plain.code is not None, f"{name} took too long: {plain.out}{plain.err}"
    found = differences(plain, run_script(name, arm), arm)
    assert not found, "\n".join(found)
