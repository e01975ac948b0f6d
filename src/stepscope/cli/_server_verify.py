"""`stepscope server verify`: compare the copies on disk and in the object store."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._terminal import clean


@click.command(name="verify", short_help="Check every run and its copies in the object store.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("stepscope-server"))
@click.option("--objects", metavar="PLACE", help="The object store, if not the one the server was started with.")
@click.option("--deep", is_flag=True, help="Read every byte of the object store too.")
@json_option
def command(folder: Path, objects: str | None, deep: bool, as_json: bool) -> None:
    """Check every run in FOLDER, and that the object store has every object the disk lists.

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
    found = verify(folder, open_objects(place) if place is not None else None, deep=deep)
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


def _print(runs: int, files: int, objects: int, problems: dict[str, str], orphans: list[str]) -> None:
    for name, problem in problems.items():
        click.echo(f"{clean(name)}: {clean(problem)}", err=True)
    if orphans:
        click.echo(
            f"{len(orphans)} runs are in the object store and not on the disk, {orphans[0]} among them: deleted ones, "
            "or a disk that was lost. `stepscope server restore` brings them back."
        )
    click.echo(f"{runs:,} runs, {files:,} files, {objects:,} objects: {len(problems) or 'no'} problems")
