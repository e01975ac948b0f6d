"""A reader for the safetensors format: a length, a JSON header, then the bytes. Everything is validated first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.errors import BadData
from stepscope.files.mapping import map_file
from stepscope.files.opening import open_file, read_window
from stepscope.inspect.tensor_values import Floats, array_pieces, decode_bfloat16, decode_float8

_MOST_HEADER = 100_000_000
_Decode = Callable[[NDArray[Any]], NDArray[Any]]
_DTYPES: dict[str, tuple[str, str, _Decode | None]] = {
    "F64": ("float64", "<f8", None),
    "F32": ("float32", "<f4", None),
    "F16": ("float16", "<f2", None),
    "BF16": ("bfloat16", "<u2", decode_bfloat16),
    "F8_E4M3": ("float8_e4m3fn", "u1", decode_float8(4)),
    "F8_E5M2": ("float8_e5m2", "u1", decode_float8(5)),
    "I64": ("int64", "<i8", None),
    "I32": ("int32", "<i4", None),
    "I16": ("int16", "<i2", None),
    "I8": ("int8", "i1", None),
    "U64": ("uint64", "<u8", None),
    "U32": ("uint32", "<u4", None),
    "U16": ("uint16", "<u2", None),
    "U8": ("uint8", "u1", None),
    "BOOL": ("bool", "?", None),
    "C64": ("complex64", "<c8", None),
}


@dataclass(frozen=True)
class StoredTensor:
    """A tensor inside a safetensors file; its values are read on demand."""

    file: Path
    name: str
    kind: str
    """The format's name of the dtype."""
    shape: tuple[int, ...]
    start: int
    """The offset of its bytes in the file."""
    bytes: int

    @property
    def dtype(self) -> str:
        return _DTYPES[self.kind][0] if self.kind in _DTYPES else self.kind.lower()

    def pieces(self) -> Iterator[Floats] | None:
        """Its values as float64; None for an unsupported dtype."""
        if self.kind not in _DTYPES:
            return None
        _, code, decode = _DTYPES[self.kind]
        if not self.bytes:
            return iter(())
        mapped = np.frombuffer(map_file(self.file), np.uint8)[self.start : self.start + self.bytes]
        return array_pieces(mapped.view(code), decode)


def looks_like_safetensors(path: Path) -> bool:
    with open_file(path) as file:
        head = read_window(file, 0, 9)
    return len(head) == 9 and head[8:] == b"{" and int.from_bytes(head[:8], "little") <= os.path.getsize(path)


def read_header(path: Path) -> tuple[list[StoredTensor], dict[str, str]]:
    """The tensors of a file and its metadata. A header that does not match the file is rejected."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8 or length > _MOST_HEADER:
            raise BadData(
                f"{path}: a header of {length:,} bytes in a file of {size:,}; the file is truncated "
                "or not a safetensors file"
            )
        raw = file.read(length)
    try:
        header = json.loads(raw, object_pairs_hook=_no_doubles)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as fault:
        raise BadData(f"{path}: the safetensors header is not valid JSON ({fault})") from None
    except _Doubled as fault:
        raise BadData(f"{path}: the safetensors header names {fault} twice") from None
    if not isinstance(header, dict):
        raise BadData(f"{path}: the safetensors header is a {type(header).__name__}, expected an object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise BadData(f"{path}: __metadata__ is a {type(metadata).__name__}, expected an object")
    tensors = [_entry(path, name, entry, 8 + length, size) for name, entry in header.items()]
    _no_overlap(path, tensors)
    return tensors, {str(key): str(value) for key, value in metadata.items()}


class _Doubled(ValueError):
    pass


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Doubled(repr(key))
        found[key] = value
    return found


def _entry(path: Path, name: str, entry: Any, base: int, size: int) -> StoredTensor:
    try:
        kind, shape, (begin, end) = str(entry["dtype"]), tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise BadData(f"{path}: the entry {name!r} lacks dtype, shape or data_offsets") from None
    numbers = (*shape, begin, end)
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
        raise BadData(f"{path}: the shape or offsets of {name!r} are not whole numbers: {entry}")
    if begin > end or base + end > size:
        raise BadData(
            f"{path}: {name!r} lies at {begin}-{end}, outside the file's {size - base:,} bytes; is it truncated?"
        )
    if kind in _DTYPES:
        numel = 1
        for one in shape:
            numel *= one
        expected = numel * np.dtype(_DTYPES[kind][1]).itemsize
        if expected != end - begin:
            raise BadData(
                f"{path}: {name!r} of shape {list(shape)} and {kind} needs {expected} bytes, has {end - begin}"
            )
    return StoredTensor(path, name, kind, shape, base + begin, end - begin)


def _no_overlap(path: Path, tensors: list[StoredTensor]) -> None:
    end, before = 0, ""
    for tensor in sorted(tensors, key=lambda one: (one.start, one.bytes)):
        if tensor.bytes and tensor.start < end:
            raise BadData(f"{path}: {tensor.name!r} and {before!r} overlap")
        if tensor.bytes:
            end, before = tensor.start + tensor.bytes, tensor.name
