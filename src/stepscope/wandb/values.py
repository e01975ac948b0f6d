"""Convert a dict logged to W&B for Stepscope's `log`: nested names joined, arrays summarized, tensors released."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import msgspec

from stepscope import fence
from stepscope.track.config import plain
from stepscope.track.media import Figure, Histogram, Text, to_media
from stepscope.track.names import as_name

_LIST_LIMIT = 32
"""W&B stores shorter arrays as lists, longer ones as a histogram with this many bins."""
MAX_DEPTH = 32
PLAIN = frozenset((float, int, bool, str))
"""Types that need no conversion."""
_NAMES = frozenset((str,))


def is_plain(data: Mapping[Any, Any]) -> bool:
    """Whether a dict needs no conversion: names that are text, values that are numbers or text."""
    return PLAIN.issuperset(map(type, data.values())) and _NAMES.issuperset(map(type, data))


def settled(data: Mapping[Any, Any], prefix: str = "", *, keep: bool = False, depth: int = 0) -> dict[str, Any]:
    """A logged dict flattened, names joined with `.` as in W&B; None is dropped.

    With `keep` the values will wait: a tensor is read or copied now, so that neither its graph nor its memory is kept
    alive.

    >>> settled({"loss": 1.0, "acc": {"train": 0.5, "val": None}})
    {'loss': 1.0, 'acc.train': 0.5}
    """
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = prefix + as_name(key)
        if value is None:
            continue
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            flat.update(settled(value, name + ".", keep=keep, depth=depth + 1))
            continue
        extra = getattr(type(value), "_wandb_beside_", None)
        if extra is not None:  # a chart brings its table along, under a separate name
            flat.update(settled(extra(value), name, keep=keep, depth=depth + 1))
        kept = _settled(value, keep)
        if kept is not None:
            flat[name] = kept
    return flat


def _settled(value: Any, keep: bool) -> Any:
    method = getattr(type(value), "_stepscope_media_", None)
    if method is not None:  # its current state: a table may grow before its row is written
        return fence.call("keeping a logged value", method, value)
    if isinstance(value, ModuleType) and hasattr(value, "gcf"):  # pyplot itself: its current figure
        return Figure(value.gcf())
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _from_tensor(value, keep)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and hasattr(value, "tolist") and hasattr(value, "dtype"):
        size = getattr(value, "size", 1)
        return value if size == 1 else _from_array(value, size)
    if isinstance(value, list | tuple):
        return _from_list(value)
    if isinstance(value, set | frozenset):
        return Listed(sorted(value, key=repr))
    if isinstance(value, str | int | float):
        return value
    return to_media(value) or value  # figures, images and frames are also copied now


def _from_tensor(tensor: Any, keep: bool) -> Any:
    if tensor.numel() != 1:
        return _from_array(tensor.detach(), tensor.numel())
    if tensor.is_complex() or hasattr(tensor, "placements"):
        return tensor  # log() reports those
    if tensor.device.type == "cpu":
        return tensor.item()
    return tensor.detach().clone() if keep else tensor  # a copy on its own device, without waiting


def _from_array(array: Any, size: int) -> Any:
    kind = str(array.dtype)
    if "complex" in kind or "object" in kind or "str" in kind or kind.startswith("<U"):
        return Listed(array.tolist()) if size <= _LIST_LIMIT and "complex" not in kind else array
    if 0 < size <= _LIST_LIMIT and getattr(getattr(array, "device", None), "type", "cpu") == "cpu":
        return Listed(array.tolist())
    return Histogram(array, bins=_LIST_LIMIT)


def _from_list(values: list[Any] | tuple[Any, ...]) -> Any:
    if not values or all(isinstance(each, int | float | str | bool | list | tuple) or each is None for each in values):
        return Listed(values)
    if all(hasattr(each, "item") and getattr(each, "shape", None) in ((), (1,)) for each in values):
        return Listed([each.item() for each in values])
    kept = [_settled(each, keep=True) for each in values]
    return [each for each in kept if each is not None] or None


class Listed(Text):
    """A short list of numbers or words, stored as text that reads back as the list."""

    def __init__(self, values: Any) -> None:
        self.values = plain(values)
        super().__init__(msgspec.json.encode(self.values).decode())


def as_number(value: Any) -> float | int | None:
    """A value as a number, if that needs no waiting for a device."""
    if isinstance(value, bool | int | float):
        return value
    if getattr(value, "shape", None) == () and hasattr(value, "item") and not hasattr(value, "is_cuda"):
        found = value.item()
        return found if isinstance(found, bool | int | float) else None
    return None
