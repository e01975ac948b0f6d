"""A step written by hand: a model with a shared block, a failed guess of FLOPs, backward and an optimizer."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from stepscope.inspect.step import Step
from stepscope.records.step import (
    Cost,
    ModuleCall,
    ModuleInfo,
    Op,
    Site,
    Stats,
    StepRecord,
    TensorInfo,
    TensorRef as Ref,
    Unseen,
)


def tensor(number: int, *shape: int, **more: object) -> TensorInfo:
    fields = {"dtype": "float32", "device": "cpu", "storage": number, "bytes": 4, **more}
    return TensorInfo(id=number, shape=shape, **fields)  # type: ignore[arg-type]


@pytest.fixture
def record() -> StepRecord:
    """net(block(linear), block again, head), loss, backward of the head, one update."""
    tensors = (
        tensor(0, 2, 4, kind="input"),
        tensor(1, 4, 4, kind="parameter", name="block.0.weight", requires_grad=True),
        tensor(2, 2, 4),
        tensor(3, 2, 4),
        tensor(4, 1, 4, kind="parameter", name="head.weight", requires_grad=True),
        tensor(5, 2, 1),
        tensor(6),
        tensor(7, 2, 1, kind="gradient"),
        tensor(8, 1, 4, kind="gradient", grad_of=4),
    )
    ops = (
        Op(index=0, name="linear", phase="forward", module="block.0", site=0, inputs=(Ref(0), Ref(1)),
           outputs=(Ref(2),), cost=Cost(host_us=10.0, flops=64, macs=32, saved_bytes=32), args={"bias": None}),
        Op(index=1, name="linear", phase="forward", module="block.0", call=1, site=0, inputs=(Ref(2), Ref(1)),
           outputs=(Ref(3),), cost=Cost(host_us=20.0, flops=64, macs=32)),
        Op(index=2, name="mystery", phase="forward", module="head", site=1, inputs=(Ref(3), Ref(4)),
           outputs=(Ref(5),), cost=Cost(host_us=5.0)),
        Op(index=3, name="mean", phase="loss", site=2, inputs=(Ref(5),), outputs=(Ref(6),),
           cost=Cost(host_us=1.0, flops=2)),
        Op(index=4, name="MysteryBackward0", phase="backward", forward=2, inputs=(Ref(7),), outputs=(Ref(8),),
           cost=Cost(host_us=4.0, flops=16)),
        Op(index=5, name="AccumulateGrad", phase="backward", inputs=(Ref(8),), outputs=(Ref(8),),
           cost=Cost(host_us=0.5)),
        Op(index=6, name="add_", phase="optimizer", site=3, inputs=(Ref(4), Ref(8)), outputs=(Ref(4, 1),), inplace=True,
           cost=Cost(host_us=3.0)),
    )  # fmt: skip
    return StepRecord(
        model="Net",
        wall_us=60.0,
        ops=ops,
        tensors=tensors,
        modules=(
            ModuleInfo(path="", type="Net"),
            ModuleInfo(path="head", type="Linear", parameters=4, trainable=4, parameter_bytes=16, structure="h"),
            ModuleInfo(path="block", type="Sequential", aliases=("again",), structure="b"),
            ModuleInfo(
                path="block.0", type="Linear", aliases=("again.0",), parameters=16, trainable=0, parameter_bytes=64
            ),
            ModuleInfo(path="spare", type="<b>Linear</b>", parameters=2, trainable=2, parameter_bytes=8),
        ),
        calls=(
            ModuleCall(path="", call=0, first_op=0, last_op=2, inputs=(Ref(0),), outputs=(Ref(5),)),
            ModuleCall(path="block", call=0, parent=0, first_op=0, last_op=0, inputs=(Ref(0),), outputs=(Ref(2),)),
            ModuleCall(path="block.0", call=0, parent=1, first_op=0, last_op=0, inputs=(Ref(0),), outputs=(Ref(2),)),
            ModuleCall(path="block", call=1, parent=0, first_op=1, last_op=1, inputs=(Ref(2),), outputs=(Ref(3),)),
            ModuleCall(path="block.0", call=1, parent=3, first_op=1, last_op=1, inputs=(Ref(2),), outputs=(Ref(3),)),
            ModuleCall(path="head", call=0, parent=0, first_op=2, last_op=2, inputs=(Ref(3),), outputs=(Ref(5),)),
        ),
        sites=(
            Site(file="/home/me/net.py", line=10, function="Net.forward", text="x = self.block(x)"),
            Site(file="/home/me/net.py", line=12, function="Net.forward", text="return self.head(x)"),
            Site(file="/home/me/train.py", line=3, function="main", text="loss = out.mean()"),
            Site(file="/home/me/train.py", line=5, function="main", text="optimizer.step()"),
        ),
        loss=Ref(6),
        unseen=(Unseen(what="inside scripted code", where="head", count=2),),
    )


@pytest.fixture
def step(record: StepRecord) -> Step:
    return Step(record)


@pytest.fixture
def finite() -> Stats:
    return Stats(numel=4, min=-1.0, max=1.0, mean=0.0, std=0.5, norm=1.0)
