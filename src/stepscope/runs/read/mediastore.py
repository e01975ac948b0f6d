"""The bytes of media and artifacts: found by hash, and verified."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from stepscope.errors import BadData, Forbidden, NotFound
from stepscope.files.opening import open_file, read_file, read_window
from stepscope.records import Media
from stepscope.runs.format.layout import BLOBS
from stepscope.runs.format.ledger import Ledger, read_ledger
from stepscope.runs.read.logs import LogReader

_SHA256 = re.compile(r"[0-9a-f]{64}")
LARGEST = 4 << 30
"""Maximum size of a blob that is read whole; larger ones are streamed from their file."""


class MediaStore:
    """Finds bytes in a run's media files and blobs. Each media file is scanned once, when first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._readers: dict[Path, LogReader] = {}
        self._found: dict[str, tuple[Path, int, int]] = {}

    def content(self, media: Media | str, files: Iterable[Path]) -> bytes:
        """The bytes of a medium, or those with a hash."""
        if isinstance(media, str):
            return self.read(media, files)
        if media.data is not None:
            return media.data
        return b"" if media.sha256 is None else self.read(media.sha256, files)

    def existing_blob(self, sha256: str) -> Path:
        """The file of a blob that is there; `NotFound` otherwise."""
        path = self.blob_path(sha256)
        if not path.is_file():
            raise NotFound(f"run {self._path.name} has no blob {sha256[:12]}…; {self.why_gone(sha256)}")
        return path

    def read(self, sha256: str, files: Iterable[Path]) -> bytes:
        """The bytes with this hash; `NotFound` if the run lacks them, `BadData` if they are damaged."""
        blob = self.blob_path(sha256)
        where = self._where(sha256, files)
        if where is None and not blob.exists():
            raise NotFound(f"run {self._path.name} has no bytes with the hash {sha256[:12]}…; {self.why_gone(sha256)}")
        try:
            data = read_file(blob, LARGEST, within=self._path) if where is None else _piece(*where)
        except OSError as fault:
            raise NotFound(f"the bytes with the hash {sha256[:12]}… cannot be read: {fault}") from fault
        if hashlib.sha256(data).hexdigest() != sha256:
            raise BadData(f"the bytes with the hash {sha256[:12]}… in run {self._path.name} are damaged")
        return data

    def blob_path(self, sha256: str) -> Path:
        """The path of the blob with this hash. Rejects invalid hashes and symbolic links."""
        if not _SHA256.fullmatch(sha256):
            raise BadData(f"{sha256[:80]!r} is not a SHA-256 hash; expected 64 characters of 0-9a-f")
        path = self._path / BLOBS / sha256
        if path.is_symlink() or path.parent.is_symlink():
            raise Forbidden(f"{path} is a symbolic link; a run's blobs must be plain files")
        return path

    def why_gone(self, sha256: str) -> str:
        """Why bytes are missing, in words."""
        try:
            ledger = read_ledger(self._path)
        except BadData:
            ledger = Ledger()
        if sha256 in ledger.media or f"{BLOBS}/{sha256}" in ledger.files:
            return "they were removed by the retention settings of the project"
        return "they were dropped or lost"

    def _where(self, sha256: str, files: Iterable[Path]) -> tuple[Path, int, int] | None:
        found = self._found.get(sha256)
        if found is None:
            for path in files:
                self._look_through(path)
            found = self._found.get(sha256)
        return found

    def _look_through(self, path: Path) -> None:
        reader = self._readers.setdefault(path, LogReader(path))
        if reader.sealed and not reader.tail and not reader.holes:
            return
        for batch in reader.poll():
            for digest, (offset, length) in batch.blobs.items():
                self._found.setdefault(digest, (path, offset, length))


def _piece(path: Path, offset: int, length: int) -> bytes:
    with open_file(path, within=path.parent) as file:
        return read_window(file, offset, length)
