"""Every reader, given sound files that were changed: refused in our own words, within 5 s and 1 GB. Seeds are fixed.

`scripts/fuzz` tries the same for as long as one likes, guided by coverage.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tests.faults.rounds import ROUND, note_tries, times
from tests.fuzz.changes import changed
from tests.fuzz.imports import IMPORTS
from tests.fuzz.limits import TookTooLong, at_most
from tests.fuzz.targets import TARGETS

EXAMPLES = 80
QUIET = settings(
    derandomize=not ROUND, database=None, deadline=None, suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)  # fmt: skip


def examples(name: str) -> int:
    """A whole import is slower than one file."""
    count = times(EXAMPLES // 3 if name in IMPORTS else EXAMPLES)
    note_tries(count)
    return count


@pytest.mark.parametrize("name", list(TARGETS))
def test_sound_inputs_are_read(name: str) -> None:
    target = TARGETS[name]
    refused = 0
    for seed in target.seeds():
        with at_most():
            target(seed)
        try:
            target.read(seed)
        except target.refusals:
            refused += 1
    assert refused < len(target.seeds()), "none of the seeds is sound, so changing them tries nothing"


@pytest.mark.parametrize("name", list(TARGETS))
def test_changed_inputs_are_refused_or_read(name: str) -> None:
    target = TARGETS[name]
    for seed in target.seeds():
        target(seed)  # imports what it needs, before memory is counted

    @settings(QUIET, max_examples=examples(name))
    @given(changed(target.seeds()))
    def check(data: bytes) -> None:
        with at_most():
            target(data)

    check()


@pytest.mark.parametrize("name", list(TARGETS))
def test_any_bytes_are_refused_or_read(name: str) -> None:
    target = TARGETS[name]

    @settings(QUIET, max_examples=examples(name) // 4)
    @given(st.binary(max_size=2000))
    def check(data: bytes) -> None:
        with at_most():
            target(data)

    check()


def test_the_limits_hold() -> None:
    with pytest.raises(MemoryError), at_most(bytes_more=64 << 20):
        bytearray(256 << 20)
    with pytest.raises(TookTooLong), at_most(seconds=0.05):
        sum(iter(lambda: 1, 0))
