"""The index is disposable: damaged, deleted, outdated, shared or killed, it costs time and never a wrong number."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepscope.runs.catalogue import index as index_module
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index, Row, cache_folder

from .making import make_old, make_run

ROWS = [Row(f"run{n}", "=1.2", f"head {n}".encode(), ("loss", "acc"), bytes(192)) for n in range(3)]


def seen(index: Index) -> list[str]:
    return [row.folder for row in index.rows("store")]


def one_file(folder: Path) -> Path:
    (path,) = folder.glob("*.sqlite")
    return path


def test_keeps_rows_and_their_numbers(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.save("store", ROWS)
    index.save("other", ROWS[:1])
    index.close()
    index = Index(tmp_path)
    assert [(row.folder, row.stamp, row.head, row.names) for row in index.rows("store")] == [row[:4] for row in ROWS]
    assert index.stats("store", "run1") == bytes(192)
    assert index.stats("store", "nope") is None
    index.save("store", [ROWS[0]._replace(stamp="=9.9")], gone=["run1"])
    assert [(row.folder, row.stamp) for row in index.rows("store")] == [("run0", "=9.9"), ("run2", "=1.2")]
    assert index.stats("store", "run1") is None
    assert len(index.rows("other")) == 1


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        index = Index(tmp_path / "deep" / "cache")
        index.save("store", ROWS)
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "deep" / "cache").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "deep" / "cache").stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", ["garbage", "truncated", "garbled pages", "another schema", "a folder"])
def test_a_damaged_index_is_replaced_without_a_word(tmp_path: Path, damage: str) -> None:
    index = Index(tmp_path)
    index.save("store", [Row(f"run{n}", "=1.2", bytes(500), ("loss",), bytes(96)) for n in range(200)])
    index.close()
    path = one_file(tmp_path)
    data = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(b"not a database at all" * 100)
    elif damage == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "garbled pages":
        path.write_bytes(data[:4096] + os.urandom(len(data) - 4096))
    elif damage == "another schema":
        path.unlink()
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE runs (something TEXT)")
        db.close()
    else:
        path.unlink()
        path.mkdir()
    index = Index(tmp_path)
    for row in index.rows("store"):
        assert (row.stamp, row.head, row.names) == ("=1.2", bytes(500), ("loss",))
    index.save("store", ROWS)
    index.close()
    index = Index(tmp_path)
    assert set(seen(index)) >= {"run0", "run1", "run2"}
    assert index.stats("store", "run2") == bytes(192)


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.save("store", ROWS)
    index.close()
    path = one_file(tmp_path)
    good = path.read_bytes()
    expected = {row.folder: row for row in ROWS}
    for at in range(0, len(good), 37):
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        index = Index(tmp_path)
        for row in index.rows("store"):
            assert row[:4] == expected[row.folder][:4]
            assert index.stats("store", row.folder) in (None, bytes(192))
        index.close()


def test_an_index_that_vanishes_while_in_use_is_begun_anew(tmp_path: Path) -> None:
    index = Index(tmp_path / "cache")
    index.save("store", ROWS)
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    (tmp_path / "cache").rmdir()
    for _ in range(3):
        index.rows("store")
        index.save("store", ROWS)
    assert set(seen(index)) <= {"run0", "run1", "run2"}


def test_without_a_place_on_a_local_disk_it_lives_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    index = Index(blocked / "cache")
    assert index.path is None
    index.save("store", ROWS)
    assert seen(index) == ["run0", "run1", "run2"]
    monkeypatch.setattr(index_module, "is_remote", lambda path: True)
    assert Index(tmp_path / "nfs").path is None


def test_a_busy_index_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(tmp_path)
    index.save("store", ROWS)
    index._db.execute("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(one_file(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    index.save("store", [], gone=["run0"])
    assert seen(index) == ["run0", "run1", "run2"]
    other.execute("ROLLBACK")
    other.close()
    index.save("store", [], gone=["run0"])
    assert seen(index) == ["run1", "run2"]


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("STEPSCOPE_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "stepscope"


def test_two_processes_killed_while_indexing_leave_a_sound_index(store: Path, tmp_path: Path) -> None:
    for number in range(40):
        make_run(store, f"run-{number}", series={"loss": [float(number)] * 5})
    make_old(store)
    code = (
        "import os, sys; from pathlib import Path\n"
        "import stepscope.runs.catalogue.store_scan as scan; scan._BATCH = 2\n"
        "from stepscope.runs.catalogue.catalogue import Catalogue; from stepscope.runs.catalogue.index import Index\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    store, index = os.path.realpath(sys.argv[1]), Index(Path(sys.argv[2]))\n"
        "    Catalogue(Path(store), index=index).refresh()\n"
        "    index.save(store, [], [row.folder for row in index.rows(store)])\n"
    )
    cache = tmp_path / "cache"
    for pause in (0.05, 0.15, 0.3):
        children = [
            subprocess.Popen([sys.executable, "-c", code, str(store), str(cache)], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        time.sleep(pause)
        for child in children:
            child.send_signal(signal.SIGKILL)
            child.wait()
            assert child.stdout is not None
            child.stdout.close()
    index = Index(cache)
    assert index._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Catalogue(store, index=index) as catalogue:
        values = {entry.name: entry.metrics["loss"].last for entry in catalogue.entries()}
    assert values == {f"run-{number}": float(number) for number in range(40)}


def test_an_index_that_was_rebuilt_answers_like_the_one_before(store: Path, tmp_path: Path) -> None:
    for number in range(8):
        make_run(store, f"run-{number}", series={"loss": [number * 0.1, 1 / (number + 1)]}, config={"n": number})
    make_old(store)

    def answers() -> list[object]:
        with Catalogue(store, index=Index(tmp_path / "cache")) as catalogue:
            return [
                [(entry.id, dict(entry.metrics), entry.head) for entry in catalogue.entries(query, sort="loss.min")]
                for query in ("", "loss.min < 0.2", "config.n > 3 and loss.max > 0.3")
            ]

    fresh = answers()
    cached = answers()
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(b"x" * 100)
    assert fresh == cached == answers() == answers()
