"""Ranks that a launcher has started meet in one private folder, which rank 0 takes away."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.launch.rank_notes import RankNotes
from stepscope.record.watch import Watcher
from stepscope.record.watch.ranks import Began


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
    ours, theirs = Engine(Evidence(watcher), rules=[]), Engine(Evidence(other), rules=[])
    second.gather(theirs, None)
    first.gather(ours, ValueError("no"))
    assert [(one.rank, one.ended is not None and one.ended.error) for one in ours.evidence.ranks] == [
        (0, "ValueError: no"),
        (1, None),
    ]
    assert theirs.evidence.ranks == []
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
