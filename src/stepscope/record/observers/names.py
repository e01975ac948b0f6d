"""What torch calls its types and devices, as words that need no torch."""

from __future__ import annotations

from typing import Any

_DTYPES: dict[Any, str] = {}
_DEVICES: dict[Any, str] = {}


def dtype_name(dtype: Any) -> str:
    """`float32` for `torch.float32`."""
    known = _DTYPES.get(dtype)
    if known is None:
        known = _DTYPES[dtype] = str(dtype).removeprefix("torch.")
    return known


def device_name(device: Any) -> str:
    """`cuda:0` for `torch.device("cuda", 0)`."""
    known = _DEVICES.get(device)
    if known is None:
        known = _DEVICES[device] = str(device)
    return known
