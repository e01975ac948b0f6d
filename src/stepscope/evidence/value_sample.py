"""Value samples: what a quick look at a tensor showed."""

from __future__ import annotations

from stepscope.evidence.registry import record

__all__ = ["TensorLook"]


@record
class TensorLook:
    """What a tensor held."""

    __slots__ = ("bits", "columns", "constant", "dtype", "high", "low", "nan", "rms", "shape", "whole")

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.nan = 0
        """How many values are NaN or infinite (of the part looked at)."""
        self.low = self.high = self.rms = 0.0
        """Of the finite ones."""
        self.columns: list[float] = []
        """The standard deviation of each column, for rows of features."""
        self.constant = False
        self.bits = 0.0
        """How much its rows can tell apart: few for codes and grids, where equal rows are chance."""
        self.whole = False
        """All numbers are whole: codes, counts, ids."""

    @property
    def width(self) -> int:
        """How many values a row has."""
        size = 1
        for one in self.shape[1:]:
            size *= one
        return size
