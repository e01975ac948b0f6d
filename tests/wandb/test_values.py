from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from stepscope.track.media import Histogram
from stepscope.wandb.values import Listed, settled


def test_nested_names_are_joined_as_over_there() -> None:
    assert settled({"a": {"b": {"c": 1}}, "x/y": 2, 3: 4}) == {"a.b.c": 1, "x/y": 2, "3": 4}


def test_short_arrays_are_lists_and_long_ones_distributions() -> None:
    made = settled({"short": np.arange(32), "long": np.arange(33), "tensor": torch.zeros(4), "one": np.array([7.0])})
    assert isinstance(made["short"], Listed)
    assert made["short"].values == list(range(32))
    assert isinstance(made["long"], Histogram)
    assert made["tensor"].values == [0.0] * 4
    assert made["one"].item() == 7.0


def test_nothing_that_is_logged_raises(
    wandb: ModuleType, last: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = wandb.init(project="p")

    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    run.log({"fine": 1, "object": Odd(), "function": print, "complex": 1j, "meta": torch.empty(2, device="meta")})
    run.log([1, 2])
    run.log(None)
    run.log({"a": 1}, step=1.5)
    run.log({"set": {3, 1}, "empty": [], "\ud800": 1, "nested": {"x": {"y": object()}}})
    run.finish()
    run.log({"late": 1})
    said = capsys.readouterr().err
    assert "log() takes a dict" in said
    assert "is not a whole number" in said
    assert "is finished" in said
    assert last().series("fine").values.tolist() == [1.0]
    assert "late" not in last().metrics()
