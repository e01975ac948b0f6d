"""A series over all ranks: the mean, the band, and which rank is the extreme."""

from __future__ import annotations

import numpy as np

from stepscope.runs.points.series import Series
from stepscope.runs.read.across_ranks import band_of, standing_out


def of(rank: int, *points: tuple[int, float]) -> Series:
    return Series("loss", [step for step, _ in points], [0.0] * len(points), [v for _, v in points], rank=rank)


def test_each_step_has_the_ranks_that_logged_it() -> None:
    band = band_of([of(0, (0, 1.0), (1, 2.0)), of(1, (1, 4.0), (2, 8.0)), of(2, (1, 0.0))])
    assert band.steps.tolist() == [0, 1, 2]
    assert band.mean.tolist() == [1.0, 2.0, 8.0]
    assert (band.low.tolist(), band.low_rank.tolist()) == ([1.0, 0.0, 8.0], [0, 2, 1])
    assert (band.high.tolist(), band.high_rank.tolist()) == ([1.0, 4.0, 8.0], [0, 1, 1])
    assert band.count.tolist() == [1, 3, 1]


def test_a_rank_with_nan_is_named_and_does_not_hide_the_others() -> None:
    band = band_of([of(0, (0, 1.0), (1, 1.0)), of(1, (0, 3.0), (1, np.nan)), of(2, (1, np.inf))])
    assert band.mean.tolist() == [2.0, 1.0]
    assert (band.bad.tolist(), band.bad_rank.tolist()) == ([0, 2], [-1, 1])


def test_the_last_of_several_points_at_one_step_counts() -> None:
    assert band_of([of(0, (0, 1.0), (0, 5.0))]).mean.tolist() == [5.0]


def test_nothing_but_nan_has_no_mean() -> None:
    band = band_of([of(0, (0, np.nan))])
    assert np.isnan([band.mean[0], band.low[0], band.high[0]]).all()
    assert (band.low_rank[0], band.high_rank[0]) == (-1, -1)


def test_a_rank_stands_out_when_it_is_the_largest_at_most_steps() -> None:
    slow = [of(rank, *((step, 1.0 + (rank == 2)) for step in range(8))) for rank in range(4)]
    assert standing_out(band_of(slow)) == (2, 1.0)
    turns = [of(rank, *((step, float(step % 4 == rank)) for step in range(8))) for rank in range(4)]
    assert standing_out(band_of(turns)) is None
    same = [of(rank, *((step, 1.0) for step in range(8))) for rank in range(4)]
    assert standing_out(band_of(same)) is None
