"""A model tried with altered input beside its training: what comes of it, and that the training does not notice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.record.observers import Watcher
from stepscope.record.observers.fork_probe import in_a_fork
from stepscope.record.observers.input_perturbation import tried

generator = torch.Generator()
calls: list[int] = []


class Noisy(nn.Module):
    """Leaves a trace of every call wherever it can."""

    def __init__(self, axis: int = 1) -> None:
        super().__init__()
        self.inner, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.3)
        self.axis, self.count = axis, 0

    def forward(self, x: Any) -> Any:
        self.count += 1
        calls.append(self.count)
        noise = torch.randn(x.shape, generator=generator) * (0.0 if not self.training else 0.1)
        gate = F.softmax(self.inner(x), dim=self.axis)
        return self.drop(self.norm(x * gate + noise + random.random() * 0))


class Sequence(nn.Module):
    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.emb, self.qkv, self.out, self.causal = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9), causal

    def forward(self, ids: Any) -> Any:
        q, k, v = self.qkv(self.emb(ids)).chunk(3, -1)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal))


def trained(model: nn.Module, steps: int = 4) -> list[Any]:
    """The weights, the generators and the losses after a few steps."""
    torch.manual_seed(0)
    random.seed(0)
    generator.manual_seed(0)
    calls.clear()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(6, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    state = [value.clone() for value in model.state_dict().values()]
    return [*state, torch.get_rng_state(), generator.get_state(), losses, random.random(), list(calls)]


def watched(run: Any) -> Watcher:
    watcher = Watcher().start()
    try:
        run()
    finally:
        watcher.stop()
    return watcher


def next_steps(model: nn.Module) -> Watcher:
    def run() -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            rows = torch.randint(0, 9, (5, 8))
            optimizer.zero_grad()
            F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()).backward()
            optimizer.step()

    return watched(run)


def test_training_does_not_notice_that_its_model_is_tried() -> None:
    alone = trained(Noisy())
    beside: list[Any] = []
    watcher = watched(lambda: beside.extend(trained(Noisy())))
    assert watcher.input_perturbation.all
    for one, other in zip(alone, beside, strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def test_samples_that_only_meet_in_batchnorm_are_independent() -> None:
    watcher = watched(lambda: trained(Noisy()))
    assert [trial.mixing for trial in watcher.input_perturbation.all] == [0.0]


def test_a_softmax_over_the_batch_mixes_samples() -> None:
    watcher = watched(lambda: trained(Noisy(axis=0)))
    (trial,) = watcher.input_perturbation.all
    assert trial.rows == 6
    assert trial.mixing is not None
    assert trial.mixing > 0.01


def test_attention_without_a_mask_looks_ahead() -> None:
    (trial, *_) = next_steps(Sequence(causal=False)).input_perturbation.all
    assert (trial.leaks, trial.length) == ([0, 1, 2, 3, 4, 5], 7)


def test_attention_with_a_mask_does_not() -> None:
    (trial, *_) = next_steps(Sequence(causal=True)).input_perturbation.all
    assert (trial.leaks, trial.length) == ([], 7)


def test_what_a_fork_cannot_answer_in_time_is_not_known() -> None:
    began = time.monotonic()
    assert in_a_fork(lambda: time.sleep(1000) or {}, 0.1) is None  # type: ignore[func-returns-value]
    assert time.monotonic() - began < 200


SPIN = [sys.executable, "-c", "while True: pass"]


def worked(cpu_s: float) -> dict[str, Any]:
    until = time.process_time() + cpu_s
    while time.process_time() < until:
        pass
    return {"answer": 42}


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not say how long a task waited")
def test_a_busy_machine_does_not_shorten_a_trial() -> None:
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})  # a fork and three others share one processor
    others = [subprocess.Popen(SPIN) for _ in range(3)]
    try:
        began = time.monotonic()
        answer = in_a_fork(lambda: worked(0.3), 0.6)
        passed = time.monotonic() - began
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, processors)
    assert answer == {"answer": 42}
    assert passed > 0.6, "the processor was not shared, so this shows nothing"


def test_a_model_too_slow_to_try_is_left_alone() -> None:
    class Slow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 2)

        def forward(self, x: torch.Tensor) -> Any:
            worked(0.02)
            return self.fc(x)

    assert tried(Slow(), (torch.randn(4, 4),), {}, None, slowest_s=0.01) == {
        "why": "one call of the model takes too long"
    }


def test_a_fault_in_a_fork_stays_there() -> None:
    def fault() -> dict[str, Any]:
        print("nobody hears this")
        raise RuntimeError("nor this")

    assert in_a_fork(fault, 2.0) is None
    assert in_a_fork(lambda: {"answer": 42}, 2.0) == {"answer": 42}


OPENED = """
from stepscope.record.observers.fork_probe import shares_files
print(shares_files())
with open("log.txt", "a"):
    print(shares_files())
with open("log.txt"):
    print(shares_files())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_that_is_being_read_is_shared_with_a_fork(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["False", "False", "True"]
