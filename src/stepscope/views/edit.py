"""Change a run's tags, notes or name. The change is an event in a separate log file, not an edit of one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from stepscope.errors import Forbidden, NotFound, StorageError, UsageError
from stepscope.records import Event, NameChange, NotesChange, TagsChange
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter
from stepscope.track.secrets import refuse_secret
from stepscope.views.context import Context
from stepscope.views.route import route

MAX_RUNS = 1000
MAX_TAGS = 50
MAX_TAG = 100
MAX_NAME = 500
MAX_NOTES = 100_000


class EditRequest(msgspec.Struct):
    """One change to some runs; omitted fields stay unchanged."""

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
    """Write the change into every writable run, and report the others."""
    events = changes(request)
    if len(request.runs) > MAX_RUNS:
        raise UsageError(f"{len(request.runs)} runs at once are too many; change at most {MAX_RUNS}")
    done = Edited(changed=[], refused=[])
    for run in dict.fromkeys(request.runs):
        try:
            _write(ctx, run, events)
        except (Forbidden, NotFound, StorageError) as error:
            done.refused.append(Refused(run=run, reason=str(error)))
        else:
            done.changed.append(run)
    if done.changed:
        ctx.edited(done.changed)
    return done


def changes(
    request: EditRequest, words: str = "add_tags, remove_tags, notes or name", *, allow_secrets: bool = False
) -> list[Event]:
    """The change as records, with limited text lengths; `words` names the fields for the error message."""
    now = time.time()
    if not allow_secrets:
        _refuse_secrets(request)
    events: list[Event] = []
    add, remove = [_tag(tag) for tag in request.add_tags], [_tag(tag) for tag in request.remove_tags]
    if len(add) + len(remove) > MAX_TAGS:
        raise UsageError(f"{len(add) + len(remove)} tags at once are too many; change at most {MAX_TAGS}")
    if add or remove:
        events.append(TagsChange(time=now, add=add, remove=remove))
    if request.notes is not None:
        events.append(NotesChange(time=now, text=_short("notes", request.notes, MAX_NOTES)))
    if request.name is not None:
        name = _short("the name", request.name.strip(), MAX_NAME)
        if not name:
            raise UsageError("a run's name cannot be empty; give at least one character")
        events.append(NameChange(time=now, name=name))
    if not events:
        raise UsageError(f"nothing to change: give {words}")
    return events


def _refuse_secrets(request: EditRequest) -> None:
    typed = {"the notes": request.notes or "", "the name": request.name or "", "a tag": "\n".join(request.add_tags)}
    for what, text in typed.items():
        refuse_secret(what, text[:MAX_NOTES], "save it with `stepscope edit --allow-secrets`")


def _tag(tag: str) -> str:
    tag = _short("a tag", tag.strip(), MAX_TAG)
    if not tag:
        raise UsageError("a tag cannot be empty; give at least one character")
    return tag


def _short(what: str, text: str, most: int) -> str:
    if len(text) > most:
        raise UsageError(f"{what} has {len(text)} characters; the maximum is {most}")
    return text


def _write(ctx: Context, run: str, events: list[Event]) -> None:
    path = ctx.catalogue.entry(run).path
    if ctx.read_only:
        raise Forbidden("this server was started read-only")
    write_changes(path, run, events)


def write_changes(path: Path, run: str, events: list[Event]) -> None:
    """Write a separate log file (role "edit"): only the training writes to its own files."""
    if not is_writable(path):
        raise Forbidden(f"the folder {path} is read-only for this user; ask its owner for write access")
    problems: list[str] = []
    after = _after(path) if any(isinstance(event, NameChange | NotesChange) for event in events) else 0.0
    writer = RunWriter(
        path, run_id=run, role="edit", heartbeat_s=0, fsync_s=0, mode="direct", on_problem=problems.append
    )
    for event in events:
        writer.event(msgspec.structs.replace(event, time=max(event.time, after)))
    writer.close(timeout=5.0)
    if problems:
        raise StorageError(f"the change could not be written: {problems[0]}")


def _after(path: Path) -> float:
    """A time after everything in the run, whatever its clock was: the writer of a note has seen the one before."""
    return open_run(path).last_event + 1e-6


def is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK | os.X_OK)
