"""Modules: the call of a model, and of every module inside it while somebody follows those too.

One door: `Module._call_impl`, which every `Module.__call__` comes to; in Python `Module.__call__` itself, to add no
frame. Inside a model, with nobody following its parts, it adds two comparisons.
"""

from __future__ import annotations

import linecache
import sys
from threading import get_ident
from typing import Any, ClassVar

import torch

from stepscope import fence
from stepscope.events import aside, patches
from stepscope.events.compilers import Compilers
from stepscope.events.source import Source, compiled, tell

_FUSED = (torch.nn.TransformerEncoderLayer, torch.nn.TransformerEncoder, torch.nn.MultiheadAttention)


class ModuleCall:
    """One call of a module: its inputs and its result."""

    __slots__ = ("args", "error", "frame", "guard", "kwargs", "module", "notes", "parent", "result")

    def __init__(self, module: Any, args: Any, kwargs: Any, parent: ModuleCall | None, frame: Any) -> None:
        self.module, self.args, self.kwargs, self.parent = module, args, kwargs, parent
        self.frame = frame
        """Of the caller, while the handlers of its beginning run."""
        self.result: Any = None
        self.error: BaseException | None = None
        self.notes: dict[str, Any] = {}
        """What subscribers keep between its beginning and its end, by a name of theirs."""
        self.guard: Any = None


class Modules(Source):
    """The door, and the stack of running calls of each thread."""

    kinds: ClassVar[tuple[str, ...]] = ("model_begins", "model_ends", "module_begins", "module_ends")
    closing: ClassVar[frozenset[str]] = frozenset({"model_ends", "module_ends"})

    def __init__(self, compilers: Compilers) -> None:
        super().__init__()
        self._compilers = compilers
        self.stacks: dict[int, list[ModuleCall]] = {}
        self.inner = False
        """Modules inside models are followed too."""
        self.wanted = False
        """Somebody listens."""
        self.ends_all = False
        """Somebody wants to hear of the end of every model's call, also of those that nobody left a note in."""
        self.closes_fused = False
        """A function mode of Stepscope is on: torch would leave its fused inference path, whose last bits differ."""
        self.tidies: Any = None
        """Called when a module has returned, while a mode of Stepscope could not be removed inside an operation."""
        self.under_modes = 0
        """Above 0 while a recorder follows, which runs no operation that dispatch modes of the script could see."""
        self.known: set[type] | None = None
        """Classes whose models nobody wants to hear of while gradients are on."""
        self.heard: type | None = None
        """The only class whose models are wanted while gradients are off."""
        self._compiled: Any = None
        self._undo: Any = None
        aside.on_away.append(self._away)

    def install(self) -> None:
        self.changed()
        if self._undo is None and not aside.AWAY and not aside.closed_for_good:
            self._undo = self._put_doors()
            self._compilers.hold("modules")

    def remove(self) -> None:
        self.changed()
        if self._undo is not None:
            self._undo()
            self._undo = None
        self._compilers.release("modules")
        self.stacks.clear()

    def changed(self) -> None:
        self.inner = bool(self.module_begins or self.module_ends)
        self.wanted = bool(self.inner or self.model_begins or self.model_ends)
        self.ends_all = not all(getattr(one.handler, "only_noted", False) for one in self.model_ends)
        self.known = self.heard = None
        self._set_door()

    def rest_with_grad(self, known: set[type] | None) -> None:
        """Tell nobody of models of these classes that are called with gradients, until the listeners change."""
        self.known = known if self._may_rest else None
        self._set_door()

    def rest_without_grad(self, heard: type | None) -> None:
        """Of models that are called without gradients tell only of this class, until the listeners change."""
        self.heard = heard if self._may_rest else None
        self._set_door()

    @property
    def _may_rest(self) -> bool:
        """Whoever asks for rest must be the only one who would miss a call."""
        if self.ends_all:
            return False
        return sum(not getattr(one.handler, "may_rest", False) for one in self.model_begins) == 1

    def _set_door(self) -> None:
        if self._compiled is not None:
            door = self._compiled
            door.wanted, door.inner, door.known, door.heard = self.wanted, self.inner, self.known, self.heard

    def _rests(self, module: Any) -> bool:
        if torch.is_grad_enabled():
            return self.known is not None and type(module) in self.known
        return self.heard is not None and not isinstance(module, self.heard)

    def _away(self, yes: bool) -> None:
        if yes and self._undo is not None:
            self._undo()
            self._undo = None
        elif not yes and self.is_installed:
            self.install()

    def _put_doors(self) -> Any:
        return self._put_python() if compiled is None else self._put_compiled(compiled.Door)

    def _put_compiled(self, make: Any) -> Any:
        names = vars(torch.nn.Module)
        original, caller = names["_call_impl"], getattr(names["_wrapped_call_impl"], "__code__", None)
        if self._compiled is not None:  # somebody may have kept it
            self._compiled.wanted = False
        door = self._compiled = make(original, caller, self.begin, self.end, torch.is_grad_enabled)
        for name in ("__name__", "__qualname__", "__module__"):
            setattr(door, name, getattr(original, name, None))
        self._set_door()
        return patches.replace(torch.nn.Module, "_call_impl", door, "torch.nn:Module._call_impl")

    def _put_python(self) -> Any:
        """At both names that torch has for it: a library may ask whether they are the same."""
        was = vars(torch.nn.Module)
        original = was["__call__"]
        door = _door_like_torchs(self, original) if _only_hands_on(original) else _door_around(self, original)
        door.__wrapped__ = original
        for name in ("__doc__", "__name__", "__qualname__", "__module__"):
            setattr(door, name, getattr(original, name, None))
        names = ["__call__"]
        if was.get("_wrapped_call_impl") is original:
            names.append("_wrapped_call_impl")
        undo = [patches.replace(torch.nn.Module, name, door, f"torch.nn:Module.{name}") for name in names]
        return lambda: [one() for one in undo]

    def begin(self, module: Any, args: Any, kwargs: Any, running: Any, frame: Any) -> ModuleCall | None:
        """A module is called; None where nobody wants to know, or must not."""
        if not self.wanted or aside.reason(under_modes=self.under_modes > 0):
            return None
        if running is None:
            running = self.stacks.setdefault(get_ident(), [])
        parent = running[-1] if running else None
        call = ModuleCall(module, args, kwargs, parent, frame)
        is_told = not (self.known or self.heard) or self.inner or not self._rests(module)
        if parent is None and self.model_begins and is_told:
            tell(self.model_begins, call)
        if self.module_begins:
            tell(self.module_begins, call)
        call.frame = None
        running.append(call)
        if self.closes_fused and runs_fused(module):
            call.guard = torch._C.DisableTorchFunction()
            call.guard.__enter__()
        return call

    def end(self, call: ModuleCall, result: Any, error: BaseException | None) -> None:
        """It has returned, or raised."""
        if call.guard is not None:
            call.guard.__exit__(None, None, None)
        running = self.stacks.get(get_ident(), [])
        while running and running.pop() is not call:  # calls that were left without coming back here
            pass
        call.result, call.error = result, error
        if self.tidies:
            self.tidies()
        if self.module_ends:
            tell(self.module_ends, call)
        if call.parent is None and (call.notes or self.ends_all):
            tell(self.model_ends, call)

    @property
    def innermost(self) -> ModuleCall | None:
        """The module that runs on this thread."""
        running = self.stacks.get(get_ident())
        return running[-1] if running else None


# torch.profiler looks for a local named `self` in the code of Module.__call__, and crashes without one.


def _door_like_torchs(source: Modules, original: Any) -> Any:
    """In the place of torch's own `__call__`, and not one frame more than it."""
    stacks = source.stacks

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return original(self, *args, **kwargs)
        running = stacks.get(get_ident())
        call = source.begin(self, args, kwargs, running, sys._getframe(1)) if source.inner or not running else None
        try:
            gave = self._call_impl(*args, **kwargs)
        except BaseException as error:
            if call is not None:
                source.end(call, None, error)
            raise
        if call is not None:
            source.end(call, gave, None)
        return gave

    return _disguised(__call__, original)


def _disguised(door: Any, original: Any) -> Any:
    """Give the door's frames the name, file and line of the function it stands for: stacks and tracebacks that a script
    looks at are then the same. Nothing of Stepscope can raise in it."""
    code, theirs = door.__code__, original.__code__
    lines = {line for _, _, line in code.co_lines() if line is not None}
    ours = next((line for line in sorted(lines) if "gave = self._call_impl" in linecache.getline(__file__, line)), None)
    last = max(line for _, _, line in theirs.co_lines() if line is not None)
    if ours is not None:
        names = {"co_name": theirs.co_name, "co_filename": theirs.co_filename}
        if sys.version_info >= (3, 11):
            names["co_qualname"] = theirs.co_qualname
        door.__code__ = code.replace(co_firstlineno=code.co_firstlineno + last - ours, **names)
    return door


def _door_around(source: Modules, original: Any) -> Any:
    """Around what somebody else has put there."""
    stacks = source.stacks

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        running = stacks.get(get_ident())
        call = source.begin(self, args, kwargs, running, sys._getframe(1)) if source.inner or not running else None
        if call is None:
            return original(self, *args, **kwargs)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            source.end(call, None, error)
            raise
        source.end(call, result, None)
        return result

    return __call__


def _only_hands_on(call: Any) -> bool:
    """Whether this `Module.__call__` is torch's, which calls `_call_impl` and does nothing else."""
    code = getattr(call, "__code__", None)
    known = call is vars(torch.nn.Module).get("_wrapped_call_impl") and hasattr(torch.nn.Module, "_call_impl")
    return known and code is not None and set(code.co_names) == {"_compiled_call_impl", "_call_impl"}


@fence.fenced("looking at a module", default=False)
def runs_fused(module: Any) -> bool:
    """Whether torch runs this call in one piece, which it would not do under a function mode: results would differ."""
    if isinstance(module, torch.jit.ScriptModule):
        return True
    if not isinstance(module, _FUSED) or module.training:
        return False
    switch = getattr(getattr(torch.backends, "mha", None), "get_fastpath_enabled", None)
    if switch is not None and not switch():
        return False
    return not torch.is_grad_enabled() or not any(p.requires_grad for p in module.parameters())
