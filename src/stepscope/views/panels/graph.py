"""The model of a run: its recorded step as a graph, or as a table of modules."""

from __future__ import annotations

from typing import Literal

from stepscope.errors import NotFound, UsageError
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures
from stepscope.views.step.model import ModelPage, ModelRequest, StepsRequest, model, steps

_MOST_ROWS = 60


class GraphOptions(Options, kw_only=True):
    key: str | None = None
    """The recording's key, if a run has several."""
    step: int | None = None
    backward: bool = False
    view: Literal["graph", "table"] = "graph"


def check(bound: Bound) -> None:
    run = bound.runs[0]
    if not steps(bound.ctx, StepsRequest(run=run)).steps:
        name = bound.entries[0].name
        raise UsageError(f"run {name!r} has no recorded step; record one with `stepscope run` or run.log(...)")


def pack(bound: Bound, packing: Packing) -> None:
    packing.ask("POST /api/model", _request(bound))
    packing.ask("POST /api/steps", StepsRequest(run=bound.runs[0]))


def write(bound: Bound, out: Pictures) -> str:
    page = model(bound.ctx, _request(bound))
    name = bound.entries[0].name
    if bound.options.view == "table":
        return _table(page, out)
    from stepscope.inspect.graph.graph import Graph

    picture = Graph(page.graph).svg()
    return out.picture(f"model-{name}", "svg", picture.encode("utf-8", "replace"), f"Model of {name}")


def _request(bound: Bound) -> ModelRequest:
    options: GraphOptions = bound.options
    return ModelRequest(run=bound.runs[0], key=options.key, step=options.step, backward=options.backward)


def _table(page: ModelPage, out: Pictures) -> str:
    if not page.modules:
        raise NotFound("the recorded step has no modules; record one with a model: stepscope.record(model)")
    rows = [
        ["\u2003" * row.level + row.label, row.type, _shapes(row.output), row.params, row.flops]
        for row in page.modules[:_MOST_ROWS]
    ]
    more = len(page.modules) - _MOST_ROWS
    text = out.table(["module", "type", "output", "parameters", "FLOP"], rows, {3, 4})
    return text + (f"\n*{more} more modules.*\n" if more > 0 else "")


def _shapes(shapes: list[list[int]]) -> str:
    return ", ".join("×".join(map(str, shape)) or "scalar" for shape in shapes[:3])


PANEL = PanelKind("graph", "The model as a graph or a table", GraphOptions, pack, write, check)
