"""The bytes of one logged medium or artifact file, by run and content hash."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from stepscope.errors import BadData, Forbidden, NotFound
from stepscope.files.opening import open_file, read_window
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.media.check import HEAD_BYTES, image_fault
from stepscope.views.route import Download, route

STREAM_FROM = 16 << 20
_UNKNOWN = "application/octet-stream"
_SHA256 = re.compile(r"[0-9a-f]{64}")


class BlobRequest(msgspec.Struct):
    run: str
    sha256: str
    save: bool = False
    """Make the browser save it, whatever its type."""


@route("GET", "/api/blob/{run}/{sha256}")
def blob(ctx: Context, request: BlobRequest) -> Download:
    """The bytes, with the type the run recorded if a browser may show it, else as a download."""
    if not is_run_id(request.run) or not _SHA256.fullmatch(request.sha256):
        raise NotFound("there is no such run or file; reload the page")
    folder = ctx.runs.get(request.run)
    found = _found(folder, request.sha256)
    saved_as = found.name if request.save or found.mime == _UNKNOWN else None
    path = None if found.data is not None else _large_file(folder, request.sha256)
    if path is not None:
        if saved_as is None:
            _check(_head_of(path), found.mime, whole=False)
        return Download(found.mime, path=path, filename=saved_as, immutable=True)
    data = found.data if found.data is not None else folder.media_bytes(request.sha256)
    if saved_as is None:
        _check(data, found.mime, whole=True)
    return Download(found.mime, body=data, filename=saved_as, immutable=True)


class PageRequest(msgspec.Struct):
    run: str
    sha256: str


@route("GET", "/api/page/{run}/{sha256}")
def page(ctx: Context, request: PageRequest) -> Download:
    """HTML that a run logged, for a frame on the Charts page."""
    found = blob(ctx, BlobRequest(run=request.run, sha256=request.sha256))
    if found.mime != "text/html" or found.filename is not None:
        raise NotFound("there is no such page; reload the Charts page")
    return replace(found, page=True)


class _Found(NamedTuple):
    mime: str
    name: str
    data: bytes | None = None


def _found(folder: RunFolder, sha256: str) -> _Found:
    """The run's record for this hash; content without a record is not sent."""
    for one in folder.media(superseded=True):
        if one.sha256 == sha256 or (one.data is not None and hashlib.sha256(one.data).hexdigest() == sha256):
            name = str(one.meta.get("name") or f"{one.key.replace('/', '-')}-{one.step}")
            return _Found(one.mime, name, one.data)
    for artifact in folder.artifacts:
        for file in artifact.files:
            if file.sha256 == sha256:
                return _Found(_UNKNOWN, file.path.replace("\\", "/").rpartition("/")[2])
    raise NotFound(f"run {folder.id} has logged nothing with the hash {sha256[:12]}…; reload the page")


def _check(head: bytes, mime: str, whole: bool) -> None:
    fault = image_fault(head, mime, whole)
    if fault is not None:
        raise BadData(f"this image is not shown: {fault}; add ?save=true to its address to download it anyway")


def _head_of(path: Path) -> bytes:
    try:
        with open_file(path, within=path.parents[1]) as file:
            return read_window(file, 0, HEAD_BYTES)
    except OSError as error:
        raise NotFound(f"the file {path.name} cannot be read: {error.strerror}") from error


def _large_file(folder: RunFolder, sha256: str) -> Path | None:
    """The blob, if it is too large to be read and verified whole; never one outside the run's folder."""
    try:
        path = folder.blob_path(sha256)
        large = path.stat().st_size > STREAM_FROM
    except (NotFound, OSError):  # it is in a media file
        return None
    except Forbidden as error:  # a link
        raise NotFound(str(error)) from error
    return path if large and path.resolve().is_relative_to(folder.path.resolve()) else None
