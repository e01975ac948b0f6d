"""Values on a device are copied here before anything is made of them. Here the CPU plays the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope import events
from stepscope.record.observers import Watcher, fetch, models, value_sample
from stepscope.record.observers.fetch import can_fetch, here, patience, together


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every tensor has to be fetched."""
    monkeypatch.setattr(fetch, "_FAR", {"cpu"})
    patience.begin()
    yield
    patience.begin()


@pytest.fixture
def capturing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were a CUDA device with a graph being captured."""
    for module in (fetch, models):
        monkeypatch.setattr(module, "is_capturing", lambda: True)
    held = fetch.is_held
    monkeypatch.setattr(fetch, "is_held", lambda kind: held("cuda"))


def train(model: nn.Module, steps: int) -> list[torch.Tensor]:
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x, y = torch.rand(8, 6), torch.randint(0, 3, (8,))
        optimizer.zero_grad()
        F.cross_entropy(model(x), y, weight=torch.tensor([1.0, 2.0, 1.0])).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


def model_of(hidden: int = 5) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 3))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(24.0).reshape(2, 3, 4),
        torch.arange(24).reshape(4, 6).t(),
        torch.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2],
        torch.arange(200.0)[7::50],
        torch.arange(3.0).expand(4, 3),
        torch.tensor(2.5),
        torch.empty(0, 3),
        torch.arange(6.0, dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.complex(torch.ones(2), torch.ones(2)).conj().imag,
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)}-{tensor.dtype}",
)
def test_a_copy_holds_the_same_values_and_shares_no_memory(far: None, tensor: torch.Tensor) -> None:
    copy = here(tensor)
    assert torch.equal(copy, tensor)
    assert (copy.shape, copy.dtype) == (tensor.shape, tensor.dtype)
    shared = copy.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    assert not shared or not tensor.numel()
    assert patience.reads == 1


def test_on_a_cpu_nothing_is_copied() -> None:
    tensor = torch.ones(3, requires_grad=True)
    assert here(tensor).data_ptr() == tensor.data_ptr()
    assert not here(tensor).requires_grad


def test_many_small_tensors_are_one_read(far: None) -> None:
    given = [torch.ones(2, 2), torch.tensor(3.0), torch.tensor([4, 5]), torch.zeros(0)]
    found = together(given)
    assert [one.tolist() for one in found] == [[1.0] * 4, [3.0], [4, 5], []]
    assert patience.reads == 2, "one for each type"


def test_what_has_no_values_is_not_fetched() -> None:
    assert can_fetch(torch.ones(1))
    assert not can_fetch(torch.ones(1, device="meta"))
    assert not value_sample.can_look(torch.ones(1, device="meta"))


def test_observers_see_the_same_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, list[Any]]] = []
    for kinds in (set(), {"cpu"}):
        monkeypatch.setattr(fetch, "_FAR", kinds)
        with_watcher = Watcher().start()
        try:
            train(model_of(), 20)
        finally:
            with_watcher.stop()
        assert (patience.reads > 0) == bool(kinds)
        calls, moves = list(with_watcher.losses.calls), with_watcher.weight_updates.all
        seen.append({
            "losses": [backward.loss for backward in with_watcher.steps.backwards],
            "values": [call.value for call in calls],
            "counts": [call.counts for call in calls],
            "weight": [call.weight for call in calls],
            "looks": [(call.look.low, call.look.logsumexp) for call in calls if call.look is not None],
            "starts": [(start.name, start.std, start.constant) for start in with_watcher.weight_init.weights],
            "moved": [(one.moved, one.weight, one.gradient) for one in moves],
            "rows": [sorted(diet._trained) for diet in with_watcher.batches_fed.diets],
            "dead": [(one.dead, one.shares) for one in with_watcher.activations.all.values()],
            "norms": sorted(with_watcher.gradient_flow.norms.values()),
        })  # fmt: skip
    near, far = seen
    assert len(near["losses"]) == 20
    assert None not in near["losses"]
    assert all(near.values())
    assert far == near


def test_training_is_the_same_and_soon_left_alone(far: None) -> None:
    alone = train(model_of(), 160)
    watcher = Watcher().start()
    reads: list[int] = []
    after_step = events.subscribe("a test", order=0, step_ends=lambda *_: reads.append(patience.reads))
    try:
        watched = train(model_of(), 160)
    finally:
        after_step.remove()
        watcher.stop()
    assert all(map(torch.equal, alone, watched))
    assert reads[10] > 10
    assert reads[159] - reads[129] <= 10, "the pulse reads nothing"


def test_nothing_is_read_while_a_graph_is_captured(far: None, capturing: None) -> None:
    watcher = Watcher().start()
    try:
        train(model_of(), 6)
    finally:
        watcher.stop()
    assert patience.reads == 0
    assert watcher.steps.step_count == 6
    assert [backward.loss for backward in watcher.steps.backwards] == [None] * 6
    assert [*watcher.weight_updates.all, *watcher.weight_init.weights] == []


def test_patience_ends_and_comes_back_with_each_window(far: None) -> None:
    patience.begin()
    tensor = torch.ones(1)
    patience.reads = fetch._READS
    assert not can_fetch(tensor)
    patience.refill()
    assert can_fetch(tensor)
    patience.reads += fetch._A_WINDOW
    assert not can_fetch(tensor)


def test_large_copies_count_for_more(far: None) -> None:
    here(torch.zeros(3 * 2**16))
    assert patience.reads == 4


def test_a_lost_device_is_not_asked_again(far: None) -> None:
    patience.lost = True
    assert not can_fetch(torch.ones(1))
