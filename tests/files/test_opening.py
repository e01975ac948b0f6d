"""Files that may be hostile: pipes, devices, links, sizes, swaps."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from stepscope.errors import BadData, UnsafeFile
from stepscope.files.opening import open_file, open_writable, read_file, read_text, read_window


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"loss \xff")
    assert read_file(tmp_path / "a.txt", 6, within=tmp_path) == b"loss \xff"
    assert read_text(tmp_path / "a.txt", 6) == "loss \ufffd"


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        for name in ("pipe", "socket", "/dev/zero"):
            with pytest.raises(OSError):
                open_file(tmp_path / name)
    with pytest.raises(UnsafeFile, match="pipe is a named pipe; expected a regular file"):
        open_file(tmp_path / "pipe", within=tmp_path)
    with pytest.raises(UnsafeFile, match="/dev/zero is a device"):
        open_file("/dev/zero")
    with pytest.raises(IsADirectoryError):
        open_file(tmp_path)


def test_the_refusal_is_an_error_of_ours_and_of_the_system() -> None:
    fault = UnsafeFile("it is a pipe")
    assert isinstance(fault, BadData)
    assert isinstance(fault, OSError)
    assert (str(fault), fault.strerror, fault.exit_code) == ("it is a pipe", "it is a pipe", 5)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    secret, root = tmp_path / "secret", tmp_path / "run"
    secret.write_text("hunter2")
    (root / "blobs").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_text("hunter2")
    for name, target in {
        "absolute": str(secret), "up": "../secret", "device": "/dev/zero", "proc": "/proc/self/environ",
        "blobs/up": "../../secret", "folder": "../elsewhere", "around": "blobs/../../secret", "circle": "circle",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
        with pytest.raises(OSError):
            open_file(root / name / "x" if name == "folder" else root / name, within=root)
    for name in ("absolute", "up", "blobs/up"):
        with pytest.raises(UnsafeFile, match=f"{name} leads out of .*run through a link, which is not followed"):
            open_file(root / name, within=root)
    with pytest.raises(UnsafeFile, match="is outside"):
        open_file(secret, within=root)
    with pytest.raises(UnsafeFile, match="leads out of"):
        open_file(root / ".." / "secret", within=root)


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "log").write_text("points")
    (tmp_path / "latest").symlink_to("runs/one")
    (tmp_path / "runs" / "same").symlink_to("../latest/log")
    assert read_file(tmp_path / "latest" / "log", 100, within=tmp_path) == b"points"
    assert read_file(tmp_path / "runs" / "same", 100, within=tmp_path) == b"points"


def test_a_folder_named_relatively_works_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert read_file(Path("a/b"), 9, within=Path("a")) == b"x"
    assert read_file(Path("a/b"), 9, within=Path(".")) == b"x"
    assert read_file("/etc/hostname", 4096, within="/")


def test_a_path_that_is_swapped_during_the_read_never_leads_out(tmp_path: Path) -> None:
    root, secret = tmp_path / "root", tmp_path / "secret"
    (root / "sub").mkdir(parents=True)
    secret.mkdir()
    (root / "sub" / "x").write_text("mine")
    (secret / "x").write_text("theirs")
    stopping = threading.Event()

    def swap() -> None:
        while not stopping.is_set():
            (root / "sub").rename(root / "kept")
            (root / "sub").symlink_to(secret)
            (root / "sub").unlink()
            (root / "kept").rename(root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = set()
        for _ in range(3000):
            try:
                seen.add(read_file(root / "sub" / "x", 100, within=root))
            except OSError:
                continue
    finally:
        stopping.set()
        thread.join()
    assert seen <= {b"mine"}


def test_more_than_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UnsafeFile, match="huge has 1,099,511,627,776 bytes or more, above the limit of 1,000"):
        read_file(tmp_path / "huge", 1000)
    with open_file(tmp_path / "huge") as file:
        assert read_window(file, 1 << 39, 4) == b"\0" * 4


def test_a_file_that_hides_its_size_is_counted() -> None:
    with pytest.raises(UnsafeFile, match="above the limit of 10"):
        read_file("/proc/self/maps", 10)  # its size is 0


def test_only_regular_files_are_opened_for_writing(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"abcdef")
    with open_writable(tmp_path / "log", within=tmp_path) as file:
        file.truncate(3)
    assert (tmp_path / "log").read_bytes() == b"abc"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafeFile):
        open_writable(tmp_path / "pipe")


def test_nothing_stays_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "a" / "b").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    for name in ("pipe", "out", "a", "a/b", "a/c", "nothing"):
        with pytest.raises(OSError):
            open_file(tmp_path / name, within=tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
