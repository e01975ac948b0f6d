"""Real traces of a GPU, and what torch itself said of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile.trace.read import read_trace
from stepscope.profile.trace.trace import Trace

TRACES = Path(__file__).parents[2] / "samples" / "traces"


@pytest.fixture(scope="session")
def h200() -> Trace:
    """Two steps of a small GPT on an H200, with stacks, shapes and memory."""
    return Trace(read_trace(TRACES / "h200.json.gz", cache=False))


@pytest.fixture(scope="session")
def h200_plain() -> Trace:
    """The same without stacks."""
    return Trace(read_trace(TRACES / "h200_plain.json.gz", cache=False))


@pytest.fixture(scope="session")
def h200_raw() -> list[dict[str, Any]]:
    """The events of `h200` as they are in the file."""
    with gzip.open(TRACES / "h200.json.gz") as file:
        found: list[dict[str, Any]] = json.load(file)["traceEvents"]
    return found


@pytest.fixture(scope="session")
def h200_plain_truth() -> dict[str, Any]:
    """What torch said: key_averages() and more."""
    found: dict[str, Any] = json.loads((TRACES / "h200_plain.truth.json").read_text())
    return found


@pytest.fixture(scope="session")
def two_ranks() -> Trace:
    """Rank 0 of a DistributedDataParallel training over gloo."""
    return Trace(read_trace(TRACES / "two_ranks_rank0.json.gz", cache=False))


@pytest.fixture(scope="session")
def h200_busy() -> Trace:
    """Four steps of large matrix products: the device is never idle for long."""
    return Trace(read_trace(TRACES / "h200_busy.json.gz", cache=False))


@pytest.fixture(scope="session")
def compiled_trace() -> Trace:
    """Five steps of a compiled function with a graph break, compiled within the trace, and again for other sizes."""
    return Trace(read_trace(TRACES / "compiled.json.gz", cache=False))
