"""`stepscope check`: a few batches with every check on, before the long run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from stepscope.cli._launch import OURS, LaunchCommand, finding_options, options_from, script_named, switch_options
from stepscope.errors import UsageError


@click.command(name="check", cls=LaunchCommand, short_help="Try a script on a few batches, with every check on.")
@click.option("--each", is_flag=True, help="Treat all arguments as scripts and check each in turn.")
@switch_options
@finding_options
@click.pass_context
def command(ctx: click.Context, /, each: bool, **values: Any) -> None:
    """Try a script on a few batches of every loader, with all checks and probes on, then stop and give a verdict.

    Nothing is saved and no run is stored. Arguments after the script's name go to the script:

    \b
        stepscope check train.py --lr 0.1
        stepscope check --strict --each train.py finetune.py
    """
    if each:
        sys.exit(_check_each(ctx, values["json"], values["sarif"]))
    from stepscope.launch.launch import launch

    script = script_named(ctx)
    launch(script, options_from({**values, "record": False, "capsule": False}, check=True))


def _check_each(ctx: click.Context, json_file: Path | None, sarif_file: Path | None) -> int:
    from stepscope.launch.check_many import check_each

    target, rest = ctx.obj
    if target is None or target[0] == "module":
        raise UsageError("--each needs the files of the scripts: stepscope check --each train.py finetune.py")
    words = [word for word in _without_files(ctx.meta[OURS]) if word != "--each"]
    return check_each([target[1], *rest], words, json_file=json_file, sarif_file=sarif_file)


def _without_files(words: list[str]) -> list[str]:
    """The options, without those that name output files shared by all scripts."""
    kept: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in ("--json", "--sarif"):
            left = left[1:]
        elif not word.startswith(("--json=", "--sarif=")):
            kept.append(word)
    return kept
