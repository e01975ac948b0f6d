"""A model's parts and parameters are those torch names, in its order."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from stepscope.record.observers.models import _samples, _some_values
from stepscope.record.observers.module_walk import parameters_of, parts_of
from stepscope.record.observers.weight_init import InitialWeight, _describe, _describe_all


class Shared(nn.Module):
    """One part in two places, one missing, a tied weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.missing = None
        self.register_module("none", None)
        self.again = self.first
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.first[0].weight
        self.own = nn.Parameter(torch.ones(2))


class Renamed(nn.Linear):
    def named_parameters(self, *args: object, **kwargs: object):  # type: ignore[no-untyped-def]
        return ((f"my.{name}", one) for name, one in super().named_parameters(*args, **kwargs))


class Secret(nn.Sequential):
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):  # type: ignore[no-untyped-def]
        yield prefix, self


MODELS = {
    "shared": Shared,
    "nested": lambda: nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.LSTM(2, 2)),
    "lone": lambda: nn.Linear(2, 2),
    "renamed": lambda: Renamed(2, 2),
    "secret": lambda: nn.Sequential(nn.Linear(2, 2), Secret(nn.Linear(2, 2))),
    "scripted": lambda: torch.jit.script(nn.Sequential(nn.Linear(2, 2))),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_what_torch_names_in_its_order(name: str) -> None:
    model = MODELS[name]()
    theirs = [(path, id(part)) for path, part in model.named_modules()]
    if name != "scripted":  # makes a new object for each part that is asked for
        assert [(path, id(part)) for path, part in parts_of(model)] == theirs
    assert [path for path, _ in parts_of(model)] == [path for path, _ in theirs]
    ours, expected = parameters_of(model), list(model.named_parameters())
    assert [path for path, _ in ours] == [path for path, _ in expected]
    assert all(torch.equal(one, other) for (_, one), (_, other) in zip(ours, expected, strict=True))


def test_samples_of_all_parameters_together_are_those_of_each() -> None:
    torch.manual_seed(0)
    shapes = [(3,), (200, 7), (1,), (70, 70), (0,), (64, 2)]
    parameters = [nn.Parameter(torch.randn(shape, dtype=dtype)) for shape in shapes for dtype in (None, torch.bfloat16)]
    parameters += [nn.Parameter(torch.randn(8, 4).t()), nn.Parameter(torch.ones(3, dtype=torch.complex64))]
    with torch.no_grad():
        together, apart = _samples(parameters), [_some_values(one) for one in parameters]
    assert [one for one in together if isinstance(one, bytes)] == [one for one in apart if isinstance(one, bytes)]
    assert list(map(type, together)) == list(map(type, apart))


def test_weights_are_described_together_as_one_by_one() -> None:
    torch.manual_seed(0)
    weights = [torch.randn(4, 5), torch.full((4, 5), 0.5), torch.zeros(4, 5), torch.full((2, 10), float("nan"))]
    weights += [torch.randn(4, 5).double(), torch.randn(5, 4).t(), torch.randn(4, 5).half(), torch.randn(80, 80)]
    new = [(InitialWeight("w", None, None, None), one) for one in weights]  # type: ignore[arg-type]
    _describe_all(new)
    for start, weight in new:
        alone = InitialWeight("w", None, None, None)  # type: ignore[arg-type]
        _describe(alone, weight)
        assert start.constant == alone.constant
        assert (start.mean, start.std) == pytest.approx((alone.mean, alone.std), rel=1e-5, abs=1e-7, nan_ok=True)
