"""Runs that go on: how old the newest point is, how fast, how far, and whether something is wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.records import RunMeta
from stepscope.records.hang import Hang, RankState
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.points.series import Series
from stepscope.runs.write.writer import RunWriter
from stepscope.views.alive import Alive, AliveRequest, alive
from stepscope.views.context import Context
from stepscope.views.progress import Progress, progress_of

from .conftest import write_run


@pytest.fixture
def going_on(store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Makes a run of this process that is still open, and sets the clock to `silent` seconds after its last point."""

    def make(losses: list[float], silent: float = 0.0, every: float = 0.5, **config: Any) -> str:
        now, at = time.time(), time.monotonic()
        last = every * (len(losses) - 1)
        monkeypatch.setattr("stepscope.views.alive.clock", lambda: now + last + silent)
        return write_open(store, losses, at, every, config, now)

    return make


def write_open(store: Path, losses: list[float], at: float, every: float, config: dict[str, Any], now: float) -> str:
    about = RunMeta(id=new_run_id(now), project="demo", name="live", created=now - 100, config=config)
    writer = RunWriter(create_run(store, about), run_id=about.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss", "system/gpu0/use_percent"))
    for step, loss in enumerate(losses):
        row.write_carefully(step, (loss, 80.0), at + every * step)
    writer.flush()
    return about.id


def look(ctx: Context, run: str) -> Alive:
    ctx.catalogue.refresh()
    (found,) = alive(ctx, AliveRequest([run])).runs
    return found


def test_a_run_that_moves_has_its_speed_progress_and_machine(ctx: Context, going_on: Callable[..., str]) -> None:
    found = look(ctx, going_on([1.0] * 50, max_steps=100))
    assert (found.state, found.step, found.of, found.progress) == ("moving", 49, "step 50 of 100", 0.5)
    assert found.steps_per_s == pytest.approx(2.0, rel=0.01)
    assert found.eta_s == pytest.approx(25.0, rel=0.01)
    assert found.silent_s is not None
    assert found.silent_s < 60
    assert found.gpu_percent == 80.0


def test_one_that_is_silent_for_long_is_stalled_and_promises_no_end(ctx: Context, going_on: Callable[..., str]) -> None:
    found = look(ctx, going_on([1.0] * 50, silent=90, max_steps=100))
    assert (found.state, found.eta_s) == ("stalled", None)


def test_a_slow_run_is_not_stalled_between_two_of_its_points(ctx: Context, going_on: Callable[..., str]) -> None:
    assert look(ctx, going_on([1.0] * 5, silent=90, every=30)).state == "moving"


@pytest.mark.parametrize(("is_sure", "state", "words"), [(True, "stalled", "stuck"), (False, "waiting", "no progress")])
def test_ranks_that_wait_for_each_other_are_named(
    ctx: Context, going_on: Callable[..., str], is_sure: bool, state: str, words: str
) -> None:
    run = going_on([1.0] * 5, silent=30)
    ctx.catalogue.refresh()
    folder = ctx.runs.get(run).path / "ranks"
    folder.mkdir()
    ranks = (RankState(rank=0, kind="collective", doing="barrier"), RankState(rank=1, doing="load()"))
    hang = Hang(time=time.time() + 60, ranks=ranks, idle_s=25.0, is_sure=is_sure)
    (folder / "hang.json").write_bytes(msgspec.json.encode(hang))
    found = look(ctx, run)
    assert (found.state, found.why) == (state, f"{words} for 25s: rank 0 waits in barrier; rank 1 is in load()")


def test_a_loss_that_is_nan_is_diverged(ctx: Context, going_on: Callable[..., str]) -> None:
    found = look(ctx, going_on([1.0, math.nan]))
    assert (found.state, found.why) == ("diverged", "loss is NaN")


def test_runs_that_ended_or_are_gone_are_left_out(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0]})
    ctx.catalogue.refresh()
    assert alive(ctx, AliveRequest([run, "gone"])).runs == []


def series(steps: list[int]) -> Series:
    return Series("loss", steps, [float(step) for step in steps], [1.0] * len(steps))


@pytest.mark.parametrize(
    ("config", "epoch", "expected"),
    [
        ({"trainer/max_steps": 50}, None, Progress(0.2, "step 10 of 50", 40.0)),
        ({"epochs": 5, "steps_per_epoch": 10}, None, Progress(0.2, "step 10 of 50", 40.0)),
        ({"num_epochs": 4}, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], Progress(0.5, "epoch 2.0 of 4", 10.0)),
        ({"num_epochs": 4}, [1, 1, 1, 1, 1, 2, 2, 2, 2, 2], Progress(0.5, "epoch 2.0 of 4", 10.0)),
        ({"epochs": 4}, None, None),
        ({"lr": 4, "steps": True}, None, None),
        ({"max_steps": 5}, None, None),
    ],
)
def test_progress_comes_from_what_the_config_says(
    config: dict[str, Any], epoch: list[int] | None, expected: Any
) -> None:
    steps = list(range(10))
    epochs = None if epoch is None else Series("epoch", steps, [float(step) for step in steps], epoch)
    assert progress_of(config, series(steps), epochs) == expected
