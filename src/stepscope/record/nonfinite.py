"""Where NaN and Inf came from, read from a recorded step with statistics. Needs no torch.

An infinity is not a fault by itself: a mask is full of them. What counts is whether it arrives: from a loss or a
gradient that is not finite the way leads back, through values that are not finite, to the ops that made them out of
finite ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from stepscope.records.finite import is_bad
from stepscope.records.step import Op, Site, Stats, StepRecord, TensorInfo, TensorRef

Kind = Literal["input", "parameter", "buffer", "state", "forward", "loss", "backward", "optimizer", "other"]
"""input, parameter, buffer, state (of the optimizer): it was there before the step · forward, loss: an op of the model
or of the loss code made it · backward: the gradient of an op made it · optimizer, other: after backward."""

_OVERWRITES = {
    "zero_", "fill_", "copy_", "normal_", "uniform_", "random_", "exponential_", "bernoulli_", "geometric_", "cauchy_",
    "log_normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_", "orthogonal_", "sparse_",
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_",
}  # fmt: skip
"""What stood in their first argument, perhaps never written to, does not matter to these."""


_OF_PARAMETER = "the gradient of "
_STANDING: dict[str, Kind] = {"parameter": "parameter", "buffer": "buffer", "state": "state"}


class Birth(msgspec.Struct, frozen=True, kw_only=True):
    """One op that made NaN or Inf out of finite values, or the first that read them from outside."""

    kind: Kind
    op: Op
    tensor: TensorInfo | None
    """What was not finite first."""
    stats: Stats | None
    """What it held."""
    site: Site | None = None
    reaches: str = ""
    """`the loss`, `the gradient of fc.weight` ...; empty when it arrives nowhere, as with a mask."""
    forward: Op | None = None
    """For `backward`: the op whose gradient it is."""
    inputs: tuple[tuple[TensorInfo | None, Stats | None], ...] = ()
    """What the op read; for `backward` the gradients that came in, then what the forward op had read."""
    behind: bool = False
    """Not where it began to hurt, but what made that possible: the Inf that a gradient later multiplied by zero."""

    @property
    def harmful(self) -> bool:
        return bool(self.reaches)

    @property
    def module(self) -> str | None:
        return self.op.module

    @property
    def line(self) -> int | None:
        return None if self.site is None else self.site.line

    def __str__(self) -> str:
        from stepscope.record.nonfinite_text import describe

        return describe(self)


def first_nonfinite(record: StepRecord, *, nan: bool = True, inf: bool = True) -> Birth | None:
    """The op that made the first non-finite value that matters; None when none reaches the loss or a gradient.

    Needs a step recorded with statistics (`stats=True`), or one from `trace_values`.
    """
    return next((birth for birth in births(record, nan=nan, inf=inf) if birth.harmful), None)


def births(record: StepRecord, *, nan: bool = True, inf: bool = True) -> list[Birth]:
    """All births: the harmful ones first, each group in the order they happened, what was only behind them last."""
    found = list(_Trail(record, nan, inf).births())
    return sorted(found, key=lambda birth: (not birth.harmful, birth.behind, birth.op.index))


def _reads(op: Op) -> tuple[TensorRef, ...]:
    """The tensors whose values an op uses."""
    return op.inputs[1:] if op.name in _OVERWRITES else op.inputs


def _runs_inside(op: Op, node: Op) -> bool:
    """Whether an op is a line of a custom function's `backward`, and so says more than the node around it."""
    return op.phase == node.phase == "backward" and op.forward is None and node.forward is not None


class _Trail:
    """The step, turned so that one can walk from a value back to where it came from."""

    def __init__(self, record: StepRecord, nan: bool, inf: bool) -> None:
        self.record = record
        self.tensors = {tensor.id: tensor for tensor in record.tensors}
        self.bad: dict[TensorRef, Stats] = {}
        self.maker: dict[TensorRef, Op] = {}
        self.stats: dict[TensorRef, Stats] = {}
        self.reader: dict[TensorRef, Op] = {}
        self._meant: dict[TensorRef, bool] = {}
        for op in record.ops:
            ignored = op.inputs[0] if op.inputs and op.name in _OVERWRITES else None
            for refs, all_stats in ((op.inputs, op.input_stats), (op.outputs, op.output_stats)):
                for ref, stats in zip(refs, all_stats or (), strict=False):
                    if stats is not None and ref != ignored:
                        self.stats.setdefault(ref, stats)
                        if is_bad(stats, nan, inf):
                            self.bad.setdefault(ref, stats)
            for ref in _reads(op):
                self.reader.setdefault(ref, op)
            for ref in op.outputs:
                if ref not in op.inputs and (ref not in self.maker or _runs_inside(op, self.maker[ref])):
                    self.maker[ref] = op
        self.unread = [ref for ref in self.bad if ref not in self.reader]

    def births(self) -> Iterable[Birth]:
        """Follow every symptom back; what is not met on the way is harmless."""
        reached: dict[tuple[int, bool], Birth] = {}
        for ref, what in self._symptoms():
            for birth in self._back(ref, what):
                key = (birth.op.index, birth.behind)
                reached.setdefault(key, birth)
        known = {index for index, _ in reached}
        yield from (birth for (index, behind), birth in reached.items() if not behind or (index, False) not in reached)
        met: set[TensorRef] = set()
        for op in self.record.ops:
            if reached and op.phase in ("backward", "optimizer"):
                continue  # what follows from a bad loss
            outside = [ref for ref in _reads(op) if ref in self.bad and ref not in self.maker and ref not in met]
            met.update(outside)
            made = [ref for ref in op.outputs if ref in self.bad and ref not in op.inputs]
            born = outside or (made and not any(ref in self.bad for ref in _reads(op)))
            if born and op.index not in known:
                yield self._birth(op, (outside or made)[0], "")

    def _symptoms(self) -> list[tuple[TensorRef, str]]:
        """What must be finite in a healthy step: the loss, or else the gradients, or else what comes out at the end."""
        loss = self.record.loss
        if loss is not None and loss in self.bad:
            return [(loss, "the loss")]
        backward = [op for op in self.record.ops if op.phase == "backward"]
        found = [
            (ref, self._gradient_name(op, ref))
            for op in backward
            for ref in (*op.outputs, *op.inputs)
            if ref in self.bad and not self._was_bad_before(op)
        ]
        if found:  # a parameter's gradient says more than one on the way to it
            return sorted(found, key=lambda one: not one[1].startswith(_OF_PARAMETER))
        late = ("optimizer",) if loss is not None else ("optimizer", "setup", "forward", "loss", "other")
        return [
            (ref, "the result" if loss is None else "the optimizer's update")
            for ref in self.unread
            if ref in self.maker and self.maker[ref].phase in late
        ]

    def _was_bad_before(self, op: Op) -> bool:
        """Whether a finite gradient was added to a bad one from an earlier step: nothing was born here."""
        return op.name == "AccumulateGrad" and not any(ref in self.bad for ref in op.inputs)

    def _gradient_name(self, op: Op, ref: TensorRef) -> str:
        tensor = self.tensors.get(ref.id)
        owner = self.tensors.get(tensor.grad_of) if tensor is not None and tensor.grad_of is not None else None
        if owner is not None and owner.name:
            return f"{_OF_PARAMETER}{owner.name}"
        forward = self._forward(op)
        return f"a gradient inside {forward.name}" if forward is not None else "a gradient"

    def _back(self, start: TensorRef, reaches: str) -> Iterable[Birth]:
        stack, met = [start], {start}
        while stack:
            ref = stack.pop()
            op = self.maker.get(ref)
            if op is None:
                yield self._birth(self.reader[ref], ref, reaches)
                continue
            sources = [source for source in _reads(op) if source in self.bad]
            if not sources:
                yield self._birth(op, ref, reaches)
                yield from self._behind(op, reaches)
            elif self._spoils_a_mask(ref, sources):
                yield self._birth(op, ref, reaches)
                for source in sources:
                    yield from self._as_behind(source, reaches)
                continue
            fresh = [source for source in sources if source not in met]
            met.update(fresh)
            stack.extend(fresh)

    def _behind(self, op: Op, reaches: str) -> Iterable[Birth]:
        """A gradient that went bad because the forward op met or made an infinity: that is worth telling too."""
        forward = self._forward(op)
        if forward is None:
            return
        for ref in (*forward.inputs, *forward.outputs):
            maker = self.maker.get(ref)
            if ref in self.bad and (maker is None or maker.phase != "backward"):
                yield from self._as_behind(ref, reaches)

    def _as_behind(self, ref: TensorRef, reaches: str) -> Iterable[Birth]:
        for birth in self._back(ref, reaches):
            yield msgspec.structs.replace(birth, behind=True)

    def _spoils_a_mask(self, ref: TensorRef, sources: list[TensorRef]) -> bool:
        """Whether this op made NaN out of infinities put there on purpose (softmax of a fully masked row)."""
        return self.bad[ref].nan > 0 and all(self._is_meant(source) for source in sources)

    def _is_meant(self, ref: TensorRef) -> bool:
        """An infinity written as such in the code, or a tensor of nothing but zeros and infinities: a mask."""
        if ref not in self._meant:
            self._meant[ref] = False  # in-place loops end here
            stats, op = self.bad[ref], self.maker.get(ref)
            if stats.nan:
                meant = False
            elif op is None:
                meant = not stats.min and not stats.max
            else:
                sources = [source for source in op.inputs if source in self.bad]
                written = any(value in ("inf", "-inf") for value in op.args.values() if isinstance(value, str))
                meant = written if not sources else all(self._is_meant(source) for source in sources)
            self._meant[ref] = meant
        return self._meant[ref]

    def _forward(self, op: Op) -> Op | None:
        return None if op.forward is None else self.record.ops[op.forward]

    def _birth(self, op: Op, ref: TensorRef, reaches: str) -> Birth:
        tensor = self.tensors.get(ref.id)
        forward = self._forward(op)
        refs = [*op.inputs, *(forward.inputs if forward is not None else ())]
        return Birth(
            kind=self._kind(op, ref, tensor),
            op=op,
            tensor=tensor,
            stats=self.bad.get(ref),
            site=None if op.site is None else self.record.sites[op.site],
            reaches=reaches,
            forward=forward,
            inputs=tuple((self.tensors.get(r.id), self.stats.get(r)) for r in refs),
        )

    def _kind(self, op: Op, ref: TensorRef, tensor: TensorInfo | None) -> Kind:
        if ref in self.maker:
            if op.name in ("tensor", "as_tensor", "asarray", "from_numpy"):
                return "input"
            return "forward" if op.phase == "setup" else op.phase
        if tensor is not None and tensor.kind in _STANDING:
            return _STANDING[tensor.kind]
        return "backward" if op.phase == "backward" else "input"
