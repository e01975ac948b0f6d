"""Tables from rows, dicts, columns, arrays and data frames, as JSON that every browser reads exactly."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from stepscope.errors import UsageError
from stepscope.track.media.arrays import is_tensor
from stepscope.track.media.loggable import Encoded, comes_from, harmless, one
from stepscope.track.secrets import mask_text

MAX_ROWS = 10_000
MAX_COLUMNS = 1_000
MAX_CELL = 2_000
Cell = "str | int | float | bool | None"


@harmless
class Table:
    """A table to log: `run.log({"errors": stepscope.Table(frame)})`.

    `data` is a pandas or polars data frame, a list of dicts, a list of rows, a dict of columns, or a 2-D array;
    `columns` names them if the data does not. At most `max_rows` (10,000) rows are stored, and `truncated` is the
    number of omitted ones. NaN, infinities and integers too large for a browser are stored as text; other types are
    shown as `str(value)`.
    """

    def __init__(
        self,
        data: Any = None,
        columns: Sequence[str] | None = None,
        rows: Iterable[Sequence[Any]] | None = None,
        *,
        max_rows: int = MAX_ROWS,
        caption: str | None = None,
    ) -> None:
        if isinstance(max_rows, bool) or not isinstance(max_rows, int) or not 1 <= max_rows <= MAX_ROWS:
            raise UsageError(f"max_rows={max_rows!r} must be a whole number from 1 to {MAX_ROWS:,}")
        if (data is None) == (rows is None):
            raise UsageError("a table needs either data or rows=, for example Table(rows=[[1, 2]], columns=['a', 'b'])")
        self.caption = caption
        names, body, total = _taken(data if rows is None else list(rows), max_rows)
        self.columns = _named(columns, names, body)
        self.rows = [[cell(value) for value in row] for row in body]
        self._left_out = total - len(self.rows)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        data = msgspec.json.encode({"columns": self.columns, "rows": self.rows})
        meta = {"rows": len(self.rows), "columns": len(self.columns), "truncated": self._left_out}
        return one(key, step, time, kind="table", mime="application/json", data=data, meta=meta, caption=self.caption)


def is_frame(value: object) -> bool:
    """Whether it is a pandas or polars data frame."""
    return comes_from(value, "pandas", "DataFrame") or comes_from(value, "polars", "DataFrame")


Taken = tuple["list[str] | None", "list[Any]", int]
"""Column names if the data has them, the stored rows, and the total number."""


def _taken(data: Any, limit: int) -> Taken:
    if comes_from(data, "pandas", "DataFrame", "Series"):
        return _from_pandas(data, limit)
    if comes_from(data, "polars", "DataFrame", "Series"):
        frame = data.to_frame() if comes_from(data, "polars", "Series") else data
        return [str(name) for name in frame.columns], frame.head(limit).rows(), frame.height
    if isinstance(data, Mapping):
        return _from_columns(data, limit)
    if is_tensor(data) or hasattr(data, "__array__"):
        return _from_array(data, limit)
    if isinstance(data, (list, tuple)):
        taken = _from_rows(data, limit)
        if taken is not None:
            return taken
    raise UsageError(
        f"a table cannot be made from a {type(data).__name__}; expected a data frame, a list of dicts, a list of rows, "
        "a dict of columns or a 2-D array"
    )


def _from_pandas(data: Any, limit: int) -> Taken:
    frame = data.to_frame() if comes_from(data, "pandas", "Series") else data
    head = frame.head(limit)
    if not comes_from(frame.index, "pandas", "RangeIndex"):
        head = head.reset_index()  # a meaningful index is a column too
    names: list[str] = []
    columns: list[list[Any]] = []
    for position, name in enumerate(head.columns):
        names.append(" / ".join(map(str, name)) if isinstance(name, tuple) else str(name))
        columns.append(head.iloc[:, position].tolist())
    return names, list(zip(*columns, strict=True)) if columns else [], len(frame)


def _from_rows(data: list[Any] | tuple[Any, ...], limit: int) -> Taken | None:
    """A list of dicts or of rows; None for anything else."""
    kept = list(data[:limit])
    if kept and all(isinstance(row, Mapping) for row in kept):
        names = list(dict.fromkeys(name for row in kept for name in row))
        rows = [[row.get(name) for name in names] for row in kept]
        return [str(name) for name in names], rows, len(data)
    if all(isinstance(row, (list, tuple)) for row in kept):
        return None, kept, len(data)
    return None


def _from_columns(data: Mapping[Any, Any], limit: int) -> Taken:
    columns = []
    for name, values in data.items():
        if is_tensor(values) or hasattr(values, "tolist"):
            values = values.tolist()
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise UsageError(f"column '{name}' of a table is a {type(values).__name__}; expected a list of its values")
        columns.append(list(values))
    lengths = {str(name): len(column) for name, column in zip(data, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"the columns of a table must have the same length, but they have {lengths} values")
    total = max(lengths.values(), default=0)
    return list(lengths), list(zip(*(column[:limit] for column in columns), strict=True)), total


def _from_array(data: Any, limit: int) -> Taken:
    shape = tuple(getattr(data, "shape", ()))
    if len(shape) not in (1, 2):
        raise UsageError(f"a table cannot be made from an array of shape {shape}; expected 2 axes, rows and columns")
    part = data[:limit]
    rows = (part if hasattr(part, "tolist") else part.__array__()).tolist()  # TensorFlow's have no tolist
    if len(shape) == 1:
        names = getattr(getattr(data, "dtype", None), "names", None)  # a record array has its own
        return (list(names), rows, shape[0]) if names else (["value"], [[value] for value in rows], shape[0])
    return None, rows, int(shape[0])


def _named(columns: Sequence[str] | None, found: list[str] | None, rows: list[Any]) -> list[str]:
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise UsageError(f"the rows of a table must have the same length, but they have {sorted(widths)} cells")
    width = widths.pop() if widths else len(found if found is not None else columns or [])
    if columns is None:
        names = found if found is not None else [str(number) for number in range(width)]
    else:
        names = [str(name) for name in columns]
    if len(names) != width:
        raise UsageError(
            f"a table with {width} columns was given {len(names)} names: {', '.join(names[:10])}; give one per column"
        )
    if width > MAX_COLUMNS:
        raise UsageError(f"a table of {width:,} columns is wider than the maximum of {MAX_COLUMNS:,}; pick some")
    return names


def _nonfinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def cell(value: Any) -> str | int | float | bool | None:
    """One value that JSON can represent and a browser reads without loss.

    >>> [cell(v) for v in (1.5, float("nan"), 2**60, None, b"x")]
    [1.5, 'NaN', '1152921504606846976', None, "b'x'"]
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, int):
        return int(value) if abs(value) <= 2**53 else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _nonfinite(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat() if value == value else None  # pandas' NaT is a datetime that differs from itself
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # numpy scalars, 0-d arrays and tensors
        inner = value.item()
        return cell(inner) if not hasattr(inner, "item") else str(inner)
    if comes_from(value, "pandas", "NAType"):
        return None
    return _short(str(value))


def _short(text: str) -> str:
    text = mask_text(text)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"
