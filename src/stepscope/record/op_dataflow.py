"""What ops read and write: the bookkeeping around every single op, so the loops here are written out flat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.record.autograd import is_custom
from stepscope.record.op_observer import tell
from stepscope.record.step_builder import CallDraft, OpDraft, Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.record.identity import Entry
    from stepscope.record.recorder import Recorder


class Flow:
    """Turns the tensors of an op into references, before and after it runs."""

    def __init__(self, recorder: Recorder, claims: bool = True) -> None:
        self._recorder = recorder
        self._tensors = recorder.tensors
        self._nodes = recorder.nodes
        self._counter = recorder.nodes.counter
        self._claimed = recorder.watchers("claimed") if claims else []
        self._expected = self._counter()
        """Autograd's counter after the last op. When it has moved on by itself, code we cannot see has made nodes."""
        self._strangers = False

    def refs(self, tensors: list[Any]) -> list[Ref]:
        """The tensors by number and version; those not seen before come from outside."""
        found = []
        known = self._tensors.entries
        for tensor in tensors:
            entry = known.get(id(tensor))
            version = self._tensors.version(tensor)
            if entry is None or version != entry.version or entry.ref() is not tensor or tensor.grad_fn is not None:
                self.adopt(tensor)
                entry, version = self._tensors.read(tensor)
            found.append(entry.now)
        return found

    def read_inputs(self, draft: OpDraft, inputs: list[Any], counter: int) -> list[Entry]:
        """Note what the op is about to read; `counter` is autograd's now."""
        if counter != self._expected:
            self._strangers = True
        strangers = self._strangers
        entries: list[Entry] = []
        refs: list[Ref] = []
        known = self._tensors.entries
        for tensor in inputs:
            entry = known.get(id(tensor))
            try:
                version = tensor._version
            except RuntimeError:  # inference tensors have none
                version = self._tensors.version(tensor)
            if entry is None or version != entry.version or strangers or entry.ref() is not tensor:
                self.adopt(tensor)
                entry, version = self._tensors.read(tensor, "state" if draft.phase == "optimizer" else "input")
            entries.append(entry)
            refs.append(entry.now)
        draft.inputs = refs
        return entries

    def changed_inputs(self, inputs: list[Any], draft: OpDraft) -> list[int]:
        """Which inputs the op has written: their version moved on."""
        changed = []
        refs = draft.inputs
        place = 0
        for tensor in inputs:
            try:
                version = tensor._version
            except RuntimeError:
                version = self._tensors.version(tensor)
            if version != refs[place][1]:
                changed.append(place)
            place += 1  # noqa: SIM113 enumerate costs a tuple per tensor here
        return changed

    def write_outputs(
        self,
        draft: OpDraft,
        inputs: list[Any],
        outputs: list[Any],
        changed: Sequence[int],
        entries: list[Entry],
        since: int,
    ) -> tuple[list[Any], list[Any]]:
        """Note what the op has made. Gives what it wrote, as `draft.outputs` numbers it, and its autograd nodes."""
        tensors = self._tensors
        if len(changed) == 1 and len(outputs) == 1 and outputs[0] is inputs[changed[0]]:
            entry = entries[changed[0]]  # the usual in-place op: it returns the tensor it has written
            draft.inplace = True
            refs = [tensors.write(entry, tensors.version(outputs[0]), draft)]
        else:
            refs = self._refs_of_outputs(draft, outputs, entries)
            if changed:
                outputs = self._write_inputs(draft, inputs, outputs, changed, entries, refs)
        draft.outputs = refs
        return outputs, self.settle(draft, outputs, inputs, since)

    def settle(self, draft: OpDraft, outputs: list[Any], inputs: list[Any], since: int) -> list[Any]:
        """The op is over: the autograd nodes made since its beginning are its own."""
        self._expected = now = self._counter()
        if now == since:
            return []
        nodes = self._nodes.claim(draft, outputs, draft.outputs, since)
        if nodes and self._claimed:
            tell(self._claimed, draft, nodes, inputs)
        return nodes

    def _refs_of_outputs(self, draft: OpDraft, outputs: list[Any], entries: list[Entry]) -> list[Ref]:
        tensors = self._tensors
        refs: list[Ref] = []
        for tensor in outputs:
            entry = tensors.known(tensor)
            if entry is None:
                refs.append(tensors.create(tensor, "intermediate" if entries else "constant", entries, draft).now)
                continue
            if draft.name.endswith("_") and tensor.is_inference():
                tensors.written(tensor)
                draft.inplace = True
            version = tensors.version(tensor)
            if version != entry.version:
                draft.inplace = True
                tensors.write(entry, version, draft)
            refs.append(entry.now)
        return refs

    def _write_inputs(
        self,
        draft: OpDraft,
        inputs: list[Any],
        outputs: list[Any],
        changed: Sequence[int],
        entries: list[Entry],
        refs: list[Ref],
    ) -> list[Any]:
        """Add the inputs that were written in place to the outputs."""
        draft.inplace = True
        written = list(outputs)
        for place in changed:
            entry, tensor = entries[place], inputs[place]
            version = self._tensors.version(tensor)
            self._tensors.write(entry, version, draft)
            if (entry.number, version) not in refs:
                refs.append((entry.number, version))
                written.append(tensor)
        return written

    def adopt(self, tensor: Any) -> None:
        """Explain a tensor that has a history the recording did not see: custom functions, scripted code."""
        node = tensor.grad_fn
        if node is None or self._recorder.depth == "aten":
            return
        entry = self._tensors.known(tensor)
        if entry is not None and not is_custom(type(node)):
            return
        since = self._nodes.first
        if node._sequence_nr() < since or self._nodes.knows(node):
            return
        version = self._tensors.version(tensor)
        maker = None if entry is None or entry.version != version else entry.maker
        if entry is None or maker is None:
            maker, entry = self._unseen_op(tensor, node, version, entry)
        self._nodes.claim(maker, [tensor], [(entry.number, version)], since)
        if is_custom(type(node)):
            maker.saved_bytes += getattr(node, "saved_bytes", 0)
            tell(self._claimed, maker, [node], ())

    def _unseen_op(self, tensor: Any, node: Any, version: int, entry: Entry | None) -> tuple[OpDraft, Entry]:
        recorder = self._recorder
        kind = type(node).__name__
        custom = is_custom(type(node))
        draft = recorder.new_draft(kind.removesuffix("Backward") if custom else f"unseen:{kind}", recorder.phases.now)
        if not custom and recorder.depth == "ops":
            recorder.drafts.not_seen("the code that made a tensor (scripted, or called from C++)", kind)
        numbers, leaves = self._nodes.sources(node)
        draft.inputs = [*self._tensors.latest(numbers), *self.refs(leaves)]
        entry = entry or self._tensors.create(tensor, "intermediate", [], draft)
        draft.outputs = [(entry.number, version)]
        self._tensors.write(entry, version, draft)
        return draft, entry

    def whole_module(self, call: CallDraft, inputs: list[Any], outputs: list[Any]) -> None:
        """Record a module's call as one op: at depth "modules", and where its inside cannot be seen."""
        recorder = self._recorder
        draft = OpDraft(call.module.type, recorder.phases.now, call)
        draft.site = call.place
        entries = self.read_inputs(draft, inputs, self._counter())
        recorder.keep(draft)
        self.write_outputs(draft, inputs, outputs, self.changed_inputs(inputs, draft), entries, call.sequence)
