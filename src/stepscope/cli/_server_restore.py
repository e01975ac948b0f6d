"""`stepscope server restore`: bring runs back from the object store after a disk was lost."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._terminal import clean


@click.command(name="restore", short_help="Recreate run folders from the object store.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("runs", nargs=-1)
@click.option("--objects", metavar="PLACE", help="The object store; needed if the folder no longer records it.")
@json_option
def command(folder: Path, runs: tuple[str, ...], objects: str | None, as_json: bool) -> None:
    """Recreate the folders of RUNS in FOLDER from the object store; without RUNS, all runs there.

    Large files stay in the object store and are read from there. Runs that are on disk are not changed.
    """
    from stepscope.cli.server import objects_place
    from stepscope.errors import StepscopeError, UsageError
    from stepscope.runs.format.filesystem import make_store
    from stepscope.runs.format.layout import is_run_folder
    from stepscope.sync.archive import bring_back
    from stepscope.sync.object_store import open_objects
    from stepscope.sync.verify import verify

    make_store(folder)
    place = objects_place(folder, objects)
    if place is None:
        raise UsageError(f"{folder} does not record where its runs are; give --objects s3://bucket/prefix")
    source = open_objects(place)
    brought, problems = [], {}
    for run in runs or verify(folder, source).orphans:
        if is_run_folder(folder / run):
            continue
        try:
            bring_back(source, run, folder)
            brought.append(run)
        except (StepscopeError, OSError) as fault:
            problems[run] = str(fault)
    if as_json:
        print_json({"restored": brought, "problems": problems})
    else:
        for run, problem in problems.items():
            click.echo(f"not restored: {clean(run)}: {clean(problem)}", err=True)
        click.echo(f"restored {len(brought)} run{'' if len(brought) == 1 else 's'} from {source.name}")
    if problems:
        raise SystemExit(3)
