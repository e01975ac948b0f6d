"""The compiled scanner (scanner.c): pieces of a trace in, its columns as numpy arrays without a copy out."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from stepscope.errors import StepscopeError
from stepscope.profile.trace.build import MORE_CATS, MOST_ARGUMENTS, MOST_CATS
from stepscope.profile.trace.events import ARGUMENTS, Events, Header, Ints, Sparse
from stepscope.profile.trace.library import Column, Strings, library
from stepscope.profile.trace.scanning import Found, Status

_KINDS = ("", "int", "float", "text")
_DTYPES = {"int": np.dtype(np.int64), "float": np.dtype(np.float64), "text": np.dtype(np.uint32)}
_CATS, _NAMES, _WORDS, _LANES, _TEXTS, _KEYS, _FIELDS, _METADATA = range(8)


class _Memory:
    """What the scanner allocated; freed when the last array over it is gone."""

    def __init__(self, code: Any) -> None:
        self.code = code
        self.state = code.ss_new(int.from_bytes(os.urandom(8), "little"), MOST_ARGUMENTS)
        if not self.state:
            raise MemoryError("no memory for the trace scanner")

    def __del__(self) -> None:
        if self.state:
            self.code.ss_free(self.state)

    def array(self, address: int | None, count: int, dtype: Any) -> Ints:
        if not count or not address:
            return np.zeros(0, dtype)
        block = (ctypes.c_uint8 * (count * np.dtype(dtype).itemsize)).from_address(address)
        block.owner = self
        return np.frombuffer(block, dtype)


class CompiledScanner:
    """Give it the trace piece by piece, then take the table."""

    piece_bytes = 1 << 20

    def __init__(self) -> None:
        code = library()
        if code is None:
            raise StepscopeError(
                "the compiled trace scanner is not built; run scripts/build-compiled, or read with scanner='wheel'"
            )
        self._code = code
        self._memory = _Memory(code)
        self._state = self._memory.state
        for key, kind in ARGUMENTS.items():
            raw = key.encode()
            code.ss_known(self._state, raw, len(raw), _KINDS.index(kind))

    def scan(self, piece: bytes, at: int = 0) -> Found:
        """Take all whole events of a piece, from an offset."""
        status = Status(self._code.ss_scan(self._state, piece, at, len(piece)))
        if status is Status.MEMORY:
            raise MemoryError(f"no memory for the events of this trace ({self._state.contents.n:,} so far)")
        state = self._state.contents
        return Found(status, int(state.consumed), bool(state.in_events))

    def add(self, event: dict[str, Any]) -> None:
        """One event that was repaired."""
        self.scan(json.dumps(event).encode())

    @property
    def has_events(self) -> bool:
        return bool(self._state.contents.has_events)

    def events(self) -> Events:
        """The table of what was scanned. The scanner is of no use after that."""
        self._code.ss_finish(self._state)
        state, memory = self._state.contents, self._memory
        n = int(state.n)
        metadata = list(self._pieces(_METADATA))
        cats = self._strings(_CATS)
        words = self._strings(_WORDS)
        pairs = np.frombuffer(self._blob(_LANES)[0], np.uint32).reshape(-1, 2).tolist()
        args = self._columns()
        return Events(
            start=memory.array(state.start, n, np.int64),
            dur=memory.array(state.dur, n, np.int64),
            ph=memory.array(state.ph, n, np.uint8),
            cat=memory.array(state.cat, n, np.uint16),
            name=memory.array(state.name, n, np.uint32),
            lane=memory.array(state.lane, n, np.uint32),
            cats=tuple(cats if len(cats) <= MOST_CATS else [*cats[:MOST_CATS], MORE_CATS]),
            names=tuple(self._strings(_NAMES)),
            lanes=tuple((words[pid], words[tid]) for pid, tid in pairs),
            lane_names={},
            texts=tuple(self._strings(_TEXTS)),
            args=args,
            header=Header(skipped=int(state.skipped), metadata=len(metadata)),
        )

    def metadata(self) -> Iterator[Any]:
        """The events that name lanes."""
        return (json.loads(piece) for piece in self._pieces(_METADATA))

    def fields(self) -> dict[str, Any]:
        """The fields beside the events."""
        pieces = [json.loads(piece) for piece in self._pieces(_FIELDS)]
        return dict(zip(pieces[::2], pieces[1::2], strict=True))

    @property
    def dropped(self) -> int:
        return int(self._state.contents.dropped)

    def _columns(self) -> dict[str, Sparse]:
        keys, memory = self._strings(_KEYS), self._memory
        found: dict[str, Sparse] = {}
        rows: dict[int, Ints] = {}
        column = Column()
        for number in range(int(self._state.contents.n_columns)):
            self._code.ss_column(self._state, number, column)
            n, kind = int(column.n), _KINDS[column.kind]
            mine = rows.get(int(column.leader))
            if mine is None or len(mine) < n:  # a leader comes before those that share its rows
                mine = rows[int(column.leader)] = memory.array(column.rows, n, np.uint32)
            if n:
                dtype = np.dtype(np.int32) if kind == "int" and column.size == 4 else _DTYPES[kind]
                values = memory.array(column.values, n, dtype)
                found[keys[int(column.key)]] = Sparse(mine[:n], values, kind)
        return found

    def _blob(self, which: int) -> tuple[bytes, list[int]]:
        strings = Strings()
        self._code.ss_strings(self._state, which, strings)
        ends = self._memory.array(strings.ends, int(strings.count), np.uint64).tolist()
        return (ctypes.string_at(strings.blob, ends[-1]) if ends and ends[-1] else b""), ends

    def _pieces(self, which: int) -> Iterator[bytes]:
        blob, ends = self._blob(which)
        return (blob[begin:end] for begin, end in zip([0, *ends], ends, strict=False))

    def _strings(self, which: int) -> list[str]:
        blob, ends = self._blob(which)
        if blob.isascii():
            text = blob.decode("ascii")
            return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
        return [blob[begin:end].decode("utf-8", "replace") for begin, end in zip([0, *ends], ends, strict=False)]
