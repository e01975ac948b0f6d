"""`stepscope restore`: copy an artifact's files out of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import clean, console
from stepscope.common.units import ago, counted

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


@click.command(name="restore", short_help="List a run's artifacts, or copy their files out.")
@click.argument("run")
@click.argument("artifact", required=False)
@store_option
@click.option("--out", "-o", type=click.Path(path_type=Path), help="The folder to write to; NAME-vVERSION by default.")
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
@click.option("--from", "server", metavar="URL", help="Fetch from this server; RUN is a project or run id there.")
@json_option
def command(
    run: str,
    artifact: str | None,
    store: Path,
    out: Path | None,
    overwrite: bool,
    server: str | None,
    as_json: bool,
) -> None:
    """Copy an artifact's files out of a run; without a name, list the artifacts.

    ARTIFACT is a name (its newest version), name:v2, or name:alias. Every file is checked against its hash.

    \b
    stepscope restore last                        # lists the artifacts
    stepscope restore last best.pt -o restored/
    stepscope restore 01JCQ4 splits:v0
    stepscope restore vision model:best --from https://runs.example.org     # resumes an interrupted download
    """
    import msgspec

    from stepscope.runs.artifacts import choose, restore

    if server is not None:
        _fetch(server, run, artifact, out, as_json)
        return
    folder = open_named(run, store)
    if artifact is None:
        if as_json:
            print_json(msgspec.to_builtins(folder.artifacts))
        else:
            _list(folder)
        return
    chosen = choose(folder.artifacts, artifact)
    target = out if out is not None else Path(f"{_folder_name(chosen.name)}-v{chosen.version}")
    written = restore(folder, chosen, target, overwrite=overwrite)
    if as_json:
        print_json([str(path) for path in written])
        return
    for path in written:
        click.echo(clean(str(path)))
    left = [file.reference for file in chosen.files if file.reference is not None]
    for place in left:
        click.echo(f"not copied, only a reference: {clean(place)}", err=True)
    click.echo(
        f"{counted(len(written), 'file')} of {clean(chosen.name)} v{chosen.version} in {clean(str(target))}",
        err=True,
    )


def _fetch(server: str, project: str, artifact: str | None, out: Path | None, as_json: bool) -> None:
    from stepscope.errors import UsageError
    from stepscope.track.use_artifact import fetch_from

    if artifact is None:
        raise UsageError("name the artifact to fetch, for example model:best; the Files page of a run lists them")
    found = fetch_from(server, project, artifact, out)
    if as_json:
        print_json([str(found.path / file.path) for file in found.files if file.reference is None])
        return
    place = clean(str(found.path))
    click.echo(f"{counted(len(found.files), 'file')} of {clean(found.name)} v{found.version} in {place}", err=True)


def _folder_name(name: str) -> str:
    """A folder name from an artifact's name, which may contain anything."""
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".")
    return safe[:100] or "artifact"


def _list(run: RunFolder) -> None:
    import time

    from rich.table import Table

    if not run.artifacts:
        click.echo(f"run {run.name!r} has no artifacts; run.log_artifact(...) saves files", err=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("artifact", "version", "type", "aliases"):
        table.add_column(title, no_wrap=True, overflow="ellipsis")
    for title in ("files", "bytes", "age"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in run.artifacts:
        size = sum(file.size for file in one.files)
        aliases = ", ".join(clean(alias) for alias in one.aliases)
        when = ago(time.time() - one.time)
        table.add_row(
            clean(one.name), f"v{one.version}", clean(one.type), aliases, str(len(one.files)), f"{size:,}", when
        )
    console().print(table)
