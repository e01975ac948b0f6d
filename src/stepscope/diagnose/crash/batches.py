"""The batch a crash happened in: its size, what sizes were usual, and whether it was the last, smaller one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.crash.tensors import named_tensors
from stepscope.evidence.frame_values import HeldLoader

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

_NAMED = re.compile(r"(^|_)(batch(_?size)?|bs|b|n|batchsize|mini_?batch(_?size)?)$", re.IGNORECASE)


@dataclass(frozen=True)
class SmallBatch:
    """The last batch of an epoch: `size` samples where `usual` were expected."""

    size: int
    usual: int
    loader: HeldLoader | None


def small_batch(crash: Crash) -> SmallBatch | None:
    """The last, smaller batch, when that is what was running and the usual size plays a part in the failure."""
    parts = _numbers_at_work(crash)
    for loader in crash.loaders:
        found = _remainder(loader)
        if found is not None and found[1] in parts and _has_rows(crash, found[0]):
            return SmallBatch(found[0], found[1], loader)
    if crash.loaders:
        return None
    if not crash.calls_done and (crash.last is None or crash.last.module is None):
        return None  # no model has run yet: the numbers in sight are no batches
    rows = {int(tensor.shape[0]) for frame in crash.own for _, tensor in named_tensors(frame.locals) if tensor.ndim}
    for usual in usual_sizes(crash):
        smaller = [size for size in rows if 0 < size < usual and size in parts]
        if usual in parts and smaller:
            return SmallBatch(max(smaller), usual, None)
    return None


def usual_sizes(crash: Crash) -> list[int]:
    """The batch sizes the script speaks of: its loaders', and whole numbers named like one."""
    found = [loader.batch_size for loader in crash.loaders if loader.batch_size is not None]
    named = [v for name, v, _ in crash.values() if type(v) is int and v > 1 and _NAMED.search(name)]
    return list(dict.fromkeys([*found, *named]))


def _remainder(loader: HeldLoader) -> tuple[int, int] | None:
    size = loader.batch_size
    if size is None or loader.drop_last or loader.samples is None:
        return None
    rest = loader.samples % size
    return (rest, size) if rest else None


def _has_rows(crash: Crash, rows: int) -> bool:
    for frame in crash.own:
        for _, tensor in named_tensors(frame.locals, most=60):
            if tensor.ndim and int(tensor.shape[0]) == rows:
                return True
    return False


def _numbers_at_work(crash: Crash) -> set[int]:
    """The numbers the failing operation dealt with: in its message, its operands' shapes and its arguments."""
    found = set(numbers_in(crash.message))
    if crash.operation is not None:
        for _, tensor in crash.operation.tensors:
            found.update(int(n) for n in tensor.shape)
        for operand in crash.operation.operands:
            found.update(_whole(operand.value if operand.parts is None else operand.parts))
    return found


def numbers_in(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?<![\d.])\d{1,9}(?![\d.]*\d)", text)]


def _whole(value: Any) -> list[int]:
    if type(value) is int:
        return [value]
    parts = value if type(value) is list else several(value)
    return [part for part in parts or () if type(part) is int]
