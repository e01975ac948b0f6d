"""The bytes of a trace file, in pieces: plain or gzipped, never more than was allowed, always valid UTF-8."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from stepscope.common.units import bytes_text
from stepscope.errors import BadData, Forbidden, NotFound
from stepscope.files.opening import open_file

LARGEST = 16 << 30
"""Bytes of JSON that are read of one trace unless more are allowed."""
_RATIO = 250
"""To one: beyond this a gzip file is a bomb. Traces are 10 to 60."""
_RATIO_FROM = 64 << 20
_PACKED = 256 << 10


class Source:
    """Open a trace, `read` it to its end, close it."""

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        self.path = path
        self.largest = largest
        self.json_bytes = 0
        self.truncated = False
        """The gzip stream ended early or is damaged from here on."""
        self.bad_text = 0
        """Pieces in which bytes that are no UTF-8 were replaced."""
        try:
            self._file: BinaryIO = open_file(path)
        except FileNotFoundError:
            raise NotFound(f"{path} does not exist; give the path of a trace (.json or .json.gz)") from None
        except PermissionError:
            raise Forbidden(f"{path} may not be read by this user") from None
        except IsADirectoryError:
            raise BadData(f"{path} is a folder; give a trace file, or read_ranks() for all traces in it") from None
        self.file_bytes = os.fstat(self._file.fileno()).st_size
        self._gzipped = self._file.read(2) == b"\x1f\x8b"
        self._file.seek(0)
        self._inflate = zlib.decompressobj(31)
        self._packed = b""
        self._ended = False
        self._half = b""

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        """About that many bytes of JSON; b"" at the end."""
        while True:
            piece = self._inflated(size) if self._gzipped else self._file.read(size)
            if self.json_bytes == 0 and piece.startswith(b"\xef\xbb\xbf"):
                piece = piece[3:]
            self.json_bytes += len(piece)
            self._check_size()
            whole = self._text(piece)
            if whole or not piece:
                return whole

    def _inflated(self, size: int) -> bytes:
        parts: list[bytes] = []
        wanted = size
        while wanted > 0 and not self._ended:
            if not self._packed:
                self._packed = self._file.read(_PACKED)
                if not self._packed:
                    self._ended = True
                    self.truncated = not self._inflate.eof
                    break
            if self._inflate.eof:  # another member: files of several gzips are one
                self._inflate = zlib.decompressobj(31)
            before = self._inflate.copy()
            try:
                part = self._inflate.decompress(self._packed, wanted)
            except zlib.error:
                # Zeros behind the end of a file are harmless; in the middle all that comes after is lost.
                self._ended = True
                started = self.json_bytes or parts
                self.truncated = not started or bool(self._packed.strip(b"\x00"))
                parts.append(_salvaged(before, self._packed, wanted))
                break
            self._packed = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            parts.append(part)
            wanted -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _check_size(self) -> None:
        if self.json_bytes > self.largest:
            raise BadData(
                f"{self.path} holds more than {bytes_text(self.largest)} of JSON; record fewer steps, or allow "
                f"more with STEPSCOPE_LARGEST_TRACE={2 * self.largest >> 20}M"
            )
        if self._gzipped and self.json_bytes > _RATIO_FROM and self.json_bytes > _RATIO * self.file_bytes:
            raise BadData(
                f"{self.path} unpacks to more than {_RATIO} times its size, as no trace does; if you trust it, "
                "gunzip it and open the .json"
            )

    def _text(self, piece: bytes) -> bytes:
        """With invalid UTF-8 replaced; a character that continues in the next piece waits for it."""
        if not self._half and piece.isascii():
            return piece
        ended = not piece
        piece = self._half + piece
        cut = len(piece) if ended else _whole_characters(piece)
        piece, self._half = piece[:cut], piece[cut:]
        try:
            piece.decode()
        except UnicodeDecodeError:
            self.bad_text += 1
            return piece.decode("utf-8", "replace").encode()
        return piece


def _salvaged(inflate: Any, packed: bytes, most: int) -> bytes:
    """What can still be unpacked of a stretch that is damaged somewhere."""
    parts: list[bytes] = []
    for at in range(0, len(packed), 64):
        try:
            parts.append(inflate.decompress(packed[at : at + 64], most))
        except zlib.error:
            break
    return b"".join(parts)[:most]


def _whole_characters(piece: bytes) -> int:
    """Where to cut so that no character is cut in two."""
    for back in range(1, min(4, len(piece)) + 1):
        byte = piece[-back]
        if byte & 0xC0 != 0x80:  # the first byte of a character
            length = (
                1 if byte < 0x80 else 2 if byte >> 5 == 6 else 3 if byte >> 4 == 14 else 4 if byte >> 3 == 30 else 1
            )
            return len(piece) - back if length > back else len(piece)
    return len(piece)
