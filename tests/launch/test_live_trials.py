"""Advice is tried in the running training: switched on and off in turn, and left as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from stepscope.events.imports import Imports
from stepscope.launch.trial.live import Candidate, LiveTrials, Training
from stepscope.launch.trial.switches import (
    AnomalySwitch,
    FlagSwitch,
    LayerSwitch,
    LoaderSwitch,
    ModelSwitch,
    OptimizerSwitch,
    switch_for as made,
)
from stepscope.profile.advice.tip import Trial


class Clock:
    """A clock that a training moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def live() -> Iterator[Training]:
    imports = Imports()
    count = [0]

    def backwards() -> int:
        count[0] += 1
        return count[0]

    yield Training(imports, list, {}, backwards)
    imports.remove()


def trained(candidate: Candidate, live: Training, plain_s: float, changed_s: float, *, is_on: Any) -> LiveTrials:
    """A training whose turns take one time or the other."""
    clock = Clock()
    trials = LiveTrials([candidate], live, clock=clock, budget_s=500)
    for _ in range(20_000):
        if trials.turn():
            break
        clock.now += changed_s if is_on() else plain_s
    trials.stop()
    return trials


@pytest.mark.parametrize(("changed", "gain"), [(0.02, 1.5), (0.03, 1.0), (0.06, 0.5)])
def test_the_ratio_of_both_arms_is_the_gain(live: Training, changed: float, gain: float) -> None:
    threads = torch.get_num_threads()
    other = 2 if threads == 1 else 1
    candidate = Candidate("perf.cpu-threads", Trial("flag", {"num_threads": other}))
    trials = trained(candidate, live, 0.03, changed, is_on=lambda: torch.get_num_threads() == other)
    assert torch.get_num_threads() == threads
    assert candidate.ratios == [pytest.approx(gain)] * 4
    assert trials.tried == [candidate]
    assert candidate.as_fact()["settings"] == {"num_threads": other}


def test_a_change_that_fails_is_noted_and_switched_off(live: Training) -> None:
    candidate = Candidate("perf.no-tf32", Trial("flag", {"float32_matmul_precision": "nonsense"}))
    before = torch.get_float32_matmul_precision()
    trials = trained(candidate, live, 0.01, 0.01, is_on=lambda: False)
    assert candidate.ratios == []
    assert candidate.error
    assert torch.get_float32_matmul_precision() == before
    assert trials.turn()


def test_what_needs_a_new_start_is_not_tried(live: Training) -> None:
    for kind in ("compile", "channels_last"):
        assert made(kind, {}, live) is None


def test_switches_leave_everything_as_it_was(live: Training) -> None:
    flag = made("flag", {"deterministic": True, "cudnn_benchmark": True}, live)
    assert isinstance(flag, FlagSwitch)
    flag.on()
    assert torch.are_deterministic_algorithms_enabled()
    flag.off()
    assert not torch.are_deterministic_algorithms_enabled()
    anomaly = made("flag", {"anomaly": False}, live)
    assert isinstance(anomaly, AnomalySwitch)
    with torch.autograd.set_detect_anomaly(True):
        anomaly.on()
        assert not torch.is_anomaly_enabled()
        torch.autograd.set_detect_anomaly(True)  # a step that asks for it again
        assert not torch.is_anomaly_enabled()
        anomaly.off()
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


def test_an_optimizer_goes_on_with_its_state(live: Training) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        model(torch.ones(3, 4)).sum().backward()
        optimizer.step()

    step()
    switch = OptimizerSwitch({"fused": True}, [optimizer])
    switch.on()
    assert optimizer.param_groups[0]["fused"]
    step()
    switch.off()
    assert not optimizer.param_groups[0]["fused"]
    step()
    assert optimizer.state[model.weight]["step"] == 3


def test_autocast_is_lent_to_the_models_that_train(live: Training) -> None:
    inner = nn.Linear(4, 2)
    model = nn.Sequential(inner)
    seen = []
    inner.register_forward_hook(lambda module, given, output: seen.append(output.dtype))
    switch = made("amp", {"dtype": "bfloat16"}, live)
    assert isinstance(switch, ModelSwitch)
    model(torch.ones(3, 4))
    switch.on()
    assert model(torch.ones(3, 4)).dtype == torch.float32, "as the script expects it"
    switch.off()
    model(torch.ones(3, 4))
    switch.close()
    assert seen == [torch.float32, torch.bfloat16, torch.float32]
    assert "forward" not in vars(model)


@pytest.mark.parametrize("makes_double", [False, True])
def test_a_model_in_double_precision_computes_in_float32_for_a_while(live: Training, makes_double: bool) -> None:
    class Net(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(x.dtype)
            return super().forward(x + torch.zeros(1, dtype=torch.float64) if makes_double else x)

    seen: list[torch.dtype] = []
    model = Net(4, 2).double()
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.ones(3, 4).double()), torch.ones(3, 2).double()).backward()
        optimizer.step()

    switch = made("float32", {}, replace(live, optimizers=lambda: [optimizer]))
    assert isinstance(switch, ModelSwitch)
    step()
    switch.on()
    assert {one.dtype for one in [model.weight, optimizer.state[model.weight]["exp_avg"]]} == {torch.float32}
    step()
    if makes_double:
        with pytest.raises(RuntimeError, match="dtype"):
            switch.off()
    else:
        switch.off()
    step()
    double, single = torch.float64, torch.float32
    assert seen == ([double, single, double, double] if makes_double else [double, single, double])
    assert {one.dtype for one in [model.weight, optimizer.state[model.weight]["exp_avg"]]} == {double}
    assert "forward" not in vars(model)


def test_whole_passes_are_timed_where_their_start_is_what_changes(live: Training) -> None:
    loader = DataLoader(TensorDataset(torch.arange(40.0)), batch_size=2)
    switch = LoaderSwitch({"persistent_workers": True}, live)
    try:
        for _ in loader:
            pass
        for _ in loader:
            pass
        assert switch.turns_of_a_pass == 20
    finally:
        switch.close()
    other = LoaderSwitch({"num_workers": 1}, live)
    other.close()
    assert other.turns_of_a_pass == 1


def test_a_loader_gives_batches_of_another_while_it_is_on(live: Training) -> None:
    loader = DataLoader(TensorDataset(torch.arange(40.0)), batch_size=2)
    switch = made("loader", {"pin_memory": False, "num_workers": 0}, live)
    assert isinstance(switch, LoaderSwitch)
    given = []
    try:
        for at, (batch,) in enumerate(loader):
            given.append(batch.tolist())
            if at == 9:
                switch.on()
            if at == 13:
                switch.off()
            if at == 18:
                break
    finally:
        switch.close()
    assert given[10:14] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]], "a loader of its own, from the beginning"
    assert given[14] == [20.0, 21.0], "and the script's own goes on where it was"
    assert switch.error == ""


def test_a_few_kept_samples_stand_for_all(live: Training) -> None:
    class Counted(Dataset[Any]):
        reads = 0

        def __len__(self) -> int:
            return 40

        def __getitem__(self, i: int) -> torch.Tensor:
            Counted.reads += 1
            return torch.tensor(float(i))

    switch = made("cache", {}, live)
    assert isinstance(switch, LayerSwitch)
    switch.on()
    batches = [batch.tolist() for batch in DataLoader(Counted(), batch_size=10)]
    switch.off()
    assert [len(batch) for batch in batches] == [10] * 4
    assert Counted.reads == 10
