"""`stepscope export`: a run's series as a file other tools read."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option

__all__ = ["command"]


@click.command(name="export")
@click.argument("run")
@click.argument("series", nargs=-1)
@store_option
@click.option(
    "--format",
    "-f",
    type=click.Choice(["csv", "json", "jsonl", "parquet"]),
    help="By default from --out's ending, else csv.",
)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="The file to write; standard output by default.")
@click.option("--layout", type=click.Choice(["wide", "long"]), help="wide: a line per step; long: a line per point.")
@json_option
def command(
    run: str,
    series: tuple[str, ...],
    store: Path,
    format: str | None,
    out: Path | None,
    layout: str | None,
    as_json: bool,
) -> None:
    """Export a run as csv, json or parquet.

    \b
    stepscope export last > run.csv
    stepscope export last loss 'val/*' -o run.parquet
    stepscope export last --json             # the same as --format json; with --out, what was written
    """
    from stepscope.errors import UsageError
    from stepscope.export.run import export_run

    if as_json and out is None:
        if format not in (None, "json"):
            raise UsageError(f"--json prints JSON and --format {format} something else; leave one out, or give --out")
        format = "json"
    chosen = format or (out.suffix.lstrip(".").lower() if out else "") or "csv"
    if chosen not in ("csv", "json", "jsonl", "parquet"):
        raise UsageError(f"{out}: '{chosen}' is no format of ours; give --format csv, json, jsonl or parquet")
    if out is None and chosen == "parquet" and sys.stdout.isatty():
        raise UsageError("parquet is binary; give a file with --out")
    folder = open_named(run, store)
    count = export_run(folder, chosen, out or sys.stdout.buffer, series or None, layout)  # type: ignore[arg-type]
    if out is not None and as_json:
        print_json({"id": folder.id, "name": folder.name, "series": count, "format": chosen, "path": str(out)})
    elif out is not None:
        click.echo(f"{count} series of {folder.name!r} written to {out}", err=True)
