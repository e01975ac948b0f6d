"""Schedulers: what each did between the steps of its optimizer, without being in the way."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch.optim import lr_scheduler

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher():
    found = Watcher().start()
    yield found
    found.stop()


def make() -> tuple[torch.nn.Linear, torch.optim.SGD]:
    model = torch.nn.Linear(2, 1)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def step(model: torch.nn.Linear, optimizer: torch.optim.SGD) -> None:
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def test_counts_the_steps_of_the_optimizer_before_each_of_its_own(watcher):
    model, optimizer = make()
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        step(model, optimizer)
        scheduler.step()
    (fact,) = watcher.schedulers.all
    assert (fact.type, fact.base_lr, fact.count) == ("StepLR", 0.1, 3)
    assert [one.steps for one in fact.steps] == [1, 2, 3]


def test_a_sequence_of_schedulers_steps_as_one(watcher):
    model, optimizer = make()
    parts = [lr_scheduler.LinearLR(optimizer, total_iters=2), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    scheduler = lr_scheduler.SequentialLR(optimizer, parts, milestones=[2])
    for _ in range(4):
        step(model, optimizer)
        scheduler.step()
    assert [(fact.type, fact.count) for fact in watcher.schedulers.all if fact.count] == [("SequentialLR", 4)]


def test_a_chain_of_schedulers_steps_once_for_all(watcher):
    model, optimizer = make()
    parts = [lr_scheduler.ConstantLR(optimizer), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    scheduler = lr_scheduler.ChainedScheduler(parts)
    for _ in range(3):
        step(model, optimizer)
        scheduler.step()
    assert [(fact.type, fact.count) for fact in watcher.schedulers.all if fact.count] == [("ChainedScheduler", 3)]


def test_keeps_the_metric_of_a_plateau_scheduler(watcher):
    model, optimizer = make()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, "max")
    for value in (0.5, 0.4):
        step(model, optimizer)
        scheduler.step(value)
    (fact,) = watcher.schedulers.all
    assert (fact.mode, [one.metric for one in fact.steps]) == ("max", [0.5, 0.4])


def test_the_warning_of_torch_still_names_the_line_of_the_caller(watcher):
    _, optimizer = make()
    scheduler = lr_scheduler.StepLR(optimizer, 2)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        scheduler.step()
    assert [warning.filename for warning in heard] == [__file__]
