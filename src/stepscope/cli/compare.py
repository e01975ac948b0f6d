"""`stepscope compare`: what changed between two runs, or between groups of runs, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._options import catalogue_of, json_option, print_json, store_option
from stepscope.cli._terminal import clean, console, number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.views.compare.changed import WhatChanged
    from stepscope.views.compare.divergence import Parting
    from stepscope.views.compare.metrics import MetricsTable
    from stepscope.views.context import Context

STYLE = {"likely": "bold red", "possible": "yellow", "unlikely": "dim"}
CURVES = 6


@click.command(name="compare", short_help="Show what changed between two runs or groups.")
@click.argument("runs", nargs=-1)
@store_option
@click.option("--query", "-q", default="", help="Also include runs that match: 'project = vae and age < 2d'.")
@click.option(
    "--by",
    default="",
    help="Group by keys: config.lr,config.width; '*' groups by everything that differs except seeds.",
)
@click.option("--metrics", is_flag=True, help="Show the table of metrics instead of what changed.")
@click.option("--all", "everything", is_flag=True, help="Also show differences that rarely matter.")
@json_option
def command(
    runs: tuple[str, ...], store: Path, query: str, by: str, metrics: bool, everything: bool, as_json: bool
) -> None:
    """Show what changed between two runs: one that works and one that does not.

    RUNS are paths, ids or beginnings of one, names, or `last`. With two, name the working run first. With more, or
    with groups, the best and the worst are compared.

    \b
    stepscope compare @2 last
    stepscope compare -q 'project = vae' --by '*' --metrics
    """
    from stepscope.errors import UsageError

    with catalogue_of(store) as catalogue:
        ids = [catalogue.get(ref).id for ref in runs]
        ids += [entry.id for entry in catalogue.entries(query)] if query else []
        ids = list(dict.fromkeys(ids))
        if len(ids) < 2:
            raise UsageError("give two runs or more: stepscope compare @2 last, or some with --query")
        keys = [key.strip() for key in by.split(",") if key.strip()]
        ctx = _context(catalogue)
        if metrics:
            _metrics(ctx, ids, keys, as_json)
        else:
            _changed(ctx, ids, keys, len(runs) == 2 and not query and not keys, everything, as_json)


def _context(catalogue: Catalogue) -> Context:
    from stepscope.views.context import Context
    from stepscope.views.live import Hub
    from stepscope.views.open_runs import OpenRuns
    from stepscope.views.series import LineCache

    return Context(catalogue=catalogue, runs=OpenRuns(catalogue), lines=LineCache(), hub=Hub(), read_only=True)


# -- what changed ----------------------------------------------------------------------------------------------------


def _changed(ctx: Context, ids: list[str], by: list[str], pair: bool, everything: bool, as_json: bool) -> None:
    from rich.text import Text

    from stepscope.views.compare.changed import ChangedRequest, compare_changed

    asked = ChangedRequest(runs=ids, by=by, a=ids[0] if pair else None, b=ids[1] if pair else None)
    found = compare_changed(ctx, asked)
    if as_json:
        print_json(found)
        return
    out = console()
    names = {column.id: clean(column.label) for column in found.compared.columns}
    a, b = names.get(found.a, ""), names.get(found.b, "")
    out.print(Text.assemble((a, "bold"), " against ", (b, "bold"), f"  ({found.picked})" if found.picked else ""))
    out.print(clean(found.headline), markup=False)
    _outcome(out, found, a, b)
    _curves(out, found.partings)
    _reasons(out, found, everything)
    if found.same:
        out.print()
        out.print("the same: " + clean(", ".join(found.same[:20])), style="dim", markup=False)
    for note in found.notes:
        out.print(clean(note), style="dim", markup=False)


def _outcome(out: Console, found: WhatChanged, a: str, b: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", a, b):
        table.add_column(Text(title), overflow="fold")
    for row in found.outcome:
        table.add_row(Text(clean(row.label)), Text(clean(row.a)), Text(clean(row.b)))
    out.print()
    out.print(table)


def _curves(out: Console, partings: list[Parting]) -> None:
    parted = [one for one in partings if one.step is not None]
    if not parted:
        return
    out.print()
    out.print("where the curves diverge", style="bold")
    for one in parted[:CURVES]:
        noise = f"noise {number(one.noise)}, from {one.noise_from}"
        line = f"  step {one.step:>8,}  {clean(one.key)}: {number(one.a)} against {number(one.b)} ({noise})"
        out.print(line, markup=False, highlight=False)


def _reasons(out: Console, found: WhatChanged, everything: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    shown = [one for one in found.changes if everything or one.likely != "unlikely"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("likely", "what", "works", "does not", "why here"):
        table.add_column(title, overflow="fold", max_width=48)
    for one in shown:
        what = f"{one.kind} {one.key}" + (f" at {one.place}" if one.place else "")
        cells = [what, one.a or "-", one.b or "-", one.why]
        table.add_row(Text(one.likely, style=STYLE[one.likely]), *[Text(clean(cell)) for cell in cells])
    out.print()
    if shown:
        out.print(table)
    left = len(found.changes) - len(shown)
    if left:
        out.print(f"{left} more that rarely matter; --all shows them", style="dim")


# -- metrics ---------------------------------------------------------------------------------------------------------


def _metrics(ctx: Context, ids: list[str], by: list[str], as_json: bool) -> None:
    from stepscope.views.compare.metrics import MetricsRequest, compare_metrics

    found = compare_metrics(ctx, MetricsRequest(runs=ids, by=by))
    if as_json:
        print_json(found)
        return
    out = console()
    out.print(_table(found))
    if found.tests:
        words = f"p: Welch's t-test against the first column, corrected by Holm for {found.tests} tests"
        out.print(f"± is the standard deviation over runs; {words}", style="dim")
    if found.compared.omitted or found.omitted:
        out.print(f"{found.compared.omitted} columns and {found.omitted} metrics are omitted", style="dim")


def _table(found: MetricsTable) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold")
    for column in found.compared.columns:
        count = f" ({len(column.runs)})" if found.compared.by else ""
        table.add_column(Text(clean(column.label) + count), justify="right", overflow="fold")
    for row in found.rows:
        cells = []
        for at, value in enumerate(row.value):
            std = row.std[at] if row.std else None
            p = row.p_holm[at] if row.p_holm else None
            words = ("-" if value is None else number(value)) + (f" ± {number(std)}" if std is not None else "")
            words += f"  p {number(p)}" if p is not None else ""
            cells.append(Text(words, style="bold green" if row.best is not None and value == row.best else ""))
        table.add_row(Text(clean(row.key)), *cells)
    return table
