"""Traces small enough to draw by hand, and a real one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.read import read_trace
from stepscope.profile.trace.trace import Trace

SAMPLES = Path(__file__).parents[2] / "samples" / "traces"


def trace_of(*events: tuple[str, int, int] | tuple[str, int, int, dict[str, Any]], base: int = 1_000_000) -> Trace:
    """(name, start, duration) of operators on one thread; a dictionary changes lane, category, letter or arguments."""
    builder = Builder()
    for name, start, dur, *rest in events:
        more = dict(rest[0]) if rest else {}
        builder.add(
            name,
            more.pop("cat", "cpu_op"),
            start=base + start,
            dur=dur,
            pid=more.pop("pid", 1),
            tid=more.pop("tid", 1),
            ph=more.pop("ph", "X"),
            args=more,
        )
    return Trace(builder.events())


@pytest.fixture(scope="session")
def h200() -> Trace:
    """Two steps of a training on a GPU, with Python stacks, operators, kernels and a DataLoader."""
    return Trace(read_trace(SAMPLES / "h200.json.gz", cache=False))


def names_of(trace: Trace, rows: Sequence[int]) -> list[str]:
    return [trace.events.names[int(trace.events.name[row])] for row in rows]
