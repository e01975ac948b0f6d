"""Modes that a script enters work as if ours were not there, and see nothing of what we compute."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from stepscope import events
from stepscope.events import Installed, aside, operations
from stepscope.events.patched_names import meant


class Following:
    who, paused, under_modes = "a test", 0, True

    def begin(self, plan: Any, function: Any, args: Any, kwargs: Any, frame: Any) -> None:
        pass

    def end(self, begun: Any, result: Any) -> None:
        pass

    def fail(self, begun: Any, error: BaseException) -> None:
        pass


class Theirs(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def stack() -> list[str]:
    return [type(mode).__name__ for mode in torch.overrides._get_current_function_mode_stack()]


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    before = stack()
    yield
    assert stack() == before


def test_a_mode_that_was_there_before_ends_by_itself() -> None:
    with Theirs():
        undo = events.follow(Following())
        assert stack() == ["_Mode", "Theirs"]
    assert stack() == ["_Mode"]
    undo()


def test_a_device_as_a_context_ends_by_itself() -> None:
    with torch.device("meta"):
        undo = events.follow(Following())
        assert torch.ones(2).device.type == "meta"
    assert torch.ones(2).device.type == "cpu"
    undo()


def test_the_default_device_stays_the_lowest() -> None:
    torch.set_default_device("meta")
    try:
        undo = events.follow(Following())
        lowest_first = ["DeviceContext", "_Mode"]
        assert stack() == (lowest_first if operations._DEFAULT_IS_LOWEST else lowest_first[::-1])
        assert torch.ones(2).device.type == "meta"
    finally:
        torch.set_default_device(None)
    assert torch.ones(2).device.type == "cpu"
    undo()


class Seeing(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_dispatch_modes_are_the_same_after_something_quiet() -> None:
    x = torch.ones(3)
    with Seeing() as outer, Seeing() as inner:
        modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
        with events.quietly():
            assert not torch.utils._python_dispatch._get_current_dispatch_mode_stack()
            x.sum()
        assert torch.utils._python_dispatch._get_current_dispatch_mode_stack() == modes
        x.cos()
    assert outer.seen == inner.seen == ["aten.cos.default"]


def test_the_original_is_found_after_the_script_froze_its_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    relu = F.relu

    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return 0.5 * relu(x)

    monkeypatch.setattr(F, "relu", counted)
    meant.__globals__["_known"].clear()
    gc.freeze()
    undo = events.follow(Following())
    try:
        assert F.relu(torch.tensor([-2.0, 2.0])).tolist() == [0.0, 1.0]
    finally:
        undo()
        gc.unfreeze()
        meant.__globals__["_known"].clear()
    assert calls == [1]


def test_an_outermost_layer_answers_before_layers_that_come_later() -> None:
    """`--eager` leaves the model alone, so nothing is compiled and operations stay followed."""
    installed = Installed()
    installed.wrap("torch:compile", lambda plain: lambda model: model, outermost=True)
    undo = events.follow(Following())  # compilers are watched from now on
    model = torch.nn.Linear(2, 1)
    try:
        assert torch.compile(model) is model
        assert not aside.closed_for_good
        assert events.is_followed()
    finally:
        undo()
        installed.remove()
        aside.reopen()
