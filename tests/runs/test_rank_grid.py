"""One series by rank and interval, and the rank that the others wait for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from stepscope.records import End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.read.folder import RunFolder, open_run
from stepscope.runs.read.rank_grid import band_of_grid, rank_grid
from stepscope.runs.read.slow_ranks import slow_ranks
from stepscope.runs.write.writer import RunWriter

Points = Sequence[tuple[int, float]]
Make = Callable[[Sequence[Mapping[str, Points]]], RunFolder]


@pytest.fixture
def ranks(tmp_path: Path) -> Make:
    """A run with these series of each rank; rank n is on machine `node-n`."""

    def make(all_ranks: Sequence[Mapping[str, Points]]) -> RunFolder:
        meta = RunMeta(id=new_run_id(1.0), project="p", name="run", created=1.0)
        path = create_run(tmp_path, meta)
        for rank, series in enumerate(all_ranks):
            host = f"node-{rank}"
            writer = RunWriter(path, run_id=meta.id, rank=rank, heartbeat_s=0, fsync_s=0, elsewhere=host)
            for name, points in series.items():
                for step, value in points:
                    writer.keyset((name,)).write(step, (value,))
            writer.close(End(time=2.0, status="finished"))
        return open_run(path)

    return make


def test_ranks_that_log_at_steps_of_their_own_meet_in_intervals(ranks: Make) -> None:
    odd = [(step, 1.0) for step in range(1, 40, 2)]
    even = [(step, 3.0 if step != 20 else 50.0) for step in range(0, 40, 2)]
    grid = rank_grid(ranks([{"x": odd}, {"x": even}]), "x", columns=4)
    assert (grid.steps.tolist(), grid.width, grid.first.tolist()) == ([0, 10, 20, 30], 10.0, [0, 1])
    assert grid.mean[0].tolist() == [1.0] * 4
    band = band_of_grid(grid)
    assert band.mean.tolist() == [2.0, 2.0, (1 + (50 + 4 * 3) / 5) / 2, 2.0]
    assert (band.high.tolist(), band.high_rank.tolist()) == ([3.0, 3.0, 50.0, 3.0], [1] * 4), "one spike is not hidden"
    assert (band.low.tolist(), band.low_rank.tolist()) == ([1.0] * 4, [0] * 4)


def test_few_steps_have_an_interval_each(ranks: Make) -> None:
    grid = rank_grid(ranks([{"x": [(5, 1.0), (6, 2.0)]}, {"x": [(5, 3.0), (6, 4.0)]}]), "x", columns=100)
    assert (grid.steps.tolist(), grid.mean.tolist()) == ([5, 6], [[1.0, 2.0], [3.0, 4.0]])


def test_what_is_not_finite_is_counted_and_named(ranks: Make) -> None:
    bad = [(0, 1.0), (1, np.nan), (2, np.inf), (3, 2.0)]
    band = band_of_grid(rank_grid(ranks([{"x": [(step, 1.0) for step in range(4)]}, {"x": bad}]), "x", columns=2))
    assert (band.mean.tolist(), band.bad.tolist(), band.bad_rank.tolist()) == ([1.0, 1.5], [1, 1], [1, 1])


def test_an_interval_without_points_is_empty(ranks: Make) -> None:
    ends = [(0, 1.0), (1, 1.0), (98, 1.0), (99, 1.0)]
    grid = rank_grid(ranks([{"x": ends}, {"x": ends}]), "x", columns=4)
    assert np.isnan(grid.mean[:, 1:3]).all()
    assert band_of_grid(grid).high_rank.tolist() == [0, -1, -1, 0]


def times(data: float, forward: float, backward: float) -> dict[str, Points]:
    phases = {"data": data, "forward": forward, "backward": backward}
    return {f"time/{name}_ms": [(step, ms + 0.1 * (step % 3)) for step in range(20)] for name, ms in phases.items()}


def test_the_rank_that_loads_slowly_is_named_and_not_those_that_wait_for_it(ranks: Make) -> None:
    waiting = times(data=2, forward=30, backward=80)
    (found,) = slow_ranks(ranks([waiting, waiting, times(data=42, forward=30, backward=40), waiting]))
    assert (found.rank, found.host, found.phase) == (2, "node-2", "data")
    assert found.words().startswith("rank 2 (node-2) is slow in loading data: 42.1 ms per step, the other ranks 2.1 ms")


def test_ranks_that_are_alike_or_slow_only_once_get_no_word(ranks: Make) -> None:
    once = times(data=2, forward=30, backward=80)
    once["time/data_ms"] = [(0, 900.0), *list(once["time/data_ms"])[1:]]
    assert slow_ranks(ranks([times(2, 30, 80), once, times(2.5, 30.5, 79), times(2, 29.5, 80)])) == []
