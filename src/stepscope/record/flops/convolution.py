"""Convolutions in one to three dimensions: grouped, dilated, transposed."""

from __future__ import annotations

import math

from stepscope.record.flops.linear import product
from stepscope.record.flops.registry import Called, Work, formula

__all__: list[str] = []


@formula("conv1d", "conv2d", "conv3d", "_conv_depthwise2d", "mkldnn_convolution", "cudnn_convolution")
def convolution(called: Called) -> Work:
    """Each output value sums over the kernel and the channels of its group: `weight` is (out, in / groups, *kernel)."""
    x, weight = called.get(0, "input"), called.get(1, "weight")
    return product(called.out.numel() * math.prod(weight.shape[1:]), x, weight)


@formula("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cudnn_convolution_transpose")
def transposed(called: Called) -> Work:
    """Each input value is spread over the kernel: `weight` is (in, out / groups, *kernel)."""
    x, weight = called.get(0, "input"), called.get(1, "weight")
    return product(x.numel() * math.prod(weight.shape[1:]), x, weight)


@formula("convolution", "_convolution", "convolution_overrideable")
def either(called: Called) -> Work:
    """The operator below both; `transposed` is its seventh argument."""
    return transposed(called) if called.get(6, "transposed", False) else convolution(called)


@formula("convolution_backward")
def backward(called: Called) -> Work:
    """One product for each of input and weight that needs a gradient (`output_mask`)."""
    gradient, x, weight = (called.get(place, name) for place, name in enumerate(("grad_output", "input", "weight")))
    of_transposed, mask = called.get(7, "transposed", False), called.get(10, "output_mask", (True, True, False))
    macs = (x if of_transposed else gradient).numel() * math.prod(weight.shape[1:]) * sum(map(bool, mask[:2]))
    return Work(2 * macs, macs, None)


@formula("conv_tbc")
def time_batch_channels(called: Called) -> Work:
    x, weight = called.get(0, "input"), called.get(1, "weight")
    return product(called.out.numel() * weight.shape[0] * weight.shape[1], x, weight)
