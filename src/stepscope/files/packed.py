"""Archives and compressed data that may expand enormously: checked before and while decompressing."""

from __future__ import annotations

import os
import zipfile
import zlib

from stepscope.errors import BadData, UnsafeFile
from stepscope.files.opening import PathLike, open_file, read_window

_MOST_ENTRIES = 1_000_000
_LARGEST_DIRECTORY = 256 << 20
"""Maximum size of a zip's directory, which is read whole: enough for a million long names."""


def is_zip(path: PathLike) -> bool:
    """Whether a file ends like a zip archive."""
    with open_file(path) as file:
        return zipfile.is_zipfile(file)


def check_zip(path: PathLike, *, ratio: float, free: int) -> None:
    """Reject an archive whose entries expand to more than `ratio` times its size plus `free` bytes.

    The sizes are the archive's own claims; readers stop at an entry's claimed size.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if _directory_bytes(file, size) > _LARGEST_DIRECTORY:
            raise UnsafeFile(
                f"{path} lists too many files for an archive of {size:,} bytes, so it was not opened; "
                "if you trust it, unpack it yourself first"
            )
        try:
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as fault:
            raise BadData(f"{path} is not a valid zip archive: {fault}") from None
    total = sum(entry.file_size for entry in entries)
    if len(entries) > _MOST_ENTRIES or total > ratio * size + free:
        raise UnsafeFile(
            f"{path} has {size:,} bytes and would expand to {total:,} in {len(entries):,} files, "
            f"above the limit of {ratio:g} times its size. If you trust it, unpack it yourself first"
        )


def _directory_bytes(file: object, size: int) -> int:
    """The claimed size of the entry list, without reading it."""
    find = getattr(zipfile, "_EndRecData", None)
    found = find(file) if find is not None else None
    return min(size, int(found[5])) if found else 0


def inflated(data: bytes | memoryview, limit: int, what: str, *, wbits: int = zlib.MAX_WBITS) -> bytes:
    """Inflated bytes, up to `limit` bytes. `what` names them in the error."""
    unfold = zlib.decompressobj(wbits)
    try:
        plain = unfold.decompress(data, limit + 1)
    except zlib.error as fault:
        raise BadData(f"{what} is damaged and cannot be unpacked: {fault}") from None
    if len(plain) > limit:
        raise UnsafeFile(
            f"{what} unpacks to more than {limit:,} bytes, so it was not read; if you trust it, "
            "unpack it yourself first"
        )
    if not unfold.eof:
        raise BadData(f"{what} is truncated: it ends after {len(plain):,} unpacked bytes")
    return plain


def gunzipped_head(path: PathLike, count: int) -> bytes:
    """The first bytes of a file, decompressed if it is gzipped; `BadData` if it only looks so."""
    with open_file(path) as file:
        raw = read_window(file, 0, max(count, 1 << 16))
    if raw[:2] != b"\x1f\x8b":
        return raw[:count]
    try:
        return zlib.decompressobj(31).decompress(raw, count)
    except zlib.error as fault:
        raise BadData(f"{path} looks gzipped but cannot be unpacked: {fault}") from None
