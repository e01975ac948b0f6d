"""Value samples: a quick check of a tensor's values."""

from __future__ import annotations

from stepscope.evidence.registry import record


@record
class TensorLook:
    """Statistics of a tensor's values."""

    __slots__ = ("bits", "columns", "constant", "dtype", "high", "low", "nan", "rms", "shape", "whole")

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.nan = 0
        """Number of NaN or infinite values (in the checked part)."""
        self.low = self.high = self.rms = 0.0
        """Of the finite values."""
        self.columns: list[float] = []
        """The standard deviation of each column, for rows of features."""
        self.constant = False
        self.bits = 0.0
        """How many rows it can distinguish: few for codes and grids, where equal rows are chance."""
        self.whole = False
        """All numbers are integers: codes, counts, ids."""

    @property
    def width(self) -> int:
        """Number of values per row."""
        size = 1
        for one in self.shape[1:]:
            size *= one
        return size
