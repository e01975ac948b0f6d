"""Information about this server: shown in the page's corner and used by scripts to check that it is up."""

from __future__ import annotations

import msgspec

from stepscope import __version__
from stepscope.views.context import Context
from stepscope.views.edit import is_writable
from stepscope.views.route import Empty, route


class Store(msgspec.Struct):
    path: str
    writable: bool


class Info(msgspec.Struct):
    version: str
    stores: list[Store]
    read_only: bool
    """No store is writable (or the server was started read-only)."""
    projects: list[str]
    runs: int
    catalogue_version: int
    user: str = ""
    """The signed-in user of a team server; empty in the single-user app."""


@route("GET", "/api/info")
def info(ctx: Context, request: Empty) -> Info:
    """The server's version, its stores and the projects in them."""
    catalogue = ctx.catalogue
    stores = [Store(path=str(store), writable=not ctx.read_only and is_writable(store)) for store in catalogue.stores]
    return Info(
        version=__version__,
        stores=stores,
        read_only=not any(store.writable for store in stores),
        projects=catalogue.projects(),
        runs=len(catalogue),
        catalogue_version=catalogue.version,
        user=ctx.user,
    )
