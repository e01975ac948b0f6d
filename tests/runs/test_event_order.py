"""The order of events is that in which they were written, whatever the clock says."""

from __future__ import annotations

import time
from pathlib import Path

from tests.runs.making import make_run

from stepscope.records import ConfigUpdate, End, NameChange, NotesChange, TagsChange
from stepscope.runs.compact.compact import compact
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter
from stepscope.views.edit import write_changes

DAY = 86400.0


def test_a_clock_that_was_ahead_does_not_make_older_notes_win(tmp_path: Path) -> None:
    now = time.time()
    notes = [NotesChange(time=now + ahead, text=f"at {ahead}") for ahead in (0.0, 400 * DAY, 1.0, 2.0)]
    run = make_run(tmp_path, events=notes)
    assert open_run(run).notes == "at 2.0"
    assert [note.text for note in open_run(run).events(NotesChange)] == [note.text for note in notes]
    compact(run)
    assert open_run(run).notes == "at 2.0"


def test_a_clock_that_was_set_back_does_not_either(tmp_path: Path) -> None:
    now = time.time()
    values = [ConfigUpdate(time=now - back, values={"lr": back}) for back in (0.0, 1.0, 2e9, 400 * DAY)]
    assert open_run(make_run(tmp_path, events=values)).config == {"lr": 400 * DAY}


def test_segments_of_one_log_follow_each_other(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0)
    now = time.time()
    for number, moment in enumerate((now, now + 5 * DAY, now - 5 * DAY)):
        writer.event(NameChange(time=moment, name=f"name {number}"))
        with writer._delivery.lock:
            writer._delivery.points.seal()
    writer.close(End(time=now, status="finished"))
    assert open_run(run).name == "name 2"


def test_a_later_attempt_comes_after_the_one_before(tmp_path: Path) -> None:
    now = time.time()
    run = make_run(tmp_path, events=[NotesChange(time=now + DAY, text="first")])
    writer = RunWriter(run, run_id=run.name, attempt=1, heartbeat_s=0, fsync_s=0)
    writer.event(NotesChange(time=now, text="second"))
    writer.close(End(time=now, status="finished"))
    assert open_run(run).notes == "second"


def test_what_a_person_changes_comes_after_what_the_run_said(tmp_path: Path) -> None:
    now = time.time()
    run = make_run(tmp_path, events=[NotesChange(time=now + DAY, text="by a clock that is ahead")], tags=["a"])
    write_changes(run, run.name, [NotesChange(time=now, text="by hand")])
    write_changes(run, run.name, [NotesChange(time=now - DAY, text="by hand again"), TagsChange(time=now, add=["b"])])
    folder = open_run(run)
    assert (folder.notes, folder.tags) == ("by hand again", ["a", "b"])


def test_events_of_several_logs_are_still_merged_by_time(tmp_path: Path) -> None:
    now = time.time()
    notes = [NotesChange(time=now + at, text=f"0 {at}") for at in (0, 2, 4)]
    run = make_run(tmp_path, events=notes, created=now)
    other = RunWriter(run, run_id=run.name, rank=1, heartbeat_s=0, fsync_s=0)
    for at in (1, 3):
        other.event(NotesChange(time=now + at, text=f"1 {at}"))
    other.close(End(time=now + 9, status="finished"))
    assert [note.text for note in open_run(run).events(NotesChange)] == ["0 0", "1 1", "0 2", "1 3", "0 4"]
