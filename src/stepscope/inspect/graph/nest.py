"""Put ops into nested boxes and connect them: the graph before folding and numbering."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, cast

from stepscope.inspect.graph.drafts import BoxDraft, EdgeDraft, NodeDraft
from stepscope.inspect.graph.sources import chosen_ops, sources
from stepscope.records.step import ModuleCall, Op, Phase, StepRecord, TensorInfo, TensorRef

_HELD = ("parameter", "buffer")
_INVISIBLE = ("gradient", "state")
"""Kinds of tensors that are not drawn as nodes: there are thousands, and they are uninformative."""


class Nest:
    """The boxes, nodes and edges of the chosen phases of a step, in execution order."""

    def __init__(self, record: StepRecord, phases: Collection[Phase]) -> None:
        self.record = record
        self.top = BoxDraft(None, "forward", None)
        self.edges: list[EdgeDraft] = []
        self.ops: dict[int, NodeDraft] = {}
        """By index in the step."""
        self.tensors = {tensor.id: tensor for tensor in record.tensors}
        self._calls = {(call.path, call.call): index for index, call in enumerate(record.calls)}
        self._boxes: dict[tuple[int, str], BoxDraft] = {}
        self._phase_boxes: dict[str, BoxDraft] = {}
        self._standing: dict[tuple[int, int], NodeDraft] = {}
        self._fill(phases)

    def _fill(self, phases: Collection[Phase]) -> None:
        made_from = sources(self.record)
        chosen = chosen_ops(self.record, made_from, phases)
        for position, op in enumerate(self.record.ops):
            if not chosen[position]:
                continue
            box = self._box_of(op)
            node = self.ops[position] = NodeDraft(box, op=op)
            box.items.append(node)
            for maker, ref in made_from[position]:
                source = self.ops.get(maker) if maker is not None else None
                source = source or self._tensor_node(ref, box)
                if source is not None and source is not node:
                    self.edges.append(EdgeDraft(source, node, ref))
        self._add_outputs()

    def _box_of(self, op: Op) -> BoxDraft:
        """The box of the innermost module call. Backward ops go to a mirror image of the forward boxes."""
        side: Phase = op.phase if op.phase in ("backward", "optimizer") else "forward"
        call = self._call_of(op)
        chain = []
        while call is not None and (call, side) not in self._boxes:
            chain.append(call)
            parent = self.record.calls[call].parent
            call = parent if parent is not None and 0 <= parent < call else None  # a file may contain a cycle
        box = self._outermost(side) if call is None else self._boxes[call, side]
        for one in reversed(chain):
            box = self._boxes[one, side] = self._new_box(box, side, self.record.calls[one])
        return box

    def _call_of(self, op: Op) -> int | None:
        if op.module is None and op.forward is not None and 0 <= op.forward < len(self.record.ops):
            op = self.record.ops[op.forward]
        if op.module is None and op.phase == "backward":
            return self._call_of_gradient(op)
        return None if op.module is None else self._calls.get((op.module, op.call))

    def _call_of_gradient(self, op: Op) -> int | None:
        """Accumulating a parameter's gradient belongs to that parameter's module."""
        for ref in (*op.outputs, *op.inputs):
            gradient = self.tensors.get(ref.id)
            owner = None if gradient is None or gradient.grad_of is None else self.tensors.get(gradient.grad_of)
            if owner is not None and owner.name is not None:
                return self._calls.get((owner.name.rpartition(".")[0], 0))
        return None

    def _outermost(self, side: Phase) -> BoxDraft:
        if side == "forward":
            return self.top
        box = self._phase_boxes.get(side)
        if box is None:
            box = self._phase_boxes[side] = self._new_box(self.top, side, None)
        return box

    def _new_box(self, parent: BoxDraft, phase: Phase, call: ModuleCall | None) -> BoxDraft:
        box = BoxDraft(parent, phase, None if call is None else call.path, call)
        parent.items.append(box)
        return box

    def _tensor_node(self, ref: TensorRef, reader: BoxDraft) -> NodeDraft | None:
        """The node of a tensor that no drawn op made.

        A parameter is in the box of its module, once in each call that reads it: a tied weight is near both its
        readers, and equal blocks stay equal.
        """
        tensor = self.tensors.get(ref.id)
        if tensor is None or tensor.kind in _INVISIBLE:
            return None
        held = tensor.kind in _HELD
        box = _owner(reader, tensor) if held else self.top
        key = (id(box), ref.id)
        node = self._standing.get(key)
        if node is None:
            kind = cast("Literal['parameter', 'buffer', 'input']", tensor.kind if held else "input")
            node = self._standing[key] = NodeDraft(box, kind, tensor=tensor)
            box.tensors.append(node)
        return node

    def _add_outputs(self) -> None:
        """The step's result: its loss, else unread outputs of the outermost modules."""
        makers: dict[TensorRef, NodeDraft] = {}
        for maker in self.ops.values():
            if maker.op is not None:
                makers.update(dict.fromkeys(maker.op.outputs, maker))
        for ref in dict.fromkeys(self._ends(makers)):
            node = NodeDraft(self.top, "output", tensor=self.tensors.get(ref.id))
            self.top.items.append(node)
            self.edges.append(EdgeDraft(makers[ref], node, ref))

    def _ends(self, makers: dict[TensorRef, NodeDraft]) -> list[TensorRef]:
        read = {edge.ref for edge in self.edges}
        loss = self.record.loss
        if loss is not None and loss in makers:
            return [] if loss in read else [loss]
        ends: list[TensorRef] = []
        for call in self.record.calls:
            if call.parent is None and not call.recomputed:
                ends += [ref for ref in call.outputs if ref in makers and ref not in read]
        if ends or not self.ops:
            return ends
        last = self.ops[max(self.ops)].op
        if last is None or last.phase not in ("forward", "loss"):
            return []
        return list(last.outputs)


def _owner(reader: BoxDraft, tensor: TensorInfo) -> BoxDraft:
    owners = {name.rpartition(".")[0] for name in (tensor.name or "", *tensor.aliases)}
    box: BoxDraft | None = reader
    while box is not None and box.call is not None:
        if box.path in owners:
            return box
        box = box.parent
    return reader
