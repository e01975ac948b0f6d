"""Operations: every torch call of Python code on a thread, once, through one torch-function mode.

A follower is called around each operation. While an operation runs the mode is off, so what it calls inside is not
seen. The mode is on the stack of a thread while somebody follows that thread, wherever in the stack it is by then.
`operations.c` does the common case where it is built, and leaves every other one to `_Mode._anyhow`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType
from typing import Any, Protocol

import torch
import torch.overrides
from torch.overrides import TorchFunctionMode

from stepscope import extension, fence
from stepscope.events import aside
from stepscope.events.hub import source_of
from stepscope.events.names import PASS, Plan, plan_for
from stepscope.events.patched_names import HANDOVER, meant

_disabled = torch._C.DisableTorchFunction
_other_modes = torch._C._len_torch_function_stack
_dispatch_modes = torch._C._len_torch_dispatch_stack
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_BUILT_IN = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType)
_plans: dict[Any, Plan] = {}
_modes: dict[int, _Mode] = {}
_DEFAULT_IS_LOWEST = bool(torch.torch_version.TorchVersion(torch.__version__) >= "2.5")
"""Since torch 2.5 a default device finds itself when it ends; before that it takes off whatever is on top."""
_TENSOR_BASE: Any = torch.Tensor.__mro__[1]
_stale: list[_Mode] = []
_patched: dict[Any, Any] = {}
"""Wrappers that a script has put around C methods of tensors -> the methods: torch hands over the wrapper, by name,
although the method itself is what runs."""


class Follower(Protocol):
    """Who is called around operations. What it does is not seen by any function mode of the script."""

    who: str
    """As a fault is reported: "following an op"."""
    paused: int
    """Above 0: operations are not the script's own business now."""
    under_modes: bool
    """Runs no operation of its own, so that the script's dispatch modes need not stop it."""

    def begin(self, plan: Plan, function: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        """It is about to run; `frame` is the caller's. What is given comes back in `end`; None: not followed."""

    def end(self, begun: Any, result: Any) -> None:
        """It has run."""

    def fail(self, begun: Any, error: BaseException) -> None:
        """It has raised."""


def follow(follower: Follower) -> Callable[[], None]:
    """Have operations of this thread followed; what is returned ends it."""
    thread = get_ident()
    mode = _modes.get(thread)
    if mode is None:
        mode = _modes[thread] = _Mode(thread)
    mode.followers = (*mode.followers, follower)
    mode.settle()
    return partial(_unfollow, mode, follower)


def is_followed() -> bool:
    """Whether operations of this thread are followed."""
    mode = _modes.get(get_ident())
    return mode is not None and mode.is_on


def _unfollow(mode: _Mode, follower: Follower) -> None:
    mode.followers = tuple(one for one in mode.followers if one is not follower)
    mode.settle()


class _Around:
    """The way into a mode where there is no compiled one."""

    followers: tuple[Follower, ...]
    is_on: bool

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._anyhow(function, types, args, kwargs, sys._getframe(1))

    def _anyhow(self, function: Any, types: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        raise NotImplementedError


def _report(follower: Follower, fault: BaseException) -> None:
    fence.report(follower.who, fault)


_compiled = extension.load("stepscope.events._operations", 2)
if _compiled is not None:
    _compiled.configure(
        _plans,
        _patched,
        aside.AWAY,
        HANDOVER,
        torch._C._get_tracing_state,
        _other_modes,
        _dispatch_modes,
        *_PLAIN,
        _report,
    )
_Way: Any = _Around if _compiled is None else _compiled.Mode


class _Mode(_Way, TorchFunctionMode):  # type: ignore[misc]
    """One for each thread that is followed."""

    def __init__(self, thread: int) -> None:
        super().__init__()
        self.followers: tuple[Follower, ...] = ()
        self.is_on = False
        self.is_down = False
        """Off for a moment (`stand_down`), though somebody follows."""
        self.thread = thread

    def settle(self) -> None:
        """Be on the stack exactly while somebody follows and nothing stands against it."""
        wanted = bool(self.followers) and not aside.AWAY and not aside.closed_for_good
        if self.is_down and not wanted:  # it is off the stack already
            self.is_down = self.is_on = False
            _say_who_follows()
        if wanted != self.is_on and get_ident() == self.thread:
            self.is_on = wanted
            if wanted:
                if self in _stale:
                    _stale.remove(self)
                else:
                    _put_on(self)
            elif not _take_off(self):
                _stale.append(self)
                source_of("module_begins").tidies = tidy  # type: ignore[attr-defined]
            _say_who_follows()
        if not self.followers and not self.is_on:
            _modes.pop(self.thread, None)

    def _anyhow(self, function: Any, types: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        """Every case."""
        if not self.is_on:
            return function(*args, **kwargs) if kwargs else function(*args)
        if frame.f_code is HANDOVER:
            function = meant(function, frame)
        elif _patched:
            function = _patched.get(function, function)
        plan = _plans.get(function)
        if plan is None:
            function = _patched_method(function) if frame.f_code is not HANDOVER else function
            plan = _plans[function] = plan_for(function)
        if plan[0] == PASS:
            return function(*args, **kwargs) if kwargs else function(*args)
        followers = self.followers
        if len(followers) != 1:
            return self._for_all(followers, plan, function, args, kwargs, frame)
        return self._around(followers[0], plan, function, types, args, kwargs, frame)

    def _around(
        self, follower: Follower, plan: Plan, function: Any, types: Any, args: Any, kwargs: Any, frame: Any
    ) -> Any:
        if follower.paused or aside.reason(under_modes=follower.under_modes) is not None:
            return function(*args, **kwargs) if kwargs else function(*args)
        # Subclasses and other modes would see what is asked of tensors; without them there is nothing to switch off.
        shielded = types or _other_modes()
        try:
            if shielded:
                with _disabled():
                    begun = follower.begin(plan, function, args, kwargs, frame)
            else:
                begun = follower.begin(plan, function, args, kwargs, frame)
        except Exception as fault:
            fence.report(follower.who, fault)
            begun = None
        try:
            result = function(*args, **kwargs) if kwargs else function(*args)
        except BaseException as error:
            if begun is not None:
                self._failed(follower, begun, error)
            raise
        if begun is not None:
            try:
                if shielded or type(result) not in _PLAIN:
                    self._end_shielded(follower, begun, result)
                else:
                    follower.end(begun, result)
            except Exception as fault:
                fence.report(follower.who, fault)
        return result

    def _failed(self, follower: Follower, begun: Any, error: BaseException) -> None:
        with _disabled():
            fence.call(follower.who, follower.fail, begun, error)

    def _end_shielded(self, follower: Follower, begun: Any, result: Any) -> None:
        with _disabled():
            follower.end(begun, result)

    def _for_all(self, followers: Any, plan: Plan, function: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        """Several follow: each around the next."""
        call = function
        for follower in followers:
            call = partial(self._nested, follower, plan, function, call, frame)
        return call(*args, **kwargs) if kwargs else call(*args)

    def _nested(
        self, follower: Follower, plan: Plan, function: Any, call: Any, frame: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if follower.paused or aside.reason(under_modes=follower.under_modes) is not None:
            return call(*args, **kwargs)
        with _disabled():
            begun = fence.call(follower.who, follower.begin, plan, function, args, kwargs or None, frame)
        try:
            result = call(*args, **kwargs)
        except BaseException as error:
            if begun is not None:
                with _disabled():
                    fence.call(follower.who, follower.fail, begun, error)
            raise
        if begun is not None:
            with _disabled():
                fence.call(follower.who, follower.end, begun, result)
        return result


def _patched_method(function: Any) -> Any:
    """The C method of tensors that a function was put in the place of, or the function itself."""
    if type(function) in _BUILT_IN:
        return function
    for name, value in vars(torch.Tensor).items():
        if value is function:
            method = getattr(_TENSOR_BASE, name, None)
            if method is not None and method is not function:
                _patched[function] = method
                return method
    return function


def _say_who_follows() -> None:
    """Other sources care: fused modules are closed off, and compilers must not meet the mode."""
    followed = any(mode.is_on for mode in _modes.values())
    modules: Any = source_of("module_begins")
    modules.closes_fused = followed
    compilers: Any = source_of("compiled")
    if followed:
        compilers.hold("operations")
    elif not aside.AWAY:
        compilers.release("operations")


def tidy() -> None:
    """Take off modes that were put away by torch (inside an operation) when the last follower left."""
    for mode in list(_stale):
        if mode.thread == get_ident() and _take_off(mode):
            _stale.remove(mode)


def _put_on(mode: Any) -> None:
    """Put a mode below those of the script: each of theirs takes the topmost one off when it ends. That of
    `torch.set_default_device` stays the lowest of all, where torch looks for it."""
    pop, push = torch.overrides.__dict__["_pop_mode"], torch.overrides.__dict__["_push_mode"]
    default = getattr(torch.__dict__.get("_GLOBAL_DEVICE_CONTEXT"), "device_context", None)
    theirs = [pop() for _ in range(_other_modes())]
    if theirs and theirs[-1] is default and _DEFAULT_IS_LOWEST:
        push(theirs.pop())
    push(mode)
    for other in reversed(theirs):
        push(other)


def _take_off(mode: Any) -> bool:
    """Remove a mode from anywhere in the stack: a `with torch.device(...)` of the user may be above it."""
    stack: list[Any] = torch.overrides.__dict__["_get_current_function_mode_stack"]()
    if mode not in stack:
        return False
    pop, push = torch.overrides.__dict__["_pop_mode"], torch.overrides.__dict__["_push_mode"]
    above = []
    while (top := pop()) is not mode:
        above.append(top)
    for other in reversed(above):
        push(other)
    return True


def _away(yes: bool) -> None:
    for mode in list(_modes.values()):
        mode.settle()


def leave_child_alone() -> None:
    """In a forked child: its operations are nobody's business."""
    for mode in list(_modes.values()):
        mode.followers = ()
        if mode.is_on:
            mode.is_on = False
            _take_off(mode)
    _modes.clear()


aside.on_away.append(_away)


def stand_down() -> None:
    """Take the mode of this thread off for a while: an optimizer's own operations would all come by for nothing."""
    mode = _modes.get(get_ident())
    if mode is not None and mode.is_on and not mode.is_down and len(mode.followers) == 1:
        mode.is_down = _take_off(mode)


def stand_up() -> None:
    """Follow again."""
    mode = _modes.get(get_ident())
    if mode is not None and mode.is_down:
        mode.is_down = False
        _put_on(mode)


@contextmanager
def seen_again() -> Iterator[None]:
    """Follow operations again inside a function that is itself one: what hooks call while backward runs."""
    mode = _modes.get(get_ident())
    if mode is None or not mode.is_on or mode in torch.overrides.__dict__["_get_current_function_mode_stack"]():
        yield
    else:
        with mode:
            yield
