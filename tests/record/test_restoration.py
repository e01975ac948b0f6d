"""Loops of every shape: recorded, they give the same bits as unrecorded, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed
from torch import nn

from stepscope.record.op_dataflow import Flow
from stepscope.record.recorder import Recorder
from stepscope.record.statistics import StatisticsObserver
from stepscope.record.tape import Tape
from stepscope.records.step import StepRecord

Record = Callable[..., StepRecord]


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))


def names(step: StepRecord, phase: str) -> list[str]:
    return [op.name for op in step.ops if op.phase == phase]


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd-foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, foreach=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "adam-foreach": lambda p: torch.optim.Adam(p, lr=0.1, foreach=True, amsgrad=True),
    "adam-fused": lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
}


@pytest.mark.parametrize("kind", sorted(OPTIMIZERS))
def test_optimizers(recorded: Record, kind: str) -> None:
    def build() -> Any:
        model = net()
        optimizer = OPTIMIZERS[kind](model.parameters())

        def step() -> Any:
            optimizer.zero_grad()
            loss = model(torch.randn(6, 4)).pow(2).mean()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return loss

        return model, step

    step = recorded(build)
    assert names(step, "optimizer")
    written = {step.tensors[ref.id].name for op in step.ops if op.phase == "optimizer" for ref in op.outputs}
    assert {"0.weight", "0.bias", "4.weight"} <= written
    if kind.startswith("adam"):
        assert {"0.weight/exp_avg", "4.bias/exp_avg_sq"} <= {t.name for t in step.tensors if t.kind == "state"}


def test_lbfgs_closure(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
        x, y = torch.randn(8, 3), torch.randn(8, 1)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            return loss

        return model, lambda: optimizer.step(closure)

    step = recorded(build)
    assert names(step, "forward").count("linear") >= 2
    assert {"sub", "pow", "mean"} == set(names(step, "loss"))
    assert "add_" in names(step, "optimizer")


def test_gradient_accumulation_and_several_backwards(recorded: Record) -> None:
    def build() -> Any:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step() -> Any:
            optimizer.zero_grad()
            for _ in range(3):
                loss = model(torch.randn(6, 4)).mean() / 3
                loss.backward()
            optimizer.step()
            return loss

        return model, step

    step = recorded(build)
    assert [op.name for op in step.ops].count("backward") == 3
    sums = [op for op in step.ops if op.name == "AccumulateGrad"]
    assert len(sums) == 18
    assert sum(op.inplace for op in sums) == 12, "the first of three makes the gradient, the others add to it"


def test_retained_graph_runs_backward_twice(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Linear(3, 1)

        def step() -> Any:
            model.zero_grad()
            loss = model(torch.randn(2, 3)).pow(2).mean()
            loss.backward(retain_graph=True)
            torch.autograd.backward(loss)
            return loss

        return model, step

    step = recorded(build)
    assert names(step, "backward").count("PowBackward0") == 2


def test_double_backward(recorded: Record) -> None:
    def build() -> Any:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

        def step() -> Any:
            model.zero_grad()
            x = torch.randn(2, 3, requires_grad=True)
            (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            penalty = (slope.norm(dim=1) - 1).pow(2).mean()
            penalty.backward()
            return penalty

        return model, step

    step = recorded(build)
    assert [op.name for op in step.ops if op.name in ("grad", "backward")] == ["grad", "backward"]
    assert any("TanhBackwardBackward" in op.name for op in step.ops)


@pytest.mark.parametrize("guard", [torch.no_grad, torch.inference_mode])
def test_without_gradients(recorded: Record, guard: Any) -> None:
    def build() -> Any:
        model = net().eval()

        def step() -> Any:
            with guard():
                out = model(torch.randn(6, 4))
                out.add_(1).mul_(2)
                return out.sum()

        return model, step

    step = recorded(build)
    writes = [op for op in step.ops if op.name in ("add_", "mul_")]
    assert [op.inplace for op in writes] == [True, True]
    assert writes[1].inputs == writes[0].outputs, "each write is a new version"


def test_fused_inference_kernels_are_left_as_they_are(recorded: Record) -> None:
    def build() -> Any:
        model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()

        def step() -> Any:
            with torch.no_grad():
                return model(torch.randn(2, 3, 8)).sum()

        return model, step

    step = recorded(build)
    assert names(step, "forward") == ["TransformerEncoderLayer"]
    assert step.unseen[0].what == "inside a fused inference kernel of torch"


def test_an_exception_keeps_what_was_seen(recorded: Record) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(3, 2))
    recorder = Recorder(model)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied") as caught, recorder:
        model(torch.randn(2, 4))
    step = recorder.record
    assert step is not None
    assert [(op.name, op.error is not None) for op in step.ops] == [
        ("randn", False),
        ("linear", False),
        ("relu", False),
        ("linear", True),
    ]
    assert step.ops[-1].module == "2"
    assert step.error == f"RuntimeError: {caught.value}"
    assert {call.path: call.error is not None for call in step.calls} == {"": True, "0": False, "1": False, "2": True}
    with torch.no_grad():
        model[0](torch.randn(1, 4))


@pytest.mark.parametrize(
    ("owner", "name", "observers"),
    [(Flow, "read_inputs", [StatisticsObserver()]), (Tape, "begin", []), (Tape, "end", [])],
)
def test_a_fault_of_ours_never_reaches_the_training(
    owner: type, name: str, observers: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: Any) -> Any:
        raise ValueError("a bug of ours")

    monkeypatch.setattr(owner, name, broken)
    recorder = Recorder(observers=observers)
    with recorder:
        result = torch.ones(2) + 1
    assert result.tolist() == [2, 2]
    assert "recording an op failed and was skipped" in capfd.readouterr().err
    assert recorder.record is not None


def test_nested_recordings_see_the_same_ops() -> None:
    model = nn.Linear(3, 2)
    outer, inner = Recorder(model), Recorder(model)
    with outer:
        with inner:
            model(torch.randn(2, 3)).sum().backward()
        torch.zeros(1)
    assert outer.record is not None
    assert inner.record is not None
    assert [op.name for op in outer.record.ops[:-1]] == [op.name for op in inner.record.ops]
    assert outer.record.ops[-1].name == "zeros"


def test_recording_from_a_thread_sees_only_that_thread() -> None:
    model = nn.Linear(3, 2)
    found: list[Recorder] = []
    ready, go = threading.Event(), threading.Event()

    def work() -> None:
        with Recorder(model) as recorder:
            ready.set()
            go.wait(300)
            model(torch.randn(2, 3)).sum().backward()
        found.append(recorder)

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(300)
    model(torch.ones(1, 3))
    go.set()
    thread.join()
    step = found[0].record
    assert step is not None
    assert [op.name for op in step.ops if op.phase == "forward"] == ["linear"]
    assert [unseen.what for unseen in step.unseen] == ["another thread"]


class Numbers(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.randn(4) + index


def test_loader_workers_forked_inside(recorded: Record) -> None:
    def build() -> Any:
        model = net()

        def step() -> Any:
            loader = torch.utils.data.DataLoader(Numbers(), batch_size=3, num_workers=1, multiprocessing_context="fork")
            losses = [model(batch).mean() for batch in loader]
            total = torch.stack(losses).sum()
            total.backward()
            model.zero_grad()
            return total

        return model, step

    step = recorded(build, steps=1)
    assert names(step, "forward").count("linear") == 4


@pytest.mark.filterwarnings("ignore")
def test_compiled_models_run_eagerly_and_stay_compiled() -> None:
    frames: list[int] = []

    def backend(graph: Any, inputs: Any) -> Any:
        frames.append(1)
        return graph.forward

    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    fast = torch.compile(model, backend=backend)
    x = torch.randn(2, 3)
    expected = fast(x)
    recorder = Recorder(fast)
    with recorder:
        found = fast(x)
    step = recorder.record
    assert step is not None
    assert torch.equal(found, expected)
    assert names(step, "forward") == ["linear", "relu", "linear"]
    assert [op.module for op in step.ops] == ["_orig_mod.0", "_orig_mod.1", "_orig_mod.2"]
    fast(x)
    assert len(frames) == 1, "given back as compiled: no new compilation"
    torch._dynamo.reset()


def test_what_is_compiled_inside_the_recording_runs_compiled_and_is_not_followed() -> None:
    code = (
        "import torch\n"
        "from stepscope.record.recorder import Recorder\n"
        "graphs = []\n"
        "def backend(graph, inputs):\n"
        "    graphs.append(graph); return graph.forward\n"
        "before = torch.compile\n"
        "with Recorder() as r:\n"
        "    torch.zeros(2)\n"
        "    f = torch.compile(lambda x: x.sin() + 1, backend=backend)\n"
        "    f(torch.ones(2))\n"
        "print([op.name for op in r.record.ops], len(graphs), torch.compile is before)\n"
        "print([unseen.where for unseen in r.record.unseen])\n"
        "f(torch.ones(2)); print(len(graphs))\n"
        "with Recorder() as r: torch.zeros(2); f(torch.ones(2))\n"
        "f(torch.ones(2)); print([op.name for op in r.record.ops], len(graphs))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [
        "['zeros'] 1 True", "['torch.compile']", "1", "['zeros', 'ones', 'sin', 'add'] 1",
    ]  # fmt: skip


class Refusing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        raise ValueError("not backwards")


def test_an_exception_in_backward_is_the_users_own() -> None:
    model = nn.Linear(2, 2)
    with Recorder(model) as recorder:
        with pytest.raises(ValueError, match="not backwards"):
            Refusing.apply(model(torch.ones(1, 2))).sum().backward()
        torch.zeros(1)
    step = recorder.record
    assert step is not None
    failed = next(op for op in step.ops if op.name == "backward")
    assert failed.error == "ValueError: not backwards"
    assert step.ops[-1].phase == "other"
    assert step.error is None
    model(torch.ones(1, 2)).sum().backward()


@pytest.fixture
def process_group(tmp_path: Path) -> Iterator[None]:
    hook = sys.excepthook
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()
    sys.excepthook = hook  # torch puts its own there and leaves it


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("process_group")
def test_distributed_data_parallel(recorded: Record) -> None:
    def build() -> Any:
        model = nn.parallel.DistributedDataParallel(net())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step() -> Any:
            optimizer.zero_grad()
            loss = model(torch.randn(6, 4)).mean()
            loss.backward()
            optimizer.step()
            return loss

        return model, step

    step = recorded(build)
    assert [call.path for call in step.calls[:3]] == ["", "module", "module.0"]
    assert names(step, "backward").count("AccumulateGrad") == 6


def test_no_tensor_or_graph_is_kept_alive() -> None:
    model = net()
    gone: list[Any] = []
    with Recorder(model) as recorder:
        for _ in range(2):
            hidden = model[0](torch.randn(6, 4))
            gone.append(weakref.ref(hidden))
            loss = model[4](model[2](hidden)).sum()
            gone.append(weakref.ref(loss))
            loss.backward()
            del hidden, loss
            assert [ref() for ref in gone] == [None] * len(gone), "freed while the recording still runs"
    del recorder
    gc.collect()


def test_other_code_is_not_slowed_afterwards() -> None:
    handlers = torch._C._len_torch_function_stack()
    with Recorder():
        assert torch._C._len_torch_function_stack() == handlers + 1
    assert torch._C._len_torch_function_stack() == handlers


def test_a_forked_child_records_nothing() -> None:
    with Recorder() as recorder:
        torch.ones(1)
        child = os.fork()
        if child == 0:
            noted = len(recorder.tape.events) if recorder.tape is not None else 0
            torch.ones(2)
            os._exit(0 if recorder.off and recorder.tape is not None and len(recorder.tape.events) == noted else 1)
        assert os.waitpid(child, 0)[1] == 0
        torch.ones(3)
    assert recorder.record is not None
    assert len(recorder.record.ops) == 2
