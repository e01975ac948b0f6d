"""Convolution arithmetic: what size a layer makes of a map, and which layer of a chain does it unevenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

__all__ = ["even", "is_spatial", "mend"]

_POOLS = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
_CONVS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_UPS = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


def is_spatial(module: Any) -> bool:
    """Whether this layer changes the size of a map."""
    return isinstance(module, (*_POOLS, *_CONVS, *_UPS, nn.Upsample))


def _first(value: Any) -> int:
    return int(value[0]) if isinstance(value, Sequence) and not isinstance(value, str) else int(value)


def even(module: Any) -> bool:
    """Whether a layer keeps sizes, or divides or multiplies them by its stride, with nothing lost at the border."""
    if isinstance(module, nn.Upsample):
        return True
    if getattr(module, "padding", 0) in ("same",):
        return True
    if getattr(module, "padding", 0) == "valid":
        return _first(module.kernel_size) == 1
    kernel, stride, padding = _first(module.kernel_size), _first(module.stride), _first(module.padding)
    reach = _first(module.dilation) * (kernel - 1) if hasattr(module, "dilation") else kernel - 1
    if isinstance(module, _UPS):
        return reach + _first(module.output_padding) + 1 - 2 * padding == stride
    if stride == 1:
        return 2 * padding == reach
    return 2 * padding - reach + stride - 1 in range(stride)  # floor((n + 2p - reach - 1) / s) + 1 == n / s


def mend(module: Any) -> str:
    """The argument that would make it even."""
    kernel, stride = _first(module.kernel_size), _first(module.stride)
    reach = _first(module.dilation) * (kernel - 1) if hasattr(module, "dilation") else kernel - 1
    if isinstance(module, _UPS):
        for output_padding in range(stride):
            rest = reach + output_padding + 1 - stride
            if rest >= 0 and rest % 2 == 0:
                more = f", output_padding={output_padding}" if output_padding else ""
                return f"padding={rest // 2}{more}"
    if reach % 2 == 0:
        return f"padding={reach // 2}"
    return f"an odd kernel, for instance kernel_size={kernel + 1} with padding={kernel // 2}"
