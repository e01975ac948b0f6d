"""torchview: a drawing of the modules. Only the graph is built; Graphviz does not draw it."""

from __future__ import annotations

from inspectors.nets import Case

REQUIREMENTS = ["torch==2.13.0", "numpy", "torchview", "graphviz"]


def draw(case: Case) -> None:
    import torchview

    graph = torchview.draw_graph(case.model, input_data=case.inputs, device="cpu")
    assert len(graph.visual_graph.source) > 100


TOOLS = {"draw_graph": ("forward", draw)}
