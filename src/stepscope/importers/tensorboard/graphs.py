"""Graphs written for TensorBoard: a drawing on the *Model* page, and a searchable table."""

from __future__ import annotations

from stepscope.eventfiles.graphs import Node, graph_functions, graph_nodes, traced_graphs
from stepscope.importers.foreign import Piece
from stepscope.importers.tensorboard.graph_calls import unfolded
from stepscope.importers.tensorboard.graph_step import graph_step
from stepscope.importers.things import things_of
from stepscope.inspect.logged import LoggedStep
from stepscope.track.media.table import Table

_MOST_ROWS = 5_000
_MOST_DRAWN = 50_000
"""Larger graphs would take minutes to draw and be unreadable."""


def graph_things(graph: bytes | memoryview, key: str, step: int, time: float) -> list[Piece]:
    """The graph as a recorded step and as a table of its nodes; `BadData` if it is not one."""
    nodes = unfolded(list(graph_nodes(graph)), graph_functions(graph), _MOST_DRAWN)
    return _things(nodes, key, step, time)


def traced_things(metadata: bytes, key: str, step: int, time: float) -> list[Piece]:
    """TensorFlow's traced graphs. It also stores every operator call as a graph: use the largest."""
    largest = max(traced_graphs(metadata), key=len, default=None)
    return [] if largest is None else graph_things(largest, key, step, time)


def _things(nodes: list[Node], key: str, step: int, time: float) -> list[Piece]:
    if not nodes:
        return []
    made: list[Piece] = []
    caption = f"{len(nodes):,} nodes"
    if len(nodes) <= _MOST_DRAWN:
        made += things_of(LoggedStep(graph_step(nodes, time)), key, step, time)
    else:
        caption += f", too many to draw (at most {_MOST_DRAWN:,})"
    if len(nodes) > _MOST_ROWS:
        caption += f", the first {_MOST_ROWS:,} shown"
    table = Table(
        [_row(node) for node in nodes[:_MOST_ROWS]],
        columns=["name", "op", "inputs", "output shapes"],
        caption=caption,
        max_rows=_MOST_ROWS,
    )
    return [*made, *things_of(table, f"{key}/nodes", step, time)]


def _row(node: Node) -> list[str]:
    shapes = ", ".join("x".join("?" if size < 0 else str(size) for size in shape) for shape in node.shapes)
    return [node.name, node.op, ", ".join(node.inputs), shapes]
