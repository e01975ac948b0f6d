"""Modules: which one is running, by its real name, and what each consists of."""

from __future__ import annotations

import weakref
from functools import lru_cache
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events import subscribe
from stepscope.events.modules import runs_fused
from stepscope.record.arguments import tensors_in
from stepscope.record.op_observer import tell
from stepscope.record.sites import Spot, place_of
from stepscope.record.step_builder import CallDraft
from stepscope.record.structure import module_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.events.modules import ModuleCall
    from stepscope.record.recorder import Recorder

_FUSED = (torch.nn.TransformerEncoderLayer, torch.nn.TransformerEncoder, torch.nn.MultiheadAttention)


class ModuleEntry:
    """A module object and the names it goes by."""

    __slots__ = ("aliases", "calls", "may_close", "of_torch", "path", "ref", "root", "scripted", "type")

    def __init__(self, module: Any, path: str, root: int) -> None:
        self.ref = weakref.ref(module)
        self.path = path
        self.aliases: list[str] = []
        self.root = root
        """Which of the recording's roots it belongs to: 0 is the model."""
        self.calls = 0
        kind: Any = type(module)
        self.scripted, self.may_close, self.of_torch = _traits(kind)
        self.type = type_name(module) if self.scripted else kind.__name__


@lru_cache(maxsize=1024)
def _traits(kind: type) -> tuple[bool, bool, bool]:
    """Whether modules of a class are scripted, whether their inside may be out of sight, and whether no line of their
    forward is the user's."""
    scripted = issubclass(kind, torch.jit.ScriptModule)
    return scripted, scripted or issubclass(kind, _FUSED), kind.__module__.startswith("torch.nn.modules.")


def type_name(module: Any) -> str:
    """The class; for scripted modules the class they were scripted from."""
    if isinstance(module, torch.jit.ScriptModule):
        return str(module.original_name)
    return type(module).__name__


class ModuleHooks:
    """Listens to module calls and keeps their stack."""

    def __init__(self, recorder: Recorder, model: Any) -> None:
        self._recorder = recorder
        self._depth = recorder.depth
        self.model = model
        self.roots: list[ModuleEntry | None] = []
        """The modules that are called from outside any other; the model comes first."""
        self.entries: dict[int, ModuleEntry] = {}
        self.stack: list[CallDraft] = []
        self.closed: set[CallDraft] = set()
        """Calls whose inside is out of sight: torch runs them in one piece."""
        self._key = f"recorder {id(self)}"
        self._before = recorder.watchers("module_before")
        self._after = recorder.watchers("module_after")
        if model is not None:
            self.add_root(model)

    def install(self) -> None:
        subscription = subscribe("recording a module", module_begins=self._enter, module_ends=self._leave)
        self._recorder.installed.add(subscription.remove)

    def add_root(self, module: Any) -> ModuleEntry:
        """Learn the names of a whole tree of modules, its parameters and buffers."""
        tree = module_tree(module)
        number = self._number_for(module, tree)
        while len(self.roots) <= number:
            self.roots.append(None)
        prefix = "" if number == 0 else self._free_name(type_name(module))
        placed: set[int] = set()
        for path, part in tree:
            full = f"{prefix}.{path}" if prefix and path else prefix or path
            entry = self.entry_of(part)
            if entry is None:
                entry = self.entries[id(part)] = ModuleEntry(part, full, number)
            elif id(part) in placed:
                entry.aliases.append(full)
            elif entry.root >= number:  # known so far as a tree of its own; now its real place shows
                entry.path, entry.root, entry.aliases = full, number, []
            placed.add(id(part))
        self._name_tensors(tree, prefix)
        found = self.roots[number] = self.entries[id(module)]
        return found

    def _number_for(self, module: Any, tree: list[tuple[str, Any]]) -> int:
        """0 for the model: the one given, else the first with parameters that is called. Others follow."""
        if self.model is not None:
            return len(self.roots)  # the model itself is added first, so it is 0
        inside = {id(part) for _, part in tree}
        for number, root in enumerate(self.roots):
            if root is not None and id(root.ref()) in inside:
                return number
        has_parameters = any(part._parameters for _, part in tree)
        if has_parameters and (not self.roots or self.roots[0] is None):
            return 0
        return max(1, len(self.roots))

    def _free_name(self, name: str) -> str:
        taken = {entry.path for entry in self.entries.values()}
        count = 2
        free = name
        while free in taken:
            free = f"{name}_{count}"
            count += 1
        return free

    def _name_tensors(self, tree: list[tuple[str, Any]], prefix: str) -> None:
        names = self._recorder.tensors.names
        for kind, found in (("parameter", _named(tree, "_parameters")), ("buffer", _named(tree, "_buffers"))):
            for name, tensor in found:
                full = f"{prefix}.{name}" if prefix else name
                known = names.get(id(tensor))
                if known is not None and known[0]() is tensor:
                    if full not in known[2]:
                        names[id(tensor)] = (known[0], known[1], (*known[2], full))
                else:
                    names[id(tensor)] = (weakref.ref(tensor), kind, (full,))

    def entry_of(self, module: Any) -> ModuleEntry | None:
        entry = self.entries.get(id(module))
        return entry if entry is not None and entry.ref() is module else None

    def entry_for(self, module: Any, outermost: bool) -> ModuleEntry:
        """What is known of a module that is called; one not seen before is learned with its whole tree."""
        entry = self.entry_of(module)
        if entry is None or (self.model is None and outermost and not self._is_root(module)):
            entry = self.add_root(module)
        return entry

    def _is_root(self, module: Any) -> bool:
        return any(root is not None and root.ref() is module for root in self.roots)

    def _enter(self, called: ModuleCall) -> None:
        if not self._recorder.listens():
            return
        entry = self.entry_for(called.module, not self.stack)
        with torch._C.DisableTorchFunction():
            place = None
            if entry.of_torch or entry.may_close or self._depth == "modules":
                parent = self.stack[-1] if self.stack else None
                inherits = parent is not None and parent.module.of_torch
                place = parent.place if parent is not None and inherits else place_of(called.frame)
            call = self.enter(entry, entry.root, place, tensors_in((called.args, called.kwargs)))
            called.notes[self._key] = call
            if entry.may_close and runs_fused(called.module):
                self.closed.add(call)
            if self._before:
                tell(self._before, call)
            if self._recorder.timed:
                call.began = perf_counter_ns()

    def enter(self, entry: ModuleEntry, root: int, place: Spot | None, inputs: list[Any]) -> CallDraft:
        """A call begins with these tensors; `root` is that of the module by now."""
        recorder = self._recorder
        drafts = recorder.drafts
        parent = self.stack[-1] if self.stack else None
        call = CallDraft(len(drafts.calls), entry, entry.calls, parent, len(drafts.ops))
        call.sequence = recorder.sequence()
        call.root = root
        entry.calls += 1
        call.place = place
        call.recomputed = recorder.phases.in_backward
        call.inputs = recorder.flow.refs(inputs)
        drafts.calls.append(call)
        self.stack.append(call)
        if root == 0 and (parent is None or parent.root != 0):
            recorder.phases.module_begins()
        return call

    def _leave(self, called: ModuleCall) -> None:
        now = perf_counter_ns()
        call = called.notes.get(self._key)
        if call is None or call not in self.stack or not self._recorder.listens():
            return
        call.ended = now
        with torch._C.DisableTorchFunction():
            inputs = tensors_in((called.args, called.kwargs)) if call in self.closed or self._depth == "modules" else []
            self.leave(call, inputs, tensors_in(called.result), said(called.error))
            if self._after:
                tell(self._after, call)

    def leave(self, call: CallDraft, inputs: list[Any], outputs: list[Any], error: str | None) -> None:
        """A call has ended."""
        recorder = self._recorder
        while self.stack[-1] is not call:  # left without coming back here
            self._close(self.stack.pop(), "left by an exception")
        self.stack.pop()
        closed = call in self.closed
        if closed:
            what = "inside scripted code" if call.module.scripted else "inside a fused inference kernel of torch"
            recorder.drafts.not_seen(what, call.module.path or call.module.type)
        if closed or (self._depth == "modules" and call.index == len(recorder.drafts.calls) - 1):
            recorder.flow.whole_module(call, inputs, outputs)
        call.outputs = recorder.flow.refs(outputs)
        self._close(call, error)

    def _close(self, call: CallDraft, error: str | None) -> None:
        call.last_op = len(self._recorder.drafts.ops) - 1
        call.error = error
        if call.root == 0 and (call.parent is None or call.parent.root != 0):
            self._recorder.phases.module_ends()

    def close_all(self, error: str | None) -> None:
        """Calls still open when the recording ends."""
        while self.stack:
            self._close(self.stack.pop(), error)


def said(error: BaseException | None) -> str | None:
    # A checkpoint stops its recomputation by an exception of its own once it has what it needs: no fault.
    if error is None or type(error).__name__ == "_StopRecomputationError":
        return None
    return f"{type(error).__name__}: {error}"


def _named(tree: list[tuple[str, Any]], which: str) -> Iterator[tuple[str, Any]]:
    for path, module in tree:
        for name, tensor in getattr(module, which, {}).items():
            if tensor is not None:
                yield f"{path}.{name}" if path else name, tensor
