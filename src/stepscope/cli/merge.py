"""`stepscope merge`: one run from the folders that its ranks wrote separately."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option


@click.command(name="merge", short_help="Join ranks that recorded on separate disks into one run.")
@click.argument("run")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@store_option
@json_option
def command(run: str, parts: tuple[Path, ...], store: Path, as_json: bool) -> None:
    """Join the folders of ranks that recorded on separate disks.

    RUN is the run of rank 0. Each of PARTS is the folder of another rank, or a folder of runs, from which those
    that belong to RUN are taken. Files are copied; merging again adds only what is new.

    \b
    stepscope merge last /mnt/node1/stepscope-runs /mnt/node2/stepscope-runs
    """
    from stepscope.errors import NotFound
    from stepscope.runs.merge import copy_in, parts_of

    whole = open_named(run, store)
    missing = [str(place) for place in parts if not place.is_dir()]
    if missing:
        raise NotFound(f"there is no folder {missing[0]!r}; name folders of ranks, or folders of runs")
    found = [part for part in parts_of(whole.id, list(parts)) if part.resolve() != whole.path.resolve()]
    copied = {str(part): copy_in(whole.path, part) for part in found}
    whole.refresh()
    if as_json:
        print_json({"run": whole.id, "parts": copied, "ranks": whole.ranks})
        return
    for part, count in copied.items():
        click.echo(f"{part}: {count} new files")
    if not copied:
        click.echo(f"no part of run {whole.name} in {', '.join(map(str, parts))}; name the folders of its ranks")
    click.echo(f"run {whole.name} has ranks {', '.join(map(str, whole.ranks))}")
