"""Compaction, scrubbing, repair, the trash, reports and saved views: cut at every call, nothing that was there is lost.

The writer's own cuts are in tests/runs/test_power_loss.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.faults.power_cuts import Disk, Moment, watched
from tests.faults.rounds import chance, note_tries, times
from tests.runs.written import new_run, quiet_writer

from stepscope.records import Alert, End, Media, NotesChange
from stepscope.report import store as reports
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.layout import META, run_folders
from stepscope.runs.format.meta import read_meta, repair_meta
from stepscope.runs.read.folder import open_run
from stepscope.runs.scrub.needle import Needle
from stepscope.runs.scrub.scrub import scrub_run
from stepscope.runs.trash import move_to_trash, restore, trashed_runs
from stepscope.runs.write import logfile, write_queue, writer as writer_module
from stepscope.views.view_file import SavedView, change_views, read_views

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="needs /proc to know which file a call is for"
)
SECRET = "bluefish/swordtail"
EACH = 6
"""Cuts tried before each call in the gate."""


class Work(NamedTuple):
    """Something done to a store, and what must be true of the store whenever it was cut."""

    do: Callable[[Path], object]
    check: Callable[[Path], None]


@pytest.fixture
def run(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(logfile, "SEGMENT_BYTES", 3000)
    for module in (write_queue, writer_module):
        monkeypatch.setattr(module, "FRAME_BYTES", 1000)  # what is larger is a blob
    path = new_run(store)
    writer = quiet_writer(path)
    row = writer.keyset(("loss", "acc"))
    for step in range(300):
        row.write(step, (step / 4, -step))
    writer.event(Alert(time=1.0, title="look"))
    writer.event(NotesChange(time=2.0, text=f"see {SECRET}"))
    writer.media(Media(key="note", step=3, time=8.0, kind="text"), f"small {SECRET}".encode())
    writer.media(Media(key="clip", step=4, time=9.0, kind="video"), SECRET.encode() * 200)
    writer.close(End(time=10.0, status="finished"))
    return path


def whole(path: Path) -> None:
    """Every point, the alert, the notes and the media of `run`, with the secret or without it."""
    found = open_run(path)
    assert (found.status, found.meta.name, [one.title for one in found.alerts]) == ("finished", "n", ["look"])
    assert found.series("loss").values.tolist() == [step / 4 for step in range(300)]
    assert found.series("acc").values.tolist() == [-step for step in range(300)]
    assert found.notes in (f"see {SECRET}", "see ***")
    media = {one.key: found.media_bytes(one) for one in found.media()}
    assert media["note"] in (f"small {SECRET}".encode(), b"small ***")
    assert media["clip"] in (SECRET.encode() * 200, b"***" * 200)


def cut_everywhere(store: Path, tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch) -> int:
    """Do the work once, then look at what a kill and some power cuts before each of its calls leave; how many."""
    with watched(store, monkeypatch) as disk:
        work.do(store)
    for sync in ("fsync", "fdatasync"):  # of hundreds of copies that nobody needs
        monkeypatch.setattr(os, sync, lambda fd: None)
    tried = 0
    for call, moment in states(disk):
        again = tmp_path / "again" / store.name
        shutil.rmtree(again, ignore_errors=True)
        again.parent.mkdir(parents=True, exist_ok=True)
        moment.put(again)
        try:
            work.check(again)
            work.do(again)  # what was begun can be done again
            work.check(again)
        except Exception as fault:
            names = sorted(path.relative_to(again).as_posix() for path in again.rglob("*"))
            raise AssertionError(f"cut before `{call}` (state {tried}), which leaves {names}") from fault
        tried += 1
    note_tries(tried)
    return tried


def states(disk: Disk) -> Iterator[tuple[str, Moment]]:
    assert len(disk.moments) >= 4, [call for call, _, _ in disk.moments]
    yield from disk.after_kills()
    yield from disk.after_cuts(chance(20), times(EACH))


def only_run(store: Path) -> Path:
    (path,) = run_folders(store)
    return path


def test_compaction(store: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(store: Path) -> None:
        whole(only_run(store))

    tried = cut_everywhere(store, tmp_path, Work(lambda store: compact(only_run(store)), check), monkeypatch)
    assert tried > 60
    assert len(list((run / "compact").iterdir())) == 1


def test_scrubbing(store: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scrub(store: Path) -> None:
        path = only_run(store)
        scrub_run(path, Needle(SECRET), force=True)
        assert SECRET not in open_run(path).notes

    tried = cut_everywhere(store, tmp_path, Work(scrub, lambda store: whole(only_run(store))), monkeypatch)
    assert tried > 60


def test_scrubbing_where_there_was_no_folder_of_blobs(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in a log is a blob for as long as the logs are being cleaned."""
    path = new_run(store)
    writer = quiet_writer(path)
    writer.media(Media(key="note", step=3, time=8.0, kind="text"), f"{SECRET} {'word ' * 300}".encode())
    writer.close(End(time=10.0, status="finished"))

    def check(store: Path) -> None:
        run = open_run(only_run(store))
        (text,) = (run.media_bytes(media).decode() for media in run.media())
        assert text.partition(" ")[0] in (SECRET, "***")

    def scrub(store: Path) -> None:
        scrub_run(only_run(store), Needle(SECRET), force=True)

    assert cut_everywhere(store, tmp_path, Work(scrub, check), monkeypatch) > 30


def test_the_repair_of_a_damaged_meta_json(
    store: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run / META).write_bytes((run / META).read_bytes().replace(b'"n"', b'"m"'))

    def check(store: Path) -> None:
        assert read_meta(store / run.name).name == "n"
        whole(store / run.name)

    cut_everywhere(store, tmp_path, Work(lambda store: repair_meta(store / run.name), check), monkeypatch)


def test_the_trash(store: Path, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def delete_or_restore(store: Path) -> None:
        found = trashed_runs([store])
        _ = restore(found[0]) if found else move_to_trash(store / run.name)

    def check(store: Path) -> None:
        (path,) = [*run_folders(store), *(one.path for one in trashed_runs([store]))]
        whole(path)

    cut_everywhere(store, tmp_path, Work(delete_or_restore, check), monkeypatch)
    cut_everywhere(store, tmp_path / "back", Work(delete_or_restore, check), monkeypatch)


def test_a_report(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = reports.save([store], "# First\n", "First")
    texts = {"# First\n", "# Second\n"}

    def save(store: Path) -> None:
        newest = reports.find([store], first.id).version().number
        reports.save([store], "# Second\n", "Second", first.id, newest)

    def check(store: Path) -> None:
        versions = reports.find([store], first.id).versions()
        read = [reports.read(version) for version in versions]
        assert read[0] == "# First\n"
        assert set(read) <= texts

    cut_everywhere(store, tmp_path, Work(save, check), monkeypatch)


def test_saved_views(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(name: str) -> Callable[[Path], Any]:
        view = SavedView(id=name, name=name, page="/runs", query={"q": "loss < 1"})

        def with_it(views: list[SavedView]) -> list[SavedView]:
            return [*(one for one in views if one.id != name), view]

        def change(store: Path) -> None:
            for lock in store.glob(".views.lock"):  # ten seconds later it counts as left behind
                os.utime(lock, (0, 0))
            change_views(store, with_it)

        return change

    add("first")(store)

    def check(store: Path) -> None:
        assert [view.id for view in read_views(store)] in (["first"], ["first", "second"])

    cut_everywhere(store, tmp_path, Work(add("second"), check), monkeypatch)
