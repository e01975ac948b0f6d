"""A zip archive built while it is sent: no copy on disk, files of any size, each verified by its hash."""

from __future__ import annotations

import hashlib
import io
import time
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.errors import StepscopeError
from stepscope.files.opening import open_file

if TYPE_CHECKING:
    from stepscope.records import Artifact, ArtifactFile
    from stepscope.runs.read.folder import RunFolder

_CHUNK = 1 << 20
_REFERENCES = "REFERENCES.txt"
_PROBLEMS = "NOT-COMPLETE.txt"


class _Outlet(io.RawIOBase):
    """The output buffer; its content is taken out and sent."""

    def __init__(self) -> None:
        self._gathered = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._gathered += piece
        return len(piece)

    def taken(self) -> bytes:
        data, self._gathered = bytes(self._gathered), bytearray()
        return data


def zip_pieces(run: RunFolder, artifact: Artifact) -> Iterator[bytes]:
    """The archive, piece by piece. Unreadable files are listed in a file inside it, since a download has no other
    channel.
    """
    outlet = _Outlet()
    problems: list[str] = []
    when = time.localtime(min(max(artifact.time, 315_619_200), 4_354_819_199))[
        :6
    ]  # the range of zip dates: 1980 to 2107
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_STORED) as archive:
        for file in {file.path: file for file in artifact.files if file.reference is None}.values():
            about = zipfile.ZipInfo(file.path, when)
            try:
                yield from _entry(archive, outlet, run, file, about)
            except (StepscopeError, OSError) as fault:
                problems.append(f"{file.path}: {fault}")
        references = [f"{file.path}\t{file.reference}" for file in artifact.files if file.reference is not None]
        for name, lines in ((_REFERENCES, references), (_PROBLEMS, problems)):
            if lines:
                archive.writestr(zipfile.ZipInfo(name, when), "\n".join(lines) + "\n")
        yield outlet.taken()
    yield outlet.taken()


def _entry(
    archive: zipfile.ZipFile, outlet: _Outlet, run: RunFolder, file: ArtifactFile, about: zipfile.ZipInfo
) -> Iterator[bytes]:
    digest = hashlib.sha256()
    source = open_file(run.blob_path(file.sha256), within=run.path)
    with source, archive.open(about, "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
            yield outlet.taken()
    if digest.hexdigest() != file.sha256:
        raise OSError("damaged: its content does not match its hash")
