"""Bytes for the browser. What a run holds is data: only harmless kinds are shown, everything else is saved."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from stepscope.errors import NotFound
from stepscope.files.opening import open_file
from stepscope.views.media.shown import SHOWN_MEDIA
from stepscope.views.route import Download

INLINE = SHOWN_MEDIA | {"text/plain"}
"""Everything else is saved."""

PAGE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""For HTML from a run, in a frame: no scripts, no forms, an origin of its own, and nothing is fetched. It keeps its own
styles, and images that it carries inside."""

SANDBOX = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals"
"""For a shared report: it runs its own scripts with an origin of its own, so that it could not ask this server for
anything even if it tried."""

_OWN_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"<>\r\n]+)"')
_CHUNK = 1 << 18
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def download_response(download: Download, range_header: str = "", accept_encoding: str = "") -> Response:
    """An answer that cannot act: sandboxed, never sniffed, saved unless its kind is harmless."""
    mime = download.mime.partition(";")[0].strip().lower()
    if download.document and mime == "text/html":
        return _document(download.body or b"", accept_encoding)
    page = download.page and mime == "text/html"
    inline = page or (mime in INLINE and download.filename is None)
    if not inline and mime != "text/csv":
        mime = "application/octet-stream"
    headers = {
        "content-type": f"{mime}; charset=utf-8" if mime.startswith("text/") else mime,
        "content-disposition": "inline" if inline else _attachment(download.filename or "download"),
        "content-security-policy": PAGE_POLICY if page else "sandbox; default-src 'none'; frame-ancestors 'none'",
        "cache-control": "private, max-age=31536000, immutable" if download.immutable else "no-store",
    }
    if page:
        headers["x-frame-options"] = "SAMEORIGIN"
    if download.pieces is not None:
        return StreamingResponse(download.pieces, headers=headers)
    file, size = _opened(download)
    headers["accept-ranges"] = "bytes"
    span = _span(range_header, size)
    if span is None:
        file.close()
        return Response(status_code=416, headers={**headers, "content-range": f"bytes */{size}"})
    start, end = span
    headers["content-length"] = str(end - start)
    partial = end - start < size
    if partial:
        headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    status = 206 if partial else 200
    if download.path is None:  # here already: sent at once, not piece by piece through a thread
        return Response((download.body or b"")[start:end], status, headers)
    return StreamingResponse(_pieces(file, start, end), status, headers)


def _document(body: bytes, accept_encoding: str) -> Response:
    """A page of Stepscope. The policy it carries, which names its scripts by their hashes, is in the header too."""
    found = _OWN_POLICY.search(body, 0, 4096)
    own = found[1].decode("ascii", "replace") if found else "default-src 'none'"
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": f"{SANDBOX}; {own}; frame-ancestors 'none'",
        "cross-origin-opener-policy": "unsafe-none",  # the other value and a sandbox do not go together
        "cache-control": "no-store",
        "x-robots-tag": "noindex, nofollow, noarchive",
        "vary": "accept-encoding",
    }
    if "gzip" in accept_encoding:
        body = gzip.compress(body, 4, mtime=0)
        headers["content-encoding"] = "gzip"
    return Response(body, headers=headers)


def _opened(download: Download) -> tuple[BinaryIO, int]:
    if download.path is None:
        body = download.body or b""
        return BytesIO(body), len(body)
    try:
        file = open_file(download.path, within=download.path.parent)
    except OSError as error:
        raise NotFound(f"the file {download.path.name} cannot be read: {error.strerror}") from error
    return file, os.fstat(file.fileno()).st_size


def _span(header: str, size: int) -> tuple[int, int] | None:
    """The bytes asked for, as start and end; None if there are none such. Players seek in videos with this."""
    match = _RANGE.fullmatch(header.strip())
    if match is None or match[0] == "bytes=-":
        return 0, size
    if not match[1]:
        return max(0, size - int(match[2])), size
    start = int(match[1])
    end = min(int(match[2]) + 1, size) if match[2] else size
    return (start, end) if start < end else None


def _pieces(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        while start < end and (piece := file.read(min(_CHUNK, end - start))):
            start += len(piece)
            yield piece


def _attachment(name: str) -> str:
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"
