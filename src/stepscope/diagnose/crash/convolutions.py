"""Convolution arithmetic: what size a layer makes of a map, and which layer of a chain does it unevenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepscope.evidence.modules import Module

_POOLS = ("MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d")
_CONVS = ("Conv1d", "Conv2d", "Conv3d")
_UPS = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")


def is_spatial(module: Module | None) -> bool:
    """Whether this layer changes the size of a map."""
    return module is not None and module.is_a(*_POOLS, *_CONVS, *_UPS, "Upsample")


def _first(value: Any) -> int:
    return int(value[0]) if isinstance(value, Sequence) and not isinstance(value, str) else int(value)


def even(module: Module) -> bool:
    """Whether a layer keeps sizes, or divides or multiplies them by its stride, with nothing lost at the border."""
    held = module.attributes
    if module.is_a("Upsample") or held.get("padding", 0) == "same":
        return True
    if held.get("padding", 0) == "valid":
        return _first(held["kernel_size"]) == 1
    kernel, stride, padding = _first(held["kernel_size"]), _first(held["stride"]), _first(held["padding"])
    reach = _reach(module, kernel)
    if module.is_a(*_UPS):
        return reach + _first(held["output_padding"]) + 1 - 2 * padding == stride
    if stride == 1:
        return 2 * padding == reach
    return 2 * padding - reach + stride - 1 in range(stride)  # floor((n + 2p - reach - 1) / s) + 1 == n / s


def mend(module: Module) -> str:
    """The argument that would make it even."""
    kernel, stride = _first(module.attributes["kernel_size"]), _first(module.attributes["stride"])
    reach = _reach(module, kernel)
    if module.is_a(*_UPS):
        for output_padding in range(stride):
            rest = reach + output_padding + 1 - stride
            if rest >= 0 and rest % 2 == 0:
                more = f", output_padding={output_padding}" if output_padding else ""
                return f"padding={rest // 2}{more}"
    if reach % 2 == 0:
        return f"padding={reach // 2}"
    return f"an odd kernel, for instance kernel_size={kernel + 1} with padding={kernel // 2}"


def _reach(module: Module, kernel: int) -> int:
    return _first(module.attributes.get("dilation", 1)) * (kernel - 1)
