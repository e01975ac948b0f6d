"""Incremental search in a run's lines, so that a million lines never block the page."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stepscope.views.console.screen import plain_line
from stepscope.views.safe_pattern import compile_pattern, line_filter

if TYPE_CHECKING:
    from stepscope.views.console.index import ConsoleIndex


class Search:
    """Which lines match a text or pattern. Lines never change, so results stay valid."""

    def __init__(self, text: str, regex: bool) -> None:
        self._fits: Callable[[str], bool] = compile_pattern(text) if regex else _holds(text)
        self._could_fit = line_filter(text) if regex else self._fits
        self._found: npt.NDArray[np.bool_] = np.zeros(0, bool)
        self._pieces = 0

    def advance(self, index: ConsoleIndex, budget_s: float) -> int:
        """Search further for about this long; returns the line up to which results are complete."""
        if len(self._found) < len(index):
            more = np.zeros(max(len(index), 2 * len(self._found)), bool)
            more[: len(self._found)] = self._found
            self._found = more
        until = time.monotonic() + budget_s
        while self._pieces < len(index.pieces):
            piece = self._pieces
            if self._could_fit(plain_line(index.pieces[piece].text)):
                for number, line in index.lines_of(piece):
                    self._found[number] = self._fits(plain_line(line))
            self._pieces += 1
            if time.monotonic() > until:
                break
        return index.first_line(self._pieces)

    def among(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Positions in `rows` of the matches so far."""
        return np.flatnonzero(self._found[rows])

    def has(self, number: int) -> bool:
        return bool(self._found[number])


def _holds(wanted: str) -> Callable[[str], bool]:
    """Whether a text contains another. Case is ignored unless the search text has capitals."""
    if wanted == wanted.lower():
        return lambda text: wanted in text.lower()
    return lambda text: wanted in text
