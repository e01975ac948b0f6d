"""Recorded steps of a run: listed, and shown as a graph and a table."""

from __future__ import annotations

from pathlib import Path

import pytest

import stepscope
from stepscope.errors import BadData, NotFound
from stepscope.inspect.logged import LoggedStep
from stepscope.inspect.step import Step
from stepscope.records import Media
from stepscope.records.step import Cost, ModuleCall, ModuleInfo, Op, StepRecord, TensorInfo, TensorRef
from stepscope.views.context import Context
from stepscope.views.step.model import ModelRequest, StepsRequest, model, steps

from .conftest import write_run


def recording(width: int = 4) -> StepRecord:
    """One linear layer, and its backward op."""
    return StepRecord(
        model="Net",
        wall_us=50.0,
        tensors=(
            TensorInfo(id=0, shape=(2, width), dtype="float32", device="cpu", kind="input"),
            TensorInfo(id=1, shape=(width, width), dtype="float32", device="cpu", kind="parameter", name="fc.weight"),
            TensorInfo(id=2, shape=(2, width), dtype="float32", device="cpu"),
        ),
        ops=(
            Op(
                index=0,
                name="linear",
                phase="forward",
                module="fc",
                inputs=(TensorRef(0), TensorRef(1)),
                outputs=(TensorRef(2),),
                cost=Cost(host_us=9.0, flops=64),
            ),
            Op(index=1, name="MmBackward0", phase="backward", module="fc", forward=0),
        ),
        modules=(
            ModuleInfo(path="", type="Net"),
            ModuleInfo(path="fc", type="Linear", parameters=width * width, trainable=width * width),
        ),
        calls=(
            ModuleCall(path="", call=0, first_op=0, last_op=0, inputs=(TensorRef(0),), outputs=(TensorRef(2),)),
            ModuleCall(
                path="fc", call=0, parent=0, first_op=0, last_op=0, inputs=(TensorRef(0),), outputs=(TensorRef(2),)
            ),
        ),
    )


def logged(key: str, step: int, width: int = 4) -> tuple[Media, bytes]:
    [(media, data)] = LoggedStep(recording(width)).encode(key, step, float(step))
    assert data is not None
    return media, data


def test_the_recorded_steps_of_a_run_are_listed(ctx: Context, store: Path) -> None:
    note = Media(key="note", step=0, time=0.0, kind="text", mime="text/plain")
    run = write_run(store, media=[logged("a", 0), logged("b", 5), (note, b"hello"), logged("a", 10)])
    found = steps(ctx, StepsRequest(run=run))
    assert [(one.key, one.step, one.model, one.ops) for one in found.steps] == [
        ("a", 0, "Net", 2),
        ("b", 5, "Net", 2),
        ("a", 10, "Net", 2),
    ]
    assert all(one.bytes > 100 for one in found.steps)


def test_the_newest_recording_at_or_before_a_step_is_shown(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[logged("a", 0, 4), logged("b", 5, 5), logged("a", 10, 6)])

    def shown(**asked: object) -> tuple[str, int, list[int]]:
        page = model(ctx, ModelRequest(run=run, **asked))  # type: ignore[arg-type]
        return page.key, page.step, page.graph.tensors[0].shape

    assert shown() == ("a", 10, [2, 6])
    assert shown(step=7) == ("b", 5, [2, 5])
    assert shown(key="a", step=7) == ("a", 0, [2, 4])


def test_the_page_has_the_graph_and_the_modules(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[logged("a", 0)])
    page = model(ctx, ModelRequest(run=run))
    assert [node.name for node in page.graph.nodes if node.kind == "op"] == ["linear"]
    assert [(row.path, row.type, row.level, row.params, row.output) for row in page.modules] == [
        ("", "Net", 0, 16, [[2, 4]]),
        ("fc", "Linear", 1, 16, [[2, 4]]),
    ]
    assert (page.modules[1].flops, page.modules[1].forward_us, page.ops, page.time_us) == (64, 9.0, 2, 9.0)
    with_backward = model(ctx, ModelRequest(run=run, backward=True))
    assert [n.name for n in with_backward.graph.nodes if n.kind == "op"] == ["linear", "MmBackward0"]


def test_a_run_without_recordings_says_how_to_make_one(ctx: Context, store: Path) -> None:
    run, other = write_run(store), write_run(store, media=[logged("a", 3)])
    assert steps(ctx, StepsRequest(run=run)).steps == []
    with pytest.raises(NotFound, match=r"no recorded step; log one with run\.log"):
        model(ctx, ModelRequest(run=run))
    with pytest.raises(NotFound, match="no recorded step under 'b' up to step 2"):
        model(ctx, ModelRequest(run=other, key="b", step=2))


def test_a_damaged_recording_is_told_from_a_step(ctx: Context, store: Path) -> None:
    media, data = logged("a", 0)
    run = write_run(store, media=[(media, data[:-30])])
    with pytest.raises(BadData, match="recording 'a'"):
        model(ctx, ModelRequest(run=run))


def test_a_step_is_logged_like_anything_else(ctx: Context, store: Path) -> None:
    with stepscope.init("demo", dir=store, console=False, system=False) as run:
        run.log({"recording": Step(recording())}, step=4)
    page = model(ctx, ModelRequest(run=run.id))
    assert (page.key, page.step, page.graph.model) == ("recording", 4, "Net")
