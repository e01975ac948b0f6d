"""`stepscope init-vscode`: launch configurations for VS Code."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._terminal import clean

__all__ = ["command"]


@click.command(name="init-vscode")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path())
def command(folder: Path) -> None:
    """Add launch configurations to FOLDER's .vscode/launch.json: run, check, replay, attach.

    What is in the file stays as it is, comments and all; entries of the same name are not touched.
    """
    from stepscope.launch.vscode import write_launch_file

    written = write_launch_file(folder)
    for name in written.added:
        click.echo(f"added  {name}")
    for name in written.kept:
        click.echo(f"kept   {name} (it was there already)")
    where = clean(str(written.path))
    click.echo(f"{where} is as it was" if not written.added else f"written to {where}; press F5 in VS Code", err=True)
