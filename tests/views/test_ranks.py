"""The Ranks part of a run's page."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest

from stepscope.errors import UsageError
from stepscope.records import End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.node.leader import NodeLeader
from stepscope.runs.write.writer import RunWriter
from stepscope.views.context import Context
from stepscope.views.ranks import RanksRequest, ranks

from .conftest import write_run

NAMES = ("train/loss", "speed/steps_per_s", "time/data_ms", "memory/process_bytes")


@pytest.fixture
def run(store: Path, ctx: Context) -> str:
    """Eight ranks on two machines; rank 6 has another loss, and half the speed."""
    meta = RunMeta(id=new_run_id(), project="p", name="run", created=time.time())
    path = create_run(store, meta)
    for rank in range(8):
        host = f"node-{rank // 4}"
        writer = RunWriter(path, run_id=meta.id, rank=rank, heartbeat_s=0, fsync_s=0, elsewhere=host)
        slow = rank == 6
        for step in range(10):
            writer.keyset(NAMES).write(step, (9.0 if slow else 1.0, 5.0 if slow else 10.0, 3.0, 1e6 + rank))
        writer.close(End(time=time.time(), status="finished"))
    ctx.catalogue.refresh()
    return meta.id


def test_step_time_comes_first_and_the_slow_rank_stands_out(ctx: Context, run: str) -> None:
    shown = ranks(ctx, RanksRequest(run))
    assert [one.id for one in shown.measures[:4]] == ["step_time", "data_wait", "loss", "memory"]
    assert (shown.measure, shown.unit, shown.ranks) == ("step_time", "ms", 8)
    assert [(one.host, one.ranks) for one in shown.hosts] == [("node-0", 4), ("node-1", 4)]
    assert shown.machines == 2
    assert [row.values[0] for row in shown.rows] == [100.0] * 6 + [200.0, 100.0]
    assert (shown.band.mean[0], shown.band.high[0], shown.band.high_rank[0]) == (112.5, 200.0, 6)
    assert shown.outlier == "rank 6 is the highest in 100% of the intervals"


def test_ranks_whose_logs_stay_on_their_node_share_its_row(ctx: Context, store: Path, tmp_path: Path) -> None:
    meta = RunMeta(id=new_run_id(), project="p", name="led", created=time.time())
    path = create_run(store, meta)
    for node, own in (("node-0", range(4)), ("node-1", range(4, 8))):
        local = tmp_path / node
        local.mkdir()
        quiet = {"run_id": meta.id, "heartbeat_s": 0, "fsync_s": 0, "elsewhere": node}
        for rank in own:
            writer = RunWriter(local if rank else path, rank=rank, **quiet)  # type: ignore[arg-type]
            for step in range(8):
                writer.keyset(NAMES).write(step, (1.0, 5.0 if rank == 6 else 10.0, 3.0, 1e6 + rank))
            writer.close(End(time=time.time(), status="finished"))
        leader = NodeLeader(local, path, partial(RunWriter, path, rank=own[0], role="node", **quiet))  # type: ignore[arg-type]
        leader.look()
        leader.close()
    ctx.catalogue.refresh()
    shown = ranks(ctx, RanksRequest(meta.id))
    assert (shown.measure, shown.ranks) == ("step_time", 8)
    assert [(one.host, one.ranks) for one in shown.hosts] == [("node-0", 4), ("node-1", 4)]
    rows = [(row.first, row.last, row.host, row.values[0], row.whose[0]) for row in shown.rows]
    assert rows[:2] == [(0, 0, "node-0", 100.0, 0), (1, 3, "node-0", 100.0, 1)]
    assert rows[2] == (4, 7, "node-1", 200.0, 6)
    assert (shown.band.high[0], shown.band.high_rank[0]) == (200.0, 6)


def test_neighbors_share_a_row_that_shows_the_largest_of_them(ctx: Context, run: str) -> None:
    shown = ranks(ctx, RanksRequest(run, measure="loss", rows=2))
    assert [(row.first, row.last, row.host) for row in shown.rows] == [(0, 3, "node-0"), (4, 7, "node-1")]
    assert (shown.rows[1].values[0], shown.rows[1].whose[0]) == (9.0, 6)


def test_any_series_of_several_ranks_can_be_chosen_by_name(ctx: Context, run: str) -> None:
    assert ranks(ctx, RanksRequest(run, measure="speed/steps_per_s")).band.low_rank[0] == 6
    with pytest.raises(UsageError, match="no measure 'nothing'"):
        ranks(ctx, RanksRequest(run, measure="nothing"))


def test_a_run_of_one_rank_has_nothing_to_compare(store: Path, ctx: Context) -> None:
    alone = write_run(store, series={"loss": [1.0, 2.0]})
    ctx.catalogue.refresh()
    assert ranks(ctx, RanksRequest(alone)).measures == []


def test_the_phase_in_which_a_rank_is_slow_is_shown_first(store: Path, ctx: Context) -> None:
    """Step times are equal, as the others wait: their picture would not show who they wait for."""
    meta = RunMeta(id=new_run_id(), project="p", name="slow", created=time.time())
    path = create_run(store, meta)
    names = ("speed/steps_per_s", "time/data_ms", "time/backward_ms")
    for rank in range(3):
        writer = RunWriter(path, run_id=meta.id, rank=rank, heartbeat_s=0, fsync_s=0, elsewhere="node")
        for step in range(10):
            writer.keyset(names).write(step, (10.0, 60.0 if rank == 1 else 2.0, 30.0 if rank == 1 else 88.0))
        writer.close(End(time=time.time(), status="finished"))
    ctx.catalogue.refresh()
    shown = ranks(ctx, RanksRequest(meta.id))
    assert shown.measure == "data_wait"
    assert shown.slow[0].startswith("rank 1 (node) is slow in loading data: 60 ms")
