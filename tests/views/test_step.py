"""One recorded step: its ops in windows, filtered and sorted, their values, costs, and where a NaN was born."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import BadData, NotFound
from stepscope.inspect.logged import LoggedStep
from stepscope.records import Media
from stepscope.records.step import (
    Cost,
    ModuleCall,
    ModuleInfo,
    Op,
    Site,
    Stats,
    StepRecord,
    TensorInfo,
    TensorRef,
)
from stepscope.views.context import Context
from stepscope.views.step.compare import StepCompareRequest, change_between, step_compare
from stepscope.views.step.op import TensorStats
from stepscope.views.step.step import (
    RecordedRequest,
    StepCostsRequest,
    StepOpRequest,
    StepOpsRequest,
    recorded,
    step_costs,
    step_op,
    step_ops,
)

from .conftest import write_run

FINE = Stats(numel=4, min=-1.0, max=1.0, mean=0.0, std=1.0)
NAN = Stats(numel=4, nan=2, min=0.5, max=0.5, mean=0.5, std=0.0)


def tensor(id: int, **about: Any) -> TensorInfo:
    return TensorInfo(id=id, shape=(2, 2), dtype="float32", device="cpu", bytes=16, **about)


def recording(log: Stats = NAN, scale: float = 1.0) -> StepRecord:
    """x -> fc -> log (a NaN is born) -> mean -> loss, and one backward op."""
    wide = Stats(numel=4, min=-scale, max=scale, mean=0.0, std=scale)
    end = log
    sites = (
        Site(file="/home/me/net.py", line=10, function="forward", text="h = self.fc(x)"),
        Site(file="/home/me/net.py", line=12, function="forward", text="return h.log()"),
        Site(file="/home/me/train.py", line=40, function="main", text="loss = net(x).mean()"),
    )
    ops = (
        Op(
            index=0,
            name="linear",
            phase="forward",
            module="fc",
            site=0,
            inputs=(TensorRef(0), TensorRef(1)),
            outputs=(TensorRef(2),),
            cost=Cost(host_us=30.0, flops=64, saved_bytes=16),
            input_stats=(FINE, FINE),
            output_stats=(wide,),
        ),
        Op(
            index=1,
            name="log",
            phase="forward",
            module="",
            site=1,
            inputs=(TensorRef(2),),
            outputs=(TensorRef(3),),
            cost=Cost(host_us=5.0, flops=4),
            input_stats=(wide,),
            output_stats=(log,),
        ),
        Op(
            index=2,
            name="mean",
            phase="loss",
            site=2,
            args={"dim": 0},
            inputs=(TensorRef(3),),
            outputs=(TensorRef(4),),
            cost=Cost(host_us=8.0),
            input_stats=(log,),
            output_stats=(end,),
        ),
        Op(index=3, name="LogBackward0", phase="backward", forward=1, cost=Cost(host_us=2.0)),
    )
    return StepRecord(
        model="Net",
        wall_us=90.0,
        torch="2.9",
        sites=sites,
        ops=ops,
        loss=TensorRef(4),
        tensors=(
            tensor(0, kind="input"),
            tensor(1, kind="parameter", name="fc.weight"),
            *(tensor(number) for number in (2, 3, 4)),
        ),
        modules=(ModuleInfo(path="", type="Net"), ModuleInfo(path="fc", type="Linear", parameters=4, trainable=4)),
        calls=(
            ModuleCall(path="", call=0, first_op=0, last_op=1),
            ModuleCall(path="fc", call=0, parent=0, first_op=0, last_op=0),
        ),
    )


def logged(record: StepRecord, step: int = 0, key: str = "recording") -> tuple[Media, bytes]:
    [(media, data)] = LoggedStep(record).encode(key, step, float(step))
    assert data is not None
    return media, data


def ops(ctx: Context, run: str, **asked: Any) -> list[int]:
    found = step_ops(ctx, StepOpsRequest(run=run, key="recording", step=0, **asked))
    return [row.index for row in found.rows]


@pytest.fixture
def run(ctx: Context, store: Path) -> str:
    id = write_run(store, media=[logged(recording())])
    ctx.catalogue.refresh()
    return id


def test_a_recording_is_told_as_a_whole(ctx: Context, run: str) -> None:
    head = recorded(ctx, RecordedRequest(run=run))
    assert (head.model, head.ops, head.time_us, head.flops, head.saved_bytes) == ("Net", 4, 45.0, 68, 16)
    assert {one.name: one.count for one in head.phases} == {"forward": 2, "loss": 1, "backward": 1}
    assert (head.has_stats, head.bad, head.parameters, head.modules) == (True, 2, 4, ["fc"])


def test_the_first_nan_is_told_with_what_it_was_made_of_and_what_it_spoiled(ctx: Context, run: str) -> None:
    [birth] = recorded(ctx, RecordedRequest(run=run)).births
    assert (birth.index, birth.place, birth.text) == (1, "net.py:12", "return h.log()")
    assert birth.headline == "NaN born in log (op 1) in the model"
    assert birth.reaches == "the loss"
    assert [(link.index, link.name, link.here, link.bad) for link in birth.chain] == [
        (0, "linear", False, ""),
        (1, "log", True, "nan"),
        (2, "mean", False, "nan"),
    ]
    assert [(one.made_by, one.made_by_name) for one in birth.read] == [(0, "linear")]


def test_ops_come_in_windows(ctx: Context, run: str) -> None:
    found = step_ops(ctx, StepOpsRequest(run=run, key="recording", step=0, start=1, count=2))
    assert ([row.index for row in found.rows], found.start, found.total) == ([1, 2], 1, 4)
    row = found.rows[0]
    assert (row.name, row.module, row.place, row.time_us, row.flops, row.born) == ("log", "", "net.py:12", 5.0, 4, True)
    assert (row.output[0].shape, row.output[0].stats and row.output[0].stats.nan) == ([2, 2], 2)
    assert (found.max_time_us, found.max_flops, found.max_saved_bytes) == (30.0, 64, 16)


def test_ops_are_filtered_and_their_costs_summed(ctx: Context, run: str) -> None:
    assert ops(ctx, run, search="FC !mean") == [0]
    assert ops(ctx, run, search="train.py") == [2]
    assert ops(ctx, run, search="net.py:12") == [1, 3]
    assert ops(ctx, run, module="fc") == [0]
    assert ops(ctx, run, phase="backward") == [3]
    assert ops(ctx, run, kind="log") == [1]
    assert ops(ctx, run, bad=True) == [1, 2]
    sums = step_ops(ctx, StepOpsRequest(run=run, key="recording", step=0, bad=True))
    assert (sums.total, sums.time_us, sums.flops) == (2, 13.0, 4)


def test_ops_are_sorted_with_the_unknown_last(ctx: Context, run: str) -> None:
    assert ops(ctx, run, sort="time_us", descending=True) == [0, 2, 1, 3]
    assert ops(ctx, run, sort="flops", descending=True) == [0, 1, 2, 3]
    assert ops(ctx, run, sort="flops") == [1, 0, 2, 3]
    assert ops(ctx, run, sort="name") == [0, 1, 3, 2]
    assert ops(ctx, run, descending=True) == [3, 2, 1, 0]


def test_one_op_is_told_in_full(ctx: Context, run: str) -> None:
    found = step_op(ctx, StepOpRequest(run=run, key="recording", step=0, index=1))
    assert [(one.number, one.text, one.here) for one in found.excerpt] == [
        (10, "h = self.fc(x)", False),
        (12, "return h.log()", True),
    ]
    assert [one.index for one in found.readers] == [2]
    assert [one.name for one in found.backward] == ["LogBackward0"]
    assert (found.file, found.line, found.function) == ("/home/me/net.py", 12, "forward")
    first = step_op(ctx, StepOpRequest(run=run, key="recording", step=0, index=0))
    assert [one.name for one in first.inputs] == ["", "fc.weight"]
    assert step_op(ctx, StepOpRequest(run=run, key="recording", step=0, index=2)).args == "dim=0"


def test_costs_are_summed_by_module_line_kind_and_phase(ctx: Context, run: str) -> None:
    def costs(by: Any) -> list[tuple[str, float | None]]:
        found = step_costs(ctx, StepCostsRequest(run=run, key="recording", step=0, by=by))
        return [(row.label, row.time_us) for row in found.rows]

    assert costs("phase") == [("forward", 35.0), ("loss", 8.0), ("backward", 2.0)]
    assert dict(costs("line")) == {"net.py:10": 30.0, "net.py:12": 7.0, "train.py:40": 8.0}
    assert dict(costs("type")) == {"linear": 30.0, "log": 5.0, "mean": 8.0, "LogBackward0": 2.0}
    assert [label for label, _ in costs("module")][:2] == ["Net", "fc"]


def test_two_recordings_are_compared_by_how_far_outputs_moved(ctx: Context, store: Path) -> None:
    calm, wild = recording(log=FINE), recording(log=NAN, scale=8.0)
    run = write_run(store, media=[logged(calm, 0), logged(wild, 100)])
    ctx.catalogue.refresh()
    asked = StepCompareRequest(run=run, key="recording", step=100, before_key="recording", before_step=0)
    found = step_compare(ctx, asked)
    assert [(one.row.name, one.amount, one.said) for one in found.changes] == [
        ("log", None, "became NaN"),
        ("mean", None, "became NaN"),
        ("linear", 3.0, "std ×8"),
    ]
    assert (found.compared, found.matched, found.only_before, found.only_after) == (3, 4, 0, 0)
    asked.part = "backward"
    assert (step_compare(ctx, asked).matched, step_compare(ctx, asked).compared) == (1, 0)


def test_a_number_without_spread_moves_by_its_own_share() -> None:
    assert change_between(TensorStats(numel=1, mean=2.0, std=0.0), TensorStats(numel=1, mean=1.0, std=0.0)) == 0.5
    assert change_between(TensorStats(numel=9, mean=1.0, std=2.0), TensorStats(numel=9, mean=1.0, std=2.0)) == 0.0


def test_what_is_not_there_is_said(ctx: Context, run: str, store: Path) -> None:
    with pytest.raises(NotFound, match=r"no recording 'other' of step 5; it has step 0"):
        recorded(ctx, RecordedRequest(run=run, key="other", step=5))
    with pytest.raises(NotFound, match="no op 99"):
        step_op(ctx, StepOpRequest(run=run, key="recording", step=0, index=99))
    bare = write_run(store)
    ctx.catalogue.refresh()
    with pytest.raises(NotFound, match="log one with"):
        recorded(ctx, RecordedRequest(run=bare))


def test_a_damaged_recording_is_refused_in_words(ctx: Context, store: Path) -> None:
    media, data = logged(recording())
    odd = recording()
    mixed = StepRecord(ops=(odd.ops[1], odd.ops[0]))
    run = write_run(store, media=[(media, data[:60]), logged(mixed, 7)])
    ctx.catalogue.refresh()
    with pytest.raises(BadData, match=r"truncated|damaged"):
        recorded(ctx, RecordedRequest(run=run, step=0))
    with pytest.raises(BadData, match="not in order"):
        recorded(ctx, RecordedRequest(run=run, step=7))


def test_a_step_without_values_says_so_and_compares_nothing(ctx: Context, store: Path) -> None:
    plain = StepRecord(ops=(Op(index=0, name="relu", phase="forward"),))
    run = write_run(store, media=[logged(plain, 0), logged(plain, 1)])
    ctx.catalogue.refresh()
    head = recorded(ctx, RecordedRequest(run=run))
    assert (head.has_stats, head.births, head.time_us) == (False, [], None)
    asked = StepCompareRequest(run=run, key="recording", step=1, before_key="recording", before_step=0)
    assert "stats=True" in step_compare(ctx, asked).note


def test_the_reading_side_needs_no_torch() -> None:
    code = "import sys, stepscope.views.step.step, stepscope.views.step.compare; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
