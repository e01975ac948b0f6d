"""`stepscope export`: write a run as files for other tools."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option


@click.command(name="export", short_help="Export runs as CSV, JSON, Parquet or TensorBoard.")
@click.argument("run")
@click.argument("series", nargs=-1)
@store_option
@click.option(
    "--format",
    "-f",
    type=click.Choice(["csv", "json", "jsonl", "parquet"]),
    help="Format; by default taken from the extension of --out, else csv.",
)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="The file to write; standard output by default.")
@click.option(
    "--layout", type=click.Choice(["wide", "long"]), help="wide: one line per step; long: one line per point."
)
@click.option(
    "--tensorboard",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write TensorBoard folders; every argument is then a run.",
)
@click.option(
    "--double", is_flag=True, help="With --tensorboard: write float64 values, which only newer readers accept."
)
@json_option
def command(
    run: str,
    series: tuple[str, ...],
    store: Path,
    format: str | None,
    out: Path | None,
    layout: str | None,
    tensorboard: Path | None,
    double: bool,
    as_json: bool,
) -> None:
    """Export a run as csv, json or parquet, or several as folders for TensorBoard.

    \b
    stepscope export last > run.csv
    stepscope export last loss 'val/*' -o run.parquet
    stepscope export last --json             # the same as --format json; with --out, what was written
    stepscope export base wide --tensorboard tb/ # then: tensorboard --logdir tb/
    """
    from stepscope.errors import UsageError
    from stepscope.export.run import export_run

    if tensorboard is not None:
        if out is not None or format is not None or layout is not None:
            raise UsageError("--tensorboard writes a folder; remove --out, --format and --layout")
        _to_tensorboard((run, *series), store, tensorboard, double, as_json)
        return
    if double:
        raise UsageError("--double is for --tensorboard; other formats always write every digit")
    chosen = _format(format, out, as_json)
    folder = open_named(run, store)
    count = export_run(folder, chosen, out or sys.stdout.buffer, series or None, layout)  # type: ignore[arg-type]
    if out is not None and as_json:
        print_json({"id": folder.id, "name": folder.name, "series": count, "format": chosen, "path": str(out)})
    elif out is not None:
        click.echo(f"{count} series of {folder.name!r} written to {out}", err=True)


def _format(format: str | None, out: Path | None, as_json: bool) -> str:
    from stepscope.errors import UsageError

    if as_json and out is None:
        if format not in (None, "json"):
            raise UsageError(f"--json prints JSON and --format {format} something else; leave one out, or give --out")
        return "json"
    chosen = format or (out.suffix.lstrip(".").lower() if out else "") or "csv"
    if chosen not in ("csv", "json", "jsonl", "parquet"):
        raise UsageError(f"{out}: '{chosen}' is not a known format; give --format csv, json, jsonl or parquet")
    if out is None and chosen == "parquet" and sys.stdout.isatty():
        raise UsageError("parquet is binary; give a file with --out")
    return chosen


def _to_tensorboard(runs: tuple[str, ...], store: Path, folder: Path, double: bool, as_json: bool) -> None:
    from stepscope.cli._terminal import clean
    from stepscope.export.as_tensorboard import write_tensorboard

    done = write_tensorboard([open_named(run, store) for run in runs], folder, double=double)
    if as_json:
        print_json(
            [
                {
                    "run": one.run,
                    "path": str(one.path),
                    "points": one.points,
                    "media": one.media,
                    "left_out": one.left_out,
                }
                for one in done
            ]
        )
        return
    for one in done:
        click.echo(clean(f"{one.path}: {one.points:,} points, {one.media:,} media of {one.run!r}"), err=True)
        if one.left_out:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(one.left_out.items()))
            click.echo(f"  omitted, because TensorBoard has no page for them: {kinds}", err=True)
    click.echo(f"Look at them with: tensorboard --logdir {clean(str(folder))}", err=True)
