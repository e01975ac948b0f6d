"""Reports on the disk: versions that are never lost, whoever writes, whatever lies there."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from stepscope.errors import BadData, Conflict, Forbidden, NotFound, UsageError
from stepscope.report import store
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.format.ids import is_run_id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def test_each_save_is_a_file_of_its_own(folder: Path) -> None:
    found, first = store.save([folder], "one", "My report!")
    _, second = store.save([folder], "two", "My report!", found.id, base=1)
    assert [path.name for path in sorted(found.path.glob("[!.]*"))] == ["000001.md", "000002.md"]
    assert (first.number, second.number) == (1, 2)
    assert [store.read(one) for one in found.versions()] == ["one", "two"]
    assert store.read(found.version()) == "two"
    assert found.id.startswith("my-report-")


def test_files_are_private_and_ids_are_no_run_ids(folder: Path) -> None:
    found, version = store.save([folder], "x", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert stat.S_IMODE(version.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.path.stat().st_mode) == 0o700
    assert not is_run_id(found.id)
    with Catalogue(folder) as catalogue:
        assert len(catalogue) == 0
        assert catalogue.problems == {}


def test_a_newer_version_is_a_conflict_and_nothing_is_written(folder: Path) -> None:
    found, _ = store.save([folder], "one", "r")
    store.save([folder], "mine", "r", found.id, base=1)
    with pytest.raises(Conflict, match="version 2 of this report was saved after version 1"):
        store.save([folder], "theirs", "r", found.id, base=1)
    assert [store.read(one) for one in found.versions()] == ["one", "mine"]


def test_of_many_who_save_at_once_one_wins_and_the_others_are_told(folder: Path) -> None:
    found, _ = store.save([folder], "base", "r")
    outcome: list[str] = []
    start = threading.Barrier(8)

    def write(text: str) -> None:
        start.wait()
        try:
            store.save([folder], text, "r", found.id, base=1)
            outcome.append(text)
        except Conflict:
            outcome.append("conflict")

    threads = [threading.Thread(target=write, args=(f"text {number}" * 1000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [one for one in outcome if one != "conflict"]
    assert store.read(found.version()) == won
    assert [one.number for one in found.versions()] == [1, 2]
    assert not list(found.path.glob(".*.tmp"))


def test_without_links_the_file_is_written_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    found, _ = store.save([folder], "one", "r")
    assert store.read(found.version()) == "one"


def test_deleted_reports_can_be_brought_back(folder: Path) -> None:
    found, _ = store.save([folder], "one", "r")
    store.delete([folder], found.id)
    assert store.reports_in([folder]) == []
    assert [one.id for one in store.reports_in([folder], deleted=True)] == [found.id]
    with pytest.raises(NotFound):
        store.find([folder], found.id)
    store.restore([folder], found.id)
    assert store.read(store.find([folder], found.id).version()) == "one"


def test_broken_bytes_and_odd_files_are_read_or_passed_over(folder: Path) -> None:
    found, _ = store.save([folder], "one", "r")
    (found.path / "000002.md").write_bytes(b"caf\xe9 \xff\r\nend")
    (found.path / "000003.md").symlink_to("/etc/passwd")
    (found.path / "000004.md").mkdir()
    (found.path / "notes.txt").write_text("mine")
    (folder / "reports" / "Not An Id").mkdir()
    (folder / "reports" / "empty-folder").mkdir()
    os.mkfifo(found.path / "000005.md")
    assert [one.number for one in found.versions()] == [1, 2]
    assert store.read(found.version()) == "caf\ufffd \ufffd\nend"
    assert [one.id for one in store.reports_in([folder])] == [found.id]


def test_a_report_is_never_found_outside_its_folder(folder: Path) -> None:
    found, _ = store.save([folder], "one", "r")
    (folder / "reports" / "linked").symlink_to(found.path)
    for id in ("..", "../x", "/etc", "", ".trash", "linked", "a" * 200, "A", "a/b", "a\x00b"):
        with pytest.raises(NotFound):
            store.find([folder], id)


def test_too_long_a_text_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"2,000,001 bytes; the maximum is 2,000,000"):
        store.save([folder], "x" * 2_000_001, "r")
    found, _ = store.save([folder], "one", "r")
    (found.path / "000002.md").write_bytes(b"x" * 2_000_001)
    with pytest.raises(BadData, match="above the limit of 2,000,000"):
        store.read(found.version())


def test_an_unknown_version_is_told(folder: Path) -> None:
    found, _ = store.save([folder], "one", "r")
    with pytest.raises(NotFound, match="has no version 7; it has 1 to 1"):
        found.version(7)


def test_the_first_store_that_can_be_written_to_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, open_ = tmp_path / "locked", tmp_path / "open"
    locked.mkdir()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "locked" not in str(path) and real(path, mode))
    found, _ = store.save([locked, open_], "one", "r")
    assert found.path.parent == open_ / "reports"
    with pytest.raises(Forbidden, match="none of the folders"):
        store.save([locked], "one", "r")
    assert not store.writable([locked])
