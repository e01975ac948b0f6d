"""A machine that does other things too leaves the watch no time for some batches: nothing is concluded from the gap."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from stepscope.record.observers.value_sample import Allowance

SCRIPT = """
    data = torch.randn(96, 6)
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in data.split(8):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(model(data[:40]).mean())
"""


class Busy(Allowance):
    """Has no time for every other of the twelve batches, and time again at the end."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._turns = itertools.count()

    def left(self) -> bool:
        turn = next(self._turns)
        return turn % 2 == 0 or turn >= 12


def test_rows_that_seem_new_may_have_been_trained_on(diagnose: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.record.observers.batches.Allowance", Busy)
    assert diagnose(SCRIPT).rules() == []
    uncounted = property(lambda diet: 0, lambda diet, count: None)
    monkeypatch.setattr("stepscope.record.observers.batches.Diet.missed", uncounted, raising=False)
    assert diagnose(SCRIPT).rules() == ["data.test-in-train"]
