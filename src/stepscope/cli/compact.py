"""`stepscope compact`: make finished runs smaller."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._options import catalogue_of, json_option, print_json, store_option
from stepscope.common.units import bytes_text


@click.command(name="compact", short_help="Make finished runs smaller on disk.")
@click.argument("query", nargs=-1)
@store_option
@json_option
def command(query: tuple[str, ...], store: Path, as_json: bool) -> None:
    """Make finished runs smaller on disk.

    Rewrites their logs as compressed columns; every value is verified before the old file is deleted.

    `stepscope ui` does this automatically in the background.
    """
    from stepscope.runs.compact.compact import compact

    before = after = points = runs = 0
    with catalogue_of(store) as catalogue:
        for entry in catalogue.entries(" ".join(query)):
            if entry.status in ("running", "lost"):
                continue
            result = compact(entry.path, gone=entry.status == "killed")
            if result.files:
                runs, points = runs + 1, points + result.points
                before, after = before + result.bytes_before, after + result.bytes_after
    if as_json:
        print_json({"runs": runs, "points": points, "bytes_before": before, "bytes_after": after})
    elif runs:
        per_point = f", {after / points:.1f} bytes a point" if points else ""
        click.echo(f"{runs} runs compacted: {bytes_text(before)} -> {bytes_text(after)}{per_point}")
    else:
        click.echo("nothing to compact")
