"""Disks for tests, mounted for real where we may: with faults (FUSE), small, or cut off from their power (ext4)."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["Faulty", "PowerCut", "faulty_disk", "one_with_power"]

ROOT = Path(__file__).parents[2]
EXT4_SHUTDOWN = 0x8004587D
"""The ioctl that stops an ext4 at once; with 2 even its journal's buffers are lost, as by a power cut."""


class Faulty:
    """A mounted tests.faults.fuse, and the switches of its faults."""

    def __init__(self, process: subprocess.Popen[str], backing: Path, path: Path, control: Path) -> None:
        self.process, self.backing, self.path, self.control = process, backing, path, control

    def fail(self, call: str, how: str) -> None:
        """Have every such call fail with this errno; `quota` takes a number of bytes."""
        (self.control / "new").write_text(how)
        (self.control / "new").replace(self.control / call)

    def heal(self, call: str) -> None:
        (self.control / call).unlink()

    def hang(self) -> None:
        """Let every call that reaches it wait."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        while not self.is_hung:
            time.sleep(0.01)

    @property
    def is_hung(self) -> bool:
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def die(self) -> None:
        """As when a network file system's daemon is gone: every call fails from now on."""
        self.process.kill()
        self.process.wait()


@contextmanager
def faulty_disk(folder: Path, backing: Path | None = None, *options: str) -> Iterator[Faulty]:
    """A mounted folder whose faults can be switched on; skips the test where that cannot be had."""
    backing = backing or folder / "backing"
    path, control = folder / "mounted", folder / "control"
    for one in (backing, path, control):
        one.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.faults.fuse", str(backing), str(path), str(control), *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        if process.stdout.readline() != "mounted\n":
            pytest.skip(f"no file system can be mounted here: {process.stderr.read().strip()}")
        try:
            yield Faulty(process, backing, path, control)
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
            subprocess.run(["umount", "-l", str(path)], check=True)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()


class PowerCut:
    """An ext4 in a file. `cut` loses all that no sync has brought to the disk; `boot` mounts what is left."""

    def __init__(self, image: Path, path: Path) -> None:
        self.image, self.path = image, path

    def cut(self) -> None:
        fd = os.open(self.path, os.O_RDONLY)
        fcntl.ioctl(fd, EXT4_SHUTDOWN, struct.pack("I", 2))
        os.close(fd)

    def boot(self) -> None:
        subprocess.run(["umount", str(self.path)], check=True)
        _mount(self.image, self.path)

    def clear(self) -> None:
        """Empty again."""
        subprocess.run(["umount", str(self.path)], check=True)
        _format(self.image)
        _mount(self.image, self.path)


@contextmanager
def one_with_power(folder: Path) -> Iterator[PowerCut]:
    """A small ext4; skips the test where none can be mounted."""
    image, path = folder / "disk.img", folder / "disk"
    path.mkdir()
    try:
        _format(image)
        _mount(image, path)
    except (OSError, subprocess.CalledProcessError) as fault:
        pytest.skip(f"no disk can be mounted here: {getattr(fault, 'stderr', fault)}")
    try:
        yield PowerCut(image, path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def _format(image: Path) -> None:
    with image.open("wb") as file:
        file.truncate(8 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-b", "1024", str(image)], check=True, capture_output=True)


def _mount(image: Path, path: Path) -> None:
    subprocess.run(["mount", "-o", "loop", str(image), str(path)], check=True, capture_output=True)
