"""`stepscope trash`: deleted runs that can be restored."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import json_option, print_json, store_option
from stepscope.cli._terminal import clean, console

if TYPE_CHECKING:
    from stepscope.runs.trash import Trashed


@click.command(name="trash", short_help="List deleted runs, restore them, or remove them.")
@click.argument("runs", nargs=-1)
@store_option
@click.option("--restore", "back", is_flag=True, help="Restore the named runs.")
@click.option("--empty", is_flag=True, help="Permanently delete the named runs, or all of them.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@json_option
def command(runs: tuple[str, ...], store: Path, back: bool, empty: bool, yes: bool, as_json: bool) -> None:
    """List deleted runs, restore them, or delete them permanently.

    A deleted run stays in the trash for seven days. RUNS are ids, beginnings of ids, or names.

    \b
    stepscope trash                          # what is there, and until when
    stepscope trash --restore brave-otter-3
    stepscope trash --empty
    """
    _check_options(runs, back, empty)
    there = _in(store)
    chosen = [_named(ref, there) for ref in runs] if runs else there
    if not back and not empty:
        show = print_json if as_json else _list
        show(chosen)
        return
    if empty and chosen and not yes:
        _ask(chosen)
    rows = [_restored(one, as_json) if back else _removed(one, as_json) for one in chosen]
    if as_json:
        print_json({"restored" if back else "removed": rows})


def _check_options(runs: tuple[str, ...], back: bool, empty: bool) -> None:
    from stepscope.errors import UsageError

    if back and empty:
        raise UsageError("--restore and --empty cannot be used together; give one of them")
    if back and not runs:
        raise UsageError("name the runs to restore; `stepscope trash` lists them")


def _restored(one: Trashed, as_json: bool) -> dict[str, Any]:
    from stepscope.runs.trash import restore

    path = restore(one)
    click.echo(f"restored {clean(one.name)}  {clean(str(path))}", err=as_json)
    return {"id": one.id, "name": one.name, "path": path}


def _removed(one: Trashed, as_json: bool) -> dict[str, Any]:
    from stepscope.runs.trash import purge

    purge(one)
    click.echo(f"removed {clean(one.name)}  {one.id}", err=as_json)
    return {"id": one.id, "name": one.name, "path": None}


def _in(store: Path) -> list[Trashed]:
    from stepscope.runs.trash import trashed_runs

    homes = [store, *(path.parent for depth in ("*", "*/*") for path in store.glob(f"{depth}/.trash"))]
    return trashed_runs(homes)


def _named(ref: str, there: list[Trashed]) -> Trashed:
    from stepscope.errors import Ambiguous, NotFound

    found = [one for one in there if ref == one.name or (len(ref) >= 4 and one.id.startswith(ref.upper()))]
    if not found:
        raise NotFound(f"there is no run {ref!r} in the trash; `stepscope trash` lists its contents")
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise Ambiguous(f"{len(found)} runs in the trash match {ref!r}; give an id: {ids}")
    return found[0]


def _ask(chosen: list[Trashed]) -> None:
    from stepscope.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"removing {len(chosen)} runs permanently needs confirmation; add --yes")
    for one in chosen:
        click.echo(f"{clean(one.project)}/{clean(one.name)}  {one.bytes:,} bytes", err=True)
    words = "this run" if len(chosen) == 1 else f"these {len(chosen)} runs"
    click.confirm(f"Remove {words} permanently?", abort=True, err=True)


def _list(chosen: list[Trashed]) -> None:
    from rich.table import Table

    from stepscope.common.units import ago

    if not chosen:
        click.echo("the trash is empty", err=True)
        return
    now = time.time()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("run", "project", "id"):
        table.add_column(title, no_wrap=True, overflow="ellipsis")
    for title in ("bytes", "deleted", "days left"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in chosen:
        left = max(0.0, one.purged - now) / 86400
        cells = (clean(one.name), clean(one.project), one.id, f"{one.bytes:,}", ago(now - one.deleted), f"{left:.1f}")
        table.add_row(*cells)
    console().print(table)
