"""`stepscope tune-data`: the best settings of a script's training loader, measured in its own training."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from stepscope.cli._launch import LaunchCommand, options_from, report_json_option, script_named
from stepscope.errors import UsageError


@click.command(name="tune-data", cls=LaunchCommand, short_help="Find the fastest DataLoader settings.")
@click.option(
    "--seconds", default=60.0, show_default=True, type=click.FloatRange(2), help="Total time for all settings."
)
@click.option(
    "--batches", default=30, show_default=True, type=click.IntRange(5), help="Number of batches to measure per setting."
)
@click.option(
    "--max-workers", type=click.IntRange(0), help="Maximum number of workers (by default the number of processors)."
)
@click.option("--batch-size", "sizes", metavar="N,N...", help="Also try these batch sizes; they change the training.")
@report_json_option
@click.option("--quiet", "-q", is_flag=True, help="Print only the report, without notices.")
@click.option("--pdb", is_flag=True, help="After a crash, open a debugger in the script's own frame.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    seconds: float,
    batches: int,
    max_workers: int | None,
    sizes: str | None,
    json_file: Path | None,
    **values: Any,
) -> None:
    """Find the fastest settings of a script's DataLoader, by trying them.

    The script trains as usual, with batches from loaders with other settings: num_workers, prefetch_factor,
    persistent_workers, with CUDA pin_memory. Then it is stopped; nothing is saved and no run is stored.

    \b
        stepscope tune-data train.py --epochs 3
    """
    from stepscope.launch.launch import launch
    from stepscope.launch.tuning import tune_session
    from stepscope.profile.data.tuner import Budget

    script = script_named(ctx)
    options = options_from({**values, "record": False, "capsule": False, "diagnose": False})
    budget = Budget(seconds=seconds, batches=batches, trial_s=min(3.0, max(seconds / 8, 0.5)))
    make = partial(
        tune_session,
        budget=budget,
        batch_sizes=_sizes(sizes),
        most_workers=max_workers,
        json_file=json_file,
    )
    launch(script, options, make)


def _sizes(text: str | None) -> tuple[int, ...]:
    """Parse `--batch-size 32,64`."""
    words = [] if text is None else text.split(",")
    if not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"--batch-size {text!r} is not a list of sizes; use for example 32,64,128")
    return tuple(int(word) for word in words)
