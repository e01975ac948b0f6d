"""Tensors in one file and back: the safetensors format, which holds names, shapes and bytes, nothing that can run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from stepscope.errors import BadData
from stepscope.events.quiet import quietly
from stepscope.files.opening import open_file, read_window
from stepscope.inspect.safetensors import StoredTensor, read_header

KINDS: dict[torch.dtype, str] = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
    torch.bool: "BOOL", torch.complex64: "C64",
}  # fmt: skip
for _name, _kind in (("uint16", "U16"), ("uint32", "U32"), ("uint64", "U64")):
    if hasattr(torch, _name):  # torch 2.3 and later
        KINDS[getattr(torch, _name)] = _kind
_DTYPES = {kind: dtype for dtype, kind in KINDS.items()}


def nbytes(tensor: Any) -> int:
    return int(tensor.numel()) * int(tensor.element_size())


def memory_order(tensor: Any) -> list[int] | None:
    """The dimensions from the widest stride to the narrowest, when they say something; None for the usual order.

    A channels-last image must come back channels-last: other kernels would run, whose last bits differ.
    """
    if tensor.is_contiguous():
        return None
    order = sorted(range(tensor.dim()), key=lambda d: (-tensor.stride(d), d))
    return order if tensor.permute(order).is_contiguous() else None


def write_tensors(path: Path, tensors: Mapping[str, Any]) -> int:
    """Write tensors, each in its memory order; how many bytes the file has."""
    header: dict[str, Any] = {}
    start = 0
    for name, tensor in tensors.items():
        order = memory_order(tensor)
        shape = list(tensor.shape) if order is None else [tensor.shape[d] for d in order]
        size = nbytes(tensor)
        header[name] = {"dtype": KINDS[tensor.dtype], "shape": shape, "data_offsets": [start, start + size]}
        start += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(_raw(tensor))
    return path.stat().st_size


def _raw(tensor: Any) -> Any:
    with quietly():
        order = memory_order(tensor)
        plain = tensor.detach().resolve_conj().resolve_neg()
        plain = plain if order is None else plain.permute(order)
        flat = plain.to("cpu").contiguous().reshape(-1)
        return memoryview(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def open_tensors(path: Path) -> dict[str, StoredTensor]:
    """The tensors of a file by name; a file that does not fit its own header is refused."""
    stored, _ = read_header(path)
    strange = [tensor.name for tensor in stored if tensor.kind not in _DTYPES]
    if strange:
        raise BadData(f"{path}: the tensor {strange[0]!r} has a dtype that capsules do not support")
    return {tensor.name: tensor for tensor in stored}


def read_tensor(stored: StoredTensor, order: list[int] | None) -> Any:
    """One tensor, on the CPU, laid out as it was."""
    dtype = _DTYPES[stored.kind]
    if order is not None and sorted(order) != list(range(len(stored.shape))):
        raise BadData(f"{stored.file}: the memory order {order} of {stored.name!r} does not fit {list(stored.shape)}")
    if not stored.bytes:
        found = torch.empty(stored.shape, dtype=dtype)
    else:
        with open_file(stored.file, within=stored.file.parent) as file:
            raw = bytearray(read_window(file, stored.start, stored.bytes))
        if len(raw) != stored.bytes:
            raise BadData(f"{stored.file}: {stored.name!r} is cut off")
        found = torch.frombuffer(raw, dtype=dtype).reshape(stored.shape)
    return found if order is None else found.permute([order.index(d) for d in range(len(order))])
