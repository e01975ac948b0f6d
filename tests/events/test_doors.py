"""The hot doors: written in C where that was built, and in Python; both are held to the same."""

from __future__ import annotations

import gc
import inspect
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from stepscope import fence
from stepscope.events import modules, source
from stepscope.events.hub import source_of, subscribe
from stepscope.events.source import Listener, may_rest, only_noted

BOTH = ["python", pytest.param("compiled", marks=pytest.mark.skipif(source.compiled is None, reason="is not built"))]


@pytest.fixture(params=BOTH)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "python":
        monkeypatch.setattr(modules, "compiled", None)
    yield request.param
    fence.reset()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.stack: list[Any] = []

    def forward(self, x: Any, *, fails: bool = False) -> Any:
        self.stack = [frame.filename for frame in inspect.stack()]
        if fails:
            raise ValueError("on purpose")
        return self.inner(x)


def names(told: list[Any]) -> list[str]:
    return [type(call.module).__name__ for call in told]


def test_only_the_outermost_module_is_a_model(way: str) -> None:
    begun: list[Any] = []
    over: list[Any] = []
    listening = subscribe("a test", model_begins=begun.append, model_ends=over.append)
    net, x = Net(), torch.ones(1, 2)
    result = net(x)
    listening.remove()
    net(x)
    assert names(begun) == names(over) == ["Net"]
    assert over[0].result is result
    assert begun[0].args == (x,)
    assert begun[0].kwargs == {}


def test_all_modules_are_followed_with_their_parents(way: str) -> None:
    begun: list[Any] = []
    listening = subscribe("a test", module_begins=begun.append)
    Net()(torch.ones(1, 2))
    listening.remove()
    assert [(type(call.module).__name__, call.parent and type(call.parent.module).__name__) for call in begun] == [
        ("Net", None),
        ("Linear", "Net"),
    ]


def test_an_error_passes_through_with_no_frame_of_ours(way: str) -> None:
    over: list[Any] = []
    listening = subscribe("a test", model_ends=over.append)
    net = Net()
    with pytest.raises(ValueError, match="on purpose") as raised:
        net(torch.ones(1, 2), fails=True)
    listening.remove()
    assert over[0].error is raised.value
    assert over[0].kwargs == {"fails": True}
    frames = [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert not [one for one in (*frames, *net.stack) if "stepscope/events" in one]
    assert net.stack.count(inspect.getfile(nn.Module)) == 2, "as without us: _wrapped_call_impl and _call_impl"


def test_the_door_looks_like_what_it_stands_for(way: str) -> None:
    ours, theirs = ("_call_impl", "__call__") if way == "compiled" else ("__call__", "_call_impl")
    before, other = vars(nn.Module)[ours], vars(nn.Module)[theirs]
    listening = subscribe("a test", model_begins=lambda call: None)
    door = vars(nn.Module)[ours]
    assert door is not before
    assert vars(nn.Module)[theirs] is other
    assert vars(nn.Module)["_wrapped_call_impl"] is vars(nn.Module)["__call__"]
    assert (door.__name__, door.__qualname__, door.__module__) == (
        before.__name__,
        before.__qualname__,
        before.__module__,
    )
    assert door.__doc__ == before.__doc__
    assert "self" in nn.Module.__call__.__code__.co_varnames, "torch.profiler looks for it"
    assert inspect.signature(door) == inspect.signature(before)
    assert inspect.getsource(door) == inspect.getsource(before)
    listening.remove()
    assert vars(nn.Module)[ours] is before


def test_a_call_knows_the_frame_that_made_it(way: str) -> None:
    callers: list[str] = []
    listening = subscribe("a test", module_begins=lambda call: callers.append(call.frame.f_code.co_name))
    Net()(torch.ones(1, 2))
    Net()._call_impl(torch.ones(1, 2))
    listening.remove()
    here = "test_a_call_knows_the_frame_that_made_it"
    assert callers == ([here, "forward", here, "forward"] if way == "compiled" else [here, "forward", "forward"])


def test_rest_is_for_the_only_listener_and_until_the_listeners_change(way: str) -> None:
    told: list[Any] = []
    noted = only_noted(lambda call: None)
    listening = subscribe("a test", model_begins=told.append, model_ends=noted)
    models: Any = source_of("model_begins")
    net, loss, x = Net(), nn.MSELoss(), torch.ones(1, 2)
    models.rest_with_grad({Net})
    models.rest_without_grad(nn.MSELoss)
    net(x)
    loss(x, x)
    with torch.no_grad():
        net(x)
        loss(x, x)
    assert names(told) == ["MSELoss", "MSELoss"], "no module inside one that rests is taken for a model"
    other = subscribe("another", model_begins=lambda call: None)
    models.rest_with_grad({Net})
    net(x)
    assert names(told) == ["MSELoss", "MSELoss", "Net"], "somebody else listens"
    other.remove()
    patient = subscribe("a patient one", model_begins=may_rest(lambda call: None), model_ends=noted)
    models.rest_with_grad({Net})
    net(x)
    assert names(told) == ["MSELoss", "MSELoss", "Net"], "one that may rest does not count"
    patient.remove()
    listening.remove()


def test_models_of_another_thread_are_models_too(way: str) -> None:
    told: list[Any] = []
    listening = subscribe("a test", model_begins=told.append)
    net, inner = Net(), Net()

    class Outer(nn.Module):
        def forward(self, x: Any) -> Any:
            thread = threading.Thread(target=inner, args=(x,))
            thread.start()
            thread.join()
            return net(x)

    Outer()(torch.ones(1, 2))
    listening.remove()
    assert names(told) == ["Outer", "Net"]


@pytest.mark.parametrize("tell", [source.tell_in_python, source.tell])
def test_a_fault_of_one_listener_is_reported_and_the_others_hear(tell: Any, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[Any] = []
    here = threading.get_ident()

    def broken(*facts: Any) -> None:
        raise KeyError("lost")

    tell((Listener(broken, None, "the broken one", 50), Listener(lambda *f: heard.append(f), here, "me", 50)), 1, "b")
    tell((Listener(heard.append, here + 1, "another thread", 50),), 1)
    assert heard == [(1, "b")]
    assert "the broken one failed and was skipped" in capfd.readouterr().err
    fence.reset()


@pytest.mark.parametrize("tell", [source.tell_in_python, source.tell])
def test_leaving_the_debugger_and_the_script_is_no_fault(tell: Any) -> None:
    from bdb import BdbQuit

    def leaves(error: type[BaseException]) -> None:
        raise error

    for error in (BdbQuit, SystemExit, KeyboardInterrupt):
        with pytest.raises(error):
            tell((Listener(leaves, None, "me", 50),), error)


def test_what_the_listeners_were_told_is_not_kept(way: str) -> None:
    listening = subscribe("a test", model_begins=lambda call: None, model_ends=lambda call: None)
    x = torch.ones(1, 2)
    net = Net()
    before = sys.getrefcount(x)
    for _ in range(10):
        net(x)
        with pytest.raises(ValueError, match="on purpose"):
            net(x, fails=True)
    listening.remove()
    gc.collect()  # an error and the frames it went through hold each other
    assert sys.getrefcount(x) == before
