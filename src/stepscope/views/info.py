"""What this server is: shown in the page's corner and used by scripts to see whether it is up."""

from __future__ import annotations

import msgspec

from stepscope.views.context import Context
from stepscope.views.route import Empty, route


class Store(msgspec.Struct):
    path: str
    writable: bool


class Info(msgspec.Struct):
    version: str
    stores: list[Store]
    read_only: bool
    """No store can be written to (or the server was told not to)."""
    projects: list[str]
    runs: int
    catalogue_version: int


@route("GET", "/api/info")
def info(ctx: Context, request: Empty) -> Info:
    """The server's version, its stores and the projects in them."""
    raise NotImplementedError
