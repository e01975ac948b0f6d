"""What changed between two recorded steps: cost, modules, and the ops that ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from stepscope.common.units import bytes_text, micros_text
from stepscope.inspect.changes import Change
from stepscope.inspect.diff_modules import module_changes
from stepscope.inspect.figures import count, shape
from stepscope.inspect.tally import Tally
from stepscope.inspect.visit import Lookup
from stepscope.records.step import Op, StepRecord, TensorInfo

_MOST_EXACT = 20_000
_NOISE = 0.1
"""Times that differ by less than this fraction are considered equal."""


def step_changes(before: StepRecord, after: StepRecord) -> tuple[list[Change], int]:
    changes = [*_cost_changes(before, after), *module_changes(before.modules, after.modules)]
    ops, compared = _op_changes(before, after)
    return changes + ops, compared + len(before.modules)


def _cost_changes(before: StepRecord, after: StepRecord) -> Iterator[Change]:
    left, right = Tally(before.ops), Tally(after.ops)
    for name, show in (("ops", count), ("flops", count), ("time_us", micros_text), ("saved_bytes", bytes_text)):
        old, new = getattr(left, name), getattr(right, name)
        if old is None or new is None or old == new:
            continue
        if name == "time_us" and abs(new - old) < _NOISE * max(old, new):
            continue
        ratio = {"ratio": new / old} if old else {}
        yield Change("cost", "changed", name, show(old), show(new), {**ratio, "before": old, "after": new})


def _op_changes(before: StepRecord, after: StepRecord) -> tuple[list[Change], int]:
    left, right = Lookup(before), Lookup(after)
    old, new = [_signature(op) for op in before.ops], [_signature(op) for op in after.ops]
    matcher = SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > _MOST_EXACT)
    changes: list[Change] = []
    same = 0
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            same += b - a
            for one, other in zip(before.ops[a:b], after.ops[c:d], strict=True):
                changes += _one_op(one, other, left, right)
            continue
        changes += [Change("op", "removed", _label(op), _shapes(op, left)) for op in before.ops[a:b]]
        changes += [Change("op", "added", _label(op), None, _shapes(op, right)) for op in after.ops[c:d]]
    return changes, same


def _signature(op: Op) -> tuple[Any, ...]:
    return op.phase, op.module, op.call, op.name


def _label(op: Op) -> str:
    where = f" in {op.module}" if op.module else ""
    return f"{op.index} {op.name} ({op.phase}){where}"


def _one_op(old: Op, new: Op, left: Lookup, right: Lookup) -> Iterator[Change]:
    was, now = left.infos(old.outputs), right.infos(new.outputs)
    if _shapes(old, left) != _shapes(new, right):
        yield Change("op", "changed", _label(new), *_apart(was, now), _sizes(was, now))
    plain = [{key: value for key, value in op.args.items() if not _is_tensor(value)} for op in (old, new)]
    if plain[0] != plain[1]:
        keys = [key for key in {**plain[0], **plain[1]} if plain[0].get(key) != plain[1].get(key)]
        yield Change(
            "op", "changed", _label(new), {k: plain[0].get(k) for k in keys}, {k: plain[1].get(k) for k in keys}
        )


def _apart(was: Sequence[TensorInfo], now: Sequence[TensorInfo]) -> tuple[str, str]:
    """The outputs before and after, without dtypes and devices if these are equal."""
    same = [[(t.dtype, t.device) for t in tensors] for tensors in (was, now)]
    show = _shape_only if same[0] == same[1] else _whole
    return ", ".join(map(show, was)), ", ".join(map(show, now))


def _sizes(was: Sequence[TensorInfo], now: Sequence[TensorInfo]) -> dict[str, str]:
    """If only one size differs, such as the batch's: which one."""
    if [(len(t.shape), t.dtype, t.device) for t in was] != [(len(t.shape), t.dtype, t.device) for t in now]:
        return {}
    pairs = {(a, b) for x, y in zip(was, now, strict=True) for a, b in zip(x.shape, y.shape, strict=True) if a != b}
    return {"size": " -> ".join(map(str, pairs.pop()))} if len(pairs) == 1 else {}


def _is_tensor(value: Any) -> bool:
    """Tensor numbers differ from step to step and are meaningless across them."""
    if isinstance(value, dict):
        return "tensor" in value or any(map(_is_tensor, value.values()))
    return isinstance(value, list) and any(map(_is_tensor, value))


def _shapes(op: Op, lookup: Lookup) -> str:
    return ", ".join(map(_whole, lookup.infos(op.outputs)))


def _whole(tensor: TensorInfo) -> str:
    return f"{shape(tensor.shape)} {tensor.dtype} {tensor.device}"


def _shape_only(tensor: TensorInfo) -> str:
    return shape(tensor.shape)
