"""One replaced attribute of somebody else's, and the table of all that are replaced now.

A patch is a stack of layers around the function that was there. Layers come and go in any order; what is installed is
one stable function that calls the layers of the moment. When the last layer goes, the very object that was there
before is put back. If somebody has patched on top of ours meanwhile, theirs stays, and ours passes calls through.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

from stepscope import fence

Layer = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Given the function to continue with, the function to call instead."""
_MISSING: Any = object()
_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_places: dict[tuple[int, str], list[Patch]] = {}
"""Our patches of each attribute, oldest first; those that are idle were taken off under somebody's."""
_resting: dict[tuple[int, str], Patch] = {}
"""Patches of modules and of torch's classes that are taken off, to be put on again as they were: a recording of one
step puts twenty on and takes them off."""
_lock = threading.RLock()


def _new_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # a child forked while another thread patches would find the lock held for ever
    os.register_at_fork(after_in_child=_new_lock)


class Patch:
    """The attribute `name` of `owner`, while it has Stepscope's layers."""

    def __init__(self, owner: Any, name: str, point: str = "") -> None:
        self.owner, self.name, self.point = owner, name, point
        self.place = id(owner), name
        self.raw = _without_idle(self.place, _own(owner, name))
        """What was there, as it was written: a function, a staticmethod, a property; missing where it is inherited."""
        self.original: Callable[..., Any] = _function_of(getattr(owner, name) if self.raw is _MISSING else self.raw)
        self.call = self.original
        """The layers of the moment, composed."""
        self._composed = self.original
        """The same, while it rests."""
        self._layers: list[tuple[bool, object, Layer]] = []
        """Whether it is outermost, by what it is taken away, and the layer."""
        self.value: Any = _MISSING
        # An object may take attributes in a way of its own: a config of W&B would store a setting.
        self._set: Any = setattr if isinstance(owner, (type, ModuleType)) else object.__setattr__
        self._home: Any = None
        """The module that defines the function, where the owner only has it too (`torch.save`): both must agree, or
        it could not be pickled, and torch itself asks whether they are the same."""
        self.is_idle = False
        """Nobody wants it any more, but somebody has patched on top of it: it passes calls through."""

    @property
    def is_there(self) -> bool:
        """Whether ours is what others find, and not somebody's patch on top of it."""
        return self.value is not _MISSING and _own(self.owner, self.name) is self.value

    @property
    def takes_layers(self) -> bool:
        return bool(self._layers) and self.is_there

    def add(self, layer: Layer, outermost: bool = False) -> Callable[[], None]:
        """Put a layer on top, but below those that are outermost; what is returned takes it away again."""
        token = object()
        self._layers = [*self._layers, (outermost, token, layer)]
        if len(self._layers) > 1:
            self._layers.sort(key=lambda one: one[0])
        self._compose()
        if self.value is _MISSING:
            self.put(_as_before(self.raw, _through(self)))
        elif self.is_idle:
            self.is_idle = False
            self.put(self.value)
        return functools.partial(self._drop, token)

    def put(self, value: Any) -> None:
        if self._home is None or vars(self._home).get(self.name) is not self.raw:
            self._home = None if self.value is value else _home_of(self.owner, self.name, self.raw)
        self.value = value
        self._set(self.owner, self.name, value)
        if self._home is not None:
            setattr(self._home, self.name, value)
        _places.setdefault(self.place, []).append(self)

    def _drop(self, token: object) -> None:
        with _lock:
            left = [one for one in self._layers if one[1] is not token]
            was, self._layers = self._layers, left
            self._compose()
            if was and not left and self.take_off() and _may_rest(self):
                _resting[self.place] = self

    def _compose(self) -> None:
        call = self.original
        for _, _, layer in self._layers:
            call = layer(call)
        self.call = call

    def take_off(self) -> bool:
        """Put back what was there; False where it was not ours any more. What is on top of it by now stays, and goes on
        without it."""
        with _lock:
            self.is_idle = True
            if self._home is not None:
                self._leave_home()
            if _places.get(self.place) == [self] and self.is_there:  # nobody else has touched it
                self._put_back()
                del _places[self.place]
                return True
            others = [one for one in _places.get(self.place, ()) if one is not self]
            above = [one for one in others if one.raw is self.value]
            is_there = self.is_there
            if is_there:
                self._put_back()
            elif above:  # another of ours
                above[0].raw, above[0].original = self.raw, self.original
                above[0]._compose()
            else:  # somebody's, who may put ours back one day (`mock.patch`)
                return False
            if others:
                _places[self.place] = others
            else:
                _places.pop(self.place, None)
            return is_there and not others

    @property
    def can_rest(self) -> bool:
        """Whether it may be taken off by `rest`: it has one layer, and nobody has patched here meanwhile."""
        return len(self._layers) == 1 and self.is_there and _may_rest(self) and self._is_alone

    @property
    def _is_alone(self) -> bool:
        return all(one is self or one.is_idle for one in _places.get(self.place, ()))

    def rest(self) -> None:
        """Take it off to be put on again by `wake`, layer and all."""
        with _lock:
            self.take_off()
            self._composed, self.call = self.call, self.original

    def wake(self) -> bool:
        """Put it on again as it was; False where that is not what `install` would do now."""
        with _lock:
            if not self._is_alone or not _rested(self, self.owner):
                return False
            self.call = self._composed
            self.is_idle = False
            self.put(self.value)
            return True

    def _leave_home(self) -> None:
        if vars(self._home).get(self.name) is self.value:
            setattr(self._home, self.name, self.raw)

    def _put_back(self) -> None:
        if self.raw is not _MISSING:
            self._set(self.owner, self.name, self.raw)
        elif isinstance(self.owner, (type, ModuleType)):
            delattr(self.owner, self.name)
        else:
            object.__delattr__(self.owner, self.name)


def install(owner: Any, name: str, layer: Layer, point: str = "", *, outermost: bool = False) -> Callable[[], None]:
    """Put a layer around a function; what is returned takes it away, whatever others did meanwhile.

    >>> import math
    >>> before = math.floor
    >>> undo = install(math, "floor", lambda floor: lambda x: -floor(x))
    >>> math.floor(2.5)
    -2
    >>> undo()
    >>> math.floor is before
    True
    """
    with _lock:
        ours = _places.get((id(owner), name))
        if ours and ours[-1].takes_layers:
            return ours[-1].add(layer, outermost)
        resting = _resting.pop((id(owner), name), None)
        if resting is not None and not ours and _rested(resting, owner):
            return resting.add(layer, outermost)
        return Patch(owner, name, point).add(layer, outermost)  # on top of whatever somebody has put there


def replace(owner: Any, name: str, value: Any, point: str = "") -> Callable[[], object]:
    """Set an attribute to this very object: a property, or a function written to be there itself."""
    with _lock:
        patch = Patch(owner, name, point)
        patch.put(value)
        return patch.take_off


def patch_of(undo: Callable[[], Any]) -> Patch | None:
    """The patch whose layer this takes away; None for what `install` has not given."""
    owner = getattr(getattr(undo, "func", None), "__self__", None)
    return owner if isinstance(owner, Patch) else None


def installed_now() -> list[Patch]:
    """Everything Stepscope has on somebody else's objects at this moment."""
    return [patch for patches in _places.values() for patch in patches if not patch.is_idle]


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of this package."""
    return frame.f_code.co_filename.startswith(_OURS)


def caller(depth: int = 1) -> FrameType | None:
    """The frame that called, with those of this package left out."""
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame


def _through(patch: Patch) -> Callable[..., Any]:
    def through(*args: Any, **kwargs: Any) -> Any:
        return patch.call(*args, **kwargs)

    try:
        functools.update_wrapper(through, patch.original)
        if isinstance(patch.owner, ModuleType) and isinstance(patch.original, BuiltinFunctionType):
            through.__module__, through.__qualname__ = patch.owner.__name__, patch.name  # pickle finds it by these
        return through
    except Exception as fault:  # a callable with attributes of its own making
        fence.report(f"naming the patch of {patch.name}", fault)
        return through


def _may_rest(patch: Patch) -> bool:
    """Whether its owner lives as long as the process: others must not be kept alive."""
    owner = patch.owner
    lasts = isinstance(owner, ModuleType) or (isinstance(owner, type) and owner.__module__.startswith("torch."))
    return lasts and type(patch.value) is FunctionType


def _rested(patch: Patch, owner: Any) -> bool:
    """Whether a patch that rests can be put on again: what it stands for is there, and is as it was."""
    if patch.owner is not owner or _own(owner, patch.name) is not patch.raw:
        return False
    attributes = vars(patch.value)
    if len(attributes) == 1 and not getattr(patch.original, "__dict__", None):
        return attributes.get("__wrapped__") is patch.original
    return bool({**getattr(patch.original, "__dict__", {}), "__wrapped__": patch.original} == attributes)


def _without_idle(place: tuple[int, str], raw: Any) -> Any:
    """What is there, or what was there before if it is an idle one of ours that somebody has put back."""
    for patch in _places.get(place, ()):
        if patch.is_idle and patch.value is raw:
            return _without_idle(place, patch.raw)
    return raw


def _own(owner: Any, name: str) -> Any:
    """What the owner itself has under a name, not what it inherits."""
    return getattr(owner, "__dict__", {}).get(name, _MISSING)


def _home_of(owner: Any, name: str, raw: Any) -> Any:
    """The module a function comes from, if it has it under the same name and is not the owner.

    A class stays at home: its instances are pickled by what is found there.
    """
    if not isinstance(owner, ModuleType) or isinstance(raw, type):
        return None
    home = sys.modules.get(str(getattr(raw, "__module__", "")))
    return home if home is not None and home is not owner and vars(home).get(name) is raw else None


def _function_of(raw: Any) -> Callable[..., Any]:
    found: Callable[..., Any] = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
    return found


def _as_before(raw: Any, function: Any) -> Any:
    kind = type(raw)
    return kind(function) if kind in (staticmethod, classmethod) else function
