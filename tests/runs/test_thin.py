"""Old points are thinned: what a run's numbers and charts say stays, and nothing is lost by an interruption."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from stepscope.records import End, RunMeta
from stepscope.runs.compact import thin as thinning
from stepscope.runs.compact.compact import compact
from stepscope.runs.compact.thin import is_thinned, thin, would_thin
from stepscope.runs.format.layout import COMPACT, create_run
from stepscope.runs.points.summary import MetricSummary
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter

from .making import make_run

POINTS = 20_000


def wavy() -> list[float]:
    values = [math.sin(step / 500) + (step % 7) / 10 for step in range(POINTS)]
    values[12_345] = 50.0
    values[777] = math.nan
    values[15_000] = math.inf
    return values


@pytest.fixture
def run(store: Path) -> Path:
    path = make_run(store, series={"loss": wavy(), "short": [1.0, 2.0, 3.0]})
    assert compact(path).files == 1
    return path


def numbers(run: Path) -> dict[str, MetricSummary]:
    """Of all series; the mean without its last digits, which depend on how the points were added up."""
    found = open_run(run).summaries()
    return {name: replace(one, mean=round(one.mean, 12)) for name, one in found.items()}


def test_numbers_stay_the_same_and_the_file_gets_small(run: Path) -> None:
    before = open_run(run)
    was, expected = numbers(run), before.series("loss")
    guess = would_thin(run)
    result = thin(run)
    assert result.skipped == ""
    assert result.points == guess.points > 15_000
    assert result.bytes_after < result.bytes_before / 2
    assert list(result.replaced) == [f"{COMPACT}/000000.log"]
    assert is_thinned(run)
    after = open_run(run)
    assert numbers(run) == was
    assert after.series("loss").summary.mean == pytest.approx(expected.summary.mean)
    assert after.series("short").values.tolist() == [1.0, 2.0, 3.0]
    assert after.series("short").thinned is None
    assert thin(run).replaced == {}  # once


def test_every_kept_point_was_logged_and_extremes_are_among_them(run: Path) -> None:
    logged = {(point.step, point.time, str(point.value)) for point in open_run(run).series("loss")}
    thin(run)
    kept = open_run(run).series("loss")
    assert {(point.step, point.time, str(point.value)) for point in kept} <= logged
    assert (kept.steps[0], kept.steps[-1], float(kept.values[kept.steps == 12_345][0])) == (0, POINTS - 1, 50.0)
    assert np.isnan(kept.values).sum() == 1


def test_a_chart_from_afar_is_the_same(run: Path) -> None:
    before = open_run(run).series("loss").downsample(100)
    thin(run)
    after = open_run(run).series("loss").downsample(100)
    assert after.low.tolist() == before.low.tolist()
    assert after.high.tolist() == before.high.tolist()
    assert np.allclose(after.value, before.value, atol=0.02)  # a bucket may end within a stretch
    assert (after.nan > 0).tolist() == (before.nan > 0).tolist()
    smooth = open_run(run).series("loss").downsample(100, smoothing=("ema", 0.9)).smooth
    assert smooth is not None
    assert np.abs(smooth - before.value).max() < 3  # not dragged along by the extremes: the spike is 50


def test_an_interruption_loses_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was = numbers(run)

    def cut(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(thinning, "put_in_place", cut)
    assert "the disk is full" in thin(run).skipped
    assert not is_thinned(run)
    monkeypatch.undo()
    kept = (run / COMPACT / "000000.log").read_bytes()
    thin(run)
    (run / COMPACT / "000000.log").write_bytes(kept)  # as if it had stopped before the removal
    assert numbers(run) == was
    thin(run)
    assert [path.name for path in (run / COMPACT).iterdir()] == ["700000.log"]
    assert numbers(run) == was


def test_a_run_of_several_attempts_is_left_alone(store: Path) -> None:
    meta = RunMeta(id="01" + "A" * 24, project="p", name="resumed", created=1.0)
    path = create_run(store, meta)
    for attempt in (0, 1):
        writer = RunWriter(path, run_id=meta.id, attempt=attempt, heartbeat_s=0, fsync_s=0)
        row = writer.keyset(("loss",))
        for step in range(5000):
            row.write(step + 2000 * attempt, (1.0 + attempt,))
        writer.close(End(time=9.0, status="finished"))
    compact(path)
    assert thin(path).skipped == "it has several attempts"
    assert not is_thinned(path)
