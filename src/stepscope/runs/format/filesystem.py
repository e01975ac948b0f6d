"""What the file system under a run folder is, and the few ways in which we make files on it.

Everything is made private (0700 folders, 0600 files) whatever the umask, because configs and console output are nobody
else's business. Nothing is ever made under a name the user gave.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = [
    "create_private",
    "file_system_type",
    "is_remote",
    "make_private_folder",
    "sync_data",
    "sync_folder",
    "try_lock",
]

_REMOTE = {
    "9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fhgfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4",
    "ocfs2", "panfs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "webdav", "wekafs",
}  # fmt: skip
_LOCAL_FUSE = {"fuse.fuse-overlayfs", "fuse.lxcfs", "fuse.mergerfs", "fuse.bindfs"}
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def file_system_type(path: Path, mounts: str | None = None) -> str:
    """The type of the file system that holds `path` ("ext4", "nfs4", "fuse.sshfs"), or "" where we cannot tell.

    `mounts` replaces the text of `/proc/self/mounts`.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mounts").read_text(errors="surrogateescape")
        except OSError:
            return ""
    real = os.path.realpath(path)
    best, found = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescaped(fields[1])
        # The last of several mounts on one point is the one that is seen, hence >=.
        if len(point) >= best and (real == point or real.startswith(point.rstrip("/") + "/")):
            best, found = len(point), fields[2]
    return found


def _unescaped(point: str) -> str:
    for code, letter in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        point = point.replace(code, letter)
    return point


def is_remote(path: Path, mounts: str | None = None) -> bool:
    """Whether a write to `path` may have to wait for a network or a user-space file system."""
    if sys.platform == "win32":
        return str(path).startswith(("\\\\", "//"))
    kind = file_system_type(path, mounts)
    return kind in _REMOTE or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)


def create_private(path: Path) -> int:
    """A new file, open for appending; fails if there is one. Readable too: it may have to be rescued."""
    fd = os.open(path, _CREATE, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(fd, 0o600)
    return fd


def make_private_folder(path: Path, *, exist_ok: bool = False) -> None:
    """A folder only we can look into. Its parent must be there."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not exist_ok or not path.is_dir():
            raise
    else:
        os.chmod(path, 0o700)


def sync_data(fd: int) -> None:
    """Have the file's bytes on the disk before returning."""
    if sys.platform == "linux":
        os.fdatasync(fd)
    else:
        os.fsync(fd)


def sync_folder(path: Path) -> None:
    """Have the folder's entries on the disk, where the system lets a folder be synced at all."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError:
        pass  # some network file systems refuse; the entry then lasts as they see fit
    finally:
        os.close(fd)


def try_lock(fd: int) -> bool:
    """Lock an open file for this process alone, without waiting; False if another one has it.

    Where there are no such locks (Windows, some file systems) everybody gets it.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
