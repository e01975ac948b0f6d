"""The first value that went wrong: which op made a NaN or an infinity out of finite inputs, and did it matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.errors import UsageError
from stepscope.inspect.visit import Lookup, OpView, describe_stats, describe_tensor, place

if TYPE_CHECKING:
    from stepscope.records.step import Op, Stats, TensorRef

__all__ = ["NonFinite", "births"]


@dataclass
class NonFinite:
    """An op that made non-finite values out of finite ones (or read them from outside), as told by the statistics."""

    op: OpView
    from_outside: bool = False
    """An input of the step or a parameter was not finite before any op touched it."""
    reached: str = ""
    """`the loss` or the gradient it got to; empty when it was stopped on the way, as a mask is."""
    spread: int = 0
    """How many later ops saw non-finite values because of it."""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def harmful(self) -> bool:
        return bool(self.reached)

    def __str__(self) -> str:
        site = self.op.site
        where = f" at {place(site)}" if site is not None else ""
        module = self.op.module
        inside = "" if module is None else f" in {module or 'the model'}"
        verb = "was given non-finite values" if self.from_outside else "made the first non-finite values"
        lines = [f"{self.op.name} (op {self.op.index}, {self.op.phase}){inside}{where} {verb}"]
        if site is not None and site.text:
            lines.append(f"    {site.text}")
        lines += [f"  in   {text}" for text in self.inputs] + [f"  out  {text}" for text in self.outputs]
        end = f"they reached {self.reached}" if self.reached else "they did not reach the loss or a gradient"
        lines.append(f"  {end}; {self.spread} later ops saw them")
        return "\n".join(lines)


def births(lookup: Lookup) -> list[NonFinite]:
    """Every op where non-finite values appear, in execution order; needs recorded statistics."""
    if not any(op.output_stats is not None or op.input_stats is not None for op in lookup.record.ops):
        raise UsageError(
            "this step was recorded without statistics, so nothing is known of its values; "
            "record it with stepscope.record(model, stats=True)"
        )
    bad: dict[TensorRef, NonFinite] = {}
    found: list[NonFinite] = []
    gradients = {tensor.id for tensor in lookup.record.tensors if tensor.kind == "gradient"}
    for op in lookup.record.ops:
        carried = next((bad[ref] for ref in op.inputs if ref in bad), None)
        outputs = [ref for ref, stats in _paired(op.outputs, op.output_stats) if _bad(stats)]
        if carried is not None:
            carried.spread += 1
        outside = [ref for ref, stats in _paired(op.inputs, op.input_stats) if _bad(stats) and ref not in bad]
        if (outputs and carried is None) or outside:
            born = _describe(OpView(op, lookup), from_outside=bool(outside))
            found.append(born)
            bad.update(dict.fromkeys(outside, born))
            carried = carried or born
        for ref in outputs:
            if carried is not None:
                bad[ref] = carried
                _note_arrival(lookup, carried, op, ref, gradients)
    return found


def _note_arrival(lookup: Lookup, one: NonFinite, op: Op, ref: TensorRef, gradients: set[int]) -> None:
    if one.reached:
        return
    loss = lookup.record.loss
    if loss is not None and ref.id == loss.id:
        one.reached = "the loss"
    elif op.phase == "backward" or ref.id in gradients:
        target = lookup.tensors.get(ref.id)
        of = lookup.tensors.get(target.grad_of) if target is not None and target.grad_of is not None else None
        one.reached = f"the gradient of {of.name}" if of is not None and of.name else "a gradient"


def _paired(
    refs: tuple[TensorRef, ...], stats: tuple[Stats | None, ...] | None
) -> list[tuple[TensorRef, Stats | None]]:
    return list(zip(refs, stats or (), strict=False))


def _bad(stats: Stats | None) -> bool:
    return stats is not None and bool(stats.nan or stats.pos_inf or stats.neg_inf)


def _describe(view: OpView, *, from_outside: bool) -> NonFinite:
    def lines(refs: tuple[TensorRef, ...], stats: tuple[Stats | None, ...] | None) -> list[str]:
        known = dict(_paired(refs, stats))
        words = []
        for ref, tensor in zip(refs, view._lookup.infos(refs), strict=False):
            held = known.get(ref)
            words.append(describe_tensor(tensor) + (f": {describe_stats(held)}" if held is not None else ""))
        return words

    op = view.op
    return NonFinite(
        view, from_outside, inputs=lines(op.inputs, op.input_stats), outputs=lines(op.outputs, op.output_stats)
    )
