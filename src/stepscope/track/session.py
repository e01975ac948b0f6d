"""Open a run, find the open one, close it: `stepscope.init`, `current`, `log`, `finish`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import stepscope
from stepscope import fence
from stepscope.errors import UsageError
from stepscope.records import RunMeta
from stepscope.runs.ids import new_run_id
from stepscope.runs.layout import create_run
from stepscope.runs.writer import RunWriter
from stepscope.track import messages
from stepscope.track.attendants import Attendants, Options
from stepscope.track.config import flatten, masked
from stepscope.track.environment import quick_facts
from stepscope.track.names import as_name, default_project, friendly_name
from stepscope.track.off import NullWriter
from stepscope.track.run import Run
from stepscope.track.secrets import mask_text
from stepscope.track.sink import RunSink

__all__ = ["current", "finish", "init", "log"]

DEFAULT_DIR = "stepscope-runs"

_run: Run | None = None


def init(
    project: str | None = None,
    name: str | None = None,
    config: Any = None,
    tags: str | Iterable[str] | None = None,
    notes: str = "",
    group: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    *,
    resume: str | os.PathLike[str] | None = None,
    console: bool = True,
    system: bool = True,
    system_interval_s: float = 10.0,
    git: bool = True,
    mode: Literal["on", "off"] | None = None,
) -> Run:
    """Start recording a run, and make it the current one.

    `config` is a dict, Namespace, dataclass or anything with named fields. Runs go to `dir`, else to the folder in
    STEPSCOPE_DIR, else to `stepscope-runs`. `resume` continues a run given by path, id or name. `mode="off"` or
    STEPSCOPE_MODE=off records nothing. A run that is still open is finished first.

    >>> run = stepscope.init(project="vae", config={"lr": 1e-3}, tags=["baseline"])
    >>> run.log({"loss": 0.7})
    >>> run.finish()
    """
    global _run
    finish()
    messages.forget()
    mode = mode or ("off" if os.environ.get("STEPSCOPE_MODE", "").lower() in ("off", "disabled", "0") else "on")
    if mode not in ("on", "off"):
        raise UsageError(f"mode {mode!r} is unknown; use 'on' or 'off'")
    flat = flatten(config)
    meta = RunMeta(
        id=new_run_id(),
        project=as_name(project) if project else default_project(),
        name=mask_text(as_name(name)) if name else friendly_name(),
        created=time.time(),
        config=masked(flat),
        tags=[mask_text(as_name(tag)) for tag in ([tags] if isinstance(tags, str) else tags or [])],
        notes=mask_text(as_name(notes)),
        group=None if group is None else as_name(group),
        stepscope=stepscope.__version__,
        **(quick_facts() if mode == "on" else {}),
    )
    if mode == "off":
        _run = _off_run(meta, flat)
        return _run
    path = _create(Path(dir or os.environ.get("STEPSCOPE_DIR") or DEFAULT_DIR).absolute(), meta)
    if path is None:
        _run = _off_run(meta, flat)
        return _run
    writer = RunWriter(path, run_id=meta.id, on_problem=messages.say)
    _run = run = Run(meta, path, writer, RunSink(writer), config=flat)
    options = Options(console=console, system=system, system_interval_s=system_interval_s, git=git)
    run._attendants = Attendants(run, writer, path, options)
    run._attendants.start()
    return run


def _create(store: Path, meta: RunMeta) -> Path | None:
    """The new run's folder; in the temporary folder if the store cannot be written, None if nothing can."""
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
    messages.say("nothing can be written anywhere, so this run is not recorded; the training goes on")
    return None


def _off_run(meta: RunMeta, config: dict[str, Any]) -> Run:
    writer = cast(RunWriter, NullWriter())
    return Run(meta, None, writer, RunSink(writer), config=config)


def current() -> Run | None:
    """The open run of this process, or None."""
    return _run if _run is not None and not _run.is_finished else None


def log(values: Mapping[Any, Any], step: Any = None) -> None:
    """Record values in the current run; see `Run.log`."""
    run = current()
    if run is None:
        messages.say_once("log without run", "log() was called without an open run; call stepscope.init() first")
        return
    run.log(values, step)


def finish(
    status: Literal["finished", "stopped", "preempted", "failed"] | None = None, exit_code: int | None = None
) -> None:
    """End the current run, if there is one."""
    run = current()
    if run is not None:
        run.finish(status, exit_code)


def _after_fork() -> None:
    run = _run
    if run is not None and not run.is_finished:
        run._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=fence.fenced("following a fork")(_after_fork))
