"""`stepscope.breakpoint`: stops where and when it was asked to."""

from __future__ import annotations

import bdb
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
import torch
import torch.optim.optimizer as torch_optimizer
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, TensorDataset

import stepscope
from stepscope.errors import UsageError
from stepscope.launch import breakpoints, debugger


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Where the debugger would have opened: function and its `step`."""
    found: list[tuple[str, int]] = []

    def stop_in(frame: FrameType) -> None:
        found.append((frame.f_code.co_name, frame.f_locals.get("step", -1)))

    monkeypatch.setattr(debugger, "stop_in", stop_in)
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    yield found
    breakpoints.clear_breakpoints()


def train(steps: int = 6, inside: Any = None) -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step, (x,) in enumerate(DataLoader(TensorDataset(torch.ones(steps, 2)), batch_size=1)):
        if inside is not None:
            inside(step)
        loss = model(x).sum() * 0 + step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_without_a_condition_it_stops_at_once_in_the_caller(stops: list[tuple[str, int]]) -> None:
    step = 7
    stepscope.breakpoint()
    assert stops == [("test_without_a_condition_it_stops_at_once_in_the_caller", step)]


def test_it_stops_once_at_the_end_of_the_step_where_the_condition_first_holds(stops: list[tuple[str, int]]) -> None:
    stepscope.breakpoint(when=lambda s: s.loss is not None and s.loss > 2)
    train()
    assert stops == [("train", 3)]


def test_set_inside_the_loop_it_is_one_breakpoint(stops: list[tuple[str, int]]) -> None:
    train(inside=lambda now: stepscope.breakpoint(when=lambda s: s.step >= 2))
    assert stops == [("train", 2)]


def test_every_nth_step(stops: list[tuple[str, int]]) -> None:
    stepscope.breakpoint(every=2)
    train()
    assert stops == [("train", 1), ("train", 3), ("train", 5)]


def test_once_can_be_switched_off(stops: list[tuple[str, int]]) -> None:
    stepscope.breakpoint(when=lambda s: s.loss >= 4, once=False)
    train()
    assert stops == [("train", 4), ("train", 5)]


def test_the_condition_sees_the_step(stops: list[tuple[str, int]]) -> None:
    seen: list[Any] = []
    stepscope.breakpoint(when=lambda s: seen.append((s.step, s.loss, s.grad_norm, s.lr, s.batch[0].shape, s.model)))
    train(1)
    assert seen[0][:5] == (0, 0.0, 0.0, 0.5, (1, 2))
    assert isinstance(seen[0][5], torch.nn.Linear)


def test_a_condition_that_fails_is_reported_once_and_the_training_goes_on(
    stops: list[tuple[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    stepscope.breakpoint(when=lambda s: s.nothing > 1)
    train()
    assert stops == []
    assert capsys.readouterr().err.count("the condition of stepscope.breakpoint failed") == 1


def test_hooks_are_there_only_while_a_breakpoint_waits(stops: list[tuple[str, int]]) -> None:
    engine = torch.autograd.__dict__["_engine_run_backward"]
    before = len(torch_optimizer._global_optimizer_post_hooks)
    stepscope.breakpoint(when=lambda s: True)
    assert torch.autograd.__dict__["_engine_run_backward"] is not engine
    train(3)
    assert torch.autograd.__dict__["_engine_run_backward"] is engine
    assert len(torch_optimizer._global_optimizer_post_hooks) == before


def test_other_hooks_behind_ours_still_run_when_it_is_spent(stops: list[tuple[str, int]]) -> None:
    ran = []
    stepscope.breakpoint(when=lambda s: True)
    later = torch_optimizer.register_optimizer_step_post_hook(lambda *args: ran.append(True))
    train(3)
    later.remove()
    assert stops == [("train", 0)]
    assert ran == [True] * 3


def test_the_debugger_that_is_attached_is_used(stops: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: called.append(True))
    stepscope.breakpoint()
    assert called == [True]
    assert stops == []


def test_other_ranks_do_not_fight_for_the_keyboard(
    stops: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    stepscope.breakpoint(when=lambda s: True)
    train(2)
    assert stops == []


def test_wrong_arguments_are_said_so() -> None:
    with pytest.raises(UsageError, match="lambda s"):
        stepscope.breakpoint(when=3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="1 or more"):
        stepscope.breakpoint(every=0)


def test_who_leaves_an_own_debugger_leaves_the_script(
    stops: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave() -> None:
        raise bdb.BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", leave)
    stepscope.breakpoint(when=lambda s: s.step == 1)
    seen: list[int] = []
    with pytest.raises(bdb.BdbQuit):
        train(inside=seen.append)
    assert seen == [0, 1]


def test_modes_of_the_script_do_not_see_a_waiting_breakpoint(stops: list[tuple[str, int]]) -> None:
    def operations() -> list[str]:
        found: list[str] = []

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                found.append(str(func))
                return func(*args, **(kwargs or {}))

        with Mode():
            train(3)
        return found

    plain = operations()
    stepscope.breakpoint(when=lambda s: s.grad_norm is not None and s.grad_norm > 100)
    assert operations() == plain
