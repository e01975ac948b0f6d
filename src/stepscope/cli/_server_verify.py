"""`stepscope server verify`: compare the disk, the object store and the database."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import database_option, people_of
from stepscope.cli._terminal import clean
from stepscope.files.database import SERVER_FILE


@click.command(name="verify", short_help="Check the disk, the object store and the database.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("stepscope-server"))
@click.option("--objects", metavar="PLACE", help="The object store, if not the one the server was started with.")
@database_option
@click.option("--deep", is_flag=True, help="Read every byte of the object store too.")
@json_option
def command(folder: Path, objects: str | None, database: str | None, deep: bool, as_json: bool) -> None:
    """Check that every run in the database is in FOLDER, and every object that FOLDER lists in the object store.

    Logs are checked frame by frame, blobs by their hash, objects by size and hash (`--deep`: by their bytes).
    Nothing is changed. Exits with 3 if anything is wrong.
    """
    from stepscope.cli.server import objects_place
    from stepscope.errors import NotFound
    from stepscope.sync.object_store import open_objects
    from stepscope.sync.verify import verify

    if not folder.is_dir():
        raise NotFound(f"there is no folder {str(folder)!r}; give the folder of `stepscope server`")
    place = objects or objects_place(folder, None)
    known = _runs_of(folder, database)
    found = verify(folder, open_objects(place) if place is not None else None, deep=deep, known=known)
    if as_json:
        print_json(
            {
                "runs": found.runs,
                "files": found.files,
                "objects": found.objects,
                "problems": found.problems,
                "orphans": found.orphans,
            }
        )
    else:
        _print(found.runs, found.files, found.objects, found.problems, found.orphans)
    if found.problems:
        raise SystemExit(3)


def _runs_of(folder: Path, database: str | None) -> list[str]:
    """The runs that the database knows; none where a folder came back without it."""
    from stepscope.server.run_storage import stamps

    if database is None and not (folder / SERVER_FILE).exists():
        return []
    with people_of(folder, database) as people:
        return list(stamps(people))


def _print(runs: int, files: int, objects: int, problems: dict[str, str], orphans: list[str]) -> None:
    for name, problem in problems.items():
        click.echo(f"{clean(name)}: {clean(problem)}", err=True)
    if orphans:
        click.echo(
            f"{len(orphans)} runs are in the object store and not on the disk, {orphans[0]} among them: deleted ones, "
            "or a disk that was lost. `stepscope server restore` brings them back."
        )
    click.echo(f"{runs:,} runs, {files:,} files, {objects:,} objects: {len(problems) or 'no'} problems")
