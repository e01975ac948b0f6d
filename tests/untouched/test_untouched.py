"""Training is untouched: awkward scripts end the same, to the last bit, with Stepscope and without it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .arms import ARMS
from .harness import SCRIPTS, Done, arms_of, differences

NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))
CASES = [(name, arm) for name in NAMES for arm in arms_of(SCRIPTS / f"{name}.py", ARMS)]


def test_there_are_enough_scripts_to_mean_something() -> None:
    assert len(NAMES) >= 90


@pytest.mark.parametrize(("name", "arm"), CASES, ids=[f"{name}-{arm}" for name, arm in CASES])
def test_a_script_cannot_tell_that_it_is_watched(run_script: Callable[[str, str], Done], name: str, arm: str) -> None:
    plain = run_script(name, "plain")
    assert plain.code is not None, f"{name} took too long: {plain.out}{plain.err}"
    found = differences(plain, run_script(name, arm), arm)
    assert not found, "\n".join(found)
