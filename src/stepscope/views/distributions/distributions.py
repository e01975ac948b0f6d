"""The *Distributions* page: the layers whose histograms the runs logged, side by side, with their statistics."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Media
from stepscope.runs.points.histograms import decode_histogram
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.distributions.histograms import finite_number
from stepscope.views.distributions.layer_names import FAMILIES, in_rows, placed
from stepscope.views.route import route

__all__ = ["distributions"]

MAX_RUNS = 24
MAX_LAYERS = 5000
_FEW_BINS = 8
"""A histogram with fewer values cannot show a stuck layer."""


class DistributionsRequest(msgspec.Struct):
    runs: list[str]


class DistributionCell(msgspec.Struct):
    """One run's histograms of one layer in one family. Statistics are of its newest histogram; None if unknown."""

    run: str
    family: str
    """weights, gradients, activations or values"""
    key: str
    """The key under which they were logged."""
    count: int
    """Number of steps."""
    first_step: int
    last_step: int
    low: float | None
    """The minimum over all steps."""
    high: float | None
    mean: float | None
    std: float | None
    moved: float | None
    """From the first histogram to the newest: sqrt(change of mean² + change of deviation²) / the first's deviation."""
    stuck: float | None
    """The fraction of values in the two fullest bins: near 1 for a dead or saturated layer."""
    bad: int
    """NaN and infinities over all steps."""


class DistributionLayer(msgspec.Struct):
    name: str
    cells: list[DistributionCell]


class Distributions(msgspec.Struct):
    layers: list[DistributionLayer]
    """In model order, as far as the order of first logging shows it."""
    families: list[str]
    """The available families, in display order."""
    omitted: int = 0
    """Number of layers beyond the page's limit."""


@route("POST", "/api/distributions")
def distributions(ctx: Context, request: DistributionsRequest) -> Distributions:
    """The layers of the chosen runs, with statistics per run and family."""
    if len(request.runs) > MAX_RUNS:
        raise UsageError(f"at most {MAX_RUNS} runs at once, not {len(request.runs)}; choose fewer")
    layers: dict[str, DistributionLayer] = {}
    for run in dict.fromkeys(request.runs):
        try:
            folder = ctx.runs.get(run)
        except NotFound:  # deleted since the page was opened
            continue
        keys = [key for key, kind in folder.media_keys(as_logged=True).items() if kind == "histogram"]
        rows = in_rows(placed(keys))
        for name, found in rows.items():
            layer = layers.setdefault(name, DistributionLayer(name=name, cells=[]))
            layer.cells += [_cell(folder, one.key, one.family) for one in found]
    shown = list(layers.values())[:MAX_LAYERS]
    there = {cell.family for layer in shown for cell in layer.cells}
    return Distributions(
        layers=shown,
        families=[family for family in FAMILIES if family in there],
        omitted=max(0, len(layers) - MAX_LAYERS),
    )


def _cell(folder: RunFolder, key: str, family: str) -> DistributionCell:
    found = folder.media(key, kind="histogram")
    first, last = found[0], found[-1]
    lows = [low for one in found if (low := finite_number(one, "min")) is not None]
    highs = [high for one in found if (high := finite_number(one, "max")) is not None]
    return DistributionCell(
        run=folder.id,
        family=family,
        key=key,
        count=len({one.step for one in found}),
        first_step=first.step,
        last_step=last.step,
        low=min(lows, default=None),
        high=max(highs, default=None),
        mean=finite_number(last, "mean"),
        std=finite_number(last, "std"),
        moved=_moved(first, last),
        stuck=_stuck(folder, last),
        bad=sum(_bad(one) for one in found),
    )


def _bad(one: Media) -> int:
    return sum(int(finite_number(one, name) or 0) for name in ("nan", "pos_inf", "neg_inf"))


def _moved(first: Media, last: Media) -> float | None:
    """How far the distribution moved, in standard deviations of the first: exact for normal distributions
    (Wasserstein-2).
    """
    numbers = [finite_number(one, name) for one in (first, last) for name in ("mean", "std")]
    if any(number is None for number in numbers):
        return None
    mean, std, mean_now, std_now = (number or 0.0 for number in numbers)
    far = math.hypot(mean_now - mean, std_now - std)
    return far / std if std > 0 and math.isfinite(far / std) else None


def _stuck(folder: RunFolder, one: Media) -> float | None:
    try:
        counts = decode_histogram(folder.media_bytes(one)).counts
    except (BadData, NotFound):  # damaged or dropped
        return None
    total = float(counts.sum())
    if len(counts) < _FEW_BINS or total <= 0:
        return None
    return float(np.sort(counts)[-2:].sum() / total)
