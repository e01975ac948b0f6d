"""The *Profile the next steps* button: requests a profile from a live run, through a file in its folder."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from stepscope.errors import Forbidden, StorageError
from stepscope.profile.store import REQUEST, request_window
from stepscope.views.context import Context
from stepscope.views.edit import is_writable
from stepscope.views.profile.open_profiles import profiles_folder
from stepscope.views.route import route


class AskRequest(msgspec.Struct):
    run: str


class Asked(msgspec.Struct):
    requested: bool


@route("POST", "/api/profile/request")
def profile_request(ctx: Context, request: AskRequest) -> Asked:
    """Request a profile of a live run's next steps."""
    refused = why_no_request(ctx, request.run)
    if refused:
        raise Forbidden(refused)
    folder = profiles_folder(ctx, request.run)  # and not a symbolic link
    try:
        request_window(folder.parent)
    except OSError as fault:
        raise StorageError(f"the request could not be written into {folder}: {fault.strerror}") from fault
    return Asked(requested=True)


def waiting_s(folder: Path) -> float | None:
    """The age of a request that the run has not answered yet; None if there is none."""
    try:
        return max(0.0, time.time() - (folder / REQUEST).lstat().st_mtime)
    except OSError:
        return None


def why_no_request(ctx: Context, run: str) -> str:
    """Why the next steps cannot be profiled from here, in words; empty if they can."""
    entry = ctx.catalogue.entry(run)
    if entry.status != "running":
        return "Only a live run can be profiled; this one has ended."
    if ctx.read_only:
        return "This server was started read-only."
    return "" if is_writable(entry.path) else "The folder of the run is read-only for this user."
