"""What opening a run costs grows with its files, not with their square."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.records import End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.read.folder import open_run
from stepscope.runs.read.runlogs import RunLogs
from stepscope.runs.write.writer import RunWriter


def test_memory_is_looked_at_by_bytes_read_and_not_after_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = RunMeta(id=new_run_id(), project="p", name="n", created=1.0)
    path = create_run(tmp_path, meta)
    for rank in range(50):
        writer = RunWriter(path, run_id=meta.id, rank=rank, heartbeat_s=0, fsync_s=0)
        writer.keyset(("loss",)).write(0, (float(rank),))
        writer.close(End(time=2.0, status="finished"))
    looks: list[int] = []
    trim = RunLogs.trim
    monkeypatch.setattr(RunLogs, "trim", lambda logs: (looks.append(1), trim(logs)))
    run = open_run(path)
    assert (len(run.ranks), run.status, looks) == (50, "finished", [])
    assert list(run.series("loss", rank=49).values) == [49.0]
