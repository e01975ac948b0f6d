"""The compiled tape and mode write what the Python ones write, keep nothing, and let no fault of theirs out."""

from __future__ import annotations

import gc
import json
import os
import runpy
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from stepscope.events import follow, operations
from stepscope.record.op_observers import observers_for
from stepscope.record.past_tensors import compiled
from stepscope.record.recorder import Recorder
from stepscope.record.trace_values import ValuesObserver

ROOT = Path(__file__).parents[2]
STEPS = Path(__file__).parent / "pure_and_compiled.py"
needs_compiled = pytest.mark.skipif(
    compiled is None or operations._compiled is None, reason="the extensions are not built"
)


def recorded_with(**environment: str) -> Any:
    done = subprocess.run(
        [sys.executable, str(STEPS)], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_compiled
def test_both_record_the_same() -> None:
    pure, fast = recorded_with(STEPSCOPE_PURE="1"), recorded_with(STEPSCOPE_PURE="0")
    assert pure.keys() == fast.keys()
    for name in pure:
        assert fast[name] == pure[name], name


def test_the_sources_compile_without_a_warning(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "scripts/build-compiled"))
    for source in script["EXTENSIONS"]:
        try:
            script["build"](source, tmp_path / script["built_name"](source), "-Wall", "-Wextra", "-Werror")
        except script["CannotBuild"] as why:
            if "there is no C compiler" in str(why) or "headers" in str(why):
                pytest.skip(str(why))
            raise


def train(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor) -> None:
    optimizer.zero_grad()
    F.cross_entropy(model(inputs), torch.tensor([0, 1])).backward()
    optimizer.step()
    with pytest.raises(RuntimeError):
        inputs @ inputs
    inputs.add(1, alpha=2).max(dim=0)


@pytest.mark.parametrize("observers", [lambda: observers_for(cost=True, stats=False), lambda: [ValuesObserver()]])
def test_recordings_leave_nothing_behind(observers: Callable[[], Any]) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters())
    inputs = torch.randn(2, 3)
    watched = [torch.relu, torch.Tensor.add, torch.Tensor.matmul, F.relu, inputs, *model.parameters(), torch.float32]

    def record(times: int) -> tuple[int, list[int]]:
        for _ in range(times):
            recorder = Recorder(model, observers=observers())
            with recorder:
                train(model, optimizer, inputs)
            assert recorder.record is not None
            del recorder
        gc.collect()
        return len(gc.get_objects()), [sys.getrefcount(one) for one in watched]

    record(3)
    objects, counts = record(1)
    more_objects, more_counts = record(12)
    assert more_counts == counts
    assert more_objects - objects < 12


def test_what_an_op_read_and_made_is_not_kept_alive() -> None:
    recorder = Recorder()
    with recorder:
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        gone = [weakref.ref(x), weakref.ref(y)]
        y.sum().backward()
        del x, y
        assert [one() for one in gone] == [None, None]


def test_a_fault_in_the_tape_is_reported_and_cut_out(capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> int:
        raise ValueError("a bug of ours")

    recorder = Recorder()
    with recorder:
        torch.ones(2).mul(2)
        assert recorder.tape is not None
        counter, length = recorder.tape.counter, len(recorder.tape.events)
        recorder.tape.counter = broken
        assert torch.ones(2).add(1).tolist() == [2, 2]
        assert len(recorder.tape.events) == length
        recorder.tape.counter = counter
    assert (
        "recording an op failed and was skipped; training continues (ValueError: a bug of ours)"
        in capfd.readouterr().err
    )
    assert recorder.record is not None
    assert [op.name for op in recorder.record.ops] == ["ones", "mul"]


class Interrupting:
    """A follower during which Ctrl-C is pressed."""

    who, paused, under_modes = "the test", 0, True

    def __init__(self, moment: str) -> None:
        self.moment = moment

    def begin(self, *call: Any) -> int:
        if self.moment == "begin":
            raise KeyboardInterrupt
        return 1

    def end(self, begun: int, result: Any) -> None:
        if self.moment == "end":
            raise KeyboardInterrupt

    def fail(self, begun: int, error: BaseException) -> None:
        raise ValueError("a bug of ours")


@pytest.mark.parametrize("moment", ["begin", "end"])
def test_an_interrupt_reaches_the_script(moment: str) -> None:
    x = torch.ones(2)
    undo = follow(Interrupting(moment))
    try:
        with pytest.raises(KeyboardInterrupt):
            x.add(1)
    finally:
        undo()


def test_an_operation_that_raises_is_the_scripts_own_affair(capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(2, 3)
    undo = follow(Interrupting("never"))
    try:
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied") as caught:
            torch.mm(x, x)
        with pytest.raises(TypeError):
            torch.add(x)
    finally:
        undo()
    assert caught.value.__context__ is None
    assert "the test failed and was skipped" in capfd.readouterr().err
