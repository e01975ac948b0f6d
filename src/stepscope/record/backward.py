"""Backward: each autograd node that runs is an op, tied to the forward op that made it.

`events.nodes` tells of each run of the engine and of each node in it; a node is known here by plain data.
"""

from __future__ import annotations

import weakref
from functools import partial
from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.events.nodes import follow_nodes
from stepscope.record.autograd import is_custom
from stepscope.record.identity import is_tensor_type
from stepscope.record.op_observer import tell
from stepscope.record.step_builder import OpDraft, Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.record.identity import Entry
    from stepscope.record.recorder import Recorder

_disabled = torch._C.DisableTorchFunction
_NO_OUTPUTS: dict[int, int] = {}


class _Node:
    """What a hook knows of its autograd node."""

    __slots__ = ("draft", "early", "entries", "forward", "name", "next", "outputs", "source", "variable", "waiting")

    def __init__(self, name: str, forward: OpDraft | None, outputs: dict[int, int], variable: Any) -> None:
        self.name = name
        self.forward = forward
        self.source = forward
        """The op it lends module and line from: its forward op, or for a leaf the node that feeds it."""
        self.outputs = outputs
        self.variable = variable
        self.next: list[tuple[_Node, int] | None] = []
        self.waiting: dict[int, list[Ref]] = {}
        """Gradients that have arrived at each input; several are summed by the engine."""
        self.draft: OpDraft | None = None
        self.entries: list[Entry] = []
        self.early = False
        """Written down before it runs: its inside is Python code, or may be, whose ops come after it."""


class Backward:
    """Records what the engine runs; an `events.nodes.NodeFollower`."""

    who = "recording the backward pass"

    def __init__(self, recorder: Recorder, *, replays: bool = False) -> None:
        self._recorder = recorder
        self._replays = replays
        self._before = recorder.watchers("backward_before")
        self._after = recorder.watchers("backward_after")
        self._timed = recorder.timed
        self._left: dict[int, int] = {}
        """By thread, when the engine was last given control: a node that runs next began then."""
        self.loss: Ref | None = None
        self.callers: list[tuple[OpDraft, list[Ref]]] = []
        """The `backward` or `grad` calls now running, innermost last, with the gradients they start from."""

    def install(self) -> None:
        self._recorder.installed.add(follow_nodes(self))

    def listens(self) -> bool:
        return self._recorder.listens()

    def engine_begins(self, roots: Any) -> bool:
        recorder = self._recorder
        recorder.phases.backward_begins()
        self._look_at(roots)
        return recorder.backward and recorder.depth != "aten"  # there the operators inside each node are seen

    def engine_runs(self) -> None:
        if self._timed:
            self._left[get_ident()] = perf_counter_ns()

    def engine_ends(self) -> None:
        self._recorder.phases.backward_ends()

    @fence.fenced("recording the backward pass")
    def _look_at(self, roots: Any) -> None:
        with _disabled():
            refs = self._recorder.flow.refs([root for root in roots if is_tensor_type(type(root))])
            if self.loss is None and refs:
                self.loss = refs[0]

    def met(self, nodes: list[Any], known: dict[int, _Node]) -> list[bool]:
        """Written down when they have run, which saves a hook each; before it where something is recorded inside."""
        early = bool(self._before) or self._recorder.nodes.packed
        for node in nodes:
            mine = known[id(node)]
            mine.next = [None if to is None else (known[id(to)], place) for to, place in node.next_functions]
            mine.early = mine.early or early
        return [known[id(node)].early for node in nodes]

    def meet(self, node: Any) -> _Node:
        recorder = self._recorder
        kind = type(node)
        name = kind.__name__
        if name == "AccumulateGrad":
            variable = node.variable
            found = _Node(name, None, _NO_OUTPUTS, weakref.ref(variable))
            found.early = bool(getattr(variable, "_post_accumulate_grad_hooks", None))
            return found
        sequence = node._sequence_nr()
        forward = recorder.nodes.maker_at(sequence, name)
        if forward is None and sequence >= recorder.nodes.first:
            recorder.drafts.not_seen("the forward of an autograd node", name)
        found = _Node(name, forward, recorder.nodes.outputs_at(sequence), None)
        found.early = forward is None or is_custom(kind)
        return found

    def begin(self, node: _Node, gradients: Any) -> None:
        if self._recorder.off and not self._replays:
            return
        try:
            with _disabled():
                draft = self._begin(node, gradients)
                if self._before:
                    tell(self._before, draft, gradients)
            if self._timed:
                draft.began = perf_counter_ns()
        except Exception as fault:
            fence.report("recording a backward op", fault)

    def _begin(self, node: _Node, gradients: Any) -> OpDraft:
        """List the node as an op that reads these gradients."""
        recorder = self._recorder
        tensors = recorder.tensors
        known = tensors.entries
        waiting = node.waiting
        refs: list[Ref] = []
        place = 0
        for gradient in gradients:
            if gradient is not None:
                version = gradient._version
                entry = known.get(id(gradient))
                parts = waiting.pop(place, ()) if waiting else ()
                if entry is None or entry.ref() is not gradient or (version != entry.version and len(parts) > 1):
                    entry = self._arrived(node, gradient, version, parts)
                if entry.grad_of is None:
                    entry.grad_of = node.outputs.get(place)
                node.entries.append(entry)
                refs.append(entry.now if version == entry.version else (entry.number, version))
            place += 1  # noqa: SIM113 enumerate costs a tuple per tensor here
        node.draft = draft = OpDraft(node.name, "backward", recorder.innermost())
        draft.is_node = True
        draft.index = len(recorder.drafts.ops)
        recorder.drafts.ops.append(draft)
        draft.inputs = refs
        draft.forward = node.forward
        source = node.source
        if source is not None:
            draft.call, draft.site = source.call, source.site
        thread = get_ident()
        if thread != recorder.thread:
            draft.thread = thread
            recorder.threads.add(thread)
        return draft

    def _arrived(self, node: _Node, gradient: Any, version: int, parts: Sequence[Ref]) -> Entry:
        """A gradient that no node has made: the engine's sum of those that arrived, or the one it all starts from."""
        tensors = self._recorder.tensors
        before = tensors.known(gradient)
        entry = before or tensors.create(gradient, "gradient", [])
        if parts:
            total = self._recorder.new_draft("accumulate", "backward")
            total.inputs = parts
            total.outputs = [(entry.number, version)]
            total.inplace = before is not None
            total.is_node = True
            total.forward = node.forward
            if node.source is not None:
                total.call, total.site = node.source.call, node.source.site
            tensors.write(entry, version, total)
        elif self.callers:  # the gradient everything starts from is made by the call itself
            self.callers[-1][1].append((entry.number, version))
            tensors.write(entry, version, self.callers[-1][0])
        return entry

    def ending(self, node: _Node) -> Callable[[Any, Any], None]:
        return partial(self.end, node)

    def end(self, node: _Node, produced: Any, gradients: Any) -> None:
        recorder = self._recorder
        if recorder.off and not self._replays:
            return
        now = perf_counter_ns() if self._timed else 0
        try:
            with _disabled():
                draft = node.draft
                if draft is None:
                    if node.early:
                        return  # it began before the recording, or failed to be written down
                    draft = self._begin(node, gradients)
                    draft.began = self._left.get(draft.thread or recorder.thread, 0)
                draft.ended = now
                if self._after:
                    tell(self._after, draft, produced, gradients)
                if node.variable is not None:
                    self._accumulated(node, draft)
                else:
                    self._produced(node, draft, produced)
                node.entries = []
                if recorder.tensors.lives is not None:
                    recorder.tensors.lives.append(None)
                    recorder.drafts.ended.append(draft)
                if now:
                    self._left[draft.thread or recorder.thread] = perf_counter_ns()
        except Exception as fault:
            fence.report("recording a backward op", fault)

    def _produced(self, node: _Node, draft: OpDraft, produced: Any) -> None:
        tensors = self._recorder.tensors
        known = tensors.entries
        outputs = [*draft.outputs]
        for target, gradient in zip(node.next, produced, strict=False):
            if gradient is None:
                continue
            version = gradient._version
            entry = known.get(id(gradient))
            if entry is None or entry.ref() is not gradient:
                entry = tensors.create(gradient, "gradient", node.entries)
                draft.view = draft.view or entry.view_of is not None
                tensors.write(entry, version, draft)
            elif entry.kind == "intermediate":
                entry.kind = "gradient"
            ref = entry.now if version == entry.version else (entry.number, version)
            outputs.append(ref)
            if target is not None:
                after, place = target
                after.waiting.setdefault(place, []).append(ref)
                if after.source is None:
                    after.source = draft
        draft.outputs = outputs

    def _accumulated(self, node: _Node, draft: OpDraft) -> None:
        variable = node.variable()
        if variable is None or variable.grad is None:
            return
        tensors = self._recorder.tensors
        parameter = tensors.read(variable)[0]
        gradient = variable.grad
        version = tensors.version(gradient)
        entry = tensors.known(gradient)
        if entry is None:
            entry = tensors.create(gradient, "gradient", node.entries)
        else:
            draft.inplace = True
        entry.grad_of = parameter.number
        tensors.write(entry, version, draft)
        draft.outputs = [*draft.outputs, (entry.number, version)]
