"""The arithmetic of an operator from the shapes in a trace: matrix products, convolutions, attention, recurrent layers.

The same numbers as in docs/flops.md: a multiply-accumulate is two operations, a bias costs nothing, masked attention
counts in full. Elementwise work is left out: it is bound by memory, not by arithmetic. None: cannot be told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec


class Given(NamedTuple):
    """What a trace says of a call."""

    dims: tuple[Any, ...]
    """Of each input its sizes; a list of sizes for a list of tensors."""
    concrete: tuple[str, ...]
    """Of each input its value as text, "" for tensors; empty in traces before torch 2.1."""

    def tensor(self, place: int) -> tuple[int, ...]:
        """The sizes of an input; fails when it is not a tensor or not there."""
        sizes = self.dims[place]
        if not sizes or not all(isinstance(size, int) for size in sizes):
            raise LookupError(place)
        return tuple(sizes)

    def numbers(self, place: int) -> list[int]:
        """A list of whole numbers that was passed: strides, padding."""
        return [int(found) for found in re.findall(r"-?\d+", self.concrete[place])]


Formula = Callable[[Given], int]


def _product(first: int, second: int) -> Formula:
    """`first @ second`, with or without a batch."""

    def formula(given: Given) -> int:
        a, b = given.tensor(first), given.tensor(second)
        return 2 * math.prod(a) * (b[-1] if len(b) > 1 else 1)

    return formula


def _linear(given: Given) -> int:
    x, weight = given.tensor(0), given.tensor(1)
    return 2 * math.prod(x) * (weight[0] if len(weight) > 1 else 1)


def _attention(first: int, *, products: int, heads_last: bool = False) -> Formula:
    """Query, key and value stand at `first` and after it: (batch, heads, length, size), or length before heads.

    Forward is two products, backward two for each of them. What a fused kernel computes again is not counted: MFU is
    about the model's arithmetic, not the kernel's.
    """

    def formula(given: Given) -> int:
        query, key, value = (given.tensor(first + i) for i in range(3))
        if len(query) != 4:
            raise LookupError("packed sequences: their lengths are data")
        keys = key[-3] if heads_last else key[-2]
        rows = math.prod(query[:-1])  # batch, heads and length, in whatever order
        return products * rows * keys * (query[-1] + value[-1])

    return formula


def _convolution(given: Given) -> int:
    """(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)"""
    x, weight = given.tensor(0), given.tensor(1)
    if given.concrete[6] == "True":
        return 2 * math.prod(x) * math.prod(weight[1:])
    stride, padding, dilation = (given.numbers(place) for place in (3, 4, 5))
    spatial = len(weight) - 2
    sizes = [
        (size + 2 * _at(padding, i) - _at(dilation, i) * (kernel - 1) - 1) // _at(stride, i) + 1
        for i, (size, kernel) in enumerate(zip(x[-spatial:], weight[2:], strict=True))
    ]
    batch = x[0] if len(x) == spatial + 2 else 1
    return 2 * batch * weight[0] * math.prod(sizes) * math.prod(weight[1:])


def _at(values: list[int], place: int) -> int:
    return values[place] if place < len(values) else values[-1]


def _convolution_backward(given: Given) -> int:
    """(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask)"""
    gradient, x, weight = given.tensor(0), given.tensor(1), given.tensor(2)
    over = x if given.concrete[7:8] == ("True",) else gradient
    mask = re.findall(r"True|False", given.concrete[10]) if len(given.concrete) > 10 else []
    products = sum(flag == "True" for flag in mask[:2]) if mask else 2
    return 2 * math.prod(over) * math.prod(weight[1:]) * products


def _rnn(times: int) -> Formula:
    """A recurrent layer of cuDNN: every weight matrix once for each element of the batch and moment."""

    def formula(given: Given) -> int:
        x, weights = given.tensor(0), given.dims[1]
        if not weights or not all(isinstance(one, list) for one in weights):
            raise LookupError("weights")
        size = sum(int(math.prod(one)) for one in weights if len(one) == 2)
        return 2 * times * math.prod(x[:-1]) * size

    return formula


def _mkldnn_rnn(times: int) -> Formula:
    def formula(given: Given) -> int:
        x = given.tensor(0)
        return 2 * times * math.prod(x[:-1]) * (math.prod(given.tensor(1)) + math.prod(given.tensor(2)))

    return formula


PLAIN: dict[str, Formula] = {
    "aten::mm": _product(0, 1), "aten::bmm": _product(0, 1), "aten::_scaled_mm": _product(0, 1),
    "aten::_int_mm": _product(0, 1), "aten::mv": _product(0, 1), "aten::dot": _product(0, 1),
    "aten::addmm": _product(1, 2), "aten::baddbmm": _product(1, 2), "aten::addbmm": _product(1, 2),
    "aten::_addmm_activation": _product(1, 2), "aten::addmv": _product(1, 2),
    "aten::addmm_": _product(1, 2), "aten::baddbmm_": _product(1, 2), "aten::addmv_": _product(1, 2),
}  # fmt: skip
"""Counted wherever they run, but inside a WHOLE."""

WHOLE: dict[str, Formula] = {
    "aten::convolution": _convolution,
    "aten::convolution_backward": _convolution_backward,
    **{f"aten::_scaled_dot_product_{kind}": _attention(0, products=2) for kind in
       ("flash_attention", "efficient_attention", "cudnn_attention", "flash_attention_for_cpu",
        "fused_attention_overrideable")},
    **{f"aten::_scaled_dot_product_{kind}_backward": _attention(1, products=4) for kind in
       ("flash_attention", "efficient_attention", "cudnn_attention", "flash_attention_for_cpu",
        "fused_attention_overrideable")},
    "aten::_cudnn_rnn": _rnn(1), "aten::_cudnn_rnn_backward": _rnn(2),
    "aten::mkldnn_rnn_layer": _mkldnn_rnn(1), "aten::mkldnn_rnn_layer_backward": _mkldnn_rnn(2),
}  # fmt: skip
"""Counted as they are, whatever they call."""

FALLBACK: dict[str, Formula] = {
    "aten::linear": _linear, "aten::mkldnn_linear": _linear,
    "aten::scaled_dot_product_attention": _attention(0, products=2),
    "aten::_flash_attention_forward": _attention(0, products=2, heads_last=True),
    "aten::_efficient_attention_forward": _attention(0, products=2, heads_last=True),
    "aten::_flash_attention_backward": _attention(1, products=4, heads_last=True),
    "aten::_efficient_attention_backward": _attention(1, products=4, heads_last=True),
    "flash_attn::_flash_attn_forward": _attention(0, products=2, heads_last=True),
    "flash_attn::_flash_attn_backward": _attention(1, products=4, heads_last=True),
}  # fmt: skip
"""Counted only when nothing in them is."""

_FORMULAS = {**PLAIN, **WHOLE, **FALLBACK}


@lru_cache(16384)
def flops_of(name: str, dims: str, concrete: str) -> int | None:
    """The floating-point operations of one call, from what the trace wrote of its inputs.

    >>> flops_of("aten::addmm", "[[10], [32, 64], [64, 10], [], []]", "")
    40960
    """
    try:
        given = Given(tuple(msgspec.json.decode(dims)), tuple(msgspec.json.decode(concrete)) if concrete else ())
        return _FORMULAS[name](given)
    except (msgspec.DecodeError, ValueError, LookupError, TypeError):
        return None
