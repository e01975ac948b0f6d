"""Whatever is handed to `log`, it returns, and what is a number comes back as that number."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

import stepscope

numbers = st.one_of(st.floats(), st.integers(-(2**80), 2**80), st.booleans())
odd = st.one_of(st.none(), st.complex_numbers(), st.text(max_size=5), st.binary(max_size=5), st.just([1, "a"]))
leaves = st.one_of(numbers, odd)
names = st.text(st.characters(codec=None), max_size=8)
calls = st.lists(
    st.tuples(
        st.dictionaries(names, st.one_of(leaves, st.dictionaries(names, numbers, max_size=2)), max_size=4),
        st.one_of(st.none(), st.integers(-(2**66), 2**66), st.floats()),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=calls, expected=st.lists(numbers, min_size=1, max_size=5))
def test_log_takes_anything(
    recorded: Callable[[Path], Any], calls: list[tuple[dict[Any, Any], Any]], expected: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = stepscope.init(dir=folder, console=False, system=False, git=False)
        for values, step in calls:
            run.log(values, step)
        for step, value in enumerate(expected):
            run.log({"expected number": value}, step=step)
        run.finish()
        points = recorded(run.path).points("expected number")  # type: ignore[arg-type]
    assert [step for step, _ in points] == list(range(len(expected)))
    for (_, found), value in zip(points, expected, strict=True):
        assert found == value or (math.isnan(found) and math.isnan(value))
