"""Edges of a recorded step: which op produced another op's input."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope.records.step import StepRecord, TensorRef

__all__ = ["edges"]


def edges(step: StepRecord) -> Iterator[tuple[int, int, TensorRef]]:
    """(producer, reader, tensor) for every tensor an op reads that an earlier op produced.

    The producer is the latest op before the reader that lists the tensor at that version among its outputs: an op
    that passes a tensor through unchanged (a dropout in evaluation) comes between its producer and its readers.
    """
    makers: dict[TensorRef, int] = {}
    for op in step.ops:
        for ref in op.inputs:
            maker = makers.get(ref)
            if maker is not None:
                yield maker, op.index, ref
        for ref in op.outputs:
            makers[ref] = op.index
