"""`stepscope data`: show what a script's pipeline delivers before training on it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from stepscope.cli._launch import LaunchCommand, options_from, report_json_option, script_named


@click.command(name="data", cls=LaunchCommand, short_help="Show what a script's data loaders deliver.")
@click.option("--samples", default=256, show_default=True, type=click.IntRange(1), help="Number of samples to inspect.")
@report_json_option
@click.option("--dir", type=click.Path(path_type=Path), help="Where to store the run with the images ($STEPSCOPE_DIR).")
@click.option("--no-run", is_flag=True, help="Do not store images.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the report, without notices.")
@click.option("--pdb", is_flag=True, help="After a crash, open a debugger in the script's own frame.")
@click.option("--debugpy", type=int, metavar="[PORT]", help="Wait for an editor's debugger (port 5678).")
@click.pass_context
def command(ctx: click.Context, /, samples: int, json_file: Path | None, no_run: bool, **values: Any) -> None:
    """Show what a script's loaders deliver, and what its model and loss do with it.

    The script runs for a batch or two of each loader, without workers and without saving anything; then its samples and
    batches are shown, with their types, ranges, labels and images, and the shapes through the model.

    \b
        stepscope data train.py --batch-size 32
    """
    from stepscope.launch.data.session import data_session
    from stepscope.launch.launch import launch

    script = script_named(ctx)
    options = options_from({**values, "record": False, "capsule": False, "fast_dev_run": 1, "no_workers": True})
    launch(script, options, partial(data_session, samples=samples, keep=not no_run, json_file=json_file))
