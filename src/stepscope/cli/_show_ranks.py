"""`stepscope show --ranks`: each metric over all ranks, and which rank is extreme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stepscope.cli._terminal import clean, number
from stepscope.runs.read.across_ranks import Band, across_ranks, standing_out
from stepscope.runs.read.node_bands import node_series
from stepscope.runs.read.rank_grid import band_of_grid, rank_grid
from stepscope.runs.read.slow_ranks import slow_ranks

if TYPE_CHECKING:
    from rich.console import Console

    from stepscope.runs.read.folder import RunFolder

_COLUMNS = 200


def show_ranks(out: Console, run: RunFolder) -> None:
    """One line per metric: mean and extremes over the ranks at the last step, and the outlier."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold", max_width=40)
    for title in ("step", "mean", "min", "of rank", "max", "of rank"):
        table.add_column(title, justify="right")
    table.add_column("")
    for name in dict.fromkeys([*run.metrics(), *node_series(run)]):
        band = _band(run, name)
        most = band.count + band.bad
        if not len(most) or most.max() < 2:
            continue
        at = int(np.flatnonzero(most == most.max())[-1])  # the last step that most ranks have
        cells = [band.steps[at], band.mean[at], band.low[at], band.low_rank[at], band.high[at], band.high_rank[at]]
        shown = [number(cell.item()) if band.count[at] else "-" for cell in cells]
        table.add_row(clean(name), *shown, _remarks(band))
    for slow in slow_ranks(run):
        out.print(clean(slow.words()), style="yellow", highlight=False)
    out.print(table)


def _band(run: RunFolder, name: str) -> Band:
    """By step; in intervals where ranks log at steps of their own, as they do the times, or nodes keep a band."""
    if name in node_series(run):
        return band_of_grid(rank_grid(run, name, _COLUMNS))
    band = across_ranks(run, name)
    ranks = len(run.ranks_with(name))
    is_shared = len(band.steps) and np.median(band.count + band.bad) * 2 >= ranks
    return band if is_shared or ranks < 2 else band_of_grid(rank_grid(run, name, _COLUMNS))


def _remarks(band: Band) -> str:
    said = []
    if band.bad.any():
        first = int(np.flatnonzero(band.bad)[0])
        said.append(f"not finite on rank {band.bad_rank[first]} from step {band.steps[first]}")
    found = standing_out(band)
    if found is not None:
        said.append(f"rank {found[0]} is highest at {found[1]:.0%} of steps")
    return "; ".join(said)
