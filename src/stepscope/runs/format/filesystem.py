"""The file system under a run folder, and the few ways in which files are created on it.

Everything is created private (0700 folders, 0600 files) whatever the umask, because configs and console output may be
confidential. A folder that a group shares (`sharing_of`) is the exception. No file is ever created under a
user-supplied name.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Literal

_REMOTE = {
    "9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fhgfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4",
    "ocfs2", "panfs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "webdav", "wekafs",
}  # fmt: skip
_LOCAL_FUSE = {"fuse.fuse-overlayfs", "fuse.lxcfs", "fuse.mergerfs", "fuse.bindfs"}
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def file_system_type(path: Path, mounts: str | None = None) -> str:
    """The type of the file system of `path` ("ext4", "nfs4", "fuse.sshfs"), or "" if unknown.

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
        # With several mounts on one point the last one is visible, hence >=.
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
    """Who else may open what is created in a folder.

    STEPSCOPE_SHARED decides if it is set: "private" (nobody), "group" (the folder's group reads and writes, whatever
    the umask) or "umask" (as for any other file). Otherwise a folder with the setgid bit and group access, the usual
    way to share one, shares with its group what the umask allows; any other folder shares nothing.
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
    """The mode before the umask: others get no access in a shared folder unless STEPSCOPE_SHARED allows it."""
    return 0o777 if os.environ.get("STEPSCOPE_SHARED") == "umask" else 0o770


def create_file(path: Path) -> int:
    """Create a file of a run, open for appending, as private as its folder; fails if it exists."""
    sharing = sharing_of(path.parent)
    if sharing == "private":
        return create_private(path)
    fd = os.open(path, _CREATE, _most() & 0o666)  # reduced by the umask, or replaced by a default ACL
    if sharing == "group" and hasattr(os, "fchmod"):
        os.fchmod(fd, 0o660)
    return fd


def make_folder(path: Path, *, exist_ok: bool = False) -> None:
    """Create a folder of a run, as private as its parent, which must exist."""
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
    """A folder in a store that several people use (trash, reports): in a shared store, as open as the store."""
    if sharing_of(path.parent) == "private":
        make_private_folder(path, exist_ok=True)
        return
    try:
        os.mkdir(path, 0o770)
    except FileExistsError:
        return
    os.chmod(path, stat.S_IMODE(os.stat(path.parent).st_mode))


def make_store(store: Path) -> None:
    """Create the folder that holds runs, with its parents. Runs are private, not their list, unless a group shares
    both.
    """
    if store.is_dir():
        return
    store.mkdir(parents=True, exist_ok=True)
    if os.environ.get("STEPSCOPE_SHARED") == "group":
        os.chmod(store, 0o2770)


def create_private(path: Path) -> int:
    """Create a file open for appending; fails if it exists. Readable too: it may have to be recovered."""
    fd = os.open(path, _CREATE, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(fd, 0o600)
    return fd


def make_private_folder(path: Path, *, exist_ok: bool = False) -> None:
    """Create a folder that only the user can enter. Its parent must exist."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not exist_ok or not path.is_dir():
            raise
    else:
        os.chmod(path, 0o700)


def sync_data(fd: int) -> None:
    """Sync the file's bytes to disk."""
    if sys.platform == "linux":
        os.fdatasync(fd)
    else:
        os.fsync(fd)


def sync_folder(path: Path) -> None:
    """Sync the folder's entries to disk, where the system supports that."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError:
        pass  # some network file systems refuse; durability is then up to them
    finally:
        os.close(fd)


def try_lock(fd: int) -> bool:
    """Lock an open file for this process, without waiting; False if another process has it.

    Without such locks (Windows, some file systems) it always succeeds.
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
