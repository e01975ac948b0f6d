"""The distribution of a tensor's values over the steps."""

from __future__ import annotations

from typing import Literal

from stepscope.errors import NotFound
from stepscope.report.draw_ridges import draw_ridges
from stepscope.views.charts import HistogramsRequest
from stepscope.views.distributions.histograms import histograms
from stepscope.views.hues import HUES
from stepscope.views.panels._asked import keys_of, need_keys
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures

MOST_RUNS = 6


class DistributionOptions(Options, kw_only=True):
    key: str = ""
    view: Literal["ridge", "heat", "bands"] = "ridge"


def check(bound: Bound) -> None:
    need_keys(bound, [bound.options.key] if bound.options.key else [], keys_of(bound, {"histogram"}))


def pack(bound: Bound, packing: Packing) -> None:
    for run in _having(bound):
        packing.ask("POST /api/histograms", HistogramsRequest(run=run, key=bound.options.key))


def write(bound: Bound, out: Pictures) -> str:
    key = bound.options.key
    parts = []
    for run in _having(bound):
        found = histograms(bound.ctx, HistogramsRequest(run=run, key=key))
        name = bound.ctx.catalogue.entry(run).name
        title = f"{bound.title or key} · {name}"
        picture = draw_ridges(found.steps, found.edges, found.counts, title, out.hues.get(run, 0) % HUES)
        parts.append(out.picture(title, "svg", picture.encode("utf-8", "replace"), f"Distribution of {key} in {name}"))
    return "\n".join(parts)


def _having(bound: Bound) -> list[str]:
    found = []
    for run in bound.runs:
        try:
            if bound.ctx.runs.get(run).media(bound.options.key, kind="histogram"):
                found.append(run)
        except NotFound:
            continue
    return found[:MOST_RUNS]


PANEL = PanelKind("distribution", "The distribution of values over the steps", DistributionOptions, pack, write, check)
