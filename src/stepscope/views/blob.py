"""The bytes of one logged medium, by run and content hash."""

from __future__ import annotations

import msgspec

from stepscope.views.context import Context
from stepscope.views.route import Download, route


class BlobRequest(msgspec.Struct):
    run: str
    sha256: str


@route("GET", "/api/blob/{run}/{sha256}")
def blob(ctx: Context, request: BlobRequest) -> Download:
    """The bytes, with the type the run recorded if a browser may show it, else as a file to save."""
    raise NotImplementedError
