"""CSV: for spreadsheets and everything else.

Empty means "no point here"; NaN and infinities are written as `NaN`, `Infinity` and `-Infinity`. A name that a
spreadsheet would evaluate as a formula gets a leading apostrophe.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from stepscope.export.wide import wide_blocks

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_BLOCK = 4096


def wide_csv(run: RunFolder, names: Sequence[str]) -> Iterator[bytes]:
    """A line per step, a column per series. If a series has several points at a step, further lines follow."""
    yield _lines([["step", "time", *map(safe_text, names)]])
    for block in wide_blocks(run, names, _BLOCK):
        columns = [
            ["" if not there else number_text(value) for value, there in zip(values, present, strict=True)]
            for values, present in zip(block.values, block.present, strict=True)
        ]
        yield _lines(zip(block.steps, map(number_text, block.times), *columns, strict=True))


def long_csv(run: RunFolder, names: Sequence[str]) -> Iterator[bytes]:
    """A line per point: series, step, time, value."""
    yield _lines([["series", "step", "time", "value"]])
    for name in names:
        series = run.series(name)
        label = safe_text(name)
        for start in range(0, len(series.values), _BLOCK):
            part = slice(start, start + _BLOCK)
            times, values = (map(number_text, column[part].tolist()) for column in (series.times, series.values))
            yield _lines(zip(repeat(label), series.steps[part].tolist(), times, values, strict=False))


def safe_text(text: str) -> str:
    """Text that no spreadsheet evaluates.

    >>> safe_text("=HYPERLINK(1)"), safe_text("loss")
    ("'=HYPERLINK(1)", 'loss')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number."""
    if math.isfinite(value):
        return repr(value)
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _lines(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
