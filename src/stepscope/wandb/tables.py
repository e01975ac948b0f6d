"""`wandb.Table`: rows one by one, columns by name, media in cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepscope.errors import MissingExtra
from stepscope.track import media
from stepscope.track.messages import say_once
from stepscope.wandb.errors import UsageError
from stepscope.wandb.wording import note_unused

MAX_ROWS = 10_000
MAX_THINGS = 1_000
"""Maximum media of one column stored beside a table."""
_UNUSED = {"dtype": "cells keep the type they have"}


class Table:
    """A table to log: `wandb.Table(columns=["text", "score"], data=[["a", 1.0]])`.

    It is stored in its state when logged; logging it again stores it again. Images and sounds in cells are logged
    beside it, under `<key>/<column>`, and the cell has their index there.
    """

    MAX_ROWS = MAX_ROWS
    MAX_ARTIFACT_ROWS = 200_000

    def __init__(
        self,
        columns: list[Any] | None = None,
        data: Any = None,
        rows: Any = None,
        dataframe: Any = None,
        dtype: Any = None,
        optional: bool | list[bool] = True,
        allow_mixed_types: bool = False,
        log_mode: str | None = "IMMUTABLE",
    ) -> None:
        note_unused("Table", {"dtype": dtype}, _UNUSED)
        self.log_mode = log_mode
        frame = dataframe if dataframe is not None else data if _is_frame(data) else None
        if frame is not None:
            self.columns: list[Any] = [str(name) for name in frame.columns]
            found = frame.rows() if hasattr(frame, "rows") else frame.itertuples(index=False, name=None)
            self.data: list[list[Any]] = [list(row) for row in found]
            return
        given = rows if rows is not None else data
        listed = given.tolist() if hasattr(given, "tolist") else list(given or ())
        self.columns = list(columns) if columns is not None else _usual_columns(given, listed)
        self.data = []
        for row in listed:
            self.add_data(*row)

    def add_data(self, *data: Any) -> None:
        """Add a row."""
        if len(data) != len(self.columns):
            raise ValueError(
                f"This table expects {len(self.columns)} columns: {self.columns}, found {len(data)} values"
            )
        self.data.append(list(data))

    add_row = add_data

    def add_column(self, name: str, data: Any, optional: bool = False) -> None:
        """Add a column; it must be as long as the table, unless that is empty."""
        values = list(data.tolist() if hasattr(data, "tolist") else data)
        if not isinstance(name, str) or name in self.columns:
            raise UsageError(f"column {name!r} cannot be added: expected a name that the table does not have yet")
        if self.data and len(values) != len(self.data):
            raise UsageError(f"column {name!r} has {len(values)} values; the table has {len(self.data)} rows")
        if not self.data:
            self.data = [[None] * len(self.columns) for _ in values] if self.columns else [[] for _ in values]
        self.columns.append(name)
        for row, value in zip(self.data, values, strict=True):
            row.append(value)

    def add_computed_columns(self, fn: Callable[[int, dict[Any, Any]], Mapping[str, Any]]) -> None:
        """Add the columns that `fn(row number, row as a dict)` returns."""
        made = [dict(fn(at, dict(zip(self.columns, row, strict=True)))) for at, row in enumerate(self.data)]
        for name in dict.fromkeys(name for row in made for name in row):
            self.add_column(name, [row.get(name) for row in made])

    def get_column(self, name: Any, convert_to: str | None = None) -> Any:
        if name not in self.columns:
            raise UsageError(f"the table has no column {name!r}; it has {', '.join(map(str, self.columns))}")
        values = [row[self.columns.index(name)] for row in self.data]
        if convert_to is None:
            return values
        if convert_to != "numpy":
            raise UsageError(f"convert_to={convert_to!r} is unknown; use 'numpy' or leave it out")
        import numpy as np

        return np.array(values)

    def get_index(self) -> list[int]:
        return list(range(len(self.data)))

    def iterrows(self) -> Iterator[tuple[int, list[Any]]]:
        return enumerate(self.data)

    def get_dataframe(self) -> Any:
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("Table.get_dataframe()", "pandas", extra="pandas") from None
        return pd.DataFrame.from_records(self.data, columns=self.columns)

    def cast(self, col_name: Any, dtype: Any, optional: bool = False) -> Any:
        note_unused("Table.cast", {"dtype": dtype}, _UNUSED)
        return dtype

    def set_pk(self, col_name: Any) -> None:
        note_unused("Table.set_pk", {"col_name": col_name}, {"col_name": "tables are not joined here"})

    def set_fk(self, col_name: Any, table: Any, table_col: Any) -> None:
        note_unused("Table.set_fk", {"col_name": col_name}, {"col_name": "tables are not joined here"})

    def to_json(self, run_or_artifact: Any = None) -> dict[str, Any]:
        """Columns and rows, in the form of a `.table.json` file."""
        return {"columns": [str(name) for name in self.columns], "data": self._cells(), "ncols": len(self.columns)}

    def _cells(self, most: int | None = None) -> list[list[Any]]:
        places: dict[int, int] = {}
        rows = []
        for row in self.data[:most]:
            cells = []
            for at, value in enumerate(row):
                if _is_media(value):
                    places[at] = places.get(at, 0) + 1
                    value = f"[{type(value).__name__.lower()} {places[at]}]"
                cells.append(value)
            rows.append(cells)
        return rows

    def _stepscope_media_(self) -> media.Table:
        shown = self._cells(MAX_ROWS)
        return media.Table(rows=[*shown, *self.data[len(shown) :]], columns=[str(name) for name in self.columns])

    def _wandb_beside_(self) -> dict[str, Any]:
        """The media of each column that has any, to be stored under separate names."""
        beside: dict[str, list[Any]] = {}
        for row in self.data[:MAX_ROWS]:
            for name, value in zip(self.columns, row, strict=True):
                if _is_media(value):
                    beside.setdefault(f"/{name}", []).append(value)
        for name, things in beside.items():
            if len(things) > MAX_THINGS:
                say_once(
                    ("wandb", "table", name), f"of {len(things)} media in column '{name[1:]}' {MAX_THINGS} are kept"
                )
        return {name: things[:MAX_THINGS] for name, things in beside.items()}

    def __len__(self) -> int:
        return len(self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and other.columns == self.columns and other.data == self.data

    __hash__ = None  # type: ignore[assignment]


def _usual_columns(given: Any, rows: list[Any]) -> list[Any]:
    """The columns of a table that names none; numbers where rows were given."""
    if rows:
        found: list[Any] = list(range(len(rows[0])))
    else:
        found = ["Input", "Output", "Expected"]
    return found if given is not None else [str(name) for name in found]


def _is_media(value: Any) -> bool:
    return hasattr(type(value), "_stepscope_media_")


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and (hasattr(value, "itertuples") or hasattr(value, "rows"))
