"""Tensors in event files (`TensorProto`), to numpy and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.eventfiles.wire import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    fields,
    message,
    put_bytes,
    put_int,
    put_packed,
    signed,
    varints,
)

STRING = 7
BFLOAT16, HALF, COMPLEX64, COMPLEX128, BOOL = 14, 19, 8, 18, 10
DTYPES: dict[int, str] = {
    1: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 5: "<i2", 6: "i1", 8: "<c8", 9: "<i8", 10: "?", 11: "i1", 12: "u1",
    13: "<i4", 14: "<u2", 15: "<i2", 16: "<u2", 17: "<u2", 18: "<c16", 19: "<f2", 22: "<u4", 23: "<u8",
}  # fmt: skip
_MOST = 1 << 28
"""More elements mean a damaged or hostile shape: a tensor of one repeated value would fill the memory."""

Tensor = npt.NDArray[Any]
"""Numbers, or an object array of bytes."""


def decode_tensor(data: bytes | memoryview) -> Tensor:
    """The tensor in a message. bfloat16 becomes float32; strings are bytes."""
    dtype, shape = 0, []
    content: memoryview | None = None
    strings: list[bytes] = []
    parts: list[Tensor] = []
    for number, wire, value in fields(data):
        if number == 1 and isinstance(value, int):
            dtype = value
        elif number == 2 and not isinstance(value, int):
            shape = _shape(value)
        elif number == 4 and not isinstance(value, int):
            content = value
        elif number == 8 and not isinstance(value, int):
            strings.append(bytes(value))
        elif number in _VALUES:
            parts.append(_numbers(_VALUES[number], wire, value))
    if dtype == STRING:
        return _shaped(_objects(strings), shape)
    if dtype not in DTYPES:
        raise BadData(f"a tensor of type {dtype}, which is not supported")
    if content:
        flat = _raw_values(content, dtype)
    else:
        flat = _typed(np.concatenate(parts) if parts else np.empty(0), dtype)
    if dtype == BFLOAT16:
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _shaped(flat, shape)


def _raw_values(content: memoryview, dtype: int) -> Tensor:
    if len(content) % np.dtype(DTYPES[dtype]).itemsize:
        raise BadData(f"{len(content)} bytes are not a whole number of {DTYPES[dtype]} values")
    return np.frombuffer(content, dtype=DTYPES[dtype])


_VALUES = {5: "<f4", 6: "<f8", 7: "int", 9: "<f4", 10: "int", 11: "int", 12: "<f8", 13: "int", 16: "int", 17: "int"}


def _numbers(kind: str, wire: int, value: int | memoryview) -> Tensor:
    if isinstance(value, int):
        if kind != "int" or wire != VARINT:
            raise BadData("an integer among floats")
        return np.array([value], dtype=np.uint64)
    if kind == "int":
        return varints(value)
    width = np.dtype(kind).itemsize
    if wire not in (LENGTH, FIXED32 if width == 4 else FIXED64) or len(value) % width:
        raise BadData(f"{len(value)} bytes are not a whole number of {kind} values")
    return np.frombuffer(value, dtype=kind)


def _typed(values: Tensor, dtype: int) -> Tensor:
    """Repeated values in the tensor's own type."""
    if dtype in (COMPLEX64, COMPLEX128):
        if len(values) % 2:
            raise BadData("half a complex number")
        return np.ascontiguousarray(values.astype(np.float64)).view(np.complex128).astype(DTYPES[dtype])
    if dtype in (HALF, BFLOAT16):  # the bits of each, in the low half of an int
        return values.astype(np.uint64).astype(np.uint16).view(DTYPES[dtype])
    with np.errstate(all="ignore"):
        if values.dtype == np.uint64:
            values = values.view(np.int64) if dtype != 23 else values
        return values.astype(DTYPES[dtype])


def _shape(data: memoryview) -> list[int]:
    shape = []
    for number, wire, value in fields(data):
        if number == 2 and wire == LENGTH and not isinstance(value, int):
            sizes = [signed(size) for n, _, size in fields(value) if n == 1 and isinstance(size, int)]
            shape.append(sizes[-1] if sizes else 0)
    return shape


def _objects(strings: list[bytes]) -> Tensor:
    out = np.empty(len(strings), dtype=object)
    out[:] = strings
    return out


def _shaped(flat: Tensor, shape: list[int]) -> Tensor:
    """Reshaped; a last value that represents all that follow is repeated, as TensorFlow writes it."""
    count = math.prod(shape)
    if any(size < 0 for size in shape) or count > max(_MOST, len(flat)):
        raise BadData(f"a tensor of shape {shape}")
    if not shape:
        return flat.reshape(()) if len(flat) == 1 else flat
    if 0 < len(flat) < count:
        flat = np.concatenate((flat, np.repeat(flat[-1:], count - len(flat))))
    if len(flat) != count:
        raise BadData(f"{len(flat)} values for a tensor of shape {shape}")
    return flat.reshape(shape)


# -- writing ---------------------------------------------------------------------------------------------------


def _put_shape(shape: tuple[int, ...]) -> bytes:
    return message(2, (put_bytes(2, put_int(1, size)) for size in shape))


def encode_tensor(values: npt.ArrayLike) -> bytes:
    """A tensor of float32 or float64 numbers."""
    array = np.asarray(values)
    double = array.dtype == np.float64
    return (
        put_int(1, 2 if double else 1)
        + _put_shape(array.shape)
        + put_packed(6 if double else 5, array.reshape(-1), "<f8" if double else "<f4")
    )


def encode_strings(strings: list[bytes], shape: tuple[int, ...] | None = None) -> bytes:
    """A tensor of strings."""
    return (
        put_int(1, STRING)
        + _put_shape((len(strings),) if shape is None else shape)
        + b"".join(put_bytes(8, one) for one in strings)
    )
