"""`stepscope run`: any script, unchanged, tracked and diagnosed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stepscope.cli._launch import (
    LaunchCommand,
    finding_options,
    limit_options,
    options_from,
    parsed_size,
    script_named,
    switch_options,
)

__all__ = ["command"]


@click.command(name="run", cls=LaunchCommand)
@click.option("--name", help="The run's name; one is made up by default.")
@click.option("--project", help="The project it belongs to.")
@click.option("--dir", type=click.Path(path_type=Path), help="Where the run goes ($STEPSCOPE_DIR or stepscope-runs).")
@click.option("--no-run", is_flag=True, help="Keep no run folder.")
@click.option("--no-diagnose", is_flag=True, help="Ask no rules; only track.")
@limit_options
@switch_options
@finding_options
@click.option("--no-capsule", is_flag=True, help="Do not keep a failing step for `stepscope replay`.")
@click.option("--capsule-size", default="1G", show_default=True, help="The most a kept step may take.")
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Run a script, unchanged, and say what is wrong with it.

    Options before the script are Stepscope's, all after it the script's own:

    \b
        stepscope run train.py --epochs 5
        stepscope run --max-steps 100 -m pkg.train --lr 0.1
        torchrun --nproc-per-node 2 -m stepscope run train.py
    """
    from stepscope.launch.launch import launch

    script = script_named(ctx)
    values["record"] = not values.pop("no_run")
    values["diagnose"] = not values.pop("no_diagnose")
    values["capsule"] = not values.pop("no_capsule")
    values["capsule_bytes"] = parsed_size(values.pop("capsule_size"))
    launch(script, options_from(values))
