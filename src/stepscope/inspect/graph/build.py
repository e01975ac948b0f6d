"""Build the graph of a recorded step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepscope.inspect.arguments import argument_text
from stepscope.inspect.graph.data import GraphBox, GraphData, GraphEdge, GraphNode, GraphTensor
from stepscope.inspect.graph.drafts import BoxDraft, NodeDraft
from stepscope.inspect.graph.fold import fold_repeats
from stepscope.inspect.graph.nest import Nest
from stepscope.inspect.graph.number import Sums, add_up, number, parameters_below, wrote_nonfinite
from stepscope.inspect.graph.opening import opened
from stepscope.records.step import Op, Phase, Stats, StepRecord, TensorInfo, TensorRef

FORWARD: tuple[Phase, ...] = ("forward", "loss")
_LONGEST_ARGS = 240


def build_graph(record: StepRecord, phases: Sequence[Phase] = FORWARD) -> GraphData:
    """The graph of these phases of a step: everything in it, with repeated blocks marked.

    Code that never ran the recorded model has neither forward nor loss: then the ops before and between are
    drawn.
    """
    if not any(op.phase in FORWARD for op in record.ops):
        phases = ["setup", "other", *phases]
    return _Builder(record, phases).data()


class _Builder:
    def __init__(self, record: StepRecord, phases: Sequence[Phase]) -> None:
        self.record = record
        self.phases = list(phases)
        self.nest = Nest(record, phases)
        fold_repeats(self.nest.top, self.nest.edges, record)
        self.boxes, self.nodes = number(self.nest.top)
        self.on_device = any(op.cost.device_us is not None for op in record.ops)
        self.tensors: list[GraphTensor] = []
        self._tensor_places: dict[int, int] = {}
        self._modules = {path: one for one in record.modules for path in (one.path, *one.aliases)}
        self._node_of = {position: node.id for position, node in self.nest.ops.items()}

    def data(self) -> GraphData:
        sums = add_up(self.boxes, self.nodes, self.on_device)
        parameters = parameters_below(self.record)
        calls: dict[str, int] = {}
        for call in self.record.calls:
            calls[call.path] = calls.get(call.path, 0) + (not call.recomputed)
        open_boxes = opened(self.nest.top, self.boxes)
        nodes = [self._node(node) for node in self.nodes]
        boxes = [self._box(box, sums[box.id], parameters, calls, box.id in open_boxes) for box in self.boxes]
        return GraphData(
            model=self.record.model,
            device=self.record.device,
            torch=self.record.torch,
            boxes=boxes,
            nodes=nodes,
            edges=self._edges(),
            tensors=self.tensors,
            sites=list(self.record.sites),
            phases=self.phases,
            values=any(op.output_stats is not None for op in self.record.ops),
            unseen=[" ".join(filter(None, (one.what, one.where))) for one in self.record.unseen],
            error=self.record.error,
        )

    def _edges(self) -> list[GraphEdge]:
        return [
            GraphEdge(
                source=edge.source.id, target=edge.target.id, tensor=self._tensor(edge.ref.id), version=edge.ref.version
            )
            for edge in self.nest.edges
            if edge.ref.id in self.nest.tensors
        ]

    def _node(self, node: NodeDraft) -> GraphNode:
        box = node.box.id if node.box.id >= 0 else None
        op = node.op
        if op is None:
            made = [] if node.tensor is None else [self._tensor(node.tensor.id)]
            site = None if node.tensor is None else self._site(node.tensor.site)
            return GraphNode(id=node.id, name=_tensor_name(node), kind=node.kind, box=box, outputs=made, site=site)
        cost = op.cost
        return GraphNode(
            id=node.id,
            name=op.name,
            box=box,
            phase=op.phase,
            op=op.index,
            args=_args(op.args),
            outputs=self._returned(op.outputs),
            site=self._site(op.site),
            time_us=cost.device_us if self.on_device else cost.host_us,
            flops=cost.flops,
            saved_bytes=cost.saved_bytes,
            nonfinite=wrote_nonfinite(node),
            stats=self._stats(op),
            inplace=op.inplace,
            view=op.view,
            forward=None if op.forward is None else self._node_of.get(op.forward),
            error=op.error,
        )

    def _box(
        self, box: BoxDraft, sums: Sums, parameters: dict[str, int], calls: dict[str, int], is_open: bool
    ) -> GraphBox:
        module = None if box.path is None else self._modules.get(box.path)
        parent = box.parent.id if box.parent is not None and box.parent.id >= 0 else None
        return GraphBox(
            id=box.id,
            label=_label(box, "" if module is None else module.type),
            parent=parent,
            path=box.path,
            type="" if module is None else module.type,
            call=0 if box.call is None else box.call.call,
            calls=max(1, calls.get(box.path or "", 1)) if box.path is not None else 1,
            phase=box.phase,
            extra="" if module is None else module.extra,
            site=None if module is None else self._site(module.site),
            first=box.first,
            count=box.count,
            boxes=box.boxes,
            outputs=[] if box.call is None else self._returned(box.call.outputs),
            ops=sums.ops,
            parameters=parameters.get(box.path, 0) if box.path is not None else 0,
            time_us=sums.time_us,
            flops=sums.flops,
            saved_bytes=sums.saved_bytes,
            nonfinite=sums.nonfinite,
            repeat=box.repeat,
            fold=None if box.fold is None else box.fold.id,
            open=is_open,
            error=None if box.call is None else box.call.error,
        )

    def _returned(self, refs: Sequence[TensorRef]) -> list[int]:
        return [self._tensor(ref.id) for ref in refs if ref.id in self.nest.tensors]

    def _stats(self, op: Op) -> list[Stats | None]:
        found = zip(op.outputs, op.output_stats or (), strict=False)
        return [stats for ref, stats in found if ref.id in self.nest.tensors]

    def _site(self, index: int | None) -> int | None:
        return index if index is not None and 0 <= index < len(self.record.sites) else None

    def _tensor(self, number: int) -> int:
        place = self._tensor_places.get(number)
        if place is None:
            place = self._tensor_places[number] = len(self.tensors)
            self.tensors.append(_plain_tensor(self.nest.tensors[number]))
        return place


def _plain_tensor(tensor: TensorInfo) -> GraphTensor:
    names = dict.fromkeys((tensor.name, *tensor.aliases)) if tensor.name else ()
    return GraphTensor(
        shape=list(tensor.shape),
        dtype=tensor.dtype,
        device=tensor.device,
        name=", ".join(names) or None,
        kind=tensor.kind,
        bytes=tensor.bytes,
        requires_grad=tensor.requires_grad,
    )


def _tensor_name(node: NodeDraft) -> str:
    tensor = node.tensor
    if node.kind in ("parameter", "buffer") and tensor is not None and tensor.name:
        return tensor.name.rpartition(".")[2]
    if node.kind == "output":
        return "output"
    return (tensor.name if tensor is not None else None) or "input"


def _label(box: BoxDraft, module_type: str) -> str:
    if box.path == "":
        return module_type or "model"
    if box.path is None:
        return _loop_label(box) if box.fold is not None or box.repeat > 1 else box.phase
    around = box.parent
    while around is not None and not around.path:
        around = around.parent
    prefix = "" if around is None else f"{around.path}."
    return box.path.removeprefix(prefix)


def _loop_label(box: BoxDraft) -> str:
    """A loop iteration is named after its first op."""
    names = [_label(item, "") if isinstance(item, BoxDraft) else _op_name(item) for item in box.items[:3]]
    return ", ".join(names) + (" …" if len(box.items) > 3 else "")


def _op_name(node: NodeDraft) -> str:
    return _tensor_name(node) if node.op is None else node.op.name


def _args(args: dict[str, Any]) -> str:
    """Arguments as text, without the tensors: `stride=[2, 2], padding=1`."""
    plain = {name: value for name, value in args.items() if not (isinstance(value, dict) and "tensor" in value)}
    line = argument_text(plain) if plain else ""
    return line if len(line) <= _LONGEST_ARGS else f"{line[:_LONGEST_ARGS]}…"
