"""Archives and compressed bytes that unfold to far more than they are."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from pathlib import Path

import pytest

from stepscope.errors import BadData, UnsafeFile
from stepscope.files.database import is_database, open_database
from stepscope.files.listing import plain_files
from stepscope.files.mapping import map_file
from stepscope.files.packed import check_zip, gunzipped_head, inflated, is_zip


def zipped(path: Path, size: int, kind: int) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("data.pkl", bytes(size))
    return path


def test_an_archive_that_unfolds_too_far_is_refused(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.zip", 50 << 20, zipfile.ZIP_DEFLATED)
    assert is_zip(bomb)
    with pytest.raises(UnsafeFile, match=r"would expand to 52,428,800 in 1 files, above the limit of 4 times its size"):
        check_zip(bomb, ratio=4, free=1 << 20)
    check_zip(zipped(tmp_path / "stored.zip", 5 << 20, zipfile.ZIP_STORED), ratio=4, free=0)


def test_a_broken_archive_is_reported(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", 100, zipfile.ZIP_STORED).read_bytes()
    at = whole.index(b"PK\x01\x02")
    (tmp_path / "a.zip").write_bytes(whole[:at] + b"XX" + whole[at + 2 :])
    with pytest.raises(BadData, match=r"a\.zip is not a valid zip archive"):
        check_zip(tmp_path / "a.zip", ratio=4, free=0)


def test_deflated_bytes_stop_at_their_limit() -> None:
    packed = zlib.compress(bytes(10 << 20))
    assert inflated(packed, 10 << 20, "the step") == bytes(10 << 20)
    with pytest.raises(UnsafeFile, match="the step unpacks to more than 1,000 bytes"):
        inflated(packed, 1000, "the step")
    with pytest.raises(BadData, match="the step is truncated"):
        inflated(packed[:-9], 10 << 20, "the step")
    with pytest.raises(BadData, match="the step is damaged"):
        inflated(b"nothing", 100, "the step")


def test_the_head_of_a_gzip_bomb_costs_little(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(100 << 20)))
    assert gunzipped_head(tmp_path / "a.gz", 10) == bytes(10)
    (tmp_path / "b.gz").write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(BadData, match="looks gzipped"):
        gunzipped_head(tmp_path / "b.gz", 10)


def test_databases_are_plain_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.db")
    (tmp_path / "b.db").symlink_to("/dev/zero")
    assert not is_database(tmp_path / "a.db")
    assert not is_database(tmp_path / "b.db", within=tmp_path)
    with pytest.raises(UnsafeFile), open_database(tmp_path / "a.db"):
        pass
    (tmp_path / "c.db").write_bytes(b"SQLite format 3\0" + bytes(200))
    os.mkfifo(tmp_path / "c.db-wal")
    with pytest.raises(UnsafeFile, match=r"c\.db-wal is not a regular file"), open_database(tmp_path / "c.db"):
        pass
    os.unlink(tmp_path / "c.db-wal")
    with pytest.raises(BadData), open_database(tmp_path / "c.db") as database:
        database.execute("SELECT * FROM sqlite_master").fetchall()


def test_listing_leaves_out_what_is_no_plain_file(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("z", "a", "b/2", "b/c/1"):
        (tmp_path / name).write_text("")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "b" / "up").symlink_to("..")
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    found = [path.relative_to(tmp_path).as_posix() for path in plain_files(tmp_path)]
    assert found == ["a", "z", "b/2", "b/c/1"]
    assert len(list(plain_files(tmp_path, enter=lambda folder: folder.name != "c"))) == 3


def test_a_file_is_mapped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123")
    (tmp_path / "empty").write_bytes(b"")
    assert bytes(map_file(tmp_path / "a")[1:3]) == b"12"
    assert bytes(map_file(tmp_path / "empty")) == b""
