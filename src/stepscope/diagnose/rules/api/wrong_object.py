from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.common.syntax import said
from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.diagnose.crash.value_origin import article, describe
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldOptimizer
from stepscope.evidence.modules import Module

_NO_OPTIMIZER = re.compile(r"^(\w+) is not an Optimizer")
_NO_STATE = re.compile(r"Expected state_dict to be dict-like, got <class '(?:[\w.]+\.)?(\w+)'>")
_PATHS = ("str", "PosixPath", "WindowsPath", "Path")


@rule("api.wrong-object", severity="error", needs="crash")
def wrong_object(run: Evidence) -> Iterator[Proof]:
    """A function of PyTorch was given another object than it works on: the model for the optimizer, a path for weights.

    Why it matters: the call fails at once, and the object it needs is mostly at hand under another name.

    What to do: a scheduler takes the optimizer; `load_state_dict` takes what `torch.load` returns.

    Bad:
        scheduler = StepLR(model, step_size=10)
        model.load_state_dict("best.pt")
    Good:
        scheduler = StepLR(optimizer, step_size=10)
        model.load_state_dict(torch.load("best.pt"))
    """
    crash = run.crash
    frame = None if crash is None else crash.last
    call = None if frame is None else frame.running
    if crash is None or frame is None or not isinstance(call, ast.Call) or not crash.is_a("TypeError"):
        return
    if (told := _NO_OPTIMIZER.search(crash.text)) is not None:
        yield from _scheduler(crash, frame, call, told[1])
    elif (told := _NO_STATE.search(crash.text)) is not None:
        yield from _weights(crash, frame, call, told[1])


def _scheduler(crash: Crash, frame: Frame, call: ast.Call, kind: str) -> Iterator[Proof]:
    given = next((word.value for word in call.keywords if word.arg == "optimizer"), None) or next(iter(call.args), None)
    if given is None:
        return
    names = [name for name, value, _ in crash.values() if isinstance(value, HeldOptimizer)]
    right = names[0] if len(set(names)) == 1 else ""
    place = node_site(frame.file, given)
    what = f"{article(kind)} {kind}"
    yield Proof(
        where=place,
        message=f"a scheduler changes the learning rate of an optimizer, and `{said(given)}` is {what}",
        label=what,
        evidence={"given": said(given), "type": kind},
        edit=edits.replace(place, right) if right else None,
        fix=f"pass the optimizer: {said(call.func)}({right}, ...)" if right else "pass the optimizer",
    )


def _weights(crash: Crash, frame: Frame, call: ast.Call, kind: str) -> Iterator[Proof]:
    given = next(iter(call.args), None)
    if given is None:
        return
    place, text = node_site(frame.file, given), said(given)
    right, what = _state_of(frame.value_of(given), kind, text)
    yield Proof(
        where=place,
        message=f"`load_state_dict` takes the weights themselves, and `{text}` is {what}",
        label=what,
        evidence={"given": text, "type": kind},
        edit=edits.replace(place, right) if right else None,
        fix=f"pass the weights: {said(call.func)}({right})" if right else "pass what torch.load(path) returns",
    )


def _state_of(value: Any, kind: str, text: str) -> tuple[str, str]:
    """The weights of what was given instead of them, and what that is."""
    if kind in _PATHS:
        return f"torch.load({text})", "only the path of a file"
    if isinstance(value, Module):
        return f"{text}.state_dict()", "a whole model"
    return "", f"{article(kind)} {kind}" if value is MISSING else describe(value)
