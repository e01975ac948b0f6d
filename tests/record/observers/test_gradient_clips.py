"""Gradient clips: what each call that clips gradients found."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch.nn import utils

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher():
    found = Watcher().start()
    yield found
    found.stop()


@pytest.fixture
def model():
    return torch.nn.Linear(2, 1)


def test_sees_gradients_that_are_not_there_yet(watcher, model):
    utils.clip_grad_norm_(model.parameters(), 1.0)
    model(torch.ones(1, 2)).sum().backward()
    utils.clip_grad_value_(model.parameters(), 0.5)
    found = [(clip.function, clip.limit, clip.parameters, clip.empty) for clip in watcher.gradient_clips.all]
    assert found == [("clip_grad_norm_", 1.0, 2, True), ("clip_grad_value_", 0.5, 2, False)]


def test_sees_gradients_that_were_used_already(watcher, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    utils.clip_grad_norm_(model.parameters(), 1.0)
    assert [clip.after_step for clip in watcher.gradient_clips.all] == [False, True]


def test_the_result_and_the_gradients_are_those_of_torch(watcher, model):
    model(torch.full((1, 2), 3.0)).sum().backward()
    norm = utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    assert float(norm) == pytest.approx(19**0.5)
    assert float(model.bias.grad) == pytest.approx(19**-0.5, rel=1e-5)


def test_the_warning_of_torch_still_names_the_line_of_the_caller(watcher, model):
    parameters = model.parameters()
    list(parameters)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        utils.clip_grad_norm_(parameters, 1.0)
    assert [warning.filename for warning in heard] in ([], [__file__])  # older versions of torch say nothing
    assert watcher.gradient_clips.all[0].parameters == 0
