"""A new loader is looked at closely for a few batches, not for a whole epoch, and not again for each epoch."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset

from stepscope.record.observers import Watcher


def test_a_loader_made_anew_each_epoch_does_not_keep_the_trail_on() -> None:
    data = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    watcher = Watcher().start()
    on: list[list[bool]] = []
    try:
        for _ in range(3):
            seen = []
            for x, y in DataLoader(data, batch_size=2):
                loss = torch.nn.functional.mse_loss(net(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen.append(watcher.tensor_history.on)
                if watcher.step == 5:
                    watcher.governor.rest()
            on.append(seen)
    finally:
        watcher.stop()
    assert all(on[0][:5])
    assert not any(on[0][5:])
    assert [sum(seen) for seen in on[1:]] == [1, 0], "the second pass for two steps"


def test_the_first_batches_of_a_second_loader_are_seen() -> None:
    data = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
    watcher = Watcher().start()
    try:
        first, second = DataLoader(data, batch_size=2), DataLoader(data, batch_size=2)
        for _ in first:
            pass
        watcher.governor.rest()
        on = [watcher.tensor_history.on for _ in second]
    finally:
        watcher.stop()
    assert on[0]
    assert not any(on[5:])
