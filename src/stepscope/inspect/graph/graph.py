"""`step.graph()`: show a step as a graph, or save it."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Any, get_args

import msgspec

from stepscope.errors import NotFound, StorageError, UsageError
from stepscope.inspect.graph.build import FORWARD, build_graph
from stepscope.inspect.graph.colouring import Colour, colouring
from stepscope.inspect.graph.data import GraphData
from stepscope.inspect.graph.dot import dot
from stepscope.inspect.graph.page import page
from stepscope.inspect.graph.png import png
from stepscope.inspect.graph.scene import Scene, scene_of
from stepscope.inspect.graph.shown import Drawing, boxes_to_depth, shown, starting_boxes
from stepscope.inspect.graph.svg import svg
from stepscope.records.step import Phase, StepRecord

_SUFFIXES = (".html", ".svg", ".png", ".json", ".dot")


def graph_of(
    record: StepRecord,
    *,
    backward: bool = False,
    optimizer: bool = False,
    depth: int | None = None,
    color: Colour = "kind",
    fold: bool = True,
    parameters: bool = False,
) -> Graph:
    """The graph of a recorded step.

    `backward` and `optimizer` add those phases. The other options control the drawing: `depth` opens all boxes down
    to a depth (0: the model as one box; by default as many levels as are readable), `color` is kind, time, memory,
    flops, dtype, device or nonfinite, `fold` draws repeated blocks once, `parameters` draws weights as nodes.
    """
    phases: list[Phase] = [*FORWARD]
    if backward:
        phases.append("backward")
    if optimizer:
        phases.append("optimizer")
    return Graph(build_graph(record, phases), depth=depth, color=color, fold=fold, parameters=parameters)


class Graph:
    """A step as a graph: boxes are module calls, nodes are ops, edges are the tensors between them.

    >>> step.graph().show()                                   # doctest: +SKIP
    >>> step.graph(color="time").save("net.svg")              # doctest: +SKIP
    >>> step.graph(depth=2, parameters=True).save("net.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        data: GraphData,
        *,
        depth: int | None = None,
        color: Colour = "kind",
        fold: bool = True,
        parameters: bool = False,
    ) -> None:
        if depth is not None and (not isinstance(depth, int) or depth < 0):
            raise UsageError(f"depth is {depth!r}; expected a whole number from 0, or None to open what fits")
        if color not in get_args(Colour):
            raise UsageError(f"cannot color by {color!r}; choose one of {', '.join(get_args(Colour))}")
        self.data = data
        """The complete data; `.json` files contain exactly this."""
        self._depth, self._color, self._fold, self._parameters = depth, color, fold, parameters

    def save(self, path: str | os.PathLike[str], *, scale: float = 2.0, theme: str = "auto") -> Path:
        """Write the graph as `.html` (interactive, one file), `.svg`, `.png`, `.json` or `.dot`, by file extension.

        `scale` is the resolution of a PNG; `theme` is light, dark or auto (an SVG then follows the reader's system).
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in _SUFFIXES:
            raise UsageError(f"cannot save a graph as {target.name!r}; the name must end in {', '.join(_SUFFIXES)}")
        if theme not in ("light", "dark", "auto"):
            raise UsageError(f"theme is {theme!r}; expected light, dark or auto")
        body = self._body(suffix, scale, theme)
        try:
            target.write_bytes(body)
        except OSError as fault:
            raise StorageError(
                f"cannot write the graph to {target}: {fault.strerror or fault}; choose another place"
            ) from fault
        return target

    def _body(self, suffix: str, scale: float, theme: str) -> bytes:
        if suffix == ".png":
            return self.png(scale=scale, theme=theme)
        text = {
            ".html": self.html,
            ".svg": lambda: self.svg(theme=theme),
            ".json": self.json,
            ".dot": self.dot,
        }[suffix]()
        return text.encode("utf-8", "replace")

    def svg(self, theme: str = "auto") -> str:
        return svg(self._scene(), theme)

    def png(self, scale: float = 2.0, theme: str = "light") -> bytes:
        return png(self._scene(), scale, theme)

    def dot(self) -> str:
        drawing = self._drawing()
        return dot(drawing, colouring(drawing, self._color))

    def json(self) -> str:
        return msgspec.json.encode(self.data).decode()

    def html(self) -> str:
        """The interactive viewer with this graph embedded, as one page."""
        return page(self._as_chosen(), f"{self.data.model or 'Step'}: graph")

    def show(self) -> Path | None:
        """Open the graph: below the cell in a notebook, else in the browser. Returns the opened file."""
        if _in_notebook():
            sys.modules["IPython"].display.display(self)
            return None
        folder = Path(tempfile.mkdtemp(prefix="stepscope-graph-"))
        path = self.save(folder / "graph.html")
        if not webbrowser.open(path.as_uri()):
            sys.stderr.write(f"stepscope: no browser could be opened; the graph is in {path}\n")
        return path

    def _repr_html_(self) -> str:
        try:
            inner = escape(self.html())
        except NotFound:
            return self.svg()
        return (
            f'<iframe srcdoc="{inner}" sandbox="allow-scripts" title="graph" '
            'style="width:100%;height:640px;border:1px solid #8884;border-radius:8px"></iframe>'
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        folded = sum(box.repeat > 1 for box in self.data.boxes)
        ops = sum(node.kind == "op" for node in self.data.nodes)
        repeats = f", {folded} repeated blocks folded" if folded and self._fold else ""
        return f"<graph of {self.data.model or 'plain code'}: {ops} ops in {len(self.data.boxes)} boxes{repeats}>"

    def _opened(self) -> set[int]:
        return (
            starting_boxes(self.data)
            if self._depth is None
            else boxes_to_depth(self.data, self._depth, self._parameters)
        )

    def _drawing(self) -> Drawing:
        return shown(self.data, self._opened(), fold=self._fold, parameters=self._parameters)

    def _scene(self) -> Scene:
        return scene_of(self._drawing(), self._color)

    def _as_chosen(self) -> GraphData:
        """The data with the requested open boxes, color and weights."""
        opened = self._opened()
        boxes = [msgspec.structs.replace(box, open=box.id in opened) for box in self.data.boxes]
        if not self._fold:
            boxes = [msgspec.structs.replace(box, fold=None, repeat=1) for box in boxes]
        color = None if self._color == "kind" else self._color  # the viewer colors kinds of work by name itself
        return msgspec.structs.replace(self.data, boxes=boxes, color=color, parameters=self._parameters)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")
