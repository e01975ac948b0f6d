"""`wandb.init`: W&B's arguments and variables on a Stepscope run. Local, without an account."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepscope import fence
from stepscope.errors import StepscopeError
from stepscope.events import on_fork
from stepscope.track import session
from stepscope.track.messages import say_once
from stepscope.track.names import script_path
from stepscope.track.run import Run as Recorded
from stepscope.track.sweep_assignment import assigned
from stepscope.wandb import identity, open_runs, wording
from stepscope.wandb.errors import UsageError
from stepscope.wandb.handle import Run
from stepscope.wandb.run_config import Config, friendly, nested_config, read_config
from stepscope.wandb.settings import Settings, joined, store_for

_MODES = ("online", "offline", "disabled", "shared", "run", "dryrun")
_OFF = ("disabled",)
_SETTINGS = {
    "project": "project",
    "name": "run_name",
    "notes": "run_notes",
    "group": "run_group",
    "tags": "run_tags",
    "dir": "root_dir",
    "id": "run_id",
    "entity": "entity",
    "job_type": "run_job_type",
    "mode": "mode",
}
"""The setting that is used if an argument of `init` is not given."""
_WHY = {
    "monitor_gym": "log a wandb.Video of the frames",
    "fork_from": "start a new run and load the other one's checkpoint",
}


def init(
    entity: str | None = None,
    project: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    id: str | None = None,
    name: str | None = None,
    notes: str | None = None,
    tags: Sequence[str] | None = None,
    config: Any = None,
    config_exclude_keys: list[str] | None = None,
    config_include_keys: list[str] | None = None,
    allow_val_change: bool | None = None,
    group: str | None = None,
    job_type: str | None = None,
    mode: str | None = None,
    force: bool | None = None,
    reinit: bool | str | None = None,
    resume: bool | str | None = None,
    resume_from: str | None = None,
    fork_from: str | None = None,
    save_code: bool | None = None,
    tensorboard: bool | None = None,
    sync_tensorboard: bool | None = None,
    monitor_gym: bool | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    anonymous: Any = None,
) -> Run:
    """Start recording a run with W&B's arguments; WANDB_* variables are the defaults.

    Runs go to `stepscope-runs` (below `dir` if given), or to the folder in STEPSCOPE_DIR. mode="disabled" records
    nothing; every other mode records here. An open run is returned unchanged unless `reinit` is set.
    """
    chosen = joined(settings)
    current = open_runs.open_run()
    again = _reinit(reinit if reinit is not None else chosen.reinit) if current is not None else ""
    if current is not None and _returned(current, again):
        return current
    wording.note_unused("init", {"monitor_gym": monitor_gym, "fork_from": fork_from}, _WHY)
    given: dict[str, Any] = {"project": project, "name": name, "notes": notes, "group": group, "tags": tags, "dir": dir}
    given |= {"id": id, "entity": entity, "job_type": job_type, "mode": mode}
    wanted = {word: value or getattr(chosen, _SETTINGS[word]) for word, value in given.items()}
    _check_mode(wanted["mode"])
    options = _options(wanted, chosen)
    options["config"] = _picked(read_config(config), config_include_keys, config_exclude_keys)
    if wanted["mode"] not in _OFF:
        wish = resume if resume is not None else chosen.resume
        options["resume"] = _past(options["dir"], wanted["id"], wish, resume_from)
    who = identity.Identity(wanted["id"], "", wanted["entity"], wanted["job_type"], _sweep_of())
    run = _opened(options, who, chosen, bool(allow_val_change), beside=again == "create_new")
    if resume_from is not None:
        run._run.rewind(_moment(resume_from)[1] + 1)
        run._rows.step = run._run.step
    if sync_tensorboard or tensorboard or chosen.sync_tensorboard:
        fence.call("listening to TensorBoard's writers", _hear_tensorboard, run)
    if save_code or chosen.save_code:
        _save_script(run)
    return run


def _returned(current: Run, again: str) -> bool:
    """Whether `init` returns the open run; one that is to be replaced is finished here."""
    if again == "return_previous":
        hint = "wandb.init() with an open run returns that run; finish it first, or pass reinit=True"
        say_once("wandb reinit", hint)
        return True
    if again == "finish_previous":
        current.finish()
    return False


def _identified(recorded: Recorded, who: identity.Identity) -> identity.Identity:
    """Who the run is to W&B: as stored by an earlier attempt, else as asked for, which is stored now."""
    if recorded.path is None:
        return who
    known = identity.read_identity(recorded.path) if recorded.attempt else None
    if known is not None:
        return known
    if recorded.is_worker or recorded.rank != 0:
        return who
    new = identity.Identity(who.id, recorded.project, who.entity, who.job_type, who.sweep)
    fence.call("keeping W&B's names of the run", identity.write_identity, recorded.path, new)
    return new


def _options(wanted: Mapping[str, Any], chosen: Settings) -> dict[str, Any]:
    """The arguments of `stepscope.init`, without the config and the run to resume."""
    kind = wanted["job_type"]
    return {
        "project": wanted["project"],
        "name": wanted["name"],
        "tags": [*_listed(wanted["tags"]), *([f"job_type:{kind}"] if kind else [])],
        "notes": wanted["notes"] or "",
        "group": wanted["group"],
        "dir": store_for(wanted["dir"]),
        "console": chosen.console != "off",
        "system": not (chosen.x_disable_stats or chosen._disable_stats),
        "git": not chosen.disable_git,
        "mode": "off" if wanted["mode"] in _OFF else None,
    }


def _save_script(run: Run) -> None:
    script = script_path()
    if script is not None and script.is_file():
        run.save(script, policy="now")


def _hear_tensorboard(run: Run) -> None:
    from stepscope.integrations._tensorboard_heard import hear_tensorboard

    run._run.before_end(hear_tensorboard(run._run))


def _opened(
    options: dict[str, Any], who: identity.Identity, settings: Settings, allow_val_change: bool, beside: bool
) -> Run:
    try:
        if beside:
            with session.beside():
                recorded = session.init(**options)
        else:
            recorded = session.init(**options)
    except StepscopeError as fault:
        raise UsageError(str(fault)) from None
    who = _identified(recorded, who)
    given = {str(key): friendly(value) for key, value in options["config"].items()}
    if recorded.attempt:
        given = {**nested_config(dict(recorded.config)), **given}
    config = Config(
        given,
        recorded.config.update,
        allow_val_change=allow_val_change or recorded.attempt > 0,
        fixed=_of_the_sweep(),
    )
    settings.update(mode="disabled" if recorded.path is None else "offline", run_id=who.id or recorded.id)
    run = Run(recorded, config, who, settings, open_runs.ended)
    if not beside:
        open_runs.opened(run)
    return run


def finish(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """End the open run, if there is one."""
    run = open_runs.open_run()
    if run is not None:
        run.finish(exit_code)


def _reinit(value: Any) -> str:
    if value in (None, "default"):
        return "finish_previous" if "ipykernel" in sys.modules else "return_previous"
    if isinstance(value, bool):
        return "finish_previous" if value else "return_previous"
    if value not in ("return_previous", "finish_previous", "create_new"):
        raise UsageError(f"reinit={value!r} is unknown; use 'return_previous', 'finish_previous' or 'create_new'")
    return str(value)


def _check_mode(mode: str | None) -> None:
    if mode is not None and mode not in _MODES:
        raise UsageError(f"mode {mode!r} is unknown; use 'online', 'offline' (both record here) or 'disabled'")


def _listed(tags: Any) -> list[str]:
    return [tags] if isinstance(tags, str) else [str(tag) for tag in tags or ()]


def _picked(config: dict[str, Any], include: list[str] | None, exclude: list[str] | None) -> dict[str, Any]:
    if include and exclude:
        raise UsageError("config_include_keys and config_exclude_keys exclude each other; give one of them")
    if include:
        return {name: value for name, value in config.items() if name in include}
    return {name: value for name, value in config.items() if name not in (exclude or ())}


def _past(store: Path, id: str | None, resume: Any, resume_from: str | None) -> str | None:
    """The run to resume, for `stepscope.init(resume=...)`; None for a new one."""
    if resume_from is not None:
        id, resume = _moment(resume_from)[0], "must"
    if resume in (None, False, ""):
        return None
    if isinstance(resume, str) and resume not in ("allow", "must", "never", "auto", "True", "true"):
        id, resume = resume, "allow"  # the old usage: the id itself
    found = None if id is None else identity.find(store, id)
    if resume == "must" and found is None:
        raise UsageError(f"resume='must', but there is no run {id!r} in {store}; omit resume to start it")
    if resume == "never":
        if found is not None:
            raise UsageError(f"resume='never', but run {id!r} is already in {store}; give another id")
        return None
    if found is not None:
        return str(found)
    return "auto" if id is None and resume not in ("allow", "must") else None


def _moment(text: str) -> tuple[str, int]:
    """A position in a run, in W&B's syntax: `id?_step=100`."""
    id, _, step = str(text).partition("?_step=")
    if not id or not step.isdigit():
        raise UsageError(f"{text!r} is not a position in a run; expected 'RUN_ID?_step=100'")
    return id, int(step)


def _of_the_sweep() -> dict[str, Any] | None:
    """What a sweep has chosen for this run, nested as in the script."""
    place = assigned()
    if place is None:
        return None
    from stepscope.sweep import nested

    return nested(place.config)


def _sweep_of() -> str | None:
    place = assigned()
    found = [tag.removeprefix("sweep:") for tag in place.tags if tag.startswith("sweep:")] if place else []
    return found[0] if found else None


def _after_fork() -> None:
    run = open_runs.open_run()
    if run is not None:
        run._after_fork()


on_fork(_after_fork)
