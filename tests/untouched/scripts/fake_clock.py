"""A test's fake clock: `time.time`, `perf_counter` and `sleep` are mocks that know exactly how often they are called."""
import itertools
import time
from unittest import mock

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with (
    mock.patch("time.time", side_effect=[100.0, 101.0, 102.5, 104.0]) as wall,
    mock.patch("time.perf_counter", side_effect=itertools.count(7.0, 0.5)) as clock,
    mock.patch("time.monotonic", return_value=1.0) as monotonic,
    mock.patch("time.sleep") as sleep,
):
    for step in range(4):
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = model(torch.randn(4, 3)).square().mean()
        loss.backward()
        optimizer.step()
        time.sleep(100)
        print(step, loss.item(), time.time(), time.perf_counter() - began)
    print(wall.call_count, clock.call_count, monotonic.call_count, sleep.mock_calls)
