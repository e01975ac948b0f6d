"""What is gathered of a process is right, changes nothing and leaves nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
import torch.nn.functional as F
import torch.utils.data.dataloader as dataloader
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, Dataset, TensorDataset

from stepscope import fence
from stepscope.events import aside
from stepscope.profile.collect.clock import Clock
from stepscope.profile.collect.facts import Facts


class Noisy(Dataset[Any]):
    """Data that draws from all three random numbers when it is read."""

    def __init__(self) -> None:
        self.rows = np.random.default_rng(0).random((96, 8)).astype(np.float32)

    def __len__(self) -> int:
        return 96

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return torch.from_numpy(self.rows[i]) + torch.randn(8) + float(np.random.rand()), i % 4


def train(dataset: Any = None, epochs: int = 2) -> tuple[list[float], list[torch.Tensor]]:
    torch.manual_seed(0)
    np.random.seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = DataLoader(Noisy() if dataset is None else dataset, batch_size=8, shuffle=True)
    losses = []
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, [one.detach().clone() for one in model.parameters()]


def gathered(run: Callable[[], Any], **how: Any) -> tuple[dict[str, Any], Any]:
    facts = Facts(**how)
    facts.install(torch)
    facts.install_loaders(dataloader)
    try:
        answer = run()
        found = facts.result()
    finally:
        facts.remove()
    assert not fence._faults, [fault.traceback for fault in fence._faults.values()]
    return found, answer


def test_training_is_the_same_to_the_bit() -> None:
    plain = train()
    found, watched = gathered(train)
    assert found["look"]["steps"] == 3
    assert plain[0] == watched[0]
    assert all(torch.equal(a, b) for a, b in zip(plain[1], watched[1], strict=True))


def test_nothing_is_left_behind() -> None:
    owners = [
        (torch.optim.Optimizer, "__init__"), (torch.optim.Optimizer, "zero_grad"), (nn.Module, "zero_grad"),
        (DataLoader, "__init__"), (DataLoader, "__iter__"), (dataloader._BaseDataLoaderIter, "__next__"),
        (dataloader._utils.fetch._MapDatasetFetcher, "fetch"), (torch, "from_numpy"),
    ]  # fmt: skip
    before = [getattr(owner, name) for owner, name in owners]
    gathered(train)
    assert [getattr(owner, name) for owner, name in owners] == before
    assert torch.overrides._get_current_function_mode_stack() == []
    assert not torch.nn.modules.module._global_forward_hooks
    assert not sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks


def test_the_look_ends_even_if_the_script_does_in_the_middle_of_it() -> None:
    def crash() -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(9):
            model(torch.ones(1, 2)).sum().backward()
            if step == 4:
                raise KeyError("in the look")
            optimizer.step()

    facts = Facts()
    facts.install(torch)
    with pytest.raises(KeyError):
        crash()
    assert facts.looking
    assert facts.result()["look"]["steps"] == 1
    facts.remove()
    assert torch.overrides._get_current_function_mode_stack() == []


def test_says_what_the_loader_is_and_what_a_fetch_is_made_of() -> None:
    found, _ = gathered(train)
    (loader,) = found["loaders"]
    assert (loader["num_workers"], loader["batch_size"], loader["shuffled"]) == (0, 8, True)
    assert (loader["trains"], loader["passes"], loader["batches"]) == (24, 2, 24)
    assert loader["made"][0] == __file__
    assert loader["random"] is True
    assert loader["dataset"]["class"] == "Noisy"
    assert loader["dataset"]["kept"] == "ndarray"
    assert loader["dataset"]["bytes"] == 96 * 8 * 4
    assert loader["fetch"]["samples"] == 8
    assert 0 < loader["fetch"]["dataset_ns"] <= loader["fetch"]["whole_ns"]


def test_data_without_chance_is_not_called_random() -> None:
    data = TensorDataset(torch.rand(96, 8), torch.randint(0, 4, (96,)))
    found, _ = gathered(lambda: train(data))
    assert found["loaders"][0]["random"] is False
    assert found["loaders"][0]["dataset"]["kept"] == "Tensor"


def test_counts_the_calls_of_each_line() -> None:
    found, _ = gathered(train)
    items = [one for one in found["calls"] if one["op"] == "item"]
    assert [(one["calls"], one["every_step"], one["fetching"]) for one in items] == [(1.0, True, False)]
    samples = [one for one in found["calls"] if one["op"] == "from_numpy"]
    assert [(one["calls"], one["fetching"]) for one in samples] == [(8.0, True)]
    assert not any(one["op"].startswith(("addcdiv", "_foreach")) for one in found["calls"]), "the optimizer's own"


def test_the_time_of_a_step_is_that_of_the_clock() -> None:
    now = [0]

    def slow() -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(24):
            model(torch.ones(1, 2)).sum().backward()
            now[0] += 4_000_000
            optimizer.step()

    found, _ = gathered(slow, clock=Clock(lambda: now[0]))
    assert found["steps"]["wall_ns"] == 4_000_000
    assert found["steps"]["count"] == 24


def test_a_compiled_model_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    import stepscope.profile.collect.facts_process as process

    monkeypatch.setattr(process, "is_compiled", lambda: True)
    found, _ = gathered(train)
    assert found["look"] == {"steps": 0, "why_not": "the model is compiled", "wall_ns": 0}
    assert found["calls"] == []


def test_facts_are_plain_data() -> None:
    found, _ = gathered(train)
    assert msgspec.json.decode(msgspec.json.encode(found))["steps"]["count"] == 24


def test_without_torch_there_is_nothing_to_say() -> None:
    assert Facts().result() == {}


def test_sees_attention_and_convolutions_with_a_useless_bias() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
            self.plain = nn.Conv2d(4, 4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.plain(self.norm(self.conv(x))).flatten(2)
            weights = (x @ x.transpose(1, 2) / 4).softmax(dim=-1)
            return weights @ x

    def run() -> None:
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(8):
            optimizer.zero_grad()
            model(torch.rand(2, 3, 8, 8)).sum().backward()
            optimizer.step()

    found, _ = gathered(run)
    assert found["conv_bias_before_norm"] == ["Conv2d(3, 4)"]
    assert [one["calls"] for one in found["attention_by_hand"]] == [1.0]
    assert found["models"][0]["class"] == "Net"
    assert found["models"][0]["convolutions"] == 2


def test_the_time_inside_a_closure_is_not_the_update() -> None:
    def run(closed: bool) -> None:
        model = nn.Linear(64, 64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(torch.ones(64, 64)).sum()
            loss.backward()
            return loss

        for _ in range(8):
            if not closed:
                closure()
            optimizer.step(closure if closed else None)

    assert gathered(lambda: run(True))[0]["steps"]["optimizer_ns"] == 0
    assert gathered(lambda: run(False))[0]["steps"]["optimizer_ns"] > 0


def test_printing_a_tensor_is_a_wait() -> None:
    def printing() -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(8):
            loss = model(torch.ones(1, 2)).sum()
            loss.backward()
            optimizer.step()
            f"{loss} {loss:.3f}"

    plain = torch.Tensor.__repr__, torch.Tensor.__format__
    found, _ = gathered(printing)
    printed = [(one["calls"], one["every_step"]) for one in found["calls"] if one["op"] == "print"]
    assert printed == [(1.0, True), (1.0, True)]
    assert (torch.Tensor.__repr__, torch.Tensor.__format__) == plain


def test_a_patch_of_the_script_is_called_once_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"relu": 0, "backward": 0}
    relu, backward = F.relu, torch.Tensor.backward

    def half_relu(x: torch.Tensor) -> torch.Tensor:
        counts["relu"] += 1
        return 0.5 * relu(x)

    def twice_backward(loss: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        counts["backward"] += 1
        backward(2 * loss, *args, **kwargs)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(F, "relu", half_relu)
    monkeypatch.setattr(torch.Tensor, "backward", twice_backward)

    def patched() -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(9):
            loss = F.relu(model(torch.randn(5, 4))).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    plain = patched()
    found, losses = gathered(patched)
    assert found["look"]["steps"] == 3
    assert losses == plain
    assert counts == {"relu": 18, "backward": 18}


def test_modes_of_the_script_see_only_the_script() -> None:
    def operations() -> list[str]:
        seen: list[str] = []

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                seen.append(str(func))
                return func(*args, **(kwargs or {}))

        with Mode():
            train(TensorDataset(torch.rand(96, 8), torch.randint(0, 4, (96,))), epochs=1)
        return seen

    plain = operations()
    found, seen = gathered(operations)
    assert found["look"]["steps"] == 3
    assert seen == plain


def test_the_look_ends_when_something_is_compiled_meanwhile() -> None:
    def compiling() -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(9):
            if step == 4:
                torch.compile(model, backend="eager")
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()

    try:
        found, _ = gathered(compiling)
    finally:
        aside.reopen()
    assert found["look"]["why_not"] == "the model is compiled"
