"""The process that reads a trace behind the training: columns and a packed trace, or the trace as it was."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from stepscope.profile.collect.child import Reading, digest
from stepscope.profile.profile import Profile
from stepscope.profile.store import write_meta
from stepscope.records.profile import ProfileMeta

EVENTS = [{"ph": "X", "name": f"op {n}", "cat": "cpu_op", "ts": n, "dur": 2, "pid": 1, "tid": 1} for n in range(5)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rank2.trace.json").write_text(json.dumps({"traceEvents": EVENTS}))
    write_meta(tmp_path, ProfileMeta(id="x", kind="pytorch", created=1.0), 2)
    return tmp_path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_a_child_makes_columns_and_packs_the_trace(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script"
    script.mkdir()
    (script / "numpy.py").write_text("raise SystemExit('a module of the script was taken for ours')")
    monkeypatch.chdir(script)
    monkeypatch.setattr(sys, "path", [str(script), *sys.path])
    before = Profile.load(folder).trace(2)
    reading = Reading(folder, 2)
    assert reading.wait(300) is None
    assert reading.is_done
    assert names_in(folder) == ["rank2.events", "rank2.profile.json", "rank2.trace.json.gz"]
    assert json.loads(gzip.decompress((folder / "rank2.trace.json.gz").read_bytes()))["traceEvents"] == EVENTS
    after = Profile.load(folder).trace(2)
    assert before is not None
    assert after is not None
    assert after.events.names == before.events.names == tuple(f"op {n}" for n in range(5))
    assert (folder / "rank2.trace.json.gz").stat().st_mode & 0o777 == 0o600


def test_a_trace_that_cannot_be_read_stays_and_that_is_said(folder: Path) -> None:
    (folder / "rank2.trace.json").write_text("no trace")
    reading = Reading(folder, 2)
    said = reading.wait(300)
    assert said is not None
    assert said.startswith("the trace could not be read ahead (")
    assert names_in(folder) == ["rank2.profile.json", "rank2.trace.json"]


def test_a_trace_that_is_packed_already_is_only_read(folder: Path) -> None:
    plain = folder / "rank2.trace.json"
    (folder / "rank2.trace.json.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    digest(str(folder), 2)
    assert names_in(folder) == ["rank2.events", "rank2.profile.json", "rank2.trace.json.gz"]
