"""`stepscope delete`: remove runs for good."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._options import open_named, store_option
from stepscope.cli._terminal import clean

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

__all__ = ["command"]


@click.command(name="delete")
@click.argument("runs", nargs=-1, required=True)
@store_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Also runs that are still going on.")
def command(runs: tuple[str, ...], store: Path, yes: bool, force: bool) -> None:
    """Delete runs: their folders, with everything in them.

    There is no way back. Asks first on a terminal; elsewhere --yes is needed.

    \b
    stepscope delete 01JCQ4
    stepscope delete last @2 --yes
    """
    from stepscope.errors import UsageError

    found = {run.path.resolve(): run for run in (open_named(ref, store) for ref in runs)}
    for run in found.values():
        if run.status == "running" and not force:
            raise UsageError(f"run {run.name!r} is still running; stop it first, or delete it with --force")
    if not yes:
        _ask(list(found.values()))
    for path, run in found.items():
        _remove(path)
        click.echo(f"deleted {clean(run.name)}  {run.id}")


def _ask(runs: list[RunFolder]) -> None:
    from stepscope.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"deleting {len(runs)} runs needs a yes; add --yes")
    for run in runs:
        click.echo(f"{clean(run.project)}/{clean(run.name)}  {run.status}  {clean(str(run.path))}", err=True)
    click.confirm(
        f"Delete {'this run' if len(runs) == 1 else f'these {len(runs)} runs'} for good?", abort=True, err=True
    )


def _remove(path: Path) -> None:
    """Out of the list first, at once, then file by file."""
    import shutil

    from stepscope.errors import StorageError

    doomed = path.with_name(f".deleted-{path.name}")
    try:
        path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as fault:
        raise StorageError(f"{path} could not be deleted: {fault.strerror or fault}") from None
