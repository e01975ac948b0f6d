"""Tensors by identity: views, in-place writes, addresses used again."""

from __future__ import annotations

import torch

from stepscope.record.recorder import Recorder
from stepscope.records.edges import edges
from stepscope.records.step import StepRecord


def record(code: object) -> StepRecord:
    with Recorder() as recorder:
        code()  # type: ignore[operator]
    assert recorder.record is not None
    return recorder.record


def test_an_address_used_again_is_another_tensor() -> None:
    def code() -> None:
        for _ in range(50):
            torch.ones(3)

    step = record(code)
    assert len({op.outputs[0].id for op in step.ops}) == 50
    assert len({tensor.storage for tensor in step.tensors}) == 50


def test_views_share_a_storage_and_know_their_base() -> None:
    x = torch.arange(6.0)
    step = record(lambda: x.view(2, 3).t()[0].clone())
    base, view, turned, row, copy = step.tensors
    assert [tensor.view_of for tensor in step.tensors] == [None, base.id, base.id, base.id, None]
    assert view.storage == turned.storage == row.storage == base.storage != copy.storage
    assert turned.strides == (1, 3)
    assert [op.view for op in step.ops] == [True, True, True, False]


def test_a_write_through_a_view_is_seen_by_its_base() -> None:
    x = torch.zeros(2, 2)

    def code() -> None:
        row = x[0]
        row.add_(1)
        x.sum()

    step = record(code)
    write = step.ops[1]
    assert write.inplace
    assert (1, 2) in [(maker, reader) for maker, reader, _ in edges(step)], "sum reads what add_ wrote"


def test_a_write_to_the_base_is_seen_by_its_views() -> None:
    x = torch.zeros(4)

    def code() -> None:
        half = x[:2]
        x.fill_(3)
        half.sum()

    step = record(code)
    assert [(maker, reader) for maker, reader, _ in edges(step)] == [(1, 2)]


def test_out_arguments_are_written() -> None:
    x, out = torch.ones(2), torch.empty(2)
    step = record(lambda: (torch.add(x, 1, out=out), out.sum()))
    assert step.ops[0].inplace
    assert [(maker, reader) for maker, reader, _ in edges(step)] == [(0, 1)]


def test_an_op_that_returns_its_input_stands_between() -> None:
    def code() -> None:
        x = torch.ones(2)
        y = x.contiguous()
        y.sum()

    step = record(code)
    assert [(maker, reader) for maker, reader, _ in edges(step)] == [(0, 1), (1, 2)]
    assert step.ops[1].outputs == step.ops[0].outputs


def test_kinds_tell_where_tensors_come_from() -> None:
    data = torch.ones(1, 2)
    model = torch.nn.BatchNorm1d(2)
    with Recorder(model) as recorder:
        model(data.repeat(3, 1) + torch.zeros(2)).sum().backward()
    assert recorder.record is not None
    kinds: dict[str, int] = {}
    for tensor in recorder.record.tensors:
        kinds[tensor.kind] = kinds.get(tensor.kind, 0) + 1
    assert kinds["input"] == 1
    assert kinds["constant"] == 1
    assert kinds["parameter"] == 2
    assert kinds["buffer"] == 3
    weight = next(tensor for tensor in recorder.record.tensors if tensor.name == "weight")
    gradients = [tensor for tensor in recorder.record.tensors if tensor.grad_of == weight.id]
    assert [(tensor.kind, tensor.shape) for tensor in gradients] == [("gradient", (2,))]
