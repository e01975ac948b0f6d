"""Records awkward steps and prints each as plain data: once as it is built, once with STEPSCOPE_PURE=1."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stepscope.record.op_observers import observers_for
from stepscope.record.recorder import Recorder
from stepscope.record.trace_values import ValuesObserver

STEPS: dict[str, Callable[[], Callable[[], Any]]] = {}
"""Each builds what it needs, and gives what is to be recorded: fresh memory holds anything."""
UNSTEADY = {"host_us", "device_us", "wall_us", "started", "torch", "live_bytes"}


def step(function: Callable[[], Any]) -> Callable[[], Any]:
    STEPS[function.__name__] = lambda: function
    return function


def trained(model: Callable[[], tuple[nn.Module, Tensor]]) -> Callable[[], tuple[nn.Module, Tensor]]:
    def build() -> Callable[[], None]:
        module, inputs = model()
        optimizer = torch.optim.AdamW(module.parameters(), lr=0.01)

        def train() -> None:
            for _ in range(2):
                optimizer.zero_grad()
                output = module(inputs)
                (output[0] if isinstance(output, tuple) else output).sum().backward()
                optimizer.step()

        return train

    STEPS[model.__name__] = build
    return model


@trained
def mlp() -> tuple[nn.Module, Tensor]:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(3, 4)


@trained
def convolutions() -> tuple[nn.Module, Tensor]:
    layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten())
    return layers, torch.randn(2, 1, 8, 8)


@trained
def recurrent() -> tuple[nn.Module, Tensor]:
    return nn.LSTM(3, 4, batch_first=True), torch.randn(2, 5, 3)


@trained
def attention() -> tuple[nn.Module, Tensor]:
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(2, 3, 8)


@step
def keywords_and_simple_values() -> None:
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    torch.add(x, x, alpha=2)
    x.sum(dim=1, keepdim=True, dtype=torch.float64)
    torch.zeros(2, device="cpu", dtype=torch.int64)
    x.to(torch.float16, copy=True)
    torch.clamp(input=x, min=1.0)
    torch.empty_like(x, memory_format=torch.contiguous_format).zero_()
    torch.cat([x, x], 0)
    torch.stack(tensors=(x, x))
    x[:, 1:] = 5
    x[..., None].expand(2, 3, 2)
    x.max(dim=1)
    x.unbind(0)
    x.tolist()
    bool(x.sum() > 0)


@step
def in_place_and_views() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.add_(1).mul_(3)
    view = y.view(3, 1).t()
    view.mul_(2)
    torch.add(torch.ones(3), 1, out=torch.empty(3))
    (y.sum() + view.sum()).backward()
    with torch.no_grad():
        x.sub_(x.grad)


@step
def errors() -> None:
    x = torch.ones(2, 3)
    for wrong in (lambda: x @ x, lambda: F.linear(x, x[:1, :1]), lambda: x.view(5), lambda: torch.add(x)):
        try:
            wrong()
        except (RuntimeError, TypeError):
            pass
    x.add(1)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradient * 3 * x**2


@step
def custom_functions_and_second_derivatives() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    first.sum().backward()


class Named(torch.Tensor):
    pass


@step
def subclasses_and_inference() -> None:
    named = torch.ones(2).as_subclass(Named)
    torch.relu(named + 1)
    with torch.inference_mode():
        x = torch.ones(2)
        x.add_(1)
        (x * 2).sum()
    torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), check_invariants=False).to_dense()


class Doubling(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


@step
def modes_and_transforms() -> None:
    with Doubling():
        torch.ones(2) + 1
    with torch.device("cpu"):
        torch.ones(2) + 1
    torch.func.vmap(lambda row: row * 2)(torch.ones(2, 3))
    with torch.autocast("cpu", torch.bfloat16):
        F.linear(torch.ones(2, 3), torch.ones(4, 3))


torch.manual_seed(0)
LAYER = nn.Linear(3, 3)


@step
def checkpoints_and_hooks() -> None:
    layer = LAYER
    x = torch.ones(2, 3, requires_grad=True)
    x.register_hook(lambda gradient: gradient * 2)
    handle = layer.weight.register_post_accumulate_grad_hook(lambda weight: None)
    torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).sum().backward()
    handle.remove()


@step
def values_that_are_not_finite() -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    (torch.log(x) * 0).sum().backward()
    torch.full((2,), float("inf")) - float("inf")


def plain(value: Any) -> Any:
    """Without times, addresses and thread numbers."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if name not in UNSTEADY}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def recorded() -> Iterator[tuple[str, Any]]:
    for name, build in STEPS.items():
        for kind, observers in (
            (" cost", observers_for(cost=True, stats=False)),
            (" values", [ValuesObserver()]),
        ):
            torch.manual_seed(0)
            run = build()
            recorder = Recorder(observers=observers)
            with recorder:
                run()
            yield name + kind, plain(msgspec.to_builtins(recorder.record))


if __name__ == "__main__":
    json.dump(dict(recorded()), sys.stdout)
