"""Alerts: told once, also over restarts; a run that stalls, a loss that goes NaN, an error that was found."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.views.conftest import write_run

from stepscope.records import Alert, End, Finding, FindingEvent, RunMeta
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter
from stepscope.server.notices import Notices
from stepscope.sweep.tagging import tag_run
from stepscope.views.alert_log import AlertLog
from stepscope.views.notice import Notice
from stepscope.views.open_runs import OpenRuns


@pytest.fixture(autouse=True)
def always_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open run is read on at every look, not only twice a second."""
    monkeypatch.setattr("stepscope.views.open_runs.FRESH_S", -1.0)


@pytest.fixture
def live_run(store: Path) -> Iterator[RunWriter]:
    meta = RunMeta(id=new_run_id(), project="demo", name="vae", created=time.time())
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=1000, fsync_s=0)
    writer.keyset(("train/loss",)).write(0, (1.0,))
    yield writer
    writer.close()


class Eyes:
    """Looks at a store as the server does, with a clock that only moves when it is told to."""

    def __init__(self, store: Path, log: AlertLog | None = None) -> None:
        self.catalogue = Catalogue(store)
        self.ahead = 0.0
        began = time.time()
        self.notices = Notices(OpenRuns(self.catalogue), log, lambda: began + self.ahead)

    def look(self) -> list[Notice]:
        changes = self.catalogue.refresh()
        entries = [self.catalogue.entry(run) for run in changes.changed]
        return self.notices.about(entries, self.catalogue.every())


def found(*notices: Notice) -> list[tuple[str, str, str]]:
    return [(one.kind, one.title, one.text) for one in notices]


def test_a_loss_that_goes_nan_and_an_error_that_is_found_are_told_once(store: Path, live_run: RunWriter) -> None:
    eyes = Eyes(store)
    assert eyes.look() == []
    loss = live_run.keyset(("train/loss",))
    for step in (1000, 1001, 1002):
        loss.write(step, (math.nan,))
    finding = Finding(rule="opt.no-zero-grad", severity="error", message="gradients pile up", file="train.py", line=4)
    mild = Finding(rule="repro.no-seed", severity="warning", message="no seed")
    live_run.event(FindingEvent(time=time.time() + 1, finding=finding))
    live_run.event(FindingEvent(time=time.time() + 1, finding=mild))
    assert found(*eyes.look()) == [
        ("nonfinite", "train/loss is NaN in vae", "since step 1,000"),
        ("finding", "gradients pile up", "opt.no-zero-grad · train.py:4"),
    ]
    loss.write(1003, (math.nan,))
    assert eyes.look() == []


def test_a_run_that_does_not_get_on_is_told_and_once_more_after_it_did(store: Path, live_run: RunWriter) -> None:
    eyes = Eyes(store)
    assert eyes.look() == []
    eyes.ahead = 250.0
    assert eyes.look() == []
    eyes.ahead = 310.0
    [notice] = eyes.look()
    assert (notice.kind, notice.level, notice.title) == ("stalled", "warning", "vae does not get on")
    assert notice.text == "no new value for 5m 10s after step 0"
    eyes.ahead = 400.0
    assert eyes.look() == []
    live_run.keyset(("train/loss",)).write(1, (0.5,))
    eyes.ahead = 440.0
    assert eyes.look() == []
    eyes.ahead = 1000.0
    assert [one.kind for one in eyes.look()] == ["stalled"]


def test_a_slow_step_is_no_stall_and_system_metrics_are_no_progress(store: Path, live_run: RunWriter) -> None:
    row = live_run.keyset(("train/loss",))
    for step in range(1, 6):  # a minute for each step: twenty of them are twenty minutes
        row.write(step, (1.0,), time.monotonic() + step * 60)
    eyes = Eyes(store)
    eyes.look()
    eyes.ahead = 900.0
    assert eyes.look() == []
    live_run.keyset(("system/cpu",)).write(0, (0.5,))
    eyes.ahead = 1300.0
    [notice] = eyes.look()
    assert notice.text == "no new value for 21m 40s after step 5; a step usually takes 1m"


def test_what_happened_while_no_server_ran_is_told_by_the_next_and_nothing_twice(
    store: Path, live_run: RunWriter, tmp_path: Path
) -> None:
    file = tmp_path / "alerts" / "state.json"
    first = Eyes(store, AlertLog(file))
    first.look()
    live_run.event(Alert(time=time.time() + 1, title="plateau", text="for 100 steps"))
    assert [one.title for one in first.look()] == ["plateau"]
    live_run.close(End(time=time.time(), status="failed", error="ValueError: x"))
    log = AlertLog(file)
    assert [one.title for one in Eyes(store, log).look()] == ["vae failed"]
    assert [one.title for one in log.history()] == ["vae failed", "plateau"]
    assert Eyes(store, AlertLog(file)).look() == []
    file.write_bytes(b"{damaged")
    assert Eyes(store, AlertLog(file)).look() == []


def test_a_run_that_a_sweep_has_pruned_notifies_nobody(store: Path, live_run: RunWriter) -> None:
    eyes = Eyes(store)
    eyes.look()
    folder = open_run(live_run.path)
    tag_run(folder, "pruned", "28.1 by step 69; the median of 5 others is 27.9")
    live_run.close(End(time=time.time(), status="stopped"))
    assert eyes.look() == []
    folder.refresh()
    assert [(one.title, one.text[:4]) for one in folder.alerts] == [("stopped by the sweep: pruned", "28.1")]


def test_a_history_is_bounded_and_a_lost_file_loses_only_the_history(tmp_path: Path, store: Path) -> None:
    log = AlertLog(tmp_path / "x" / "y.json")
    for number in range(600):
        notice = Notice(run="r", title=str(number), text="", level="info", id=str(number))
        assert log.new([notice, notice]) == [notice]
    assert len(log.history()) == 500
    assert log.history()[0].title == "599"
    write_run(store)  # the store is not touched by any of this
    assert sorted(path.name for path in tmp_path.iterdir() if path.name == "x") == ["x"]
