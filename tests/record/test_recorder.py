"""The recorder's own promises: phases, depths, roots, what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.errors import UsageError
from stepscope.record.op_observer import Observer, OpCall
from stepscope.record.recorder import Recorder
from stepscope.records.edges import edges
from stepscope.records.step import StepRecord


def finished(recorder: Recorder) -> StepRecord:
    assert recorder.record is not None
    return recorder.record


def test_the_phases_of_a_usual_step() -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Recorder(model) as recorder:
        x = torch.ones(4, 3)
        loss = F.cross_entropy(model(x), torch.zeros(4, dtype=torch.long))
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
    step = finished(recorder)
    found: dict[str, list[str]] = {}
    for op in step.ops:
        found.setdefault(op.phase, []).append(op.name)
    assert found["setup"] == ["ones"]
    assert found["forward"] == ["linear"]
    assert found["loss"] == ["zeros", "cross_entropy"]
    assert found["backward"][0] == "backward"
    assert set(found["optimizer"]) <= {"add_", "_foreach_add_"}
    assert found["other"][-1] == "item"
    assert step.notes["optimizers"] == ["SGD"]
    assert step.loss == step.ops[3].outputs[0]
    assert step.model == "Linear"


def test_edges_run_from_maker_to_reader() -> None:
    with Recorder() as recorder:
        a = torch.ones(2)
        b = a * 2
        b.add_(a)
        b.sum()
    step = finished(recorder)
    assert [(maker, reader) for maker, reader, _ in edges(step)] == [(0, 1), (1, 2), (0, 2), (2, 3)]


def test_without_a_model_the_first_one_called_is_it() -> None:
    model, criterion = nn.Sequential(nn.Linear(2, 2)), nn.MSELoss()
    with Recorder() as recorder:
        criterion(model(torch.ones(1, 2)), torch.zeros(1, 2)).backward()
    step = finished(recorder)
    assert step.model == "Sequential"
    assert [call.path for call in step.calls] == ["", "0", "MSELoss"]
    assert [op.phase for op in step.ops][:4] == ["setup", "forward", "loss", "loss"]


def test_a_part_called_before_the_whole_gets_its_real_name() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    with Recorder() as recorder:
        model[0](torch.ones(1, 2))
        model(torch.ones(1, 2))
    step = finished(recorder)
    assert step.model == "Sequential"
    assert [(call.path, call.call) for call in step.calls] == [("0", 0), ("", 0), ("0", 1), ("1", 0)]


def test_several_models_keep_apart() -> None:
    generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
    with Recorder(generator) as recorder:
        critic(generator(torch.ones(1, 2))).mean().backward()
    step = finished(recorder)
    assert [op.module for op in step.ops if op.name == "linear"] == ["", "Linear"]
    assert {t.name for t in step.tensors if t.kind == "parameter"} == {"weight", "bias", "Linear.weight", "Linear.bias"}


def test_a_model_without_parameters_is_still_the_model() -> None:
    class Halve(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x / 2

    with Recorder() as recorder:
        Halve()(torch.ones(1))
    step = finished(recorder)
    assert step.model == "Halve"
    assert step.ops[-1].module == ""
    assert step.ops[-1].phase == "forward"


def test_depth_modules_lists_the_innermost_modules() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))
    with Recorder(model, depth="modules") as recorder:
        model(torch.ones(1, 2))
    step = finished(recorder)
    assert [(op.name, op.module) for op in step.ops] == [("Linear", "0"), ("ReLU", "1.0"), ("Linear", "1.1")]
    assert len(list(edges(step))) == 2


def test_backward_can_be_left_out() -> None:
    model = nn.Linear(2, 1)
    with Recorder(model, backward=False) as recorder:
        model(torch.ones(1, 2)).backward()
    assert [op.name for op in finished(recorder).ops] == ["ones", "linear", "backward"]


class Listener(Observer):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def before(self, call: OpCall) -> None:
        self.heard.append(f"before {call.draft.name} {len(call.inputs)}")

    def after(self, call: OpCall) -> None:
        self.heard.append(f"after {call.draft.name} {len(call.outputs)} {len(call.nodes)}")
        assert len(call.outputs) == len(call.draft.outputs)

    def backward_after(self, draft: Any, produced: Any, gradients: Any) -> None:
        self.heard.append(f"ran {draft.name}")


def test_observers_hear_every_op() -> None:
    listener = Listener()
    x = torch.ones(2, requires_grad=True)
    with Recorder(observers=[listener]):
        (x * 2).sum().backward()
    assert listener.heard == [
        "before mul 1",
        "after mul 1 1",
        "before sum 1",
        "after sum 1 1",
        "before backward 1",
        "ran SumBackward0",
        "ran MulBackward0",
        "ran AccumulateGrad",
        "after backward 0 0",
    ]


def test_a_faulty_observer_is_reported_and_ignored(capfd: pytest.CaptureFixture[str]) -> None:
    class Faulty(Observer):
        def after(self, call: OpCall) -> None:
            raise KeyError("mine")

    with Recorder(observers=[Faulty()]) as recorder:
        assert (torch.ones(1) + 1).item() == 2
    assert [op.name for op in finished(recorder).ops] == ["ones", "add", "item"]
    assert "an observer (after) failed" in capfd.readouterr().err


def test_wrong_arguments_say_what_to_give() -> None:
    with pytest.raises(UsageError, match="depth is 'deep'; it can be 'ops', 'modules' or 'aten'"):
        Recorder(depth="deep")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="given a dict; give it a torch"):
        Recorder({"a": 1})
    with Recorder() as recorder, pytest.raises(UsageError, match="already recording"):
        recorder.start()


def test_there_is_no_record_while_it_runs() -> None:
    with Recorder() as recorder:
        assert recorder.record is None
    assert finished(recorder).ops == ()


def test_arguments_are_named() -> None:
    x = torch.ones(2, 3, 4)
    with Recorder() as recorder:
        x.view(6, 4)
        x.sum(dim=1)
        x[:, 0]
        F.dropout(x, 0.5)
        torch.zeros(2, dtype=torch.int32)
        torch.cat([x, x], 1)
        F.max_pool2d(x, 2, padding=1)
    assert [op.args for op in finished(recorder).ops] == [
        {"size": [6, 4]},
        {"dim": 1},
        {"index": [{"slice": [None, None, None]}, 0]},
        {"p": 0.5, "training": True, "inplace": False},
        {"size": 2, "dtype": "int32"},
        {"tensors": [{"tensor": 0}, {"tensor": 0}], "dim": 1},
        {
            "kernel_size": 2,
            "stride": None,
            "padding": 1,
            "dilation": 1,
            "ceil_mode": False,
            "return_indices": False,
        },
    ]


def test_questions_that_make_tensors_are_ops() -> None:
    """Distributions check their arguments with these."""
    with Recorder() as recorder:
        holds = torch._is_all_true(torch.ones(2) > 0)
        torch.is_nonzero(holds)
    assert [op.name for op in finished(recorder).ops] == ["ones", "gt", "all", "bool"]
