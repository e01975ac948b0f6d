"""What tests of the reader share: when two tables are the same, and both scanners."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile.trace.events import Events, Sparse
from stepscope.profile.trace.library import library

TRACES = Path(__file__).parents[2] / "samples" / "traces"
SCANNERS = ["wheel", *(["compiled"] if library() is not None else [])]


def assert_same(got: Events, expected: Events) -> None:
    """All columns are equal to the last value; texts may be numbered otherwise."""
    for name in ("start", "dur", "ph", "cat", "name", "lane"):
        a, b = getattr(got, name), getattr(expected, name)
        assert (a.dtype, a.tolist()) == (b.dtype, b.tolist()), name
    for name in ("cats", "names", "lanes", "lane_names"):
        assert getattr(got, name) == getattr(expected, name), name
    assert set(got.args) == set(expected.args)
    for key, column in got.args.items():
        other = expected.args[key]
        assert (column.kind, column.rows.dtype, column.values.dtype) == (
            other.kind,
            other.rows.dtype,
            other.values.dtype,
        )
        assert column.rows.tolist() == other.rows.tolist(), key
        assert _plain(column, got.texts) == _plain(other, expected.texts), key
    for name in ("fields", "truncated", "repaired", "skipped", "metadata", "base_ns"):
        assert getattr(got.header, name) == getattr(expected.header, name), name


def _plain(column: Sparse, texts: tuple[str, ...]) -> list[Any]:
    if column.kind == "text":
        return [texts[index] for index in column.values.tolist()]
    return [repr(value) for value in column.values.tolist()]


@pytest.fixture
def same() -> Callable[[Events, Events], None]:
    return assert_same


@pytest.fixture(params=SCANNERS)
def scanner(request: pytest.FixtureRequest) -> str:
    """Each of the scanners that there are here."""
    return str(request.param)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A trace file of some events, or of bytes."""

    def make(content: Any, name: str = "trace.json", **fields: Any) -> Path:
        path = tmp_path / name
        path.write_bytes(
            content if isinstance(content, bytes) else json.dumps({**fields, "traceEvents": content}).encode()
        )
        return path

    return make


def op(name: str, ts: float, dur: float = 1, **more: Any) -> dict[str, Any]:
    """An operator's event as torch writes it."""
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


@pytest.fixture
def make_op() -> Callable[..., dict[str, Any]]:
    return op
