"""Ranks that a launcher has started meet in one private folder, which rank 0 takes away."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.launch.rank_notes import RankNotes, claims, is_lost_connection
from stepscope.record.observers import Watcher
from stepscope.record.observers.ranks import Began
from stepscope.records import Event, Finding, FindingEvent


def rank(monkeypatch: pytest.MonkeyPatch, number: int) -> tuple[RankNotes, Watcher]:
    for name, value in {"RANK": number, "WORLD_SIZE": 2, "LOCAL_RANK": number, "MASTER_PORT": 29512}.items():
        monkeypatch.setenv(name, str(value))
    notes, watcher = RankNotes(), Watcher()
    notes.begin(watcher)
    if watcher.distributed.notes is not None:
        watcher.distributed.notes.write(Began(number, 2))
    return notes, watcher


def test_rank_0_reads_what_all_ranks_wrote(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, watcher = rank(monkeypatch, 0)
    second, other = rank(monkeypatch, 1)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    ours, theirs = Engine(Evidence.of(watcher), rules=[]), Engine(Evidence.of(other), rules=[])
    second.gather(theirs, None)
    first.gather(ours, ValueError("no"))
    assert [(one.rank, one.ended is not None and one.ended.error) for one in ours.evidence.ranks.all] == [
        (0, "ValueError: no"),
        (1, None),
    ]
    assert theirs.evidence.ranks.all == []
    second.remove()
    assert folder.exists()
    first.remove()
    assert not folder.exists()


def test_a_folder_of_somebody_else_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, _ = rank(monkeypatch, 0)
    (folder,) = tmp_path.iterdir()
    folder.chmod(0o777)
    _, other = rank(monkeypatch, 1)
    assert other.distributed.notes is None
    first.remove()


def test_a_process_on_its_own_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    watcher = Watcher()
    RankNotes().begin(watcher)
    assert watcher.distributed.notes is None
    assert list(tmp_path.iterdir()) == []


def finding(line: int) -> Finding:
    return Finding(
        rule="opt.no-zero-grad", severity="error", message="gradients pile up", file="/a/train.py", line=line
    )


def test_what_several_ranks_find_is_recorded_once_and_what_one_finds_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, watcher = rank(monkeypatch, 0)
    second, _ = rank(monkeypatch, 1)
    recorded: list[tuple[int, int | None]] = []

    def of(number: int) -> Callable[[Event], None]:
        notes = (first, second)[number]
        return notes.once(lambda event: recorded.append((number, event.finding.line)))  # type: ignore[union-attr]

    for number, line in ((1, 7), (0, 7), (1, 9)):
        of(number)(FindingEvent(time=0.0, finding=finding(line)))
    assert recorded == [(1, 7), (1, 9)]
    for line in (7, 9):
        second.found(finding(line))
    engine = Engine(Evidence.of(watcher))
    engine.adopt(finding(7))
    first.gather(engine, None)
    assert [one.message for one in engine.findings] == ["gradients pile up", "gradients pile up (on rank 1)"]
    first.remove()


def test_the_rank_that_failed_first_tells_and_the_others_name_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, watcher = rank(monkeypatch, 0)
    second, other = rank(monkeypatch, 1)
    assert (second.tells_of_crash(), first.tells_of_crash()) == (True, False)
    other.distributed.ended(ValueError("a bad row"))
    monkeypatch.setenv("RANK", "0")
    said = "rank 1 failed first (ValueError: a bad row); rank 0 lost its connection to it"
    assert first.who_failed_first() == said
    assert is_lost_connection(RuntimeError("[pair.cc:547] Connection closed by peer [127.0.0.1]:8172"))
    assert not is_lost_connection(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    watcher.distributed.ended(None)
    first.remove()


def test_what_a_killed_job_has_claimed_can_be_claimed_again(tmp_path: Path) -> None:
    assert claims(tmp_path, "crash")
    assert not claims(tmp_path, "crash")
    (left,) = tmp_path.iterdir()
    os.utime(left, (1.0, 1.0))
    assert claims(tmp_path, "crash")
    assert not claims(tmp_path / "gone", "crash")
