"""What the models of several optimizers are called: by the source that made them, without reading any local."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from stepscope.launch.model_names import model_name
from stepscope.record import construction

MODELS = """
from torch import nn, optim

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, 2)

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator, self.critic = Net(3), Net(4)

def build():
    return Net(5), Net(6)

def main():
"""
CASES = {
    "by variable": (
        "gen = Net(3).to('cpu')\ncritic = Net(4)\n"
        "one, two = optim.SGD(gen.parameters()), optim.Adam(critic.parameters())",
        ["gen", "critic"],
    ),
    "by class": (
        "g, d = build()\none, two = optim.SGD(g.parameters()), optim.Adam(d.parameters())",
        ["Net", "Net"],
    ),
    "by attribute": (
        "both = Pair()\none, two = optim.SGD(both.generator.parameters()), optim.Adam(both.critic.parameters())",
        ["generator", "critic"],
    ),
    "two models, one optimizer": (
        "enc = Net(3)\ndec = Net(4)\nkeep = enc, dec\n"
        "one = optim.SGD([*enc.parameters(), *dec.parameters()])\ntwo = optim.Adam(dec.parameters())",
        ["enc+dec", "dec"],
    ),
    "one optimizer": ("gen = Net(3)\ntarget = Net(3)\none = two = optim.SGD(gen.parameters())", [None, None]),
}


@pytest.mark.parametrize("name", CASES)
def test_models_are_named_as_the_source_names_them(name: str, tmp_path: Path) -> None:
    body, expected = CASES[name]
    path = tmp_path / "gan.py"
    text = MODELS + "".join(f"    {line}\n" for line in [*body.splitlines(), "return locals()"])
    path.write_text(text)
    linecache.checkcache(str(path))
    space: dict[str, Any] = {"__name__": "gan"}
    exec(compile(text, str(path), "exec"), space)
    with construction.watch():
        made = space["main"]()
    assert isinstance(made["one"], torch.optim.Optimizer)
    assert [model_name(made["one"]), model_name(made["two"])] == expected


LISTS = """
from torch import nn, optim

class Layer(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.optimizer = optim.SGD(self.parameters())

layers = [Layer(), Layer()]
for layer in layers:
    pass
critics = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
optimizers = {key: optim.SGD(critic.parameters()) for key, critic in critics.items()}
"""


def test_models_in_lists_have_their_place_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "forward_forward.py"
    path.write_text(LISTS)
    script = ModuleType("__main__")
    script.__file__ = str(path)
    exec(compile(LISTS, str(path), "exec"), vars(script))
    monkeypatch.setitem(sys.modules, "__main__", script)
    made: Any = script
    assert [model_name(layer.optimizer) for layer in made.layers] == ["layers.0", "layers.1"]
    assert [model_name(one) for one in made.optimizers.values()] == ["critics.a", "critics.b"]
