"""`stepscope run`: any script, unchanged, tracked and diagnosed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._launch import (
    OURS,
    LaunchCommand,
    finding_options,
    limit_options,
    options_from,
    script_named,
    switch_options,
)
from stepscope.common.units import parse_bytes
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.launch.options import Profiling

__all__ = ["command"]


@click.command(name="run", cls=LaunchCommand, short_help="Run a script unchanged; track it and find what is wrong.")
@click.option("--name", help="The run's name; one is made up by default.")
@click.option("--project", help="The project it belongs to.")
@click.option("--dir", type=click.Path(path_type=Path), help="Where the run goes ($STEPSCOPE_DIR or stepscope-runs).")
@click.option("--no-run", is_flag=True, help="Keep no run folder.")
@click.option("--no-diagnose", is_flag=True, help="Ask no rules; only track.")
@limit_options
@switch_options
@finding_options
@click.option("--kill-hang", is_flag=True, help="End a job whose ranks wait for each other, once that is explained.")
@click.option("--no-capsule", is_flag=True, help="Do not keep a failing step for `stepscope replay`.")
@click.option("--capsule-size", default="1G", show_default=True, help="The most a kept step may take.")
@click.option(
    "--profile-on",
    multiple=True,
    metavar="WHEN",
    help="Record a deep profile of some steps: at steps 20:25, on a signal, on an anomaly (a step three times "
    "as long as usual). `stepscope profile --now RUN` always works.",
)
@click.option("--on-signal", default="USR2", show_default=True, metavar="SIGNAL", help="For --profile-on signal.")
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Run a script, unchanged, and say what is wrong with it.

    Options before the script are Stepscope's, all after it the script's own:

    \b
        stepscope run train.py --epochs 5
        stepscope run --max-steps 100 -m pkg.train --lr 0.1
        stepscope run torchrun --nproc-per-node 2 train.py
    """
    from stepscope.launch.launch import launch

    _make_way_for_launchers(ctx)
    script = script_named(ctx)
    values["record"] = not values.pop("no_run")
    values["diagnose"] = not values.pop("no_diagnose")
    values["capsule"] = not values.pop("no_capsule")
    values["capsule_bytes"] = parse_bytes(values.pop("capsule_size"), "--capsule-size")
    if values["profile_on"] and not values["record"]:
        raise UsageError("--profile-on needs the run folder to put its profiles in; leave --no-run out")
    values["profiling"] = _profiling(values.pop("profile_on"), values.pop("on_signal"))
    launch(script, options_from(values))


def _make_way_for_launchers(ctx: click.Context) -> None:
    """`stepscope run torchrun ...` becomes `torchrun ... -m stepscope run ...`: does not come back then."""
    from stepscope.launch.launchers import is_launcher, launcher_command, start_launcher

    target, theirs = ctx.obj
    if target is not None and target[0] == "file" and is_launcher(target[1]):
        start_launcher(launcher_command(target[1], theirs, ctx.meta[OURS]))


def _profiling(asked: tuple[str, ...], signal: str) -> Profiling:
    """When to open a window; always when a file in the run folder asks for it."""
    from stepscope.launch.options import Profiling
    from stepscope.profile.collect.schedule import StepRange
    from stepscope.profile.collect.triggers import signal_named

    words = [word for text in asked for word in text.split(",") if word]
    ranges = [word for word in words if word[:1].isdecimal()]
    unknown = [word for word in words if word not in ("signal", "anomaly", "button") and word not in ranges]
    if unknown or len(ranges) > 1:
        wrong = repr(unknown[0]) if unknown else "two ranges of steps"
        raise UsageError(f"--profile-on {wrong}: give signal, anomaly, or one range of steps like 20:25")
    if "signal" in words:
        signal_named(signal)
    return Profiling(
        steps=StepRange.parse(ranges[0], "--profile-on") if ranges else None,
        on=frozenset({"button", *words} - set(ranges)),
        signal=signal,
    )
