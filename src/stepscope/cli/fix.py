"""`stepscope fix`: show the edit of a finding, prove it by running both versions, and write it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._fix_report import outcome_text
from stepscope.cli._launch import LaunchCommand
from stepscope.cli._options import json_option, print_json, store_option
from stepscope.errors import NotFound, UsageError

if TYPE_CHECKING:
    from stepscope.launch.fixing.fix import Fixing
    from stepscope.launch.fixing.version import Target
    from stepscope.records import Finding


class FixCommand(LaunchCommand):
    """`fix train.py --apply` is what users type after reading "add --apply"."""

    takes_options_behind = True


@click.command(name="fix", cls=FixCommand, short_help="Fix a finding, and prove the fix by running both versions.")
@click.option("--apply", "apply_it", is_flag=True, help="Write the fix, once it is proven.")
@click.option("--all", "everything", is_flag=True, help="Continue until no finding with an edit is left.")
@click.option("--rule", metavar="RULE", help="Fix this finding; by default the most severe one.")
@click.option(
    "--steps", default=200, show_default=True, type=click.IntRange(1), help="Maximum number of steps of each run."
)
@click.option("--seconds", default=300.0, show_default=True, type=click.FloatRange(1), help="Maximum time of each run.")
@store_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    apply_it: bool,
    everything: bool,
    rule: str | None,
    steps: int,
    seconds: float,
    store: Path,
    as_json: bool,
) -> None:
    """Fix what is wrong with a script, and prove it.

    The edit of the worst finding is made in a copy of the script's folder. Both versions run from the same seed, and
    what changed is reported: whether the finding is gone, new findings, the loss, the time per step. Where the right
    value must be found by experiment (a learning rate), several are tried. Your files are changed only with --apply.

    \b
        stepscope fix train.py --lr 0.1
        stepscope fix --all --apply train.py
        stepscope fix last

    The exit code is 0 when every edit is proven, or nothing is wrong; 1 when a finding has no edit or its edit is not
    proven; 3 when the script or the run is not found, or the file has changed since.
    """
    from stepscope.launch.fixing.fix import Fixing, Plan
    from stepscope.launch.fixing.workspace import copied

    target, given = _asked(ctx, store)
    plan = Plan(steps=steps, seconds=seconds, everything=everything, rule=rule)
    folder = target.cwd if target.is_module else Path(os.path.realpath(target.name)).parent
    say = _silent if as_json else _note
    with copied(folder, target.cwd) as space:
        inside = _copy_of(target, space)
        fixing = Fixing(inside, space, plan, say)
        fixing.go(given)
        applied = apply_it and bool(fixing.texts)
        if applied:
            _write(fixing)
        if as_json:
            print_json(_document(fixing, target, applied))
        else:
            _report(fixing, applied, apply_it, rule)
    sys.exit(_code(fixing))


def _asked(ctx: click.Context, store: Path) -> tuple[Target, list[Finding] | None]:
    """What to run, and the findings of the named run."""
    from stepscope.launch.fixing.stored import findings_of, target_of
    from stepscope.launch.fixing.version import Target
    from stepscope.launch.script import find_module, find_script

    target, theirs = ctx.obj
    if target is None:
        raise UsageError("no script or run was given; try: stepscope fix train.py, or stepscope fix last")
    kind, name = target
    if kind == "module":
        find_module(name, theirs)
        return Target(name, tuple(theirs), Path.cwd(), is_module=True), None
    if name.endswith(".py") or os.path.isfile(name):
        script = find_script(name, theirs)
        return Target(script.path, tuple(theirs), Path.cwd()), None
    from stepscope.cli._options import open_named

    folder = open_named(name, store)
    return target_of(folder), findings_of(folder)


def _copy_of(target: Target, space: Any) -> Target:
    from dataclasses import replace

    name = target.name if target.is_module else space.inside(os.path.realpath(target.name))
    return replace(target, name=name, cwd=Path(space.inside(os.path.realpath(target.cwd))))


def _write(fixing: Fixing) -> None:
    from stepscope.diagnose.edits.apply import write_sources

    write_sources(fixing.texts, fixing.originals)


def _document(fixing: Fixing, target: Target, applied: bool) -> Any:
    from stepscope.diagnose.outputs.json import as_json
    from stepscope.launch.fixing.compare import named
    from stepscope.records.fix import FixDocument

    return as_json(
        FixDocument(
            script=target.name,
            steps=fixing.plan.steps,
            outcomes=fixing.outcomes,
            diff=fixing.diff(),
            applied=applied,
            left=[named(one) for one in fixing.left],
        )
    )


def _report(fixing: Fixing, applied: bool, asked: bool, rule: str | None) -> None:
    from stepscope.launch.fixing.compare import named

    for outcome in fixing.outcomes:
        click.echo(outcome_text(outcome))
    left = [named(one) for one in fixing.left]
    if not fixing.outcomes:
        if rule is not None:
            raise NotFound(f"no finding of {rule} with an edit was seen; found: {', '.join(left) or 'nothing'}")
        click.echo(
            f"no edit available for {', '.join(left)}; its fix is not a change of text" if left else "nothing found"
        )
    elif left:
        click.echo(f"left: {', '.join(left)}")
    if applied:
        click.echo(f"written: {', '.join(os.path.relpath(file) for file in fixing.texts)}")
    elif fixing.texts:
        click.echo("not written; add --apply to write it")
    elif asked and fixing.outcomes:
        click.echo("not written: the fix is not proved")


def _code(fixing: Fixing) -> int:
    if fixing.outcomes:
        return 0 if all(one.proved for one in fixing.outcomes) else 1
    return 1 if fixing.left else 0


def _note(text: str) -> None:
    click.echo(f"stepscope: {text}", err=True)


def _silent(text: str) -> None:
    return
