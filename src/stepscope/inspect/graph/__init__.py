"""The graph of a recorded step: nested module boxes, ops and the tensors between them."""

from stepscope.inspect.graph.data import GraphBox, GraphData, GraphEdge, GraphNode, GraphTensor
from stepscope.inspect.graph.graph import Graph, graph_of

__all__ = ["Graph", "GraphBox", "GraphData", "GraphEdge", "GraphNode", "GraphTensor", "graph_of"]
