"""Deleting from the page: what can be deleted goes, the rest is said, and all of it can come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.views.conftest import write_run

from stepscope.errors import Forbidden
from stepscope.records import RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.views.context import Context
from stepscope.views.route import Empty
from stepscope.views.trash import (
    DeleteRequest,
    TrashRequest,
    WeighRequest,
    delete,
    purge_runs,
    restore_runs,
    trash,
    weigh,
)


def test_deleted_runs_leave_the_table_and_come_back(ctx: Context, store: Path) -> None:
    runs = [write_run(store / "team", f"run-{number}", {"loss": [1.0]}) for number in range(3)]
    weight = weigh(ctx, WeighRequest(runs=runs))
    done = delete(ctx, DeleteRequest(runs=[*runs[:2], "01AAAAAAAAAAAAAAAAAAAAAAAA"]))
    assert done.changed == runs[:2]
    assert [one.run for one in done.refused] == ["01AAAAAAAAAAAAAAAAAAAAAAAA"]
    assert [entry.id for entry in ctx.catalogue.entries()] == [runs[2]]
    there = trash(ctx, Empty())
    assert {one.name for one in there.runs} == {"run-0", "run-1"}
    assert there.bytes + weigh(ctx, WeighRequest(runs=runs[2:])).bytes == weight.bytes  # type: ignore[operator]
    assert restore_runs(ctx, TrashRequest(runs=runs[:1])).changed == runs[:1]
    assert purge_runs(ctx, TrashRequest()).changed == [runs[1]]
    assert {entry.id for entry in ctx.catalogue.entries()} == {runs[0], runs[2]}
    assert trash(ctx, Empty()).runs == []


def test_a_run_that_goes_on_is_refused_unless_forced(ctx: Context, store: Path) -> None:
    meta = RunMeta(id=new_run_id(), project="demo", name="busy", created=0.0)
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=10, fsync_s=0)
    writer.keyset(("loss",)).write(0, (1.0,))
    writer.flush()
    assert weigh(ctx, WeighRequest(runs=[meta.id])).running == [meta.id]
    [refused] = delete(ctx, DeleteRequest(runs=[meta.id])).refused
    assert "still running" in refused.reason
    writer.close()


def test_a_read_only_server_deletes_nothing(ctx: Context, store: Path) -> None:
    run = write_run(store)
    with pytest.raises(Forbidden):
        delete(replace(ctx, read_only=True), DeleteRequest(runs=[run]))
    assert (store / run).exists()
