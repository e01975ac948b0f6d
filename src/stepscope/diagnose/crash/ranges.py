"""Numbers outside the range they index: ids beyond an embedding's table, labels beyond the classes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import MAKERS, story
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

DEVICE_STOPPED = r"device-side assert"
_TABLES = ("Embedding", "EmbeddingBag")
_SIGNS = (r"out of (range|bounds)", r"valid range \[", r"class values must be smaller", DEVICE_STOPPED)


@dataclass(frozen=True)
class Swap:
    """Two arguments given in the other's place."""

    site: Site
    function: str
    first: str
    second: str


@dataclass(frozen=True)
class RangeFault:
    kind: str
    tensor: HeldTensor | None = None
    size: int = 0
    low: int = 0
    high: int = 0
    module: Module | None = None
    swap: Swap | None = None
    output: HeldTensor | None = None
    """The scores the labels were compared with."""
    site: Site | None = None
    """Where the numbers were used."""
    root: Module | None = None
    path: str = ""
    """The layer that used them, inside its model."""


def range_fault(crash: Crash) -> RangeFault | None:
    known: RangeFault | None = crash.__dict__.get("_range_fault")
    if known is None:
        known = crash.__dict__["_range_fault"] = _decide(crash) or RangeFault("")
    return known if known.kind else None


def _decide(crash: Crash) -> RangeFault | None:
    if not crash.is_a("IndexError", "RuntimeError") or not crash.says(*_SIGNS):
        return None
    return _of_embedding(crash) or _of_labels(crash) or _of_device(crash)


def _of_device(crash: Crash) -> RangeFault | None:
    """What a device stopped for, some ops before it was noticed: the watch has looked at the numbers in time."""
    seen = crash.broken if crash.says(DEVICE_STOPPED) else None
    if seen is None or seen.which not in ("ids", "labels"):
        return None
    tensor, low, high = HeldTensor.left(seen.origin), int(seen.low), int(seen.high)
    site = None if seen.place is None else seen.place.site
    if seen.which == "labels":
        output = None if seen.other is None else HeldTensor.left(seen.other)
        return RangeFault("label-range", tensor, seen.size, low, high, output=output, site=site)
    visit = seen.visit
    module = None if visit is None else visit.module
    if visit is None or module is None or not module.is_a(*_TABLES):
        return RangeFault(_kind(crash, tensor, low, high, seen.size), tensor, seen.size, low, high, site=site)
    kind = _kind(crash, tensor, low, high, module.attributes["num_embeddings"])
    root = visit.root.module
    return RangeFault(kind, tensor, seen.size, low, high, module, site=site, root=root, path=visit.path)


def _kind(crash: Crash, ids: HeldTensor, low: int, high: int, size: int) -> str:
    one_too_far = low >= 0 and high == size and not _counts_positions(crash, ids)
    return "vocab-off-by-one" if one_too_far else "embedding-range"


def _of_embedding(crash: Crash) -> RangeFault | None:
    layer = crash.layer
    module: Module | None
    if layer is not None and layer.module.is_a(*_TABLES):
        ids, size, module = layer.input, layer.module.attributes["num_embeddings"], layer.module
    else:
        frame = next((f for f in crash.frames if not f.own and f.function in ("embedding", "embedding_bag")), None)
        ids = None if frame is None else frame.locals.get("input")
        table = None if frame is None else frame.locals.get("weight")
        if not isinstance(ids, HeldTensor) or not isinstance(table, HeldTensor):
            return None
        size, module = table.shape[0], None
    found = None if ids is None else ids.extremes
    if ids is None or found is None or (found[0] >= 0 and found[1] < size):
        return None
    low, high = int(found[0]), int(found[1])
    swap = swapped_arguments(crash)
    if swap is not None:
        return RangeFault("swapped-ids", ids, size, low, high, module, swap)
    root, path = (None, "") if layer is None or module is None else (layer.root, layer.path)
    kind = _kind(crash, ids, low, high, size)
    return RangeFault(kind, ids, size, low, high, module, site=crash.site, root=root, path=path)


def _counts_positions(crash: Crash, ids: HeldTensor) -> bool:
    """Whether the ids are positions (an `arange`), not values of the data."""
    makers = [step.op for step in story(crash, ids) if step.op in MAKERS]
    return makers[:1] == ["arange"]


def _of_labels(crash: Crash) -> RangeFault | None:
    for frame in crash.frames:
        if frame.own or frame.function not in ("cross_entropy", "nll_loss", "multi_margin_loss"):
            continue
        output, target = frame.locals.get("input"), frame.locals.get("target")
        if not isinstance(output, HeldTensor) or not isinstance(target, HeldTensor) or output.ndim == 0:
            continue
        classes = output.shape[1 if output.ndim > 1 else 0]
        found = target.extremes
        if found is None:
            continue
        low, high = int(found[0]), int(found[1])
        if high >= classes or low < 0:
            return RangeFault("label-range", target, classes, low, high, output=output, site=crash.site)
    return None


def swapped_arguments(crash: Crash) -> Swap | None:
    """A call of the user's own function with two variables in each other's places, recognized by their names."""
    for frame in reversed(crash.own):
        caller = crash.frame_before(frame)
        call = None if caller is None else caller.running
        if caller is None or not isinstance(call, ast.Call):
            continue
        names = [name for name in frame.arguments if name != "self"]
        given = [_word(argument) for argument in call.args]
        swap = _swapped(given, names)
        if swap is not None:
            return Swap(caller.site, frame.function, given[swap[0]], given[swap[1]])
    return None


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""


def _swapped(given: list[str], names: list[str]) -> tuple[int, int] | None:
    for i in range(min(len(given), len(names))):
        for j in range(i + 1, min(len(given), len(names))):
            crossed = _alike(given[i], names[j]) and _alike(given[j], names[i])
            if crossed and not _alike(given[i], names[i]) and not _alike(given[j], names[j]):
                return i, j
    return None


def _alike(one: str, other: str) -> bool:
    """Whether two names speak of the same thing: `users`, `user_ids`, `user`."""
    first, second = _stem(one), _stem(other)
    return bool(first) and bool(second) and (first == second or first[0] == second[0])


def _stem(name: str) -> list[str]:
    words = [word.rstrip("s") for word in name.lower().strip("_").split("_")]
    return [word for word in words if word not in ("", "id", "idx", "index", "batch", "x", "t", "tensor", "in")]
