"""What every test of the recorder leans on: a run with and without recording, compared bit for bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy
import pytest
import torch
from torch.nn.modules import module as torch_module

from stepscope.record.op_observer import Observer, OpCall
from stepscope.record.op_observers import observers_for
from stepscope.record.recorder import Recorder
from stepscope.records.edges import edges
from stepscope.records.step import StepRecord

Step = Callable[[], Any]
"""One turn of a training loop; returns the loss."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def no_fault_of_ours(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """A fault inside the recorder is fenced; here it must show."""
    yield
    assert "failed and was skipped" not in capfd.readouterr().err


def installed() -> tuple[Any, ...]:
    """Everything a recording touches in torch."""
    from torch.optim import optimizer

    return (
        dict(torch_module._global_forward_hooks),
        dict(torch_module._global_forward_pre_hooks),
        dict(torch_module._global_forward_hooks_always_called),
        dict(optimizer._global_optimizer_pre_hooks),
        dict(optimizer._global_optimizer_post_hooks),
        torch.autograd.__dict__["_engine_run_backward"],
        torch._C._len_torch_function_stack(),
        torch._C._is_torch_function_enabled(),
    )


def watching(wanted: bool) -> list[Observer]:
    """All observers there are, new ones for each step, or none."""
    return observers_for(cost=True, stats=True) if wanted else []


class Live(Observer):
    """Looks at every op as it runs, so that nothing is left to a tape."""

    def after(self, call: OpCall) -> None:
        assert call.draft.index >= 0


def timeless(step: StepRecord) -> Any:
    """A record as plain data, without what depends on the clock."""
    plain = msgspec.to_builtins(step)
    for one in (*(op["cost"] for op in plain.get("ops", ()) if "cost" in op), *plain.get("calls", ())):
        one.pop("host_us", None)
    return {name: value for name, value in plain.items() if name not in ("started", "wall_us")}


def run_steps(
    build: Callable[[], tuple[Any, Step]], record: bool, steps: int, *, live: bool = False, **options: Any
) -> dict[str, Any]:
    torch.manual_seed(7)
    random.seed(7)
    numpy.random.seed(7)
    model, step = build()
    losses, records = [], []
    for _ in range(steps):
        if record:
            observers = watching(options.get("observers", False)) + ([Live()] if live else [])
            recorder = Recorder(model, **{**options, "observers": observers})
            with recorder:
                loss = step()
            records.append(recorder.record)
        else:
            loss = step()
        losses.append(torch.as_tensor(loss).detach().clone())
    parts = list(model.modules()) if model is not None else []
    return {
        "losses": losses,
        "weights": {} if model is None else dict(model.state_dict()),
        "gradients": [] if model is None else [p.grad for p in model.parameters()],
        "random": (torch.get_rng_state(), random.getstate(), str(numpy.random.get_state())),
        "hooks": [(len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks)) for m in parts],
        "records": records,
    }


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        if a.layout is not torch.strided:
            a, b = a.to_dense(), b.to_dense()
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def orphans(step: StepRecord) -> list[str]:
    """Tensors read that no recorded op made and that did not come from outside."""
    made = {(reader, ref) for _, reader, ref in edges(step)}
    kinds = {tensor.id: tensor.kind for tensor in step.tensors}
    outside = {"input", "parameter", "buffer", "state"}
    return [
        f"op {op.index} {op.name} reads {ref} ({kinds[ref.id]})"
        for op in step.ops
        for ref in op.inputs
        if (op.index, ref) not in made and kinds[ref.id] not in outside
    ]


def record_and_compare(
    build: Callable[[], tuple[Any, Step]], *, steps: int = 3, live: bool = True, **options: Any
) -> StepRecord:
    """Run a loop without and with recording, check that nothing differs and all edges are there; the last record.

    With `live` it is recorded a second way, with every op looked at as it runs, and must come out the same.
    """
    before = installed()
    plain = run_steps(build, False, steps)
    watched = run_steps(build, True, steps, **options)
    records = watched.pop("records")
    plain.pop("records")
    for name in plain:
        assert same(plain[name], watched[name]), f"{name} differ with recording"
    assert installed() == before
    step: StepRecord = records[-1]
    if live and options.get("depth", "ops") == "ops":
        alive = run_steps(build, True, steps, live=True, **options)
        assert timeless(alive["records"][-1]) == timeless(step), "the tape tells the same as looking at each op"
    assert orphans(step) == []
    assert [op.index for op in step.ops] == list(range(len(step.ops)))
    return step


@pytest.fixture
def recorded() -> Callable[..., StepRecord]:
    return record_and_compare
