"""Fourier transforms: 5·n·log2(n) for each of length n, as is usual; half of it where one side is real."""

from __future__ import annotations

import math

from stepscope.record.flops.registry import Called, Work, formula

__all__: list[str] = []

_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_MORE = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


@formula(*(f"fft_{name}" for name in (*_ONE, *_MORE)))
def transform(called: Called) -> Work:
    source, out = called.get(0, "input"), called.out
    # The side that has all values: of a real transform the other one holds only half of the spectrum.
    sizes = list(source.shape if not source.is_complex() else out.shape)
    length = 1
    for dim, given in _lengths(called, len(sizes)):
        sizes[dim] = sizes[dim] if given is None else given
        length *= sizes[dim]
    each = 5.0 if source.is_complex() and out.is_complex() else 2.5
    flops = round(each * math.prod(sizes) * math.log2(length)) if length > 1 else 0
    return Work(flops, 0, flops if getattr(source, "requires_grad", False) else 0)


def _lengths(called: Called, dims: int) -> list[tuple[int, int | None]]:
    """The dimensions that are transformed, each with the length that was asked for (padded or cut to it)."""
    if called.name.removeprefix("fft_") in _ONE:
        return [(called.get(2, "dim", -1), called.get(1, "n"))]
    given = called.get(1, "s")
    chosen = called.get(2, "dim", (-2, -1) if called.name.endswith("2") else None)
    if chosen is None:
        chosen = range(dims) if given is None else range(-len(given), 0)
    return list(zip(chosen, given or [None] * len(chosen), strict=True))
