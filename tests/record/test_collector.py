"""Garbage is collected less often while we make many small objects, and as before afterwards."""

from __future__ import annotations

import gc

import pytest
import torch

import stepscope
from stepscope.record.collector import Rested, rest_collector


@pytest.fixture(autouse=True)
def _thresholds_as_before():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_collects_less_often_inside_and_as_before_afterwards():
    gc.set_threshold(700, 10, 10)
    with Rested():
        assert gc.get_threshold() == (100_000, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_blocks_inside_each_other_end_with_what_was_there():
    gc.set_threshold(700, 10, 10)
    wake = rest_collector()
    with Rested():
        pass
    assert gc.get_threshold()[0] == 100_000
    wake()
    assert gc.get_threshold() == (700, 10, 10)


def test_a_threshold_set_meanwhile_stays():
    gc.set_threshold(700, 10, 10)
    with Rested():
        gc.set_threshold(5, 5, 5)
    assert gc.get_threshold() == (5, 5, 5)


def test_a_collector_that_is_off_stays_off():
    gc.set_threshold(0, 10, 10)
    with Rested():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold() == (0, 10, 10)


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("stats", [False, True])
def test_a_recording_leaves_nothing_for_the_collector(read: bool, stats: bool):
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.AdamW(model.parameters())

    def recorded() -> None:
        with stepscope.record(model, stats=stats) as step:
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
        assert not read or len(step) > 5

    recorded()
    gc.collect()
    gc.disable()
    try:
        recorded()
        assert gc.collect() == 0
    finally:
        gc.enable()
