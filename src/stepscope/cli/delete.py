"""`stepscope delete`: move runs to the trash, or delete them permanently."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import clean

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


@click.command(name="delete", short_help="Move runs to the trash, or remove them permanently.")
@click.argument("runs", nargs=-1, required=True)
@store_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option("--force", is_flag=True, help="Also delete runs that are still running.")
@click.option("--for-good", is_flag=True, help="Delete permanently instead of moving to the trash.")
@json_option
def command(runs: tuple[str, ...], store: Path, yes: bool, force: bool, for_good: bool, as_json: bool) -> None:
    """Delete runs: their folders and everything in them.

    They go to the trash; `stepscope trash --restore` brings them back for seven days. Asks for confirmation on a
    terminal; elsewhere --yes is required.

    \b
    stepscope delete 01JCQ4
    stepscope delete last @2 --yes
    stepscope delete 01JCQ4 --for-good
    """
    from stepscope.errors import UsageError

    found = {run.path.resolve(): run for run in (open_named(ref, store) for ref in runs)}
    for run in found.values():
        if run.status == "running" and not force:
            raise UsageError(f"run {run.name!r} is still running; stop it first, or delete it with --force")
    if not yes:
        _ask(list(found.values()), for_good)
    for path, run in found.items():
        name = run.name
        if for_good:
            _remove(path)
        else:
            _move(path, name)
        click.echo(f"deleted {clean(name)}  {run.id}", err=as_json)
    if as_json:
        told = [{"id": run.id, "name": run.name, "path": str(path)} for path, run in found.items()]
        print_json({"deleted": told, "for_good": for_good})
    elif not for_good:
        click.echo("in the trash for seven days: stepscope trash --restore brings them back", err=True)


def _ask(runs: list[RunFolder], for_good: bool) -> None:
    from stepscope.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"deleting {len(runs)} runs needs confirmation; add --yes")
    for run in runs:
        click.echo(f"{clean(run.project)}/{clean(run.name)}  {run.status}  {clean(str(run.path))}", err=True)
    words = "this run" if len(runs) == 1 else f"these {len(runs)} runs"
    click.confirm(f"Delete {words} permanently?" if for_good else f"Move {words} to the trash?", abort=True, err=True)


def _move(path: Path, name: str) -> None:
    from stepscope.runs.trash import move_to_trash

    move_to_trash(path, name)


def _remove(path: Path) -> None:
    """Remove it from the list at once, then delete file by file."""
    import shutil

    from stepscope.errors import StorageError

    doomed = path.with_name(f".deleted-{path.name}")
    try:
        path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as fault:
        raise StorageError(
            f"{path} could not be deleted: {fault.strerror or fault}; check the folder's permissions"
        ) from None
