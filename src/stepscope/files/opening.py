"""Open and read untrusted files: regular files only, inside their folder, with a size limit.

    with open_file(run / "meta.json", within=run) as file: ...
    data = read_file(run / "meta.json", 16 << 20, within=run)

`within` is the folder that a path must not leave. No link out of it is followed, even one created concurrently: below
that folder each part of the path is opened relative to its parent. Without `within` the path comes from the user, and
its links are trusted. In both cases a pipe, a device or a socket is rejected without waiting for it.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections import deque
from typing import BinaryIO, cast

from stepscope.errors import UnsafeFile
from stepscope.files.elsewhere import RangeFile, found_elsewhere

PathLike = str | os.PathLike[str]

_FLAGS = (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd and bool(_NOFOLLOW)
_IS_LINK = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
"""Error codes when the last part of a path is a link and links must not be followed."""
_MOST_LINKS = 16
_AHEAD = 1 << 18
"""Block size when reading a file whose bytes are elsewhere."""
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_file(path: PathLike, *, within: PathLike | None = None, buffering: int = -1) -> BinaryIO:
    """A regular file, open for reading bytes. Raises `OSError` like `open`, and its subclass `UnsafeFile`."""
    return _opened(path, os.O_RDONLY, "rb", within, buffering)


def open_writable(path: PathLike, *, within: PathLike | None = None) -> BinaryIO:
    """An existing regular file, open for reading and writing in place."""
    return _opened(path, os.O_RDWR, "r+b", within, -1)


def _opened(path: PathLike, access: int, mode: str, within: PathLike | None, buffering: int) -> BinaryIO:
    text = os.fspath(path)
    flags = access | _FLAGS
    fd = os.open(text, flags) if within is None else _open_within(text, os.fspath(within), flags)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise _refusal(text, found.st_mode)
        fetch = found_elsewhere(text, found) if mode == "rb" else None
        if fetch is not None:
            ranged = RangeFile(fd, found.st_size, fetch)
            return cast(BinaryIO, ranged if buffering == 0 else io.BufferedReader(ranged, _AHEAD))
        return cast(BinaryIO, open(fd, mode, buffering))
    except BaseException:
        os.close(fd)
        raise


def read_file(path: PathLike, limit: int, *, within: PathLike | None = None) -> bytes:
    """The contents of a file of at most `limit` bytes; a larger one is rejected before it is read."""
    with open_file(path, within=within, buffering=0) as file:
        return read_window(file, 0, limit, whole=os.fspath(path))


def read_text(path: PathLike, limit: int, *, within: PathLike | None = None) -> str:
    """The same as text; invalid UTF-8 becomes replacement characters."""
    return read_file(path, limit, within=within).decode("utf-8", "replace")


def read_window(file: BinaryIO, start: int, count: int, *, whole: str = "") -> bytes:
    """Up to `count` bytes from `start`. `whole` names a file that must end there, and is rejected otherwise."""
    size = os.fstat(file.fileno()).st_size
    if whole and size - start > count:
        raise _too_large(whole, size, count)
    if start:
        file.seek(start)
    # Files in /proc have no size: read in pieces, and count.
    parts: list[bytes] = []
    left = count + bool(whole)
    guess = max(size - start, 0) + 1
    while left > 0 and (part := file.read(min(left, max(guess, 1 << 16)))):
        parts.append(part)
        left -= len(part)
    if whole and not left:
        raise _too_large(whole, count + 1, count)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def plain_size(path: PathLike) -> int | None:
    """The size of a regular file, or None if there is none; a link does not count."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _open_within(path: str, root: str, flags: int) -> int:
    base = root.rstrip(os.sep)
    inner = path[len(base) + 1 :] if path.startswith(base + os.sep) else ""
    if root == os.curdir and not os.path.isabs(path):
        inner = path
    if not inner:
        raise UnsafeFile(f"{path} is outside {root}; only files inside that folder are read")
    if not _BY_FOLDER:
        return _open_resolved(path, root, flags)
    if os.sep not in inner and inner != "..":
        try:
            return os.open(path, flags | _NOFOLLOW)
        except OSError as fault:
            if fault.errno not in _IS_LINK:
                raise
    return _walk(path, root, deque(inner.split(os.sep)), flags)


def _walk(path: str, root: str, parts: deque[str], flags: int) -> int:
    """Open each part of the path relative to its parent; a link is resolved the same way."""
    folders = [os.open(root, os.O_RDONLY | _DIRECTORY | _FLAGS)]
    links = 0
    try:
        while parts:
            name = parts.popleft()
            if name in ("", "."):
                continue
            if name == "..":
                if len(folders) == 1:
                    raise _leaves(path, root)
                os.close(folders.pop())
                continue
            wanted = flags if not parts else os.O_RDONLY | _DIRECTORY | _FLAGS
            try:
                fd = os.open(name, wanted | _NOFOLLOW, dir_fd=folders[-1])
            except OSError as fault:
                target = _target(name, folders[-1], fault)
                links += 1
                if links > _MOST_LINKS or os.path.isabs(target):
                    raise _leaves(path, root) from None
                parts.extendleft(reversed(target.split(os.sep)))
                continue
            if not parts:
                return fd
            folders.append(fd)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    finally:
        for folder in folders:
            os.close(folder)


def _target(name: str, folder: int, fault: OSError) -> str:
    """The target of a link that could not be opened; reraises unrelated errors."""
    if fault.errno not in _IS_LINK:
        raise fault
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        raise fault from None


def _open_resolved(path: str, root: str, flags: int) -> int:
    """Without openat support: resolve the path, then open the result."""
    real, base = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath([real, base]) != base:
        raise _leaves(path, root)
    return os.open(real, flags | _NOFOLLOW)


def _leaves(path: str, root: str) -> UnsafeFile:
    return UnsafeFile(f"{path} leads out of {root} through a link, which is not followed; copy the file there instead")


def _refusal(path: str, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "a special file")
    return UnsafeFile(f"{path} is {kind}; expected a regular file, so it was not opened")


def _too_large(path: str, size: int, limit: int) -> UnsafeFile:
    return UnsafeFile(f"{path} has {size:,} bytes or more, above the limit of {limit:,}, so it was not opened")
