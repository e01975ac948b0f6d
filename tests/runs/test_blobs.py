from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from stepscope.errors import NotFound, UsageError
from stepscope.runs.format import blobs


def names(run: Path) -> list[str]:
    return sorted(file.name for file in (run / "blobs").iterdir())


def test_bytes_are_kept_once_under_their_hash(tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    sha256 = hashlib.sha256(data).hexdigest()
    assert blobs.put_bytes(tmp_path, data) == sha256
    before = blobs.blob_path(tmp_path, sha256).stat().st_ino
    assert blobs.put_bytes(tmp_path, data, sync=False) == sha256
    assert blobs.blob_path(tmp_path, sha256).read_bytes() == data
    assert blobs.blob_path(tmp_path, sha256).stat().st_ino == before
    assert names(tmp_path) == [sha256]
    assert stat.S_IMODE((tmp_path / "blobs" / sha256).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "blobs").stat().st_mode) == 0o700


def test_a_file_is_copied_and_hashed_and_its_name_is_not_used(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    source = tmp_path / "..weights\n.pt"
    source.write_bytes(b"w" * 2_500_000)
    sha256, size = blobs.put_file(run, source)
    assert (sha256, size) == (hashlib.sha256(b"w" * 2_500_000).hexdigest(), 2_500_000)
    assert blobs.put_file(run, source) == (sha256, size)
    assert names(run) == [sha256]


def test_a_blob_cut_short_by_a_power_cut_is_written_again(tmp_path: Path) -> None:
    sha256 = blobs.put_bytes(tmp_path, b"whole content")
    blobs.blob_path(tmp_path, sha256).write_bytes(b"")
    blobs.put_bytes(tmp_path, b"whole content")
    assert blobs.blob_path(tmp_path, sha256).read_bytes() == b"whole content"


@pytest.mark.parametrize("bad", ["", "..", "../meta.json", "A" * 64, "0" * 63, "0" * 65, "0" * 64 + "\n", "g" * 64])
def test_only_a_hash_names_a_blob(tmp_path: Path, bad: str) -> None:
    with pytest.raises(UsageError, match="is not a SHA-256"):
        blobs.blob_path(tmp_path, bad)


def test_a_source_that_is_no_file_is_said_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"weights\.pt"):
        blobs.put_file(tmp_path, tmp_path / "weights.pt")
    with pytest.raises(UsageError, match="cannot be read as a file"):
        blobs.put_file(tmp_path, tmp_path)


def test_a_full_disk_leaves_no_half_blob_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        blobs.put_bytes(tmp_path, b"x" * 100)
    assert names(tmp_path) == []


def test_a_run_folder_that_is_gone_is_not_made_by_a_blob(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        blobs.put_bytes(tmp_path / "gone", b"x")
    assert not (tmp_path / "gone").exists()
