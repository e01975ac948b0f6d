"""Statistics of a stored tensor, computed in pieces so that it may be larger than memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stepscope.records.step import Stats

Floats = NDArray[np.float64]
_PIECE = 1 << 20


def stats_of(pieces: Iterator[Floats]) -> Stats:
    """Statistics over pieces, merged without losing digits (Chan's formula), of the finite values."""
    numel = nan = up = down = zeros = seen = 0
    low, high, mean, spread, square = math.inf, -math.inf, 0.0, 0.0, 0.0
    for piece in pieces:
        numel += piece.size
        finite = piece[np.isfinite(piece)]
        if finite.size != piece.size:
            nan += int(np.count_nonzero(np.isnan(piece)))
            up += int(np.count_nonzero(piece == np.inf))
            down += int(np.count_nonzero(piece == -np.inf))
        if not finite.size:
            continue
        zeros += int(finite.size - np.count_nonzero(finite))
        low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        here = float(finite.mean())
        total = seen + finite.size
        difference = here - mean
        spread += float(np.square(finite - here).sum()) + difference * difference * seen * finite.size / total
        mean += difference * finite.size / total
        square += float(np.square(finite).sum())
        seen = total
    counts = Stats(numel=numel, nan=nan, pos_inf=up, neg_inf=down, zeros=zeros)
    if not seen:
        return counts
    std, norm = math.sqrt(spread / seen), math.sqrt(square)
    return msgspec.structs.replace(counts, min=low, max=high, mean=mean, std=std, norm=norm)


def torch_pieces(tensor: Any) -> Iterator[Floats]:
    """A torch tensor as float64, piece by piece; complex values by their magnitude."""
    import torch

    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout is not torch.strided:
        tensor = tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor.values()
    flat = tensor.reshape(-1)
    for start in range(0, flat.numel(), _PIECE):
        piece = flat[start : start + _PIECE].cpu()
        if piece.is_complex():
            piece = piece.abs()
        yield piece.to(torch.float64).numpy()


def array_pieces(array: NDArray[Any], decode: Callable[[NDArray[Any]], NDArray[Any]] | None) -> Iterator[Floats]:
    """A (mapped) flat array as float64, piece by piece."""
    for start in range(0, array.size, _PIECE):
        piece = array[start : start + _PIECE]
        piece = decode(piece) if decode is not None else piece
        yield np.abs(piece).astype(np.float64) if np.iscomplexobj(piece) else piece.astype(np.float64)


def decode_bfloat16(raw: NDArray[Any]) -> NDArray[Any]:
    """bfloat16 is the upper half of a float32."""
    return (raw.astype(np.uint32) << 16).view(np.float32)


def decode_float8(exponent_bits: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """A reader of 8-bit floats: 4 exponent bits (E4M3, no infinities) or 5 (E5M2, as IEEE)."""
    mantissa_bits = 7 - exponent_bits
    bias = 2 ** (exponent_bits - 1) - 1
    table = np.zeros(256, dtype=np.float32)
    for code in range(256):
        exponent = (code >> mantissa_bits) & (2**exponent_bits - 1)
        mantissa = code & (2**mantissa_bits - 1)
        sign = -1.0 if code & 0x80 else 1.0
        top = exponent == 2**exponent_bits - 1
        if exponent_bits == 5 and top:
            value = math.nan if mantissa else math.inf
        elif exponent_bits == 4 and top and mantissa == 7:
            value = math.nan
        elif exponent == 0:
            value = mantissa / 2**mantissa_bits * 2.0 ** (1 - bias)
        else:
            value = (1 + mantissa / 2**mantissa_bits) * 2.0 ** (exponent - bias)
        table[code] = sign * value
    return lambda raw: table[raw]
