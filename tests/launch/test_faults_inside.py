"""Every observer and every rule broken on purpose: training gives the same bits, and each fault is reported once."""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import stepscope.record.observers
from stepscope import fence
from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import all_rules
from stepscope.launch.evaluations import Evaluations
from stepscope.record.observers import Watcher
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.tape import Tapes

TRAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(8, 4)
y = (x.sum(1) > 0).long()
train, held_out = DataLoader(TensorDataset(x, y), 4, shuffle=True), DataLoader(TensorDataset(x[:4], y[:4]), 2)
model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 2)).to("cpu")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    model.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(epoch, loss.item().hex())
    scheduler.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for inputs, labels in held_out:
            right += (model(inputs).argmax(1) == labels).sum().item()
    spread = (model(x) - x.mean()).square().mean().item()
    print("right", right, spread.hex())
torch.save(model.state_dict(), kept)
model.load_state_dict(torch.load(kept))
print([p.double().sum().item().hex() for p in model.parameters()], torch.rand(1).item().hex())
"""
CODE = compile(TRAIN, "train.py", "exec")
MOMENTS = [name for name in vars(Observer) if not name.startswith("_") and callable(vars(Observer)[name])]


def broken(*args: Any, **kwargs: Any) -> None:
    raise ZeroDivisionError("broken on purpose")


def everybody() -> Watcher:
    """A watcher with all the observers that any command has."""
    watcher = Watcher()
    watcher.add(Tapes(watcher))
    watcher.add(Evaluations(watcher, lambda values: None))
    return watcher


OBSERVERS = sorted({type(observer) for observer in everybody().observers}, key=lambda kind: kind.__name__)
MODULES = [
    importlib.import_module(f"stepscope.record.observers.{found.name}")
    for found in pkgutil.iter_modules(stepscope.record.observers.__path__)
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "model.pt"


@pytest.fixture(scope="module")
def alone(kept: Path, one_thread: None) -> str:
    """What the training prints when nobody watches."""
    return printed(lambda: exec(CODE, {"kept": kept, "__name__": "__main__"}))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Another number of threads gives other last bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def printed(run: Callable[[], object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue()


def watched(kept: Path, rules: Any = ()) -> tuple[str, Counter[str]]:
    """What it prints under the watch, and what was said of faults, how often."""
    fence.reset()
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        watcher = everybody()
        engine = Engine(Evidence.of(watcher), rules=rules)
        watcher.on_moment = engine.moment
        watcher.start()
        try:
            out = printed(lambda: exec(CODE, {"kept": kept, "__name__": "__main__"}))
        finally:
            watcher.stop()
        engine.finish()
    return out, Counter(re.findall(r"stepscope: (.*?) failed and was skipped", err.getvalue()))


def test_the_watch_changes_nothing_and_has_no_faults_of_its_own(alone: str, kept: Path) -> None:
    assert watched(kept, None) == (alone, Counter())


@pytest.mark.parametrize("kind", OBSERVERS, ids=lambda kind: kind.__name__)
def test_a_observer_that_fails_at_every_moment_is_skipped(
    kind: type[Observer], alone: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [name for name in MOMENTS if name != "install" and getattr(kind, name) is not getattr(Observer, name)]
    for name in own:
        monkeypatch.setattr(kind, name, broken)
    out, said = watched(kept)
    assert out == alone
    assert set(said.values()) <= {1}, said
    assert not own or said, f"none of {own} of {kind.__name__} was asked: the script above should give it something"


def test_observers_that_cannot_be_installed_are_skipped(
    alone: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [kind for kind in OBSERVERS if kind.install is not Observer.install]
    for kind in own:
        monkeypatch.setattr(kind, "install", broken)
    out, said = watched(kept)
    assert (out, said) == (alone, Counter({f"watching {kind.__name__.lower()}": 1 for kind in own}))


@pytest.mark.parametrize("helper", ["own_place", "tensors_in", "quietly", "Origin"])
def test_what_hooks_call_may_fail_anywhere(
    helper: str, alone: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users: list[ModuleType] = [module for module in MODULES if helper in vars(module)]
    assert users
    for module in users:
        with monkeypatch.context() as patch:
            patch.setattr(module, helper, broken)
            out, said = watched(kept)
        assert out == alone, module.__name__
        assert set(said.values()) <= {1}, (module.__name__, said)


def test_every_rule_may_fail_and_each_is_said_once(alone: str, kept: Path) -> None:
    rules = [replace(rule, check=broken, needs="steps") for rule in all_rules().values()]
    out, said = watched(kept, rules)
    assert (out, said) == (alone, Counter({f"the rule {rule.id}": 1 for rule in rules}))
