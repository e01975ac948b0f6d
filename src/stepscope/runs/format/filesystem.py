"""What the file system under a run folder is, and the few ways in which we make files on it.

Everything is made private (0700 folders, 0600 files) whatever the umask, because configs and console output are nobody
else's business. A folder that a group shares (`sharing_of`) is the exception. Nothing is ever made under a name the
user gave.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Literal

__all__ = [
    "Sharing",
    "create_file",
    "create_private",
    "file_system_type",
    "is_remote",
    "make_common_folder",
    "make_folder",
    "make_private_folder",
    "make_store",
    "sharing_of",
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


Sharing = Literal["private", "group", "umask"]


def sharing_of(folder: Path) -> Sharing:
    """Who else may open what we make in a folder.

    STEPSCOPE_SHARED decides where it is set: "private" (nobody), "group" (the folder's group reads and writes, whatever
    the umask) or "umask" (as for any other file). Otherwise a folder with the setgid bit that its group may enter, as
    people make to share one, shares with its group what the umask leaves, and any other folder nothing.
    """
    chosen = os.environ.get("STEPSCOPE_SHARED", "")
    if chosen == "group":
        return "group"
    if chosen == "umask" or (not chosen and _is_shared(folder)):
        return "umask"
    return "private"


def _is_shared(folder: Path) -> bool:
    wanted = stat.S_ISGID | stat.S_IRGRP | stat.S_IXGRP
    try:
        return os.name == "posix" and os.stat(folder).st_mode & wanted == wanted
    except OSError:
        return False


def _most() -> int:
    """What the umask is applied to: strangers get nothing in a shared folder unless STEPSCOPE_SHARED says so."""
    return 0o777 if os.environ.get("STEPSCOPE_SHARED") == "umask" else 0o770


def create_file(path: Path) -> int:
    """A new file of a run, open for appending, as private as its folder; fails if there is one."""
    sharing = sharing_of(path.parent)
    if sharing == "private":
        return create_private(path)
    fd = os.open(path, _CREATE, _most() & 0o666)  # the umask takes away from it, or a default ACL replaces it
    if sharing == "group" and hasattr(os, "fchmod"):
        os.fchmod(fd, 0o660)
    return fd


def make_folder(path: Path, *, exist_ok: bool = False) -> None:
    """A folder of a run, as private as the one it is in, which must be there."""
    sharing = sharing_of(path.parent)
    if sharing == "private":
        make_private_folder(path, exist_ok=exist_ok)
        return
    try:
        os.mkdir(path, _most())  # inherits the group and the setgid bit
    except FileExistsError:
        if not exist_ok or not path.is_dir():
            raise
    else:
        if sharing == "group":
            os.chmod(path, 0o2770)


def make_common_folder(path: Path) -> None:
    """A folder in a store for what several people use (trash, reports): in a shared store, as open as the store."""
    if sharing_of(path.parent) == "private":
        make_private_folder(path, exist_ok=True)
        return
    try:
        os.mkdir(path, 0o770)
    except FileExistsError:
        return
    os.chmod(path, stat.S_IMODE(os.stat(path.parent).st_mode))


def make_store(store: Path) -> None:
    """The folder that holds runs, with those above it. Runs are private, not their list, unless a group shares both."""
    if store.is_dir():
        return
    store.mkdir(parents=True, exist_ok=True)
    if os.environ.get("STEPSCOPE_SHARED") == "group":
        os.chmod(store, 0o2770)


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
