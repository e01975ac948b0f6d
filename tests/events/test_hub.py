"""Subscriptions: what is installed is what somebody listens to, and a forked child has none of it."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
import torch
import torch.optim.optimizer as torch_optimizer
from torch.utils.data import DataLoader, TensorDataset

from stepscope import events, fence
from stepscope.events import hub


def surfaces() -> dict[str, Any]:
    """Everything that sources may change."""
    loaders = torch.utils.data.dataloader
    return {
        "call": vars(torch.nn.Module)["__call__"],
        "init": vars(loaders.DataLoader)["__init__"],
        "iter": vars(loaders.DataLoader)["__iter__"],
        "next": vars(loaders._BaseDataLoaderIter)["__next__"],
        "engine": vars(torch.autograd).get("_engine_run_backward", vars(torch.autograd.Variable)["_execution_engine"]),
        "compile": torch.compile,
        "pre": dict(torch_optimizer._global_optimizer_pre_hooks),
        "post": dict(torch_optimizer._global_optimizer_post_hooks),
    }


def hearing(*kinds: str) -> dict[str, Any]:
    """A handler for each kind."""
    return {kind: lambda *facts: None for kind in kinds}


def train() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for (x,) in DataLoader(TensorDataset(torch.ones(2, 2)), 1):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("kind", hub.KINDS)
def test_each_kind_is_installed_while_somebody_listens(kind: str) -> None:
    before = surfaces()
    first = events.subscribe("one", **hearing(kind))
    changed = {name for name, now in surfaces().items() if now is not before[name] and now != before[name]}
    second = events.subscribe("two", **hearing(kind))
    assert changed, f"nothing was installed for {kind}"
    first.remove()
    assert {name for name, now in surfaces().items() if now != before[name]} >= changed
    second.remove()
    assert surfaces() == before
    assert events.installed_now() == []


def test_a_step_is_told_in_order() -> None:
    told: list[str] = []
    kinds = [kind for kind in hub.KINDS if kind not in ("compiled", "closure_begins", "closure_ends")]
    handlers: dict[str, Any] = {kind: lambda *facts, kind=kind: told.append(kind) for kind in kinds}
    subscription = events.subscribe("a test", **handlers)
    train()
    subscription.remove()
    step = [
        "batch_asked", "batch_given", "model_begins", "module_begins", "module_begins", "module_ends", "module_begins",
        "module_ends", "module_ends", "model_ends", "backward_asked", "backward_begins", "backward_ends", "step_asked",
        "step_begins", "step_ends",
    ]  # fmt: skip
    assert told == ["loader_made", "pass_asked", "pass_began", *step, *step, "batch_asked", "pass_ended"]


def test_listening_to_less_installs_less() -> None:
    before = surfaces()
    subscription = events.subscribe("a test", model_ends=lambda call: None, backward_ends=lambda error: None)
    subscription.listen("backward_ends")
    assert surfaces()["call"] is before["call"]
    assert surfaces()["engine"] is not before["engine"]
    subscription.remove()
    assert surfaces() == before


def test_closers_hear_the_end_in_the_reverse_order() -> None:
    told: list[str] = []
    far = events.subscribe(
        "far", order=10, backward_begins=lambda *a: told.append("far"), backward_ends=lambda *a: told.append("far")
    )
    near = events.subscribe(
        "near", order=90, backward_begins=lambda *a: told.append("near"), backward_ends=lambda *a: told.append("near")
    )
    torch.ones(1, requires_grad=True).sum().backward()  # type: ignore[no-untyped-call]
    far.remove()
    near.remove()
    assert told == ["far", "near", "near", "far"]


def test_a_fault_of_one_reaches_neither_the_script_nor_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    broken = events.subscribe("a broken part", backward_begins=lambda *a: 1 // 0)
    sound = events.subscribe("a sound part", backward_begins=lambda *a: told.append("heard"))
    torch.ones(1, requires_grad=True).sum().backward()  # type: ignore[no-untyped-call]
    broken.remove()
    sound.remove()
    assert told == ["heard"]
    assert "a broken part failed" in capsys.readouterr().err
    fence.reset()


def test_a_thread_hears_only_its_own() -> None:
    told: list[int] = []
    mine = events.subscribe("a test", thread=threading.get_ident(), model_ends=lambda call: told.append(1))
    model = torch.nn.Linear(1, 1)
    other = threading.Thread(target=lambda: model(torch.ones(1, 1)))
    other.start()
    other.join()
    assert told == []
    model(torch.ones(1, 1))
    mine.remove()
    assert told == [1]


def test_unknown_events_are_refused() -> None:
    with pytest.raises(ValueError, match="no such events: made_up"):
        events.subscribe("a test", made_up=lambda: None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_nothing_of_ours() -> None:
    before = surfaces()
    subscription = events.subscribe("a test", **hearing(*hub.KINDS))
    leaving, staying = events.Installed(stays_in_parent=True), events.Installed()
    leaving.wrap("torch:save", lambda save: lambda *a, **k: save(*a, **k))
    staying.wrap("torch:load", lambda load: lambda *a, **k: load(*a, **k))
    saved = torch.save
    child = os.fork()
    if child == 0:
        clean = surfaces() == before and hub.subscriptions() == [] and torch.save is not saved
        os._exit(0 if clean and [patch.name for patch in events.installed_now()] == ["load"] else 1)
    _, status = os.waitpid(child, 0)
    assert torch.save is saved
    subscription.remove()
    leaving.remove()
    staying.remove()
    assert os.waitstatus_to_exitcode(status) == 0
