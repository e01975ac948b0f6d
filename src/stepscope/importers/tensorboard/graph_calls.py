"""TensorFlow stores a traced function as one node that calls it: replace the call by the function's nodes."""

from __future__ import annotations

from dataclasses import replace

from stepscope.eventfiles.graphs import Function, Node

_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
_DEEPEST = 12

Calls = dict[str, tuple[Node, Function]]
"""The calls of a graph by name, each with its function."""


def unfolded(nodes: list[Node], functions: dict[str, Function], most: int) -> list[Node]:
    """The graph with its function calls inlined; calls that would exceed `most` nodes stay."""
    for _ in range(_DEEPEST):
        calls = {node.name: (node, functions[name]) for node in nodes if (name := _called(node)) in functions}
        if not calls or len(nodes) + sum(len(function.nodes) for _, function in calls.values()) > most:
            break
        nodes = _once(nodes, calls)
    return nodes


def _called(node: Node) -> str:
    called = node.attributes.get("f") if node.op in _CALLS else node.op
    return called if isinstance(called, str) else ""


def _once(nodes: list[Node], calls: Calls) -> list[Node]:
    made: list[Node] = []
    for node in nodes:
        inputs = [_returned(text, calls) for text in node.inputs]
        if node.name not in calls:
            made.append(replace(node, inputs=inputs))
            continue
        function = calls[node.name][1]
        given = dict(zip(function.arguments, inputs, strict=False))
        for inner in function.nodes:
            read = [_inside(text, node.name, given) for text in inner.inputs]
            made.append(replace(inner, name=f"{node.name}/{inner.name}", inputs=read))
    return made


def _inside(text: str, call: str, given: dict[str, str]) -> str:
    """An input within a function, as seen from outside."""
    if text.startswith("^"):
        return f"^{call}/{text[1:]}"
    name = text.partition(":")[0]
    return given.get(name, f"{call}/{text}")


def _returned(text: str, calls: Calls) -> str:
    """A call's outputs, by the node inside that produced each."""
    for _ in range(_DEEPEST):
        name, _, output = text.partition(":")
        if name not in calls:
            break
        node, function = calls[name]
        place = int(output) if output.isdigit() and len(output) < 6 else 0
        result = function.results[place] if place < len(function.results) else ""
        handed = result.partition(":")[0]
        if handed not in function.arguments:
            return f"{name}/{result}"
        argument = function.arguments.index(handed)  # returned unchanged: no node inside produced it
        text = node.inputs[argument] if argument < len(node.inputs) else ""
    return text
