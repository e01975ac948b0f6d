"""The Sweeps page, from the journals of sweeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import Forbidden, NotFound
from stepscope.runs.format.writer_identity import host_name
from stepscope.sweep.journal import Journal, folder_of
from stepscope.sweep.pausing import Pause, pause_of, set_paused
from stepscope.views.context import Context
from stepscope.views.route import Empty
from stepscope.views.sweeps import PauseRequest, SweepView, pause_sweep, sweeps

RAW: dict[str, Any] = {
    "command": "python train.py",
    "runs": 4,
    "metric": {"name": "loss"},
    "parameters": {"lr": [0.1, 0.01, 0.001, 0.2], "epochs": 3},
}


def begin(folder: Path, *ended: tuple[int, str, float | None]) -> Journal:
    """The journal of a process at work, with these trials over and the next one running on another machine."""
    journal = Journal(folder)
    journal.open()
    journal.write("sweep", name="lr sweep", raw=RAW, seed=0, pid=1)
    for number, state, value in ended:
        journal.write("start", trial=number, attempt=1, params={"lr": 0.1 * (number + 1), "epochs": 3})
        journal.write("end", trial=number, attempt=1, state=state, value=value, run=f"/elsewhere/run-{number}")
    journal.write("start", trial=10, attempt=1, params={"lr": 0.5, "epochs": 3}, host=f"not-{host_name()}")
    return journal


def only(ctx: Context) -> SweepView:
    (found,) = sweeps(ctx, Empty()).sweeps
    return found


def test_progress_and_the_best_run_are_those_of_the_journal(ctx: Context, store: Path) -> None:
    journal = begin(folder_of(store, "lr sweep"), (0, "finished", 0.5), (1, "finished", 0.25), (2, "pruned", 0.1))
    shown = only(ctx)
    assert (shown.name, shown.state, shown.results, shown.total, shown.workers) == ("lr sweep", "running", 3, 4, 1)
    assert shown.counts == {"finished": 2, "pruned": 1, "running": 1}
    assert shown.best is not None
    assert (shown.best.number, shown.best.value, shown.best.run) == (1, 0.25, "run-1")
    assert [(one.name, one.value) for one in shown.best.settings] == [("lr", "0.2")]
    assert [one.number for one in shown.trials] == [10, 2, 1, 0]
    journal.close()
    assert only(ctx).state == "stopped"  # nobody is at work on the rest


def test_workers_that_share_a_sweep_are_shown_as_one(ctx: Context, store: Path) -> None:
    folder = folder_of(store, "lr sweep")
    first = begin(folder / "worker-a-0", (0, "finished", 0.5))
    second = begin(folder / "worker-b-0", (1, "finished", 0.25))
    shown = only(ctx)
    assert (shown.workers, shown.shared, shown.results, shown.counts["running"]) == (2, True, 2, 1)
    first.close()
    second.close()
    assert only(ctx).counts == {"finished": 2, "requeued": 1}  # a worker that is gone runs nothing


def test_a_sweep_is_paused_and_resumed_from_the_page(ctx: Context, store: Path) -> None:
    journal = begin(folder_of(store, "lr sweep"))
    shown = only(ctx)
    assert shown.can_pause
    pause_sweep(ctx, PauseRequest(shown.id, True))
    assert only(ctx).state == "pausing"  # its last run goes on
    pause_sweep(ctx, PauseRequest(shown.id, False))
    assert only(ctx).state == "running"
    journal.close()


def test_a_read_only_server_pauses_nothing(ctx: Context, store: Path) -> None:
    begin(folder_of(store, "lr sweep")).close()
    guarded = replace(ctx, read_only=True)
    assert not only(guarded).can_pause
    with pytest.raises(Forbidden):
        pause_sweep(guarded, PauseRequest(only(ctx).id, True))


@pytest.mark.parametrize("name", ["0/nothing", "7/x", "", "0/../.sweeps", "../0"])
def test_only_sweeps_of_the_stores_can_be_paused(ctx: Context, store: Path, name: str) -> None:
    begin(folder_of(store, "lr sweep")).close()
    with pytest.raises(NotFound):
        pause_sweep(ctx, PauseRequest(name, True))


def test_each_pause_has_a_name_that_its_end_keeps(tmp_path: Path) -> None:
    set_paused(tmp_path, False)
    assert pause_of(tmp_path) is None
    set_paused(tmp_path, True)
    first = pause_of(tmp_path)
    assert first is not None
    set_paused(tmp_path, True)
    assert pause_of(tmp_path) == first
    set_paused(tmp_path, False)
    assert pause_of(tmp_path) == Pause(first.id, False)
    set_paused(tmp_path, True)
    assert pause_of(tmp_path) not in (first, None)
