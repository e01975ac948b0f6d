"""Change a run's tags, notes or name. The change is an event in a log file of its own, never an edit of a file."""

from __future__ import annotations

import msgspec

from stepscope.views.context import Context
from stepscope.views.route import route


class EditRequest(msgspec.Struct):
    """One change to some runs; what is left out stays as it is."""

    runs: list[str]
    add_tags: list[str] = []
    remove_tags: list[str] = []
    notes: str | None = None
    name: str | None = None


class Refused(msgspec.Struct):
    run: str
    reason: str


class Edited(msgspec.Struct):
    changed: list[str]
    refused: list[Refused]


@route("POST", "/api/runs/edit")
def edit(ctx: Context, request: EditRequest) -> Edited:
    """Write the change into every run that can be written to, and say which could not."""
    raise NotImplementedError
