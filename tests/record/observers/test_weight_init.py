"""How weights were when a model was first called, and which line filled them."""

from __future__ import annotations

import torch
from torch import nn

from stepscope.record.observers import Watcher


def test_knows_constant_weights_and_the_line_that_made_them() -> None:
    watcher = Watcher().start()
    model = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1))
    nn.init.constant_(model[0].weight, 0.5)
    model(torch.ones(1, 2))
    watcher.stop()
    first, second = watcher.weight_init.weights
    assert (first.name, first.constant, second.constant) == ("0.weight", 0.5, None)
    assert first.filling is not None
    assert first.filling.place is not None
    assert "constant_" in first.filling.place.site.text


def test_the_gain_of_torchs_own_layers_is_about_one() -> None:
    torch.manual_seed(0)
    watcher = Watcher().start()
    nn.Linear(64, 64)(torch.ones(1, 64))
    watcher.stop()
    assert 0.5 < watcher.weight_init.weights[0].gain < 1.5


def test_new_parameters_of_a_later_optimizer_are_seen_too() -> None:
    watcher = Watcher().start()
    model = nn.Sequential(nn.Linear(2, 2))
    model(torch.ones(1, 2)).sum().backward()
    model.append(nn.Linear(2, 3))
    torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    watcher.stop()
    assert [start.name for start in watcher.weight_init.weights] == ["0.weight", "1.weight"]


def test_the_line_that_filled_a_weight_is_known_after_a_move() -> None:
    watcher = Watcher().start()
    model = nn.Sequential(nn.Linear(2, 4))
    nn.init.normal_(model[0].weight, std=3.0)  # here
    model.to(torch.float64)
    model(torch.ones(1, 2, dtype=torch.float64))
    watcher.stop()
    (start,) = watcher.weight_init.weights
    assert start.filling is not None
    assert start.filling.place is not None
    assert "# here" in start.filling.place.site.text
