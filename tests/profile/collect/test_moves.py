"""Moves to a device are timed where there is one, and nothing else is changed by that."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch

from stepscope.profile.collect.moves import Moves


@pytest.fixture
def moved() -> Iterator[list[float]]:
    """`meta` stands for a device."""
    found: list[float] = []
    moves = Moves(lambda began, ended: found.append(ended - began))
    moves.install(torch, always=True)
    yield found
    moves.remove()
    assert "to" not in torch.Tensor.__dict__
    assert "cuda" not in torch.Tensor.__dict__


def test_only_moves_from_the_host_to_a_device_count(moved: list[float]) -> None:
    x = torch.ones(3)
    began = time.perf_counter()
    on_device = x.to("meta")
    passed = time.perf_counter() - began
    assert len(moved) == 1
    assert 0 < moved[0] <= passed
    x.to("cpu"), x.to(torch.float64), on_device.to(torch.float64), x.to(x)
    torch.nn.Parameter(x).to("meta")
    assert len(moved) == 2


def test_methods_look_as_before(moved: list[float]) -> None:
    assert torch.Tensor.to.__name__ == "to"
    assert torch.overrides.resolve_name(torch.Tensor.to) is not None or torch.Tensor.to.__doc__


class Own(torch.Tensor):
    seen: list[str] = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_subclasses_of_tensors_see_the_same_calls(moved: list[float]) -> None:
    Own.seen.clear()
    torch.ones(2).as_subclass(Own).to("meta")
    assert Own.seen.count("to") == 1
    assert moved == []


class Seeing(torch.overrides.TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_a_mode_of_the_script_sees_one_call_and_the_move_counts_once(moved: list[float]) -> None:
    x = torch.ones(3)
    with Seeing() as mode:
        x.to("meta")
    assert mode.seen == ["to"]
    assert len(moved) == 1


def test_compiled_code_is_compiled_in_one_piece(moved: list[float]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x.to(torch.float64).sum() * 2, backend="eager", fullgraph=True)
    assert compiled(torch.ones(3)).item() == 6.0


def test_without_a_device_in_use_nothing_is_installed_and_no_driver_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    if torch.cuda.is_initialized():
        pytest.skip("there is one")

    def asked() -> bool:
        raise AssertionError("asking for devices wakes the driver")

    monkeypatch.setattr(torch.cuda, "is_available", asked)
    monkeypatch.setattr(torch.cuda, "device_count", asked)
    moves = Moves(lambda began, ended: None)
    moves.install(torch)
    assert "to" not in torch.Tensor.__dict__
    moves.remove()
