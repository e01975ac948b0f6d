"""A table of a step: rows of raw values that print to fit the terminal and convert to CSV, JSON, pandas and HTML."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope.errors import MissingExtra, StorageError, UsageError
from stepscope.inspect.columns import COLUMNS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass
class Row:
    """One row. `cells` has raw values by column; `label` is the first column's text in a tree."""

    label: str
    cells: dict[str, Any]
    level: int = 0
    mark: str = ""
    """Shown after the label: shared with, not called, failed ..."""
    style: str = ""


@dataclass
class Table:
    """The result of `Step.table` and `summary`.

    >>> print(step.table(by="module", depth=2))            # doctest: +SKIP
    >>> step.table(by="op", sort="time_us").to_csv("ops.csv")   # doctest: +SKIP
    """

    columns: list[str]
    rows: list[Row]
    totals: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    notes: list[str] = field(default_factory=list)
    """Footnotes."""
    chosen: bool = False
    """The user named the columns: none is omitted for being empty or constant."""
    hidden: Sequence[str] = ()
    """Columns that are in CSV, JSON and pandas, but printed only on request."""
    foot: str = "total"
    """The label of the last row."""

    @property
    def total_row(self) -> Row:
        """The last row."""
        return Row("", self.totals)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries of raw values."""
        return (self._plain(row) for row in self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._plain(self.rows[index])

    def _plain(self, row: Row) -> dict[str, Any]:
        return {name: row.cells.get(name) for name in self.columns}

    def sorted(self, by: str | None) -> Table:
        """The same rows, largest first (or smallest, with a leading `-`), without the tree."""
        if by is None:
            return self
        name = by.removeprefix("-")
        if name not in self.columns:
            raise UsageError(f"cannot sort by {name!r}; the columns are {', '.join(self.columns)}")
        there = [row for row in self.rows if row.cells.get(name) is not None]
        absent = [row for row in self.rows if row.cells.get(name) is None]
        there.sort(key=lambda row: row.cells[name], reverse=COLUMNS[name].numeric and not by.startswith("-"))
        lead = self.columns[0]
        # Outside its tree, a module shows its full path; everything else its label.
        labels = {id(r): str(r.cells.get(lead) or r.label) if lead == "module" else r.label for r in self.rows}
        flat = [Row(labels[id(r)], r.cells, 0, r.mark, r.style) for r in (*there, *absent)]
        hidden = [column for column in self.hidden if column != name]
        return Table(self.columns, flat, self.totals, self.title, self.notes, self.chosen, hidden, self.foot)

    def to_csv(self, path: str | Path | None = None) -> str:
        """CSV with a header, in the order of `columns`; shapes as `1x3x224x224`. Also written to `path`."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self:
            writer.writerow([_csv_cell(value) for value in row.values()])
        return deliver(out.getvalue(), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """`{"title", "columns", "rows", "totals", "notes"}` with raw values. Also written to `path`."""
        rows = [{**self._plain(row), **({"mark": row.mark} if row.mark else {})} for row in self.rows]
        whole = {"title": self.title, "columns": self.columns, "rows": rows, "totals": self.totals, "notes": self.notes}
        return deliver(msgspec.json.encode(finite_json(whole)).decode(), path)

    def to_pandas(self) -> Any:
        """A DataFrame with a row per row and raw values."""
        return data_frame(list(self), self.columns)

    def print(self, width: int | None = None) -> None:
        """Print in color on a terminal, plain elsewhere, fitted to `width` (the terminal's by default)."""
        from stepscope.inspect.printing import print_table

        print_table(self, width)

    def __str__(self) -> str:
        from stepscope.inspect.printing import as_text, terminal_width

        return as_text(self, terminal_width())

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from stepscope.inspect.printing import as_rich

        yield from as_rich(self, options.max_width)

    def _repr_html_(self) -> str:
        from stepscope.inspect.html import table_html

        return table_html(self)


def data_frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("to_pandas()", "pandas", extra="pandas") from None
    return pd.DataFrame(rows, columns=list(columns))


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], (list, tuple)):
            return " ".join(_csv_cell(one) or "scalar" for one in value)
        return "x".join(map(str, value))
    if isinstance(value, float):
        return repr(float(f"{value:.9g}"))  # as many digits as a float32 has; the clock has fewer
    text = str(value).encode("utf-8", "replace").decode()
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text


def finite_json(value: Any) -> Any:
    """JSON has no NaN and no infinities: they become strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): finite_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_json(inner) for inner in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def deliver(text: str, path: str | Path | None) -> str:
    """The text, also written to `path` if given."""
    if path is not None:
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as fault:
            raise StorageError(f"cannot write {path}: {fault.strerror or fault}; choose another place") from fault
    return text
