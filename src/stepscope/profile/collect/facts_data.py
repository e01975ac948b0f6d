"""Facts of datasets and batches: whether the data lies in memory, and what number format it needs."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

_MOST_VALUES = 4_000_000
_BETWEEN_WORDS = re.compile(r"[\s,;]")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,7}$")


def describe_dataset(dataset: Any) -> dict[str, Any]:
    """Its class, and the largest thing it keeps with one entry a sample: that is the data itself, in memory."""
    outer, wraps = dataset, []
    for _ in range(4):
        inner = getattr(outer, "dataset", None)
        if inner is None or inner is outer:
            break
        wraps.append(type(outer).__name__)
        outer = inner
    try:
        length = len(outer)
    except (TypeError, NotImplementedError, AttributeError):
        length = None
    held = _held(outer, length)
    getitem = getattr(type(outer), "__getitem__", None)
    code = getattr(getitem, "__code__", None)
    transform = getattr(outer, "transform", None)
    return {
        "class": type(outer).__name__,
        "module": type(outer).__module__,
        "wrapped_in": wraps,
        "length": length,
        "file": "" if code is None else code.co_filename,
        "line": 0 if code is None else code.co_firstlineno,
        "transform": "" if transform is None else type(transform).__name__,
        "has_getitems": hasattr(outer, "__getitems__"),
        **held,
    }


def _held(dataset: Any, length: int | None) -> dict[str, Any]:
    """The largest attribute that has an entry for each sample."""
    best: dict[str, Any] = {"in_memory": False}
    if length is None or length < 2:
        return best
    for name, value in _attributes(dataset).items():
        found = _samples_in(value, length)
        if found is not None and found["bytes"] > best.get("bytes", 0):
            best = {"in_memory": True, **found, "attribute": _name(name)}
    return best


def _attributes(dataset: Any) -> dict[str, Any]:
    try:
        attributes = dict(vars(dataset))
    except TypeError:
        return {}
    for value in list(attributes.values()):
        if isinstance(value, tuple | list) and 0 < len(value) < 16 and all(hasattr(one, "shape") for one in value):
            attributes.update({f"{id(value)}{at}": one for at, one in enumerate(value)})  # TensorDataset.tensors
    return attributes


def _samples_in(value: Any, length: int) -> dict[str, Any] | None:
    """What an attribute keeps and its size, if it has an entry for each of `length` samples."""
    shape = getattr(value, "shape", None)
    if shape is not None and len(shape) and shape[0] >= length:
        dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
        return {"kept": type(value).__name__, "dtype": dtype, "bytes": int(getattr(value, "nbytes", 0) or 0)}
    if isinstance(value, list | tuple) and len(value) >= length:
        kept = _kept_in(value[0])
        return None if kept is None else {"kept": f"list of {kept[0]}", "bytes": length * kept[1]}
    return None


def _kept_in(first: Any) -> tuple[str, int] | None:
    """Of a list's first entry: what a sample is kept as, and about how many bytes; None for paths to files."""
    one = first[0] if isinstance(first, tuple) and first else first
    if isinstance(one, bytes) or hasattr(one, "__fspath__") or (isinstance(one, str) and not _is_text(one)):
        return None
    size = len(one) if isinstance(one, str) else int(getattr(one, "nbytes", 0) or 0)
    numbers = len(one) * (len(one[0]) if isinstance(one[0], list) else 1) if isinstance(one, list) and one else 1
    return type(one).__name__, size or 8 * numbers


def _is_text(value: str) -> bool:
    """Whether a string is a sample itself, not the name of a file or of something kept elsewhere.

    >>> _is_text("0.5 1.5 2.5"), _is_text("5,3,1"), _is_text("cats/my cat.jpg"), _is_text("n01440764")
    (True, True, False, False)
    """
    return bool(_BETWEEN_WORDS.search(value.strip())) and not _EXTENSION.search(value)


def _name(name: str) -> str:
    return name if name.isidentifier() else "tensors"


def describe_batch(batch: Any) -> dict[str, Any]:
    """Its tensors' number formats, bytes, and whether a smaller format holds the same values (host tensors only)."""
    import torch

    from stepscope import events

    with events.quietly():  # no mode of the script sees that its batch is looked at
        return _described(torch, batch)


def _described(torch: ModuleType, batch: Any) -> dict[str, Any]:
    leaves = [one for one in _leaves(batch) if isinstance(one, torch.Tensor)]
    if not leaves:
        return {}
    largest = max(leaves, key=lambda one: one.numel() * one.element_size())
    found: dict[str, Any] = {
        "bytes": sum(one.numel() * one.element_size() for one in leaves),
        "dtype": str(largest.dtype).removeprefix("torch."),
        "shape": list(largest.shape),
        "device": largest.device.type,
        "pinned": largest.device.type == "cpu" and _has_cuda(torch) and bool(largest.is_pinned()),
    }
    if largest.device.type == "cpu" and 0 < largest.numel() <= _MOST_VALUES:
        small = _smaller(torch, largest)
        if small is not None:
            found["would_do"], found["item_bytes"], found["would_do_bytes"] = small[0], largest.element_size(), small[1]
    return found


def _has_cuda(torch: ModuleType) -> bool:
    return bool(torch.cuda.is_initialized())


def _leaves(batch: Any, depth: int = 4) -> list[Any]:
    if depth and isinstance(batch, dict):
        return [leaf for value in batch.values() for leaf in _leaves(value, depth - 1)]
    if depth and isinstance(batch, list | tuple):
        return [leaf for value in batch[:64] for leaf in _leaves(value, depth - 1)]
    return [batch]


def _smaller(torch: ModuleType, values: Any) -> tuple[str, int] | None:
    """The number format that would hold these values without loss, and its bytes; None when it is small already."""
    if values.dtype == torch.float64:
        return "float32", 4
    if values.dtype in (torch.float32, torch.int64, torch.int32) and values.element_size() > 1:
        low, high = (float(one) for one in torch.aminmax(values))
        whole = not values.is_floating_point() or bool((values == values.round()).all())
        if whole and low >= 0 and 1 < high <= 255:
            return "uint8", 1
    return None
