"""A training is followed from its first step, whatever was computed before it and by whatever transform."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad

from stepscope.record.observers import Watcher

_X, _Y = torch.randn(8, 4), torch.randint(3, (8,))


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def _compute_until_exhausted(watcher: Watcher) -> None:
    while not watcher.governor.is_exhausted:
        torch.rand(1)
    torch.rand(1)


def test_the_first_steps_after_a_long_setup_are_followed(watcher: Watcher) -> None:
    _compute_until_exhausted(watcher)
    assert watcher.tensor_history.paused, "nothing more of the setup is followed"
    net = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(net(_X), _Y).backward()
        optimizer.step()
    assert [call.name for call in watcher.losses.calls] == ["cross_entropy"] * 3
    assert [window.why for window in watcher.governor.windows] == ["the start", "the first steps"]
    assert watcher.governor.coverage() == [(1, 3)]


def test_a_step_that_is_held_open_after_a_long_setup_is_followed(watcher: Watcher) -> None:
    _compute_until_exhausted(watcher)
    watcher.governor.hold("a test")
    F.cross_entropy(nn.Linear(4, 3)(_X), _Y)
    assert [call.name for call in watcher.losses.calls] == ["cross_entropy"]


def test_gradients_inside_a_transform_are_no_fault(watcher: Watcher, capfd: pytest.CaptureFixture[str]) -> None:
    net = nn.Linear(4, 3)

    def loss(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
        return F.cross_entropy(functional_call(net, parameters, (_X,)), _Y)

    gradients = grad(loss)(dict(net.named_parameters()))
    assert gradients["weight"].shape == (3, 4)
    assert watcher.steps.backward_count == 1
    assert "skipped" not in capfd.readouterr().err


def test_what_trains_after_a_transform_is_marked(watcher: Watcher) -> None:
    net = nn.Linear(4, 3)
    for _ in range(5):
        grad(lambda p: functional_call(net, p, (_X,)).sum())(dict(net.named_parameters()))
    for _ in range(3):
        F.cross_entropy(net(_X), _Y).backward()
    watcher.settle()
    assert [(p.gradients, p.changed) for p in watcher.models.parameters] == [(3, False), (3, False)]


def test_an_evaluation_that_was_looked_at_from_the_start_is_not_looked_at_again(watcher: Watcher) -> None:
    net = nn.Linear(4, 3).eval()
    with torch.no_grad():
        after = 0
        while after < 5:
            net(_X)
            after += not watcher.governor.is_deep
        assert [window.why for window in watcher.governor.windows] == ["the start"]
        net(_X)  # it goes on, from another line
        assert len(watcher.governor.windows) == 1
