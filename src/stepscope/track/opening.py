"""The ways to open a run: a new one, a resumed one, or one that another rank or a parent process created."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from stepscope.errors import StepscopeError
from stepscope.records import RunMeta
from stepscope.runs.format.layout import create_run
from stepscope.runs.format.meta import read_meta
from stepscope.runs.write.home import Home, Seek
from stepscope.runs.write.writer import RunWriter
from stepscope.track import messages, node, ranks, resume
from stepscope.track.companion import start_sync
from stepscope.track.disabled_run import NullWriter
from stepscope.track.joining import Joining, adopt_parts
from stepscope.track.masked_writer import MaskedWriter
from stepscope.track.run import Run
from stepscope.track.run_services import Attendants, Options
from stepscope.track.secrets import mask_text
from stepscope.track.sink import RunSink

DEFAULT_DIR = "stepscope-runs"


@dataclass(frozen=True)
class Request:
    """The arguments of `init`."""

    store: Path
    meta: RunMeta
    config: dict[str, Any]
    options: Options
    place: ranks.Place = field(default_factory=ranks.Place)
    turn: int = 0
    resume: str | os.PathLike[str] | None = None
    is_named: bool = False


def open_run(request: Request) -> Run:
    """Open the requested run, depending on this process's role in its job."""
    if request.place.world_size > 1 and request.place.rank > 0:
        return _join_rank(request)
    path = _path_to_resume(request)
    run = _resume(request, path) if path is not None else _create(request)
    if run.path is not None:
        start_sync(run.path.parent)
    if request.place.world_size > 1 and run.path is not None:
        ranks.leave_note(run.path.parent, request.place, request.turn, run.id, run.attempt)
        run.after_end(partial(adopt_parts, run.path, request.place, request.turn))
        if node.is_led(request.place):
            node.serve(run, run.path, request.place)
    return run


def _path_to_resume(request: Request) -> Path | None:
    wanted = request.resume
    if wanted is None:
        note = ranks.read_note(request.store, request.place, request.turn) if request.place.restart else None
        return request.store / note.run_id if note is not None and note.restart < request.place.restart else None
    if wanted in ("auto", "allow"):
        name = request.meta.name if request.is_named else None
        return resume.newest_like(request.store, request.meta.project, name, unfinished=wanted == "auto")
    return resume.find_run(request.store, wanted)


def _create(request: Request) -> Run:
    path = create_folder(request.store, request.meta)
    if path is None:
        return open_off(request.meta, request.config)
    return _attended(request, path, request.meta, attempt=0)


def create_folder(store: Path, meta: RunMeta) -> Path | None:
    """The new run's folder; in the temporary folder if the store is not writable, None if nothing is."""
    refuge = Path(tempfile.gettempdir()) / DEFAULT_DIR
    for place in (store, refuge):
        try:
            path = create_run(place, meta)
        except OSError as error:
            messages.say(f"cannot write to {place} ({error.strerror or error})")
            continue
        if place is refuge:
            messages.say(f"recording to {path} instead; move that folder to keep it")
        return path
    messages.say("nothing can be written anywhere, so this run is not recorded; the training continues")
    return None


def _resume(request: Request, path: Path) -> Run:
    """A new attempt of an earlier run: its config with changes, its tags, and its next step."""
    past = resume.past_of(path)
    meta = past.meta
    changed = resume.changed_settings(past.config, request.config)
    same = {name: value for name, value in request.config.items() if name not in changed}
    config = {**past.config, **same}
    run = _attended(request, path, meta, attempt=past.attempt, first_step=past.next_step, config=config)
    run.config.update(changed)
    run.tags.add(*request.meta.tags)
    if request.is_named and request.meta.name != meta.name:
        run.name = request.meta.name
    if request.meta.notes and request.meta.notes != meta.notes:
        run.notes = request.meta.notes
    return run


def _join_rank(request: Request) -> Run:
    """Start at once; the writer finds out by itself where rank 0 has created the run."""
    joining = Joining(request.store, request.place, request.turn, partial(create_folder, request.store, request.meta))
    run = _made(request, request.store / request.meta.id, request.meta, attempt=0, seek=joining)
    run._path = None

    def arrived(home: Home) -> None:
        run._arrived(home.path, read_meta(home.path), home.attempt)
        if joining.shared is not None:
            node.serve(run, joining.shared, request.place)

    joining.when_arrived(arrived)
    run.after_end(joining.join_late)
    run._joining = joining
    _begin(run)
    return run


def _attended(
    request: Request,
    path: Path,
    meta: RunMeta,
    *,
    attempt: int,
    first_step: int | None = None,
    config: dict[str, Any] | None = None,
) -> Run:
    """A run with all its services: console, meters, hooks."""
    run = _made(request, path, meta, attempt=attempt, first_step=first_step, config=config)
    if request.place.rank == 0:  # before the console is recorded: it is not output of the script
        messages.greet(run.name, path, attempt)
    _begin(run)
    return run


def _begin(run: Run) -> None:
    if run._attendants is not None:
        run._attendants.start()


def _made(
    request: Request,
    path: Path,
    meta: RunMeta,
    *,
    attempt: int,
    first_step: int | None = None,
    config: dict[str, Any] | None = None,
    seek: Seek | None = None,
) -> Run:
    rank = request.place.rank
    writer = MaskedWriter(
        path, run_id=meta.id, rank=rank, attempt=attempt, first_step=first_step, on_problem=messages.say, seek=seek
    )
    run = Run(
        meta,
        path,
        writer,
        RunSink(writer),
        config=request.config if config is None else config,
        first_step=first_step or 0,
        rank=rank,
        attempt=attempt,
    )
    run._attendants = Attendants(run, writer, path, request.options)
    return run


def open_off(meta: RunMeta, config: dict[str, Any]) -> Run:
    """A run that records nothing."""
    writer = cast(RunWriter, NullWriter())
    return Run(meta, None, writer, RunSink(writer), config=config)


def join_as_worker(path: Path, attempt: int) -> Run | None:
    """The run of the process that started this one, to log into; None if its folder cannot be read."""
    try:
        meta = read_meta(path)
    except (StepscopeError, OSError) as error:
        messages.say(mask_text(f"cannot join the run of the parent process ({error})"))
        return None
    rank = ranks.place().rank
    writer = MaskedWriter(path, run_id=meta.id, rank=rank, role="worker", attempt=attempt, on_problem=messages.say)
    options = Options(console=False, system=False, git=False, environment=False)
    run = Run(meta, path, writer, RunSink(writer), config=meta.config, rank=rank, attempt=attempt, is_worker=True)
    run._attendants = Attendants(run, writer, path, options)
    run._attendants.start()
    return run
