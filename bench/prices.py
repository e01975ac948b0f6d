"""What one event costs while a training is watched closely: fits the prices of the governor (events/governor.py).

    .venv/bin/python bench/prices.py                # some minutes; prints the prices beside those in use
    .venv/bin/python bench/prices.py --rounds 3

Each training runs plain and closely watched in turns, in one process, in CPU time of its thread. What the watched
steps cost more is taken for the sum of their events, each times its price. The prices are fitted to all trainings at
once, by least squares of relative errors, none below zero. A round's watch is new, so that what it does once, when it
meets a model or an optimizer, is spread over the first steps, as it is in a run. Rules are not asked here.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from overhead_arms.works import Work, classify, make_work, mlp
from torch import Tensor, nn

from stepscope.events.governor import PRICES
from stepscope.record.observers import Watcher

STEPS = 8
VALUES = "a million weights"
KINDS = ("op", "module", "model", "backward", "step", "batch", VALUES)
""""A million weights" stands for what grows with the size of tensors: the governor bounds that by its clock."""


@dataclass
class Measured:
    """One training: what its watched steps cost more than plain ones, and the events in them."""

    name: str
    extra_s: float
    events: Counter[str]
    """And how many million weights were there in all steps together."""

    def priced(self, prices: dict[str, float]) -> float:
        return sum(count * prices.get(kind, 0.0) for kind, count in self.events.items())


def elementwise() -> Work:
    """Many operations of a single module."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(64))

        def forward(self, x: Tensor) -> Tensor:
            for _ in range(40):
                x = torch.tanh(x * self.weight + 0.1)
            return x

    model = Net()
    batches = [(x, torch.zeros(32, dtype=torch.long)) for x in torch.randn(4, 32, 64)]
    return Work(model, batches, classify, torch.optim.SGD(model.parameters(), lr=1e-3))


def deep(layers: int) -> Work:
    model = mlp(*[16] * (layers + 1))
    batches = [(x, torch.zeros(8, dtype=torch.long)) for x in torch.randn(4, 8, 16)]
    return Work(model, batches, classify, torch.optim.SGD(model.parameters(), lr=1e-3))


def quadratic() -> Work:
    """Almost nothing but a backward and a step."""
    model = nn.Linear(4, 4)
    return Work(model, [0] * 4, lambda net, _: net.weight.square().sum(), torch.optim.SGD(model.parameters(), lr=1e-3))


WORKS: dict[str, Callable[[], Work]] = {
    **{name: (lambda name=name: make_work(name)) for name in ("mlp", "loader", "mnist", "gpt", "resnet18", "forwards")},
    "elementwise": elementwise,
    "10 layers": lambda: deep(10),
    "100 layers": lambda: deep(100),
    "quadratic": quadratic,
}


def batches_of(work: Work) -> Iterator[Any]:
    while True:
        yield from work.batches


def train(work: Work, batches: Iterator[Any]) -> float:
    """CPU seconds of some steps; of forwards where nothing is trained."""
    began = time.thread_time()
    for _ in range(STEPS):
        batch = next(batches)
        if work.optimizer is None:
            with torch.no_grad():
                work.loss_of(work.model, batch)
            continue
        work.optimizer.zero_grad()
        work.loss_of(work.model, batch).backward()
        work.optimizer.step()
    return time.thread_time() - began


def watched(work: Work) -> tuple[float, Counter[str]]:
    """The same, closely watched from the first step to the last, and the events that were charged."""
    events: Counter[str] = Counter()
    watcher = Watcher().start()
    charge = watcher.governor.charge

    def counting(kind: str) -> bool:
        events[kind] += 1
        return charge(kind)

    watcher.governor.charge = counting  # type: ignore[method-assign]
    watcher.governor.hold("prices are measured")
    try:
        return train(work, batches_of(work)), events
    finally:
        watcher.stop()


def measure(name: str, rounds: int) -> Measured:
    work = WORKS[name]()
    train(work, batches_of(work))
    watched(work)
    extras, events = [], Counter[str]()
    for _ in range(rounds):
        plain = train(work, batches_of(work))
        cost_s, events = watched(work)
        extras.append(cost_s - plain)
    million = sum(parameter.numel() for parameter in work.model.parameters()) / 1e6
    return Measured(name, statistics.median(extras), events + Counter({VALUES: STEPS * million}))


def fitted(measured: list[Measured]) -> dict[str, float]:
    """The prices with the least squares of relative errors; a kind that would get less than nothing gets nothing."""
    kinds = list(KINDS)
    while True:
        rows = np.array([[one.events[kind] / one.extra_s for kind in kinds] for one in measured])
        found, *_ = np.linalg.lstsq(rows, np.ones(len(measured)), rcond=None)
        if found.min() >= 0:
            return dict.fromkeys(KINDS, 0.0) | dict(zip(kinds, map(float, found), strict=True))
        kinds.pop(int(found.argmin()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="of: " + ", ".join(WORKS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = options.only.split(",") if options.only else list(WORKS)
    measured = [measure(name, options.rounds) for name in names]
    prices = fitted(measured)
    print("| event | price in use, µs | fitted, µs |\n|---|---|---|")
    for kind in KINDS:
        used = f"{1e6 * PRICES[kind]:.0f}" if kind in PRICES else "–"
        print(f"| {kind} | {used} | {1e6 * prices[kind]:.0f} |")
    print(f"\n| {STEPS} steps of | measured, ms | by the prices in use | by the fitted ones |\n|---|---|---|---|")
    for one in measured:
        used, new = (1e3 * one.priced(by) for by in (PRICES, prices))
        print(f"| {one.name} | {1e3 * one.extra_s:.1f} | {used:.1f} | {new:.1f} |")


if __name__ == "__main__":
    main()
