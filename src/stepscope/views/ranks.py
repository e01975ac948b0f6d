"""The *Ranks* part of a run's page: one measure over ranks and steps, and which rank the others wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np

from stepscope.errors import UsageError
from stepscope.runs.catalogue.main_metric import loss_likeness, main_metric
from stepscope.runs.read.across_ranks import Floats, standing_out
from stepscope.runs.read.folder import RunFolder
from stepscope.runs.read.node_bands import node_series
from stepscope.runs.read.rank_grid import Grid, band_of_grid, rank_grid
from stepscope.runs.read.slow_ranks import SlowRank, hosts_of, slow_ranks
from stepscope.views.context import Context
from stepscope.views.route import route

__all__ = ["Ranks", "RanksRequest", "ranks"]

MAX_COLUMNS, MAX_ROWS, MAX_OTHERS, MAX_HOSTS = 1000, 512, 1000, 200

Unit = Literal["ms", "bytes", "percent", "number"]


class RanksRequest(msgspec.Struct):
    run: str
    measure: str = ""
    """`step_time`, `data_wait`, `loss`, `memory` or the name of a series; empty for the phase in which a rank is
    slow, or the first available."""
    columns: int = 120
    rows: int = 64


class Measure(msgspec.Struct):
    """A measure that can be shown over the ranks."""

    id: str
    title: str
    unit: Unit
    key: str
    """The underlying series."""


class HeatRow(msgspec.Struct):
    """One rank, or several neighbors, of which each interval shows the one with the largest value."""

    first: int
    last: int
    host: str
    values: list[float | None]
    whose: list[int]
    """The rank of each value; -1 if there is none."""
    bad: list[int]
    """The intervals in which a rank of the row has NaN or Inf."""


class RankBand(msgspec.Struct):
    """Statistics over all ranks, per interval."""

    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    low_rank: list[int]
    high_rank: list[int]
    bad: list[int]
    """Number of ranks with NaN or Inf."""
    bad_rank: list[int]
    """The first of them, or -1."""


class HostRanks(msgspec.Struct):
    host: str
    ranks: int


class Ranks(msgspec.Struct):
    ranks: int
    hosts: list[HostRanks]
    """The first machines."""
    machines: int
    """The number of all machines."""
    slow: list[str]
    """Which ranks the others wait for, in words; slowest first."""
    measures: list[Measure]
    measure: str
    """The id of the shown measure, one of `measures`."""
    unit: Unit
    steps: list[int]
    """The first step of each interval."""
    width: float
    """Steps per interval."""
    rows: list[HeatRow]
    band: RankBand
    outlier: str
    """The rank that is largest in most intervals, in words; or empty."""


@route("POST", "/api/ranks")
def ranks(ctx: Context, request: RanksRequest) -> Ranks:
    """One measure of a run by rank and step."""
    if not 1 <= request.columns <= MAX_COLUMNS or not 1 <= request.rows <= MAX_ROWS:
        raise UsageError(f"columns must be 1 to {MAX_COLUMNS} and rows 1 to {MAX_ROWS}")
    folder = ctx.runs.get(request.run)
    measures = _measures(folder)
    if not measures:
        return _empty(folder)
    slow = slow_ranks(folder)
    chosen = _chosen(measures, request.measure, slow)
    if chosen is None:
        raise UsageError(f"run {folder.name} has no measure {request.measure!r} of several ranks; reload the page")
    grid = rank_grid(folder, chosen.key, request.columns, _CHANGES.get(chosen.id))
    band, hosts = band_of_grid(grid), hosts_of(folder)
    found = standing_out(band)
    outlier = "" if found is None else f"rank {found[0]} is the highest in {found[1]:.0%} of the intervals"
    return Ranks(
        ranks=len(folder.ranks),
        hosts=_by_host(hosts),
        machines=len(set(hosts.values())),
        slow=[one.words() for one in slow],
        measures=measures,
        measure=chosen.id,
        unit=chosen.unit,
        steps=grid.steps.tolist(),
        width=grid.width,
        rows=_rows(grid, request.rows, hosts),
        band=RankBand(
            mean=_numbers(band.mean),
            low=_numbers(band.low),
            high=_numbers(band.high),
            low_rank=band.low_rank.tolist(),
            high_rank=band.high_rank.tolist(),
            bad=band.bad.tolist(),
            bad_rank=band.bad_rank.tolist(),
        ),
        outlier=outlier,
    )


def _chosen(measures: list[Measure], wanted: str, slow: list[SlowRank]) -> Measure | None:
    if not wanted:  # step times are equal, as the others wait; the slow phase shows who they wait for
        phases = [one for one in measures if slow and one.key == f"time/{slow[0].phase}_ms"]
        return (phases or measures)[0]
    by_id = [one for one in measures if one.id == wanted]
    by_key = [one for one in measures if one.key == wanted]  # the series behind Loss or Memory
    return next(iter(by_id + by_key), None)


def _step_ms(rate: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return 1000.0 / rate


_CHANGES: dict[str, Callable[[Floats], Floats]] = {"step_time": _step_ms}


def _measures(folder: RunFolder) -> list[Measure]:
    """The four standard ones first, then every series that several ranks have."""
    on_nodes = list(node_series(folder))
    shared = [name for name in folder.metrics() if name in on_nodes or len(folder.ranks_with(name)) > 1]
    names = list(dict.fromkeys([*shared, *on_nodes]))
    known = [measure for measure in _standard_measures(names) if measure.key in names]
    taken = {one.key for one in known if one.id != "step_time"}
    others = [name for name in names if name not in taken][:MAX_OTHERS]
    return known + [Measure(name, name, _unit(name), name) for name in others]


def _standard_measures(names: list[str]) -> list[Measure]:
    losses = tuple(name for name in names if not name.startswith(_MACHINE) and loss_likeness(name) is not None)
    loss = main_metric(losses) if losses else None
    memory = next((one for one in _MEMORY if one in names), "")
    return [
        Measure("step_time", "Step time", "ms", "speed/steps_per_s"),
        Measure("data_wait", "Data wait", "ms", "time/data_ms"),
        Measure("loss", "Loss", "number", loss or ""),
        Measure("memory", "Memory", "bytes", memory),
    ]


_MACHINE = ("system/", "time/", "speed/", "memory/")
_MEMORY = ("memory/gpu_bytes", "memory/process_bytes", "system/process_rss_bytes")


def _unit(name: str) -> Unit:
    if name.endswith("_ms"):
        return "ms"
    if name.endswith("_bytes"):
        return "bytes"
    return "percent" if name.endswith("_percent") else "number"


def _rows(grid: Grid, most: int, hosts: dict[int, str]) -> list[HeatRow]:
    """With more ranks than rows, neighbors share a row that shows the largest, so that a slow rank is never hidden."""
    found = []
    size = max(1, -(-len(grid.first) // most))
    for start in range(0, len(grid.first), size):
        part = slice(start, start + size)
        values = grid.largest[part]
        filled = np.where(np.isnan(values), -np.inf, values)
        at = filled.argmax(axis=0)
        largest = np.take_along_axis(values, at[None, :], axis=0)[0]
        whose = np.where(np.isnan(largest), -1, np.take_along_axis(grid.high_rank[part], at[None, :], axis=0)[0])
        first, last = int(grid.first[part][0]), int(grid.last[part][-1])
        machines = list(dict.fromkeys(hosts.get(int(rank), "") for rank in grid.first[part]))
        host = machines[0] if len(machines) == 1 else f"{machines[0]} to {machines[-1]}"
        bad = np.flatnonzero(grid.bad[part].any(axis=0)).tolist()
        found.append(HeatRow(first, last, host, _numbers(largest), whose.tolist(), bad))
    return found


def _by_host(hosts: dict[int, str]) -> list[HostRanks]:
    counts: dict[str, int] = {}
    for _, host in sorted(hosts.items()):
        counts[host] = counts.get(host, 0) + 1
    return [HostRanks(host, count) for host, count in list(counts.items())[:MAX_HOSTS]]


def _numbers(values: Floats) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def _empty(folder: RunFolder) -> Ranks:
    """A run with one rank, or with ranks that have no series in common."""
    band = RankBand([], [], [], [], [], [], [])
    hosts = hosts_of(folder)
    return Ranks(
        len(folder.ranks), _by_host(hosts), len(set(hosts.values())), [], [], "", "number", [], 1.0, [], band, ""
    )
