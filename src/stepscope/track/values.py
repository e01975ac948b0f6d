"""From logged values to numbers: one converter per type, looked up once.

A converter returns a Python number, or raises `Refused` with the reason. Tensors on a device are recognized here
and read later (`gpu.py`), because reading one now would make the training wait for the device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from stepscope.track.names import as_name

Number = float | int
Converter = Callable[[Any], Any]

EXACT = 2**53
"""Integers up to here are exact as float64."""


class Refused(Exception):
    """A value that cannot be logged, and why."""


class NotScalar(Exception):
    """A value that is not a number: perhaps it is media."""


class DeviceScalar:
    """One number that is still on a device."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def _identity(value: Any) -> Any:
    return value


def _from_item(value: Any) -> Any:
    """A numpy scalar or a one-element array, through its `item`."""
    size = getattr(value, "size", 1)
    if callable(size) or size != 1:
        raise NotScalar
    return _number(value.item(), value)


def _from_numpy(value: Any) -> Any:
    """A tensor or variable of TensorFlow or Keras, through its `numpy`; within a graph it has no value yet."""
    shape = getattr(value, "shape", ())
    if any(length != 1 for length in shape):
        raise NotScalar
    try:
        number = value.numpy()
    except (AttributeError, NotImplementedError):
        raise Refused(
            "a symbolic tensor has no value yet; log outside tf.function, or what the function returns"
        ) from None
    return _number(number.item() if hasattr(number, "item") else number, value)


def _from_float(value: Any) -> Number:
    return float(value)


def _number(number: Any, value: Any) -> Any:
    if isinstance(number, float | int):
        return number
    if isinstance(number, complex):
        raise Refused("a complex number has two parts; log .real and .imag, or abs()")
    raise NotScalar


def _from_plain_tensor(tensor: Any) -> Any:
    """A plain torch tensor (no subclass), by the fastest path."""
    if not tensor.is_cpu:
        return _from_tensor(tensor)
    try:
        number = tensor.item()
    except (RuntimeError, ValueError):  # more than one element
        raise NotScalar from None
    return number if type(number) is not complex else _refuse_complex(number)


def _from_tensor(tensor: Any) -> Any:
    """A one-element torch tensor: at once from memory, later from a device."""
    if tensor.is_complex():
        raise Refused("a complex number has two parts; log .real and .imag, or abs()")
    if hasattr(tensor, "placements"):
        tensor = _local_part(tensor)
    if tensor.numel() != 1:
        raise NotScalar
    if tensor.device.type == "cpu":
        return tensor.item()
    if tensor.device.type == "meta":
        raise Refused("a tensor on the meta device has no value")
    return DeviceScalar(tensor)


def _local_part(tensor: Any) -> Any:
    if not all(placement.is_replicate() for placement in tensor.placements):
        raise Refused("a sharded tensor needs all ranks to be read; log its full_tensor() on every rank")
    return tensor.to_local()


def _refuse_complex(value: Any) -> Any:
    raise Refused("a complex number has two parts; log .real and .imag, or abs()")


def _refuse_none(value: Any) -> Any:
    raise Refused("None has no value; log float('nan') for a missing number")


def _not_scalar(value: Any) -> Any:
    raise NotScalar


def converter(kind: type) -> Converter:
    """The converter for this type; never imports what the script has not."""
    if issubclass(kind, float | int):
        return _identity
    if issubclass(kind, complex):
        return _refuse_complex
    if kind is type(None):
        return _refuse_none
    if issubclass(kind, str | bytes | Mapping | list | tuple):
        return _not_scalar
    of_library = _library_converter(kind)
    if of_library is not None:
        return of_library
    if hasattr(kind, "item") and (hasattr(kind, "dtype") or hasattr(kind, "shape")):  # numpy, jax, cupy ...
        return _from_item
    if issubclass(kind, Real) or kind.__name__ == "Decimal":
        return _from_float
    return _not_scalar


def _library_converter(kind: type) -> Converter | None:
    """The converter for a type of PyTorch, NumPy or TensorFlow."""
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return _from_plain_tensor if kind in (torch.Tensor, torch.nn.Parameter) else _from_tensor
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.floating):
        return float
    if numpy is not None and issubclass(kind, numpy.integer | numpy.bool_):
        return int
    if _is_of(kind, "tensorflow", "keras"):
        return _from_numpy if hasattr(kind, "dtype") and hasattr(kind, "shape") else _not_scalar
    return None


def _is_of(kind: type, *packages: str) -> bool:
    """Whether the class, or a base class, is from one of these packages; nothing is imported."""
    return any(base.__module__.partition(".")[0] in packages for base in kind.__mro__)


def flat(values: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """A logged dict flattened: inner names are joined with `/`.

    >>> flat({"loss": 1.0, "acc": {"train": 0.5, "val": 0.4}})
    {'loss': 1.0, 'acc/train': 0.5, 'acc/val': 0.4}
    """
    flattened: dict[str, Any] = {}
    for key, value in values.items():
        name = prefix + as_name(key)
        if isinstance(value, Mapping) and depth < 32:
            flattened.update(flat(value, name + "/", depth + 1))
        else:
            flattened[name] = value
    return flattened
