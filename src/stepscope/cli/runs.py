"""`stepscope runs`: the table of runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import catalogue_of, json_option, print_json, store_option
from stepscope.cli._terminal import STATUS_STYLE, clean, console, number, sparkline
from stepscope.common.units import ago, counted, duration

if TYPE_CHECKING:
    from rich.table import Table

    from stepscope.runs.catalogue.entry import RunEntry


@click.command(name="runs", short_help="List, filter and sort runs.")
@click.argument("query", nargs=-1)
@store_option
@click.option("--sort", default="created", show_default=True, help="Sort key: created, config.lr, loss.min ...")
@click.option("--ascending", is_flag=True, help="Smallest (or oldest) first.")
@click.option("--limit", "-n", default=30, show_default=True, help="Number of runs to show; 0 for all.")
@click.option("--columns", "-c", default="", help="Comma-separated: config.lr,loss.min,git.branch ...")
@json_option
def command(
    query: tuple[str, ...], store: Path, sort: str, ascending: bool, limit: int, columns: str, as_json: bool
) -> None:
    """List, filter and sort runs.

    Shows status, age, the config that differs, best and last values, and a sparkline.

    \b
    stepscope runs
    stepscope runs 'status = failed or loss.min < 0.3'
    stepscope runs vae --sort loss.min --ascending -c config.lr,loss.min
    """
    with catalogue_of(store) as catalogue:
        chosen = [name.strip() for name in columns.split(",") if name.strip()]
        for name in (sort, *chosen):
            catalogue.check_field(name)
        found = catalogue.entries(" ".join(query), sort=sort, descending=not ascending)
        shown = found if limit <= 0 else found[:limit]
        if as_json:
            print_json([_as_json(entry) for entry in shown])
            return
        out = console()
        if not found:
            _say_why_empty(out, len(catalogue), query, store)
            return
        out.print(_table(shown, chosen or _default_columns(shown)))
        if len(found) > len(shown):
            out.print(f"{len(shown)} of {len(found)} runs; --limit 0 shows all", style="dim")
        for path, reason in catalogue.problems.items():
            out.print(f"{path.name} cannot be read: {clean(reason)}", style="yellow")


def _default_columns(entries: Sequence[RunEntry]) -> list[str]:
    from stepscope.runs.catalogue.columns import default_columns, run_columns

    return default_columns(run_columns(entries), entries)


def _table(entries: Sequence[RunEntry], columns: Sequence[str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from stepscope.runs.query.query import parse_field

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    table.add_column("run", no_wrap=True, overflow="ellipsis", max_width=32)
    table.add_column("status", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    fields = [parse_field(name) for name in columns]
    for name in columns:
        table.add_column(clean(name.removeprefix("config.")), justify="right", overflow="ellipsis", max_width=24)
    table.add_column(_spark_title(entries), no_wrap=True)
    now = time.time()
    for entry in entries:
        table.add_row(
            clean(entry.name),
            Text(entry.status, style=STATUS_STYLE[entry.status]),
            ago(now - entry.created),
            duration(entry.duration_s),
            *[_cell(entry.value(field, now)) for field in fields],
            sparkline(entry.spark) + _marks(entry),
        )
    return table


def _spark_title(entries: Sequence[RunEntry]) -> str:
    mains = {entry.main for entry in entries if entry.main}
    return clean(mains.pop()) if len(mains) == 1 else "loss"


def _marks(entry: RunEntry) -> str:
    """What must not be missed: findings, and dropped points."""
    findings = f"  {entry.findings} finding{'s' if entry.findings != 1 else ''}" if entry.findings else ""
    return findings + (f"  {entry.dropped} dropped" if entry.dropped else "")


def _cell(value: Any) -> str:
    return ", ".join(clean(str(one)) for one in value) if isinstance(value, list) else number(value)


def _as_json(entry: RunEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "name": entry.name,
        "project": entry.project,
        "status": entry.status,
        "created": entry.created,
        "duration_s": entry.duration_s,
        "tags": entry.tags,
        "notes": entry.notes,
        "path": str(entry.path),
        "config": entry.config,
        "metrics": {
            name: {"last": one.last, "min": one.min, "max": one.max, "mean": one.mean, "count": one.count}
            for name, one in entry.metrics.items()
        },
        "findings": entry.findings,
        "dropped": entry.dropped,
    }


def _say_why_empty(out: Any, total: int, query: tuple[str, ...], store: Path) -> None:
    if total:
        out.print(f"no run matches {clean(' '.join(query))!r}; {store} has {counted(total, 'run')}")
        return
    out.print(f"no runs in {store} yet. A first one:\n")
    out.print("    import stepscope")
    out.print('    with stepscope.init(project="first", config={"lr": 1e-3}) as run:')
    out.print('        run.log({"loss": 0.5})')
