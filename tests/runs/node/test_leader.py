"""A node's leader keeps the band of its ranks, all they say, and the ranks that stand out in full."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stepscope
from stepscope.errors import NotFound
from stepscope.records import Alert, End, Media, RunMeta
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, log_files
from stepscope.runs.merge import copy_in
from stepscope.runs.node.leader import NodeLeader
from stepscope.runs.points.rank_cells import RankPoints, cells_of
from stepscope.runs.read.across_ranks import across_ranks
from stepscope.runs.read.folder import RunFolder, open_run
from stepscope.runs.read.node_bands import node_bands
from stepscope.runs.read.rank_grid import band_of_grid, rank_grid
from stepscope.runs.read.slow_ranks import slow_ranks
from stepscope.runs.read.status import Machine
from stepscope.runs.write.writer import RunWriter

LATER = Machine("reader", "boot", time.time, lambda pid: None)


class Node:
    """Rank 0 in the run, the other ranks of a machine in a folder of their own, and their leader."""

    def __init__(self, folder: Path, ranks: int = 8) -> None:
        meta = RunMeta(id=new_run_id(), project="p", name="led", created=time.time())
        self.run = create_run(folder / "runs", meta)
        self.local = create_run(folder / "node", meta)
        places = [self.run, *[self.local] * (ranks - 1)]
        self.writers = [self._writer(path, rank=rank) for rank, path in enumerate(places)]
        self.leader = self.lead()

    def _writer(self, path: Path, **more: Any) -> RunWriter:
        return RunWriter(path, run_id=self.run.name, heartbeat_s=0, fsync_s=0, elsewhere="gpu-7", **more)

    def lead(self, rank: int = 1) -> NodeLeader:
        return NodeLeader(self.local, self.run, lambda: self._writer(self.run, rank=rank, role="node"))

    def log(self, steps: range, **series: Any) -> None:
        """Every series as a function of step and rank."""
        for step in steps:
            for rank, writer in enumerate(self.writers):
                writer.keyset(tuple(series)).write(step, tuple(make(step, rank) for make in series.values()))

    def finish(self) -> RunFolder:
        for writer in self.writers:
            writer.close(End(time=time.time(), status="finished"))
        self.leader.look()
        self.leader.close()
        return stepscope.run(self.run)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def loss(step: int, rank: int) -> float:
    return 4.0 / (1 + step) + 0.01 * ((7 * rank + step) % 5)


def test_the_band_of_a_node_is_that_of_its_ranks(node: Node) -> None:
    for start in range(0, 96, 32):
        node.log(range(start, start + 32), loss=loss)
        node.leader.look()
    run = node.finish()
    band = band_of_grid(rank_grid(run, "loss", 6))
    assert band.steps.tolist() == [0, 16, 32, 48, 64, 80]
    for at, first in enumerate(band.steps.tolist()):
        there = [loss(step, rank) for step in range(first, first + 16) for rank in range(8)]
        assert (band.low[at], band.high[at]) == (min(there), max(there))
        assert math.isclose(band.mean[at], np.mean(there))
    whole = band_of_grid(rank_grid(run, "loss", 1))
    every = [loss(step, rank) for step in range(96) for rank in range(8)]
    assert (whole.low[0], whole.high[0], whole.count[0]) == (min(every), max(every), 8)
    assert math.isclose(whole.mean[0], np.mean(every))
    assert loss(0, int(whole.high_rank[0])) == whole.high[0]


def test_a_run_has_a_file_for_each_node_and_knows_all_ranks(node: Node) -> None:
    node.log(range(8), loss=loss)
    node.writers[5].event(Alert(time=time.time(), title="rank 5 says"))
    run = node.finish()
    assert len(log_files(node.run)) == 2
    assert (run.ranks, run.status) == (list(range(8)), "finished")
    assert {one.host for one in run.attempts} == {"gpu-7"}
    assert [one.title for one in run.alerts] == ["rank 5 says"]
    assert run.series("loss").values.tolist() == [loss(step, 0) for step in range(8)]
    with pytest.raises(NotFound, match="no series 'loss' of rank 3; its node keeps it as part of a band"):
        run.series("loss", rank=3)


def test_whoever_leads_next_passes_on_what_is_left_and_nothing_twice(node: Node) -> None:
    node.log(range(8), loss=loss)
    node.writers[2].event(Alert(time=1.0, title="early"))
    node.leader.look()  # and is killed: its log is never closed
    node.log(range(8, 16), loss=loss)
    node.writers[2].event(Alert(time=2.0, title="late"))
    node.leader = node.lead(rank=4)
    run = node.finish()
    assert [one.title for one in run.alerts] == ["early", "late"]
    assert run.status == "finished"
    (band,) = node_bands(run, "loss")
    assert band.columns["count"].sum() == 16 * 7
    assert run.attempts[0].rank == 0
    assert len(run.attempts) == 8


def test_a_leader_that_was_killed_after_writing_repeats_itself_without_harm(node: Node) -> None:
    node.log(range(8), loss=loss)
    node.writers[2].event(Alert(time=1.0, title="once"))
    (state := node.local / "passed_on.json").unlink(missing_ok=True)
    node.leader.look()
    state.unlink()
    node.leader = node.lead(rank=4)
    run = node.finish()
    assert [one.title for one in run.alerts] == ["once"]
    whole = band_of_grid(rank_grid(run, "loss", 1))
    every = [loss(step, rank) for step in range(8) for rank in range(8)]
    assert (whole.low[0], whole.high[0]) == (min(every), max(every))
    assert math.isclose(whole.mean[0], np.mean(every))


def test_a_rank_that_stands_out_is_kept_in_full(node: Node) -> None:
    for start in range(0, 160, 32):
        node.log(
            range(start, start + 32),
            **{
                "time/data_ms": lambda step, rank: 40.0 if rank == 5 else 2.0 + 0.1 * ((step + rank) % 3),
                "time/forward_ms": lambda step, rank: 30.0 + 0.1 * ((step + rank) % 3),
            },
        )
        node.leader.look()
    run = node.finish()
    assert run.ranks_with("time/data_ms") == [0, 5]
    assert len(run.series("time/data_ms", rank=5)) == 160
    assert len(log_files(node.run)) == 3
    (slow,) = slow_ranks(run)
    assert (slow.rank, slow.phase, slow.host) == (5, "data", "gpu-7")
    assert run.status == "finished"
    assert len(run.attempts) == 8
    assert band_of_grid(rank_grid(run, "time/data_ms", 5)).high_rank.tolist() == [5] * 5


def test_ranks_that_differ_by_chance_stay_on_their_node(node: Node) -> None:
    chance = np.random.default_rng(0)
    for start in range(0, 320, 32):
        node.log(range(start, start + 32), loss=lambda step, rank: 1 / (1 + step) + 0.05 * chance.normal())
        node.leader.look()
    node.finish()
    assert len(log_files(node.run)) == 2


def test_nan_on_one_rank_is_seen_and_that_rank_kept(node: Node) -> None:
    node.log(range(8), loss=lambda step, rank: math.nan if (step, rank) == (6, 3) else 1.0)
    run = node.finish()
    band = band_of_grid(rank_grid(run, "loss", 8))
    assert band.bad_rank[band.bad > 0].tolist() == [3]
    assert np.isnan(run.series("loss", rank=3).values[6])


def test_media_of_any_rank_reach_the_run(node: Node) -> None:
    node.log(range(2), loss=loss)
    node.writers[4].media(Media(key="curve", step=1, time=1.0, kind="image"), b"x" * 5000)
    run = node.finish()
    (medium,) = run.media("curve")
    assert run.media_bytes(medium) == b"x" * 5000


def test_logs_that_were_merged_later_count_once(node: Node) -> None:
    node.log(range(8), loss=loss)
    node.writers[5].event(Alert(time=time.time(), title="said once"))
    node.finish()
    assert copy_in(node.run, node.local) >= 7
    run = stepscope.run(node.run)
    assert [one.title for one in run.alerts] == ["said once"]
    assert across_ranks(run, "loss").count.tolist() == [8] * 8


def test_a_rank_that_vanishes_is_not_taken_for_alive(tmp_path: Path) -> None:
    node = Node(tmp_path, ranks=1)
    other = RunWriter(node.local, run_id=node.run.name, rank=1, heartbeat_s=0, fsync_s=0)
    other.keyset(("loss",)).write(0, (1.0,))
    node.leader.look()
    node.leader._machine = LATER  # its process is gone
    node.leader.look()
    node.writers[0].close(End(time=time.time(), status="finished"))
    node.leader.close()
    later = Machine("reader", "boot", lambda: time.time() + 120, lambda pid: None)
    standing = open_run(node.run, machine=later).standing
    assert (standing.status, standing.rank) == ("lost", 1)
    other.close()


def test_a_compacted_node_reads_the_same(node: Node) -> None:
    for start in range(0, 3200, 16):
        node.log(range(start, start + 16), loss=loss, lr=lambda step, rank: 0.1)
        node.leader.look()
    run = node.finish()
    before = band_of_grid(rank_grid(run, "loss", 20))
    assert compact(node.run).files == 2
    after = band_of_grid(rank_grid(stepscope.run(node.run), "loss", 20))
    assert after.mean.tolist() == before.mean.tolist()
    assert after.high_rank.tolist() == before.high_rank.tolist()
    assert stepscope.run(node.run).ranks == list(range(8))


def test_cells_of_the_same_interval_add_up() -> None:
    steps = np.arange(8)
    both = [RankPoints(rank, steps, np.sin(steps + rank)) for rank in (3, 4)]
    cells = cells_of(both)
    assert cells.steps.tolist() == [0, 4]
    width, low, mean, high, low_rank, high_rank, ranks, count, bad, bad_rank = cells.values[0].tolist()
    values = {(rank, step): math.sin(step + rank) for rank in (3, 4) for step in range(4)}
    assert (width, ranks, count, bad, bad_rank) == (4, 2, 8, 0, -1)
    assert (low, high) == (min(values.values()), max(values.values()))
    assert math.isclose(mean, np.mean(list(values.values())))
    assert (low_rank, high_rank) == (min(values, key=values.__getitem__)[0], max(values, key=values.__getitem__)[0])
