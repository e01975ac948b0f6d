"""The history of tensors: where tensors come from, and that following them changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from stepscope import fence
from stepscope.evidence.origins import CONSTANT, DATA, HOST, NOISE, OUTPUT, PARAMETER
from stepscope.record.observers import Watcher
from stepscope.record.observers.own_frames import is_own_file


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def test_an_origin_names_op_line_and_inputs(watcher: Watcher) -> None:
    a = torch.ones(3)
    b = a * 2
    origin = watcher.tensor_history.of(b)
    assert (origin.op, [source.op for source in origin.inputs]) == ("mul", ["ones"])
    assert origin.place is not None
    assert origin.place.site.text == "b = a * 2"


def test_tags_are_handed_on(watcher: Watcher) -> None:
    layer = nn.Linear(2, 2)
    x = torch.randn(4, 2)
    assert watcher.tensor_history.of(x).tags == NOISE
    assert watcher.tensor_history.of(torch.tensor([1.0, 2.0])).tags == HOST
    assert watcher.tensor_history.of(torch.zeros(2)).tags == CONSTANT
    assert watcher.tensor_history.of(layer(x) + 1).tags == NOISE | PARAMETER | OUTPUT


def test_what_a_loader_gives_is_data(watcher: Watcher) -> None:
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(4.0)), batch_size=2)
    for (x,) in loader:
        origin = watcher.tensor_history.of(x)
        assert origin.kind == "data"
        assert origin.tags & DATA
        assert watcher.tensor_history.of(x * 2).tags & DATA
    assert [(one.batches, one.epochs, one.finished) for one in watcher.loaders.all] == [(2, 1, 1)]


def test_an_in_place_op_is_the_latest_origin_and_parameters_stay_parameters(watcher: Watcher) -> None:
    x = torch.zeros(2)
    x.add_(1)
    assert watcher.tensor_history.of(x).op == "add_"
    weight = nn.Parameter(torch.zeros(2))
    with torch.no_grad():
        weight.add_(1)
    assert watcher.tensor_history.of(weight).kind == "parameter"


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
        more = x + offset
        return more * 2

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return 2 * gradients[0], None


def test_what_a_custom_function_returns_has_its_gradient_and_its_inputs(watcher: Watcher) -> None:
    weight, offset = nn.Parameter(torch.ones(2)), torch.zeros(2)
    result = Doubled.apply(weight.exp(), offset)
    origin = watcher.tensor_history.of(result.sum()).inputs[0]
    assert (origin.op, origin.requires_grad) == ("unseen:DoubledBackward", True)
    assert sorted(source.op for source in origin.inputs) == ["exp", "zeros"]
    assert origin.place is not None
    assert origin.place.site.text == "return more * 2"


def test_arguments_of_an_op_have_their_names(watcher: Watcher) -> None:
    y = F.softmax(torch.zeros(2, 3), dim=0)
    assert watcher.tensor_history.of(y).arguments["dim"] == 0


def test_the_op_that_raised_is_kept_with_its_operands(watcher: Watcher) -> None:
    layer = nn.Linear(3, 2)
    with pytest.raises(RuntimeError):
        layer(torch.zeros(4, 5))
    failed = watcher.tensor_history.failed
    assert failed is not None
    assert (failed.op, [origin.shape for origin in failed.origins]) == ("linear", [(4, 5), (2, 3), (2,)])


def test_the_mode_comes_off_from_below_another(watcher: Watcher) -> None:
    with torch.device("cpu"):
        watcher.governor.rest()
        assert not watcher.tensor_history.on
        x = torch.zeros(2)
    assert watcher.tensor_history.known(x) is None
    assert torch.overrides._get_current_function_mode_stack() == []


def has_door() -> bool:
    names = vars(torch.nn.Module)
    return any(hasattr(names[name], "__wrapped__") for name in ("__call__", "_call_impl"))


def test_a_forked_child_runs_as_if_we_were_not_there(watcher: Watcher) -> None:
    pid = os.fork()
    if pid == 0:
        modes = len(torch.overrides._get_current_function_mode_stack())
        patched = has_door()
        os._exit(modes + 10 * patched)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert watcher.tensor_history.on


def test_compiling_ends_the_close_look() -> None:
    with_us = Watcher().start()
    torch.compile(nn.Linear(2, 2), backend="eager")
    assert not with_us.tensor_history.on
    assert with_us.governor.closed == "the script compiles its model"
    assert not has_door()
    with_us.stop()


def test_a_fault_in_a_observer_reaches_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    from stepscope.record.observers.observer import Observer

    class Broken(Observer):
        def op(self, call: object) -> None:
            raise ValueError("broken op")

        def backward(self, *_: object) -> None:
            raise ValueError("broken backward")

        def root_done(self, *_: object) -> None:
            raise ValueError("broken root")

        def step_done(self, *_: object) -> None:
            raise ValueError("broken step")

    watcher = Watcher()
    watcher.add(Broken(watcher))
    watcher.start()
    losses = _train()
    watcher.stop()
    assert losses == _train()
    assert capfd.readouterr().err.count("training continues") == 4
    fence.reset()


def test_training_is_the_same_bit_for_bit() -> None:
    plain = _train()
    watcher = Watcher().start()
    watched = _train()
    watcher.stop()
    assert watched == plain
    assert watcher.step == 5


def _train() -> list[float]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        x = torch.randn(16, 4)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), x[:, :1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/home/me/project/train.py", True),
        ("/home/me/.venv/lib/python3.11/site-packages/rich/text.py", False),
        ("/usr/lib/python3/dist-packages/sympy/core/add.py", False),
        (torch.__file__, False),
        (os.__file__, False),
        (fence.__file__, False),
    ],
)
def test_installed_packages_are_not_the_users_own(path: str, own: bool) -> None:
    assert is_own_file(path) is own
