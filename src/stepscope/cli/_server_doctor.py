"""`stepscope server doctor`: check everything a server needs."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import database_option
from stepscope.cli._terminal import clean

_MARKS = {"ok": "✓", "warning": "!", "problem": "✗"}


@click.command(name="doctor", short_help="Check the folder, the database and the object store.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("stepscope-server"))
@database_option
@click.option("--objects", metavar="PLACE", help="The object store, if not the one the server was started with.")
@json_option
def command(folder: Path, database: str | None, objects: str | None, as_json: bool) -> None:
    """Test the folder, the database and the object store of a server, and report what is wrong.

    \b
    stepscope server doctor /srv/runs --database postgresql://stepscope@db/stepscope --objects s3://team-runs
    """
    from stepscope.cli.server import objects_place
    from stepscope.server.checkup import check_server

    place = objects or (objects_place(folder, None) if folder.is_dir() else None)
    found = check_server(folder, database, place)
    if as_json:
        print_json(found)
    else:
        for one in found:
            click.echo(f"{_MARKS[one.result]} {one.name:<9} {clean(one.text)}")
    if any(one.result == "problem" for one in found):
        raise SystemExit(1)
