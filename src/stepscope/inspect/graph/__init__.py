"""The graph of a recorded step: nested module boxes, ops and the tensors between them."""

from stepscope.inspect.graph.data import GraphBox, GraphData, GraphEdge, GraphNode, GraphTensor

__all__ = ["GraphBox", "GraphData", "GraphEdge", "GraphNode", "GraphTensor"]
