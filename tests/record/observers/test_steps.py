"""Steps, optimizers, models and modes: what the observers write down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def test_an_optimizer_knows_where_it_was_made_and_what_it_holds(watcher: Watcher) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    made = watcher.optimizers.made[0]
    assert made.place.site.text == "optimizer = torch.optim.SGD(model.parameters(), lr=0.5)"
    assert (made.type, len(made.parameters), made.defaults["lr"]) == ("SGD", 2, 0.5)
    optimizer.add_param_group({"params": nn.Parameter(torch.zeros(3))})
    assert len(made.parameters) == 3


def test_a_step_knows_its_backwards_and_whether_gradients_were_cleared(watcher: Watcher) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for clear in (True, True, False):
        if clear:
            optimizer.zero_grad()
        for _ in range(2):
            model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    steps = list(watcher.steps.steps)
    assert [len(step.backwards) for step in steps] == [2, 2, 2]
    assert [step.stale for step in steps] == [False, False, True]
    assert steps[2].stale_norm == pytest.approx(2 * 3**0.5)
    assert steps[2].own_norm == pytest.approx(3**0.5)


def test_a_gradient_in_a_checkpointed_layer_is_no_new_call_of_a_model(watcher: Watcher) -> None:
    from torch.utils.checkpoint import checkpoint

    layer = nn.Linear(2, 2)
    checkpoint(layer, torch.ones(1, 2, requires_grad=True), use_reentrant=False).sum().backward()
    assert [visit.type for visit in watcher.visits.roots] == ["Linear"]


def test_a_parameter_that_moves_and_one_that_does_not(watcher: Watcher) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
    watcher.settle()
    first, second = (watcher.module_records.parameter(layer.weight) for layer in model)
    assert (first.changed, second.changed) == (False, True)
    assert (first.gradients, first.title, first.has_grad) == (3, "0.weight", True)
    assert watcher.models.owner_of(first) == (watcher.module_records.of(model[0]), "0")


def test_the_way_a_shape_took(watcher: Watcher) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    model(torch.zeros(2, 4))
    way = [(visit.path, visit.shapes_in[0], visit.shapes_out[0]) for visit in watcher.visits.latest]
    assert way == [("", (2, 4), (2, 1)), ("0", (2, 4), (2, 8)), ("1", (2, 8), (2, 8)), ("2", (2, 8), (2, 1))]


def test_train_and_eval_are_noted_with_their_line(watcher: Watcher) -> None:
    model = nn.Sequential(nn.Dropout(0.5))
    model.eval()
    last = watcher.modes.last_of(model)
    assert last is not None
    assert (last.on, last.place.site.text) == (False, "model.eval()")


def test_loaders_that_train_are_told_from_those_that_do_not(watcher: Watcher) -> None:
    data = torch.utils.data.TensorDataset(torch.ones(4, 2))
    train, other = (torch.utils.data.DataLoader(data, batch_size=2) for _ in range(2))
    model = nn.Linear(2, 1)
    for (x,) in train:
        model(x).sum().backward()
    for (x,) in other:
        model(x)
    assert [loader.is_training for loader in watcher.loaders.all] == [True, False]
