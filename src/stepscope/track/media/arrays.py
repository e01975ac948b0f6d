"""Private copies of arrays and tensors, so that the data is logged as it was.

A tensor on the CPU is cloned; one on a GPU starts an asynchronous copy into pinned memory without waiting until
`Held.numpy` is called. Nothing here imports torch: if the value is a tensor, the caller already did.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.track.media.loggable import comes_from

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]


def is_tensor(value: object) -> bool:
    return comes_from(value, "torch", "Tensor")


class Held:
    """A private copy of an array, converted to numpy on demand."""

    def __init__(self, data: Any, shape: tuple[int, ...], from_torch: bool, ready: Any = None) -> None:
        self._data = data
        self._ready = ready
        self.shape = shape
        self.from_torch = from_torch
        """Ambiguous axes are then in torch's order, channels first."""

    def numpy(self) -> Array:
        """The values; waits for a copy from a GPU that has not arrived yet."""
        if self._ready is not None:
            self._ready.synchronize()
        return _tensor_to_numpy(self._data) if is_tensor(self._data) else self._data


def hold(value: object, what: str) -> Held:
    """Copy an array, tensor or nested list; `what` names it in errors ("an image")."""
    if is_tensor(value):
        return _hold_tensor(value, what)
    array = numbers(value, what)
    return Held(array, array.shape, from_torch=False)


def numbers(value: object, what: str) -> Array:
    """A new numpy array of numbers, or an error with the reason."""
    import numpy as np

    if is_tensor(value):
        return _hold_tensor(value, what).numpy()
    if value is None or isinstance(value, (str, bytes, dict, set)):
        raise UsageError(f"{what} cannot be made from {_short(value)}; give an array, a tensor or a list of numbers")
    if isinstance(value, (list, tuple)) and any(is_tensor(item) for item in value):
        value = [numbers(item, what) for item in value]
    try:
        array = np.array(value)
    except (ValueError, TypeError) as fault:
        raise UsageError(
            f"{what} cannot be made from {_short(value)}: {fault}; give an array, a tensor or a list of numbers"
        ) from None
    if array.dtype.kind == "V" and array.dtype.names is None:  # bfloat16 and float8 of jax and TensorFlow
        array = _widened(array)
    if array.dtype.kind == "c":
        raise UsageError(f"{what} is complex ({array.dtype}); log its .real, .imag or abs() instead")
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{what} cannot be made from {_short(value)} (dtype {array.dtype}); give numbers")
    return array


def _widened(array: Array) -> Array:
    import numpy as np

    try:
        return array.astype(np.float32)
    except (ValueError, TypeError):  # raw bytes: rejected by their dtype
        return array


def shaped(value: Any, what: str) -> tuple[Any, tuple[int, ...]]:
    """The value with its shape, lists converted to arrays, so that a size can be rejected before anything is copied."""
    if not hasattr(value, "shape"):
        value = numbers(value, what)
    return value, tuple(int(length) for length in value.shape)


def to_float64(array: Array) -> NDArray[np.float64]:
    import numpy as np

    return array.astype(np.float64, copy=False)


def _hold_tensor(tensor: Any, what: str) -> Held:
    torch = sys.modules["torch"]
    shape = tuple(int(n) for n in tensor.shape)
    if tensor.dtype.is_complex:
        raise UsageError(f"{what} is complex ({tensor.dtype}); log its .real, .imag or .abs() instead")
    if tensor.device.type == "meta":
        raise UsageError(f"{what} is a tensor on the 'meta' device, which holds no values; log a real tensor")
    with torch.no_grad():
        tensor = tensor.detach()
        if tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        if tensor.is_cuda:
            return _start_copy(torch, tensor, shape)
        copy = tensor.clone() if tensor.device.type == "cpu" else tensor.to("cpu")
    return Held(copy, shape, from_torch=True)


def _start_copy(torch: ModuleType, tensor: Any, shape: tuple[int, ...]) -> Held:
    """Queue the copy behind the work that computes the tensor; the event shows when the bytes have arrived."""
    host = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
    with torch.cuda.device(tensor.device):
        host.copy_(tensor, non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record()
    return Held(host, shape, from_torch=True, ready=arrived)


def _tensor_to_numpy(tensor: Any) -> Array:
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:  # numpy has no bfloat16 or float8
        tensor = tensor.float()
    return tensor.resolve_neg().numpy()  # type: ignore[no-any-return]


def _short(value: object) -> str:
    text = repr(value) if isinstance(value, (str, bytes, int, float, type(None))) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
