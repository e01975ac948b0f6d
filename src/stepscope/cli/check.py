"""`stepscope check`: a few batches with every check on, before the long run."""

from __future__ import annotations

from typing import Any

import click

from stepscope.cli._launch import LaunchCommand, finding_options, options_from, script_named, switch_options

__all__ = ["command"]


@click.command(name="check", cls=LaunchCommand)
@switch_options
@finding_options
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Try a script on a few batches of every loader, with all checks and probes on, then stop and give a verdict.

    Nothing is saved and no run is kept. All after the script's name is the script's own:

    \b
        stepscope check train.py --lr 0.1
    """
    from stepscope.launch.launch import launch

    script = script_named(ctx)
    launch(script, options_from({**values, "record": False, "capsule": False}, check=True))
