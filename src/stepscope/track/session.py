"""Open a run, find the open one, close it: `stepscope.init`, `current`, `log`, `finish`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import stepscope
from stepscope import fence
from stepscope.common import clocks
from stepscope.errors import UsageError
from stepscope.events import on_fork
from stepscope.records import RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.track import messages, ranks
from stepscope.track.children import is_child_process
from stepscope.track.config import flatten, masked
from stepscope.track.environment import quick_facts
from stepscope.track.names import as_name, default_project, friendly_name
from stepscope.track.notebook_panel import show_panel
from stepscope.track.opening import DEFAULT_DIR, Request, join_as_worker, open_off, open_run
from stepscope.track.run import Run
from stepscope.track.run_services import ATTEMPT_VARIABLE, RUN_VARIABLE, Options
from stepscope.track.secrets import learn_from, mask_text
from stepscope.track.sweep_assignment import Assigned, assigned, offered_name, tell_of

_BLANKS = " \t\r\n"
_run: Run | None = None
_is_beside = False
_turn = 0


def init(
    project: str | None = None,
    name: str | None = None,
    config: Any = None,
    tags: str | Iterable[str] | None = None,
    notes: str | None = "",
    group: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    *,
    resume: str | os.PathLike[str] | None = None,
    console: bool = True,
    system: bool = True,
    system_interval_s: float = 10.0,
    git: bool = True,
    mode: Literal["on", "off"] | None = None,
    panel: bool | None = None,
) -> Run:
    """Start recording a run, and make it the current one.

    `config` is a dict, Namespace, dataclass or anything with named fields. Runs go to `dir`, else to the folder in
    STEPSCOPE_DIR, else to `stepscope-runs`. `resume` continues a run given by path, id or name; "allow" continues the
    newest run of this project and name if there is one, "auto" does so if it did not finish. `mode="off"` or
    STEPSCOPE_MODE=off records nothing. A run that is still open is finished first. In a notebook a live panel is shown
    under the cell, unless `panel=False` or STEPSCOPE_PANEL=off.

        run = stepscope.init(project="vae", config={"lr": 1e-3}, tags=["baseline"])
        run.log({"loss": 0.7})
        run.finish()
    """
    global _run, _turn
    shared = _shared_run()
    if shared is not None:
        return shared
    before = _run if _run is not None and not _run.is_finished else None
    finish()
    messages.forget()
    learn_from(os.environ)
    chosen = _mode(mode)
    place = ranks.place()
    given = assigned() or Assigned()
    flat = {**flatten(config), **flatten(given.config)}
    name = name or given.name or offered_name()
    meta = RunMeta(
        id=new_run_id(),
        project=_masked_name(project or given.project) or default_project(),
        name=_masked_name(name) if (name or "").strip(_BLANKS) else friendly_name(),
        created=clocks.time(),
        config=masked(flat),
        tags=_as_tags([*_as_tags(tags), *given.tags]),
        notes=_masked_name(notes),
        group=_group(given.group or group),
        stepscope=stepscope.__version__,
        **(quick_facts() if chosen == "on" else {}),
    )
    if chosen == "off":
        _run = open_off(meta, flat)
        return _run
    _turn += 1
    _run = open_run(
        Request(
            store=Path(dir or os.environ.get("STEPSCOPE_DIR") or DEFAULT_DIR).absolute(),
            meta=meta,
            config=flat,
            options=Options(
                console=console,
                system=system and place.local_rank == 0,
                system_interval_s=system_interval_s,
                git=git and place.rank == 0,
                beside=_is_beside,
            ),
            place=place,
            turn=_turn,
            resume=resume,
            is_named=bool(name),
        )
    )
    tell_of(_run)
    show_panel(_run, panel, before)
    return _run


def _mode(mode: str | None) -> Literal["on", "off"]:
    chosen = mode or os.environ.get("STEPSCOPE_MODE") or "on"
    if chosen in ("on", "off"):
        return "on" if chosen == "on" else "off"
    raise UsageError(f"mode {chosen!r} is unknown; use 'on' or 'off' (from mode= or STEPSCOPE_MODE)")


def _masked_name(text: Any) -> str:
    """A name or note as given, without secrets; empty if there is none."""
    return mask_text(as_name(text)) if text else ""


def _group(group: str | None) -> str | None:
    return None if group is None else mask_text(as_name(group))


def _as_tags(tags: str | Iterable[str] | None) -> list[str]:
    given = [tags] if isinstance(tags, str) else list(tags or ())
    return list(dict.fromkeys(mask_text(as_name(tag)) for tag in given))


def current() -> Run | None:
    """The open run of this process, or of the process that started it, or None."""
    if _run is not None and not _run.is_finished:
        return _run
    return _parents_run()


def _shared_run() -> Run | None:
    """In a process started by multiprocessing: the parent's run, which an `init` here also refers to."""
    if not is_child_process():
        return None
    if _run is not None and not _run.is_finished:
        return _run if _run.is_worker else None
    return _parents_run()


def _parents_run() -> Run | None:
    """In a process started from one with an open run: that run, joined on first use."""
    global _run
    path = os.environ.get(RUN_VARIABLE)
    if path is None:
        return None
    attempt = os.environ.get(ATTEMPT_VARIABLE, "0")
    joined = fence.fenced("joining the parent's run")(join_as_worker)(Path(path), int(attempt))
    if joined is not None:
        _run = joined
    else:
        os.environ.pop(RUN_VARIABLE, None)  # try only once
    return joined


def log(values: Mapping[Any, Any], step: Any = None) -> None:
    """Record values in the current run; see `Run.log`."""
    run = _run if _run is not None and not _run.is_finished else current()
    if run is None:
        messages.say_once("log without run", "log() was called without an open run; call stepscope.init() first")
        return
    run.log(values, step)


def finish(
    status: Literal["finished", "stopped", "preempted", "failed"] | None = None, exit_code: int | None = None
) -> None:
    """End this process's run, if one is open."""
    if _run is not None:
        _run.finish(status, exit_code)


@contextmanager
def beside() -> Iterator[None]:
    """Inside, `init` opens a run beside the current one, which stays open and current."""
    global _run, _is_beside
    kept, _run, _is_beside = _run, None, True
    try:
        yield
    finally:
        _run, _is_beside = kept, False


def _after_fork() -> None:
    if _run is not None and not _run.is_finished:
        _run._after_fork()


on_fork(_after_fork)
