"""Operations are followed once each, and what a user has wrapped is applied once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from stepscope import events
from stepscope.events import aside


class Following:
    """Notes the names of operations."""

    who, paused, under_modes = "a test", 0, False

    def __init__(self) -> None:
        self.names: list[str] = []

    def begin(self, plan: Any, function: Any, args: Any, kwargs: Any, frame: Any) -> str:
        self.names.append(plan[1])
        return str(plan[1])

    def end(self, begun: Any, result: Any) -> None:
        pass

    def fail(self, begun: Any, error: BaseException) -> None:
        self.names.append(f"{begun} failed")


class Doubled(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(one: torch.Tensor) -> torch.Tensor:
        return one * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 2


@pytest.fixture
def followed() -> Iterator[Following]:
    follower = Following()
    undo = events.follow(follower)
    yield follower
    undo()
    assert not events.is_followed()


def x() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def attend() -> torch.Tensor:
    q = torch.arange(16.0).reshape(1, 1, 4, 4)
    return F.scaled_dot_product_attention(q, q, q)


def backward() -> torch.Tensor:
    w = torch.ones(3, requires_grad=True)
    (w * 2).sum().backward()  # type: ignore[no-untyped-call]
    assert w.grad is not None
    return w.grad


CALLS: dict[str, tuple[Any, str, Callable[[], torch.Tensor]]] = {
    "relu": (F, "relu", lambda: F.relu(x() - 2)),
    "dropout": (F, "dropout", lambda: F.dropout(x(), 0.0)),
    "cross_entropy": (F, "cross_entropy", lambda: F.cross_entropy(x(), torch.tensor([0, 1]))),
    "scaled_dot_product_attention": (F, "scaled_dot_product_attention", attend),
    "max_pool2d": (F, "max_pool2d", lambda: F.max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)),
    "softmax": (F, "softmax", lambda: F.softmax(x(), -1)),
    "layer_norm": (F, "layer_norm", lambda: F.layer_norm(x(), (3,))),
    "stack": (torch, "stack", lambda: torch.stack([x(), x()])),
    "norm": (torch, "norm", lambda: torch.norm(x())),
    "einsum": (torch, "einsum", lambda: torch.einsum("ij->i", x())),
    "split": (torch, "split", lambda: torch.split(x(), 1)[0]),
    "meshgrid": (torch, "meshgrid", lambda: torch.meshgrid(torch.arange(2.0), torch.arange(2.0), indexing="ij")[0]),
    "Tensor.backward": (torch.Tensor, "backward", backward),
    "Tensor.norm": (torch.Tensor, "norm", lambda: x().norm()),
    "Tensor.split": (torch.Tensor, "split", lambda: x().split(1)[0]),  # type: ignore[no-untyped-call]
    "Tensor.add": (torch.Tensor, "add", lambda: x().add(1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_user_has_wrapped_is_applied_once(
    name: str, followed: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, attribute, call = CALLS[name]
    with aside.outside("a test"):
        want = call()
    original, calls = getattr(owner, attribute), []

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        calls.append(attribute)
        result = original(*args, **kwargs)
        return (
            [one * 3 for one in result]
            if isinstance(result, tuple | list)
            else result
            if result is None
            else result * 3
        )

    monkeypatch.setattr(owner, attribute, wrapped)
    got = call()
    assert calls == [attribute]
    assert torch.equal(got, want if name == "Tensor.backward" else want * 3)
    assert followed.names, "it was followed, too"


def test_each_operation_is_seen_once(followed: Following) -> None:
    F.relu(torch.ones(2)).sum()
    assert followed.names == ["ones", "relu", "sum"]


def test_a_higher_order_operator_inside_vmap_runs_as_ever(followed: Following) -> None:
    picked = torch.vmap(lambda one: Doubled.apply(one))(x())  # type: ignore[no-untyped-call]
    assert torch.equal(picked, x() * 2)


def test_an_operation_that_fails_is_told_and_raises_as_ever(followed: Following) -> None:
    with pytest.raises(RuntimeError, match="size of tensor"):
        torch.ones(2).add(torch.ones(3))
    assert followed.names[-2:] == ["add", "add failed"]


# -- stepping aside ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_stepping_aside_is_recorded(followed: Following) -> None:
    aside.noted.clear()
    traced: Any = torch.jit.trace(torch.nn.ReLU(), torch.ones(2))  # type: ignore[no-untyped-call]
    assert traced(torch.tensor([-1.0, 1.0])).tolist() == [0, 1]
    assert aside.noted["torch.jit.trace"] > 0
    with aside.outside("a test"):
        before = list(followed.names)
        torch.ones(2)
    assert (followed.names, aside.noted["a test"]) == (before, 1)
    torch.ones(2)
    assert followed.names == [*before, "ones"]


def test_a_dispatch_mode_of_the_script_sees_nothing_of_ours(followed: Following) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Theirs(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.seen: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.seen.append(str(func))
            return func(*args, **(kwargs or {}))

    aside.noted.clear()
    one = torch.ones(2)
    with Theirs() as mode:
        one.add(1)
    assert mode.seen == ["aten.add.Tensor"]
    assert aside.noted["a dispatch mode of the script"] > 0
