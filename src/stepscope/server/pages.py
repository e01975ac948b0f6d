"""The built browser app: its files, and its one page for every address that is a page."""

from __future__ import annotations

import gzip
import mimetypes
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from stepscope.files.opening import read_file
from stepscope.server.answers import refusal
from stepscope.server.frames import FIGURE_FRAME, frame_headers

_PAGE = re.compile(r"/[\w/-]*", re.ASCII)
_FILE = re.compile(r"/(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.\w+", re.ASCII)

_LARGEST = 64 << 20
_FOREVER = "private, max-age=31536000, immutable"
_NOT_BUILT = """Stepscope's browser app has not been built.

From a clone of the repository, run:

    make setup

then reload this page. (An installed package has the app inside; if you see this there, please report it.)
The data is served all the same: try /api/info.
"""


class Pages:
    """Answers every GET that is not the API's. Files are read once and kept, until they change on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[Path, tuple[int, bytes, bytes]] = {}

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        if _PAGE.fullmatch(path):
            found = self._read(self.folder / "index.html")
            if found is None:
                return PlainTextResponse(_NOT_BUILT, 503)
            return self._sent(found, "text/html; charset=utf-8", "no-cache", request)
        found = self._read(self.folder / path[1:]) if _FILE.fullmatch(path) else None
        if found is None:
            return refusal(404, f"Page not found: {path[:200]!r}.")
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        kind = "text/javascript" if kind.endswith("javascript") else kind
        if path == FIGURE_FRAME:
            answer = self._sent(found, "text/html; charset=utf-8", _FOREVER, request)
            answer.headers.update(frame_headers(found[0]))
            return answer
        hashed = path.startswith("/assets/")
        return self._sent(found, kind, _FOREVER if hashed else "no-cache", request)

    def _read(self, path: Path) -> tuple[bytes, bytes] | None:
        """A file's bytes, plain and compressed; None if it is not a file of the app."""
        try:
            changed = path.stat().st_mtime_ns
            kept = self._kept.get(path)
            if kept is None or kept[0] != changed:
                data = read_file(path, _LARGEST, within=self.folder)
                kept = self._kept[path] = (changed, data, gzip.compress(data, 6, mtime=0))
        except OSError:
            return None
        return kept[1:]

    def _sent(self, found: tuple[bytes, bytes], kind: str, cache: str, request: Request) -> Response:
        plain, compressed = found
        headers = {"content-type": kind, "cache-control": cache, "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", "") and len(compressed) < len(plain):
            headers["content-encoding"] = "gzip"
            plain = compressed
        return Response(plain, headers=headers)
