"""The column file beside a trace: used while the trace is the same, and never in the way."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.profile.trace.conftest import TRACES

from stepscope.profile.trace import cache, read as read_module
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.read import read_trace


@pytest.fixture(autouse=True)
def even_small_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_WORTH", 0)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copy(TRACES / "h200_plain.json.gz", tmp_path / "trace.json.gz"))


@pytest.fixture
def no_scanning(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def forbid() -> None:
        def fail(*_: object) -> None:
            raise AssertionError("the trace was read again")

        monkeypatch.setattr(read_module, "Reading", fail)

    return forbid


def test_the_second_open_reads_columns(
    trace: Path, same: Callable[[Events, Events], None], no_scanning: Callable[[], None]
) -> None:
    first = read_trace(trace)
    assert trace.with_name("trace.json.gz.stepscope").exists()
    no_scanning()
    second = read_trace(trace)
    same(second, first)
    assert second.header.path == str(trace)


def test_a_trace_that_changed_is_read_anew(trace: Path) -> None:
    read_trace(trace)
    trace.write_bytes(gzip.compress(b'[{"ph": "X", "name": "new", "ts": 1}]'))
    assert read_trace(trace).names == ("new",)
    assert read_trace(trace).names == ("new",)


def test_a_damaged_cache_is_replaced(trace: Path, no_scanning: Callable[[], None]) -> None:
    n = len(read_trace(trace))
    beside = trace.with_name("trace.json.gz.stepscope")
    whole = beside.read_bytes()
    beside.write_bytes(whole[: len(whole) // 2])
    assert len(read_trace(trace)) == n
    assert beside.read_bytes() == whole
    no_scanning()
    assert len(read_trace(trace)) == n


def test_a_folder_that_cannot_be_written_to_is_no_fault(
    trace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_scanning: Callable[[], None]
) -> None:
    """The user's cache folder takes it; where that cannot be written to either, nothing does."""
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))
    (trace.parent / "trace.json.gz.stepscope").mkdir()  # root may write anywhere, but not over a folder
    read_trace(trace)
    assert len(list((tmp_path / "cache" / "traces").iterdir())) == 1
    no_scanning()
    assert len(read_trace(trace)) > 1000


def test_without_any_place_for_it_the_trace_is_read(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE", os.devnull)
    (trace.parent / "trace.json.gz.stepscope").mkdir()
    assert len(read_trace(trace)) == len(read_trace(trace, cache=False))


def test_small_traces_are_not_kept(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_WORTH", 1 << 30)
    read_trace(trace)
    assert [path.name for path in trace.parent.iterdir()] == ["trace.json.gz"]
