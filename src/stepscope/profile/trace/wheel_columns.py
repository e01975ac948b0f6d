"""Columns that grow piece by piece, for the scanner without compiled code: pools of strings, sparse arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from stepscope.profile.trace.build import MORE_CATS, MOST_ARGUMENTS, MOST_CATS, fitted, text_of
from stepscope.profile.trace.events import ARGUMENTS, Ints, Sparse, narrowed

_DTYPES = {"int": np.int64, "float": np.float64, "text": np.uint32}
_TOKEN = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]*([,:])[ \t\n\r]*|[ \t\n\r]+', re.DOTALL)
_SPACED = {b",": b", ", b":": b": "}


class Pool(dict[Any, int]):
    """Strings to their numbers, in the order they came; looking one up is enough to add it."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


class Cats(Pool):
    """Categories; a table has room for 65,535 of them."""

    def __missing__(self, key: Any) -> int:
        return super().__missing__(key) if len(self) < MOST_CATS else self.setdefault(MORE_CATS, MOST_CATS)


class Lanes(dict[tuple[Any, Any], int]):
    """(pid, tid) as the trace has them, numbers or strings, to the number of a lane."""

    def __init__(self) -> None:
        super().__init__()
        self.lanes = Pool()

    def __missing__(self, key: tuple[Any, Any]) -> int:
        number = self[key] = self.lanes[(text_of(key[0]), text_of(key[1]))]
        return number


def spaced(raw: bytes) -> str:
    """The JSON of a list or object with the spaces that json.dumps makes, and else as it was written."""
    return _TOKEN.sub(lambda found: found[1] or _SPACED.get(found[2], b""), raw).decode("utf-8", "replace")


def whole_text(text: str) -> str:
    """Halves of surrogate pairs, which no page can show, replaced."""
    if text.isascii():
        return text
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


NO_TEXT = "\ud800"
"""Stands for a missing string: half a surrogate pair, which msgspec never gives."""
NO_RAW = msgspec.Raw(b"")
MISSING = 0xFFFFFFFF


class Texts(Pool):
    """The strings of text columns; the missing one has no number."""

    def __init__(self) -> None:
        super().__init__({NO_TEXT: MISSING})

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self) - 1
        return number

    def strings(self) -> tuple[str, ...]:
        return tuple(self)[1:]


class RawTexts(dict[bytes, int]):
    """Values of text columns as they were written in JSON, to the numbers of their texts."""

    def __init__(self, texts: Texts) -> None:
        super().__init__({b"": MISSING})
        self.texts = texts

    def __missing__(self, raw: bytes) -> int:
        text = whole_text(json.loads(raw)) if raw.startswith(b'"') else spaced(raw)
        number = self[raw] = self.texts[text]
        return number


class _Column:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.rows: list[Ints] = []
        self.values: list[Ints] = []

    def sparse(self) -> Sparse:
        rows = np.concatenate(self.rows).astype(np.uint32)
        values = np.concatenate(self.values)
        if len(rows) > 1 and not bool((rows[1:] > rows[:-1]).all()):  # categories were taken one after the other
            order = np.argsort(rows, kind="stable")
            rows, values = rows[order], values[order]
        return Sparse(rows, narrowed(values), self.kind)


class Arguments:
    """The sparse columns of all arguments."""

    def __init__(self) -> None:
        self.columns: dict[str, _Column] = {}
        self.texts = Texts()
        self.raw_texts = RawTexts(self.texts)
        self.dropped = 0

    def kind_of(self, key: str) -> str | None:
        """The kind of a column; None for one that is not there yet and not known by name."""
        if key in ARGUMENTS:
            return ARGUMENTS[key]
        return self.columns[key].kind if key in self.columns else None

    def put(self, key: str, kind: str, rows: Ints, values: Any) -> None:
        """Values that fit their column, all of one kind."""
        if not len(rows):
            return
        column = self.columns.get(key)
        if column is None and len(self.columns) < MOST_ARGUMENTS:
            column = self.columns[key] = _Column(kind)
        if column is None or column.kind != kind:
            self.dropped += len(rows)
            return
        column.rows.append(rows)
        column.values.append(np.asarray(values, _DTYPES[kind]))

    def put_one(self, row: int, key: str, value: Any, written: Callable[[], str]) -> None:
        """One value of any kind, which goes where it fits; see `Builder` in build.py."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        kind = self.kind_of(key) or ("float" if is_number else "text")
        if kind != "text" and value is None and key in ARGUMENTS:
            return
        number = fitted(value, kind)
        if number is None:
            key, kind = (key, kind) if kind == "text" else (f"{key} (text)", "text")
            column = self.columns.get(key)
            if column is not None and column.rows and int(column.rows[-1][-1]) == row:
                return
            number = self.texts[whole_text(value) if isinstance(value, str) else written()]
        self.put(key, kind, np.array([row]), [number])

    def put_raw(self, rows: Sequence[int], key: str, values: Iterable[Any]) -> None:
        """Values as the JSON they were written as, one after the other; NO_RAW marks a row without."""
        for row, raw in zip(rows, values, strict=True):
            if raw is not NO_RAW:
                text = bytes(raw)
                self.put_one(row, key, json.loads(text), lambda text=text: spaced(text))  # type: ignore[misc]

    def settle(self, found: list[tuple[str, Ints, Any]]) -> dict[str, Any]:
        """Arguments that had no column: the first value in the file says its kind. Gives back those values."""
        together: dict[str, list[tuple[int, Any]]] = {}
        for key, rows, values in found:
            together.setdefault(key, []).extend(
                (row, raw) for row, raw in zip(rows.tolist(), values, strict=True) if raw is not NO_RAW
            )
        for key, pairs in together.items():
            pairs.sort(key=itemgetter(0))
            self.put_raw([row for row, _ in pairs], key, [raw for _, raw in pairs])
        return {key: json.loads(bytes(pairs[0][1])) for key, pairs in together.items() if pairs}

    def sparse(self) -> dict[str, Sparse]:
        return {key: column.sparse() for key, column in self.columns.items()}
