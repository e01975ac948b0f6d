"""`stepscope init-vscode`: launch configurations and tasks for VS Code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._terminal import clean

if TYPE_CHECKING:
    from stepscope.launch.vscode import Written


@click.command(name="init-vscode", short_help="Add launch configurations and tasks for VS Code.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path())
@click.option("--force", is_flag=True, help="Restore Stepscope's entries that you changed.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@json_option
def command(folder: Path, force: bool, dry_run: bool, as_json: bool) -> None:
    """Add launch configurations and tasks to FOLDER's .vscode: run, check, profile, replay, attach.

    Findings appear in the Problems pane. Existing content, comments included, is preserved; existing entries with
    Stepscope's names change only with --force.
    """
    from stepscope.launch.vscode import write_files

    written = write_files(folder, force=force, dry_run=dry_run)
    if as_json:
        print_json([_as_json(one, dry_run) for one in written])
        return
    for one in written:
        _tell(one)
    if dry_run:
        click.echo("nothing was written (--dry-run)", err=True)
    elif any(one.is_changed for one in written):
        click.echo("in VS Code: F5 for the debugger; 'Tasks: Run Task' fills the Problems pane", err=True)


def _tell(written: Written) -> None:
    click.echo(clean(str(written.path)) + ("" if written.is_changed else "  (unchanged)"))
    done = written.merged
    for name in done.added:
        click.echo(f"  added  {name}")
    for name in done.replaced:
        click.echo(f"  restored  {name}")
    for name in done.kept:
        click.echo(f"  kept   {name} (already there)")


def _as_json(written: Written, dry_run: bool) -> dict[str, object]:
    done = written.merged
    told = {"added": done.added, "replaced": done.replaced, "kept": done.kept}
    return {"path": str(written.path), "written": written.is_changed and not dry_run, **told}
