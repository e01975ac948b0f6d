"""The module of each event: in forward by nesting, in backward through the operator it differentiates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import nearest
from stepscope.profile.trace.calls import Calls, call_tree
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.library import take_or
from stepscope.profile.trace.python_names import MODULE, MODULE_SPAN
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

_SPAN = re.compile(r"^module (?P<path>.*?)(?: \((?P<kind>[^()]*)\))?$")
_NODE = "autograd::engine::evaluate_function: "
_NUMBERED = re.compile(r"_\d+$")


@dataclass(frozen=True)
class ModuleNode:
    """One module, or a container that is never called itself."""

    path: str
    """blocks.0.fc1; where the trace does not know it: Linear_3"""
    label: str
    """The last part of the path; of a root its class."""
    kind: str
    """The class; empty for a container."""
    parent: int


@dataclass(frozen=True)
class Modules:
    nodes: list[ModuleNode]
    """Parents before their children."""
    named: bool
    """Whether the paths are real ones."""
    calls: Ints
    """By node: how often it was called."""
    own_ns: Ints
    """By node: time of its calls without that of the modules they called."""
    forward: Ints
    """int32: for each host event, the node of the module call it is or lies in; -1 outside."""
    backward: Ints
    """int32: for each host event in backward, the node whose forward it differentiates; -1 elsewhere."""

    def summed(self, own: Ints) -> list[int]:
        """A number by node, made to include all nodes below."""
        total = own.astype(np.int64).tolist()
        for i in range(len(self.nodes) - 1, -1, -1):
            up = self.nodes[i].parent
            if up >= 0:
                total[up] += total[i]
        return [int(one) for one in total]

    def order(self) -> list[int]:
        """The nodes as a tree is printed: each followed by all below it, those called first coming first."""
        below: dict[int, list[int]] = {}
        for i, node in enumerate(self.nodes):
            below.setdefault(node.parent, []).append(i)
        order: list[int] = []
        stack = list(reversed(below.get(-1, [])))
        while stack:
            i = stack.pop()
            order.append(i)
            stack.extend(reversed(below.get(i, [])))
        return order

    def level(self, node: int) -> int:
        """How deep a node is."""
        depth = -1
        while node >= 0:
            node, depth = self.nodes[node].parent, depth + 1
        return depth


def modules_of(trace: Trace, facts: Mapping[str, Any]) -> Modules | None:
    """The modules of a trace that has stacks, or the spans of our own collector; None where it has neither."""
    rows, texts = _module_rows(trace)
    if not len(rows):
        return None
    names = {text: i for i, text in enumerate(dict.fromkeys(texts.values()))}
    label = np.array([names[texts[name]] for name in trace.events.name[rows].tolist()], np.int64)
    is_call = np.zeros(len(trace), bool)
    is_call[rows] = True
    inside = nearest(trace.parent, is_call)
    position = np.full(len(trace) + 1, -1, np.int64)
    position[rows] = np.arange(len(rows))
    up = trace.parent[rows]
    tree = call_tree(position[np.where(up >= 0, inside[up], -1)], label, trace.events.dur[rows])
    known = facts.get("modules")
    nodes, of_tree, named = _named(tree, list(names), known if isinstance(known, Mapping) else {})
    of_row = np.full(len(trace), -1, np.int32)
    of_row[rows] = of_tree[tree.node]
    forward = take_or(of_row, inside)
    return Modules(
        nodes=nodes,
        named=named,
        calls=np.bincount(of_tree, tree.calls, len(nodes)).astype(np.int64),
        own_ns=np.bincount(of_tree, tree.own_ns, len(nodes)).astype(np.int64),
        forward=forward,
        backward=_backward(trace, forward, is_call),
    )


def _module_rows(trace: Trace) -> tuple[Ints, dict[int, str]]:
    """The calls of modules in the order of time, and the name of each distinct one."""
    events = trace.events
    texts = {i: name[len(MODULE) :] for i, name in enumerate(events.names) if name.startswith(MODULE)}
    kind = Kind.PYTHON
    if not texts:
        texts = {i: name for i, name in enumerate(events.names) if name.startswith(MODULE_SPAN)}
        kind = Kind.ANNOTATION
    rows = np.flatnonzero((trace.kind == kind) & events.has_name(list(texts)) & (events.dur >= 0))
    return rows[np.argsort(events.start[rows], kind="stable")], texts


def _named(tree: Calls, labels: list[str], known: Mapping[str, Any]) -> tuple[list[ModuleNode], Ints, bool]:
    """Nodes by path: calls of one module from several places are one node, and containers stand above their parts."""
    nodes: list[ModuleNode] = []
    index: dict[tuple[str, str], int] = {}
    named = False

    def node(root: str, path: str, kind: str) -> int:
        found = index.get((root, path))
        if found is None:
            above = node(root, path.rpartition(".")[0], "") if path else -1
            shown = path.rpartition(".")[2] if path else root
            found = index[(root, path)] = len(nodes)
            nodes.append(ModuleNode(path or root, shown, kind, above))
        elif kind and not nodes[found].kind:
            old = nodes[found]
            nodes[found] = ModuleNode(old.path, old.label, kind, old.parent)
        return found

    def unknown(text: str, above: int) -> int:
        found = index.get((f"#{above}", text))
        if found is None:
            found = index[(f"#{above}", text)] = len(nodes)
            nodes.append(ModuleNode(text, text, _NUMBERED.sub("", text), above))
        return found

    of_tree = np.zeros(len(tree), np.int64)
    # Calls in the order they were first made, so that the tree reads like the model. Parents come first by themselves.
    for i, (text, parent) in enumerate(zip(tree.label.tolist(), tree.parent.tolist(), strict=True)):
        name = labels[text]
        place = known.get(name)
        span = _SPAN.match(name) if name.startswith(MODULE_SPAN) else None
        if span is not None:
            root, _, path = span["path"].partition(":")
            of_tree[i], named = node(root, path, span["kind"] or ""), True
        elif isinstance(place, list) and len(place) == 2:
            of_tree[i], named = node(str(place[0]), str(place[1]), _NUMBERED.sub("", name)), True
        else:
            of_tree[i] = unknown(name, int(of_tree[parent]) if parent >= 0 else -1)
    return nodes, of_tree, named


def backward_nodes(trace: Trace) -> Ints:
    """A mask: the nodes of the graph that backward walks."""
    return np.asarray(trace.events.named(_is_node) & (trace.kind == Kind.OP.value))


def _is_node(name: str) -> bool:
    return name.startswith(_NODE)


def _backward(trace: Trace, forward: Ints, is_call: Ints) -> Ints:
    """For each host event in backward the module node it belongs to."""
    events = trace.events
    is_node = backward_nodes(trace)
    nodes = np.flatnonzero(is_node)
    none = np.full(len(trace), -1, np.int32)
    if not len(nodes):
        return none
    nodes = nodes[np.lexsort((events.start[nodes], events.lane[nodes]))]
    source = trace.forward_op[nodes]
    module = np.where(source >= 0, forward[source], -1)
    # Gradients are added to parameters right after the node that made them: the engine gives AccumulateGrad the
    # highest priority of all. It has no forward of its own.
    adds = events.named(lambda name: name.startswith(_NODE) and name.endswith("AccumulateGrad"))[nodes]
    last = np.maximum.accumulate(np.where(adds, -1, np.arange(len(nodes))))
    takes = adds & (last >= 0) & (events.lane[nodes] == events.lane[nodes[np.maximum(last, 0)]])
    module = np.where(takes, module[np.maximum(last, 0)], module)
    of_row = none  # and so for calls of modules
    of_row[nodes] = module
    around = nearest(trace.parent, is_node | is_call)  # a forward repeated inside backward stays a forward
    return take_or(of_row, around)
