"""A TensorBoard graph as a recorded step, so that the *Model* page draws it like any model.

Name scopes become modules, nodes become ops in a valid execution order, inputs become edges. Constants and lists of
them become arguments of the ops that read them: PyTorch's tracer creates a node for each stride.
"""

from __future__ import annotations

import heapq
import math
import re
from typing import Any

from stepscope.eventfiles.graphs import Node
from stepscope.importers.tensorboard.graph_roles import (
    Role,
    arguments_of,
    attribute_name,
    constant_of,
    dtype_of,
    role_of,
    scope_of,
    shape_of,
)
from stepscope.records.step import ModuleCall, ModuleInfo, Op, Phase, StepRecord, TensorInfo, TensorRef

_SOURCE = re.compile(r"^(.*?)(?::(?:[A-Za-z_]\w*:)?(\d{1,4}))?$", re.DOTALL)
_BACKWARD = re.compile(r"^gradients?(_tape|_\d+)?$")
_TRACED = re.compile(r"\.\d+$")
"""PyTorch's tracer numbers values of the same name: `x.1`."""
_MOST_LISTED = 1_000
_MOST_SHOWN = 8
_BYTES = {"128": 16, "8": 1, "16": 2, "32": 4, "64": 8, "bool": 1}


def graph_step(nodes: list[Node], started: float) -> StepRecord:
    """The graph as a step: forward, except for gradients in TensorFlow graphs."""
    return _Graph(nodes).record(started)


class _Graph:
    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.roles: list[Role] = [role_of(node) for node in nodes]
        self.places = {node.name: place for place, node in enumerate(nodes)}
        self.tensors: list[TensorInfo] = []
        self.modules: dict[str, ModuleInfo] = {}
        self.calls: dict[str, ModuleCall] = {}
        self._numbers: dict[str, int] = {}
        self.model = ""
        self._outputs: dict[tuple[int, int], TensorRef] = {}
        self._chains: dict[str | None, list[str]] = {None: []}
        """Each module and its ancestors."""
        self._paths = [self._path_of(node, role) for node, role in zip(nodes, self.roles, strict=True)]
        self._read = [self._inputs_of(place) for place in range(len(nodes))]
        self._phases: dict[int, Phase] = {}

    def record(self, started: float) -> StepRecord:
        order = self._order()
        ops = tuple(self._op(index, place) for index, place in enumerate(order))
        self._reach(order)
        return StepRecord(
            started=started,
            model=self.model,
            device="",
            ops=ops,
            tensors=tuple(self.tensors),
            modules=tuple(self.modules.values()),
            calls=tuple(self.calls.values()),
            notes={"source": "a graph in a TensorBoard event file"},
        )

    def _path_of(self, node: Node, role: Role) -> str | None:
        """The module of a node; creates its ancestors and their calls."""
        if role in ("input", "output"):
            return None
        scope = scope_of(node)
        around: str | None = None
        chain = [("", scope.root)] if scope.root else []
        for name, kind in [*chain, *scope.parts]:
            path = f"{around}.{name}" if around else name
            if role == "op":
                self._enter(path, kind, around)
            around = path
        self.model = self.model or scope.root
        return around

    def _enter(self, path: str, kind: str, around: str | None) -> None:
        if path in self.calls:
            return
        parent = None if around is None else self._numbers[around]
        self._numbers[path] = len(self.calls)
        self._chains[path] = [path, *self._chains[around]]
        self.calls[path] = ModuleCall(path=path, call=0, parent=parent)
        self.modules[path] = ModuleInfo(path=path, type=kind)

    def _inputs_of(self, place: int) -> list[tuple[int, int, int]]:
        """(input position, node, output) of a node's inputs; lists are expanded."""
        found: list[tuple[int, int, int]] = []
        waiting = [(position, text) for position, text in reversed(list(enumerate(self.nodes[place].inputs)))]
        seen = 0
        while waiting and seen < _MOST_LISTED:
            seen += 1
            position, text = waiting.pop()
            name, output = _source(text)
            source = self.places.get(name)
            if source is None or text.startswith("^"):
                continue
            if self.roles[source] == "list" and not self._is_constant_list(source):
                waiting += [(position, inner) for inner in reversed(self.nodes[source].inputs)]
            else:
                found.append((position, source, output))
        return found

    def _is_constant_list(self, place: int) -> bool:
        inner = [self.places.get(_source(text)[0]) for text in self.nodes[place].inputs]
        return all(one is not None and self.roles[one] == "constant" for one in inner)

    def _links(self, ops: list[int]) -> tuple[dict[int, list[int]], dict[int, int]]:
        """The readers of each op, and from how many ops each reads."""
        readers: dict[int, list[int]] = {}
        missing = dict.fromkeys(ops, 0)
        for place in ops:
            sources = {source for _, source, _ in self._read[place]} - {place}
            for source in sources & missing.keys():
                readers.setdefault(source, []).append(place)
                missing[place] += 1
        return readers, missing

    def _order(self) -> list[int]:
        """The ops in topological order, else in the graph's order; a loop is entered at its first op."""
        ops = [place for place, role in enumerate(self.roles) if role == "op"]
        readers, missing = self._links(ops)
        ready = [place for place in ops if not missing[place]]
        order: list[int] = []
        done: set[int] = set()
        left = iter(ops)
        while len(order) < len(ops):
            if not ready:
                ready = [next(place for place in left if place not in done)]
            place = heapq.heappop(ready)
            if place in done:
                continue
            done.add(place)
            order.append(place)
            for reader in readers.get(place, ()):
                missing[reader] -= 1
                if not missing[reader] and reader not in done:
                    heapq.heappush(ready, reader)
        return order

    def _op(self, index: int, place: int) -> Op:
        node = self.nodes[place]
        args = arguments_of(node)
        inputs: list[TensorRef] = []
        for position, source, output in self._read[place]:
            if self.roles[source] in ("constant", "list"):
                args |= self._argument(position, source, node)
            else:
                inputs.append(self._output(source, output))
        known = max(1, min(len(node.shapes), 64))
        return Op(
            index=index,
            name=node.op.rpartition("::")[2] or "unnamed",
            phase=self._phase(place),
            module=self._paths[place],
            args=args,
            inputs=tuple(inputs),
            outputs=tuple(self._output(place, output) for output in range(known)),
        )

    def _phase(self, place: int) -> Phase:
        """TensorFlow names the scopes of gradients; other ops that read a gradient belong to the optimizer."""
        phase: Phase = "forward"
        if any(map(_BACKWARD.match, self.nodes[place].name.split("/")[:-1])):
            phase = "backward"
        elif any(self._phases.get(source, "forward") != "forward" for _, source, _ in self._read[place]):
            phase = "optimizer"
        self._phases[place] = phase
        return phase

    def _argument(self, position: int, source: int, reader: Node) -> dict[str, Any]:
        held = self.nodes[source]
        if self.roles[source] == "list":
            places = [self.places[_source(text)[0]] for text in held.inputs[:_MOST_LISTED]]
            value: Any = [constant_of(self.nodes[place]) for place in places]
        else:
            value = constant_of(held)
        name = f"arg{position}" if "::" in reader.op else held.name.rpartition("/")[2]
        return {} if value is None else {name: value}

    def _output(self, place: int, output: int) -> TensorRef:
        known = self._outputs.get((place, output))
        if known is None:
            known = self._outputs[place, output] = TensorRef(len(self.tensors))
            self.tensors.append(self._tensor(place, output))
        return known

    def _tensor(self, place: int, output: int) -> TensorInfo:
        node, role = self.nodes[place], self.roles[place]
        shape, dtype = shape_of(node, output), dtype_of(node)
        name = None
        if role in ("parameter", "buffer"):
            name = ".".join(part for part in (self._paths[place], _weight_name(node)) if part)
        elif role == "input":
            name = _TRACED.sub("", node.name.removeprefix("input/"))
        return TensorInfo(
            id=len(self.tensors),
            shape=tuple(shape),
            dtype=dtype,
            device=node.device.rpartition("device:")[2].lower(),
            kind=role if role in ("parameter", "buffer", "input") else "intermediate",
            name=name,
            bytes=math.prod(shape) * _item_bytes(dtype) if shape and min(shape) >= 0 else 0,
        )

    def _reach(self, order: list[int]) -> None:
        """The ops of each module, and its inputs and outputs."""
        spans: dict[str, list[int]] = {}
        comes: dict[str, dict[TensorRef, None]] = {}
        goes: dict[str, dict[TensorRef, None]] = {}
        for index, place in enumerate(order):
            mine = self._chains[self._paths[place]]
            for path in mine:
                first, _ = spans.setdefault(path, [index, index])
                spans[path] = [first, index]
            for _, source, output in self._read[place]:
                if self.roles[source] in ("op", "input"):
                    ref = self._output(source, output)
                    theirs = self._chains[self._paths[source]]
                    for path in set(mine).difference(theirs):
                        comes.setdefault(path, {})[ref] = None
                    for path in set(theirs).difference(mine):
                        goes.setdefault(path, {})[ref] = None
        self._leave(goes)
        for path, call in self.calls.items():
            first, last = spans.get(path, [0, -1])
            self.calls[path] = ModuleCall(
                path=path,
                call=0,
                parent=call.parent,
                first_op=first,
                last_op=last,
                inputs=tuple(comes.get(path, {}))[:_MOST_SHOWN],
                outputs=tuple(goes.get(path, {}))[:_MOST_SHOWN],
            )

    def _leave(self, goes: dict[str, dict[TensorRef, None]]) -> None:
        """The graph's outputs are outputs of every module around the op that produced them."""
        for place, role in enumerate(self.roles):
            for _, source, output in self._read[place] if role == "output" else ():
                if self.roles[source] == "op":
                    for path in self._chains[self._paths[source]]:
                        goes.setdefault(path, {})[self._output(source, output)] = None


def _source(text: str) -> tuple[str, int]:
    """Node and output of an input: `conv`, `conv:1`, and in functions `conv:y:1`."""
    found = _SOURCE.match(text)
    return (text, 0) if found is None else (found[1].lstrip("^"), int(found[2] or 0))


def _weight_name(node: Node) -> str:
    return attribute_name(node) if node.op == "prim::GetAttr" else node.name.rpartition("/")[2]


def _item_bytes(dtype: str) -> int:
    return next((size for end, size in _BYTES.items() if dtype.endswith(end)), 0)
