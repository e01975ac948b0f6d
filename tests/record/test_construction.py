"""Where modules are made: by watching, and by reading the source."""

from __future__ import annotations

import inspect

import torch
from torch import nn

from stepscope.record import construction
from stepscope.record.construction import construction_sites
from stepscope.record.recorder import Recorder


class Part(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.ReLU()
        self.body = nn.Sequential(
            Part(4),
            nn.Tanh(),
        )
        self.many = nn.ModuleList(Part(4) for _ in range(2))
        self.add_module("late", nn.Linear(4, 1))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(self.b(self.a(x)))
        for part in self.many:
            x = part(x)
        return self.late(x) * self.scale


class Child(Whole):
    def __init__(self) -> None:
        super().__init__()
        self.late = nn.Linear(4, 2)


def line(kind: type, text: str) -> int:
    lines, first = inspect.getsourcelines(kind)
    return first + next(i for i, source in enumerate(lines) if text in source)


def test_lines_are_read_off_the_source() -> None:
    sites = construction_sites(Whole())
    assert sites["scale"].line == line(Whole, "self.scale")
    assert sites["a.weight"].line == line(Whole, "self.a, self.b")
    modules = {path for path, _ in Whole().named_modules()}
    assert {path: site.line for path, site in sites.items() if path in modules} == {
        "a": line(Whole, "self.a, self.b"),
        "b": line(Whole, "self.a, self.b"),
        "body": line(Whole, "self.body"),
        "body.0": line(Whole, "self.body"),
        "body.0.fc": line(Part, "self.fc"),
        "body.1": line(Whole, "self.body"),
        "many": line(Whole, "self.many"),
        "many.0": line(Whole, "self.many"),
        "many.0.fc": line(Part, "self.fc"),
        "many.1": line(Whole, "self.many"),
        "many.1.fc": line(Part, "self.fc"),
        "late": line(Whole, "add_module"),
    }
    assert sites["a"].function == "Whole.__init__"
    assert sites["late"].text == 'self.add_module("late", nn.Linear(4, 1))'


def test_a_subclass_overrides_its_base() -> None:
    sites = construction_sites(Child())
    assert sites["late"].line == line(Child, "self.late")
    assert sites["a"].line == line(Whole, "self.a, self.b")


def test_watching_gives_the_exact_lines() -> None:
    before = nn.Module.__init__
    with construction.watch():
        model = Whole()  # made here
        plain = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    assert nn.Module.__init__ is before
    sites = construction_sites(model)
    assert sites[""].text == "model = Whole()  # made here"
    assert sites["body.1"].line == line(Whole, "nn.Tanh()")
    assert sites["body.0"].line == line(Whole, "Part(4),")
    assert sites["many.1.fc"].line == line(Part, "self.fc")
    assert construction_sites(plain)["0"].function == "test_watching_gives_the_exact_lines"


def test_a_record_knows_where_its_modules_were_made() -> None:
    model = Whole()
    with Recorder(model) as recorder:
        model(torch.randn(1, 3))
    step = recorder.record
    assert step is not None
    made = {module.path: step.sites[module.site].line for module in step.modules if module.site is not None}
    assert made["many.0.fc"] == line(Part, "self.fc")
    assert "" not in made
    scale = next(tensor for tensor in step.tensors if tensor.name == "scale")
    assert scale.site is not None
    assert step.sites[scale.site].line == line(Whole, "self.scale")
