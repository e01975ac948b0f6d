"""Where each op's inputs come from, and which ops belong in a drawing."""

from __future__ import annotations

from collections.abc import Collection

from stepscope.records.step import StepRecord, TensorRef

Sources = list[list[tuple["int | None", TensorRef]]]
_PREPARING = ("setup", "other")


def sources(record: StepRecord) -> Sources:
    """For each op its inputs, each with the index of the op that made it; None for those from outside.

    The producer is the latest op that lists the tensor at that version among its outputs. If none does, the tensor
    was changed through another view of its memory: the last op that wrote there in place is the producer.
    """
    makers: dict[TensorRef, int] = {}
    writers: dict[int, int] = {}
    memory = {tensor.id: tensor.storage for tensor in record.tensors if tensor.storage}
    found: Sources = []
    for position, op in enumerate(record.ops):
        read: list[tuple[int | None, TensorRef]] = []
        for ref in dict.fromkeys(op.inputs):
            maker = makers.get(ref)
            if maker is None and ref.version:
                maker = writers.get(memory.get(ref.id, -1))
            read.append((maker, ref))
        found.append(read)
        for ref in op.outputs:
            makers[ref] = position
            if op.inplace and ref.id in memory:
                writers[memory[ref.id]] = position
    return found


def chosen_ops(record: StepRecord, made_from: Sources, phases: Collection[str]) -> list[bool]:
    """The ops of these phases, and earlier ones that prepared their inputs (a cast, a mask)."""
    chosen = [op.phase in phases for op in record.ops]
    for position in range(len(chosen) - 1, -1, -1):
        if chosen[position]:
            for maker, _ in made_from[position]:
                if maker is not None and record.ops[maker].phase in _PREPARING:
                    chosen[maker] = True
    return chosen
