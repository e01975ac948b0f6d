"""`stepscope server storage`: what uses a server's disk space."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import database_options, people_of
from stepscope.cli._terminal import clean, console
from stepscope.common.units import bytes_text

_SIZES = ("points", "media", "artifacts", "other", "incoming", "trash", "on_disk")


@click.command(name="storage", short_help="Show what uses the server's disk space.")
@database_options
@click.option("--project", metavar="NAME", help="List the largest runs of this project instead.")
@json_option
def command(folder: Path, database: str | None, project: str | None, as_json: bool) -> None:
    """Show what uses the server's disk space: by project and kind, or by run. The server measures runs when they
    change.

    \b
    stepscope server storage --folder /srv/runs
    stepscope server storage --folder /srv/runs --project vision
    """
    from dataclasses import asdict

    from stepscope.server.run_storage import by_project, largest_runs

    with people_of(folder, database) as people:
        if project is None:
            rows = [asdict(one) for one in by_project(people)]
        else:
            rows = [dict(row._mapping) for row in largest_runs(people, [project])]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("nothing has been measured yet; the server measures within a minute of starting", err=True)
        return
    _print(rows)


def _print(rows: list[dict[str, object]]) -> None:
    from rich.table import Table

    sizes = [
        name for name in ("points", "media", "artifacts", "other", "incoming", "trash", "on_disk") if name in rows[0]
    ]
    words = [name for name in ("project", "run", "name", "runs") if name in rows[0]]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in words:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for kind in sizes:
        table.add_column(kind.replace("_", " "), justify="right", no_wrap=True)
    for row in rows:
        told = [clean(str(row[name])) for name in words]
        table.add_row(*told, *(bytes_text(float(str(row[kind]))) for kind in sizes))
    console().print(table)
