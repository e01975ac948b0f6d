"""Event tables as files: checksummed blocks of packed columns, opened in hundredths of a second.

    magic | u32 length and u32 CRC of the index | index (JSON) | blocks

The index says of every block how long it is, how it was packed and its CRC. Whole numbers lose their smallest value or
become differences, take the narrowest type that holds them, and are deflated. Arguments are unpacked when first asked
for. Nothing in a file is executed, and no size in it is believed: a block unpacks to what its bytes can hold at most.
"""

from __future__ import annotations

import os
import struct
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import numpy as np

from stepscope.errors import BadData, NotFound
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.profile.trace.events import Events, Header, Ints, Sparse
from stepscope.profile.trace.packed import Packed, pack_numbers, pack_strings, unpack_numbers, unpack_strings

MAGIC = b"SSEVENTS"
COLUMNS_FORMAT = 3
LARGEST = 2 << 30
"""Bytes of a table, which is in memory as long as it is looked at: about 50 GB of trace."""
_PREFIX = struct.Struct("<8sHII")
_FULL = {"start": np.int64, "dur": np.int64, "ph": np.uint8, "cat": np.uint16, "name": np.uint32, "lane": np.uint32}
_VALUES = {"int": np.int32, "float": np.float64, "text": np.uint32}


class _Argument(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    rows: int
    """The number of its block: arguments that the same rows have share one."""
    values: int
    wide: bool = False
    """Whole numbers of eight bytes instead of four."""


class _Index(msgspec.Struct, frozen=True, kw_only=True):
    rows: int
    full: dict[str, int]
    cats: int
    names: int
    lanes: int
    texts: int
    args: dict[str, _Argument]
    lane_names: dict[str, str]
    header: dict[str, Any]
    blocks: list[Packed]
    key: str = ""


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_index_decoder = msgspec.json.Decoder(_Index)
msgspec.json.Decoder(Header)  # `convert` uses what this makes


def save_events(events: Events, path: Path, *, key: str = "") -> None:
    """Write a table; the file is there whole or not at all. `key` says what it was made from (see cache.py)."""
    index, blocks = _packed(events, key)
    raw = msgspec.json.encode(index)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(_PREFIX.pack(MAGIC, COLUMNS_FORMAT, len(raw), zlib.crc32(raw)))
            file.write(raw)
            for block in blocks:
                file.write(block)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _packed(events: Events, key: str) -> tuple[_Index, list[bytes]]:
    entries: list[Packed] = []
    blocks: list[bytes] = []
    known: dict[bytes, int] = {}

    def add(packed: tuple[Packed, bytes]) -> int:
        entry, block = packed
        identity = msgspec.json.encode(entry) + block[:64]
        found = known.get(identity)
        if found is not None and blocks[found] == block:
            return found
        known[identity] = len(blocks)
        entries.append(entry)
        blocks.append(block)
        return len(blocks) - 1

    index = _Index(
        rows=len(events),
        full={name: add(pack_numbers(getattr(events, name))) for name in _FULL},
        cats=add(pack_strings(events.cats)),
        names=add(pack_strings(events.names)),
        lanes=add(pack_strings([part for lane in events.lanes for part in lane])),
        texts=add(pack_strings(events.texts)),
        args={
            name: _Argument(
                kind=c.kind,
                rows=add(pack_numbers(c.rows)),
                values=add(pack_numbers(c.values)),
                wide=c.values.dtype == np.int64,
            )
            for name, c in events.args.items()
        },
        lane_names=events.lane_names,
        header=msgspec.to_builtins(_plain(events.header)),
        blocks=entries,
        key=key,
    )
    return index, blocks


def _plain(header: Header) -> dict[str, Any]:
    return {name: getattr(header, name) for name in Header.__dataclass_fields__}


def load_events(path: Path) -> Events:
    """Read a table back. A damaged file raises `BadData`: nothing of it is believed."""
    return _file(path).events()


def load_kept_events(path: Path, key: str) -> Events | None:
    """The same, for a table that says it was made from `key`; None for another one."""
    file = _file(path)
    return file.events() if file.index.key == key else None


def _file(path: Path) -> _File:
    try:
        return _File(path, read_file(path, LARGEST, within=path.parent))
    except FileNotFoundError:
        raise NotFound(f"{path} does not exist: there is no event table to read") from None


class _File:
    """The bytes of a column file, and what its index says of them."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.data = data
        if len(data) < _PREFIX.size or not data.startswith(MAGIC):
            self.damaged("it does not begin like an event table")
        _, version, length, crc = _PREFIX.unpack_from(data)
        if version != COLUMNS_FORMAT:
            raise BadData(f"{path} is an event table of format {version}; this version reads {COLUMNS_FORMAT}: upgrade")
        raw = data[_PREFIX.size : _PREFIX.size + length]
        if len(raw) != length or zlib.crc32(raw) != crc:
            self.damaged("its index does not match its checksum")
        try:
            self.index = _index_decoder.decode(raw)
        except MALFORMED as fault:
            self.damaged(str(fault))
        self.at = [_PREFIX.size + length]
        for number, block in enumerate(self.index.blocks):
            self.at.append(self.at[-1] + max(0, block.bytes))
            stored = memoryview(data)[self.at[-2] : self.at[-1]]
            if len(stored) != block.bytes or zlib.crc32(stored) != block.crc:
                self.damaged(f"block {number} of {len(self.index.blocks)} is cut off or does not match its checksum")
        self._rows: dict[int, Ints] = {}
        self.n_texts = 0

    def damaged(self, why: str) -> NoReturn:
        raise BadData(
            f"{self.path} is not a whole event table: {why}; expected {MAGIC.decode()} with checksummed columns; "
            "record the profile again, or open the trace it was made from"
        )

    def block(self, number: int) -> tuple[Packed, memoryview]:
        if not 0 <= number < len(self.index.blocks):
            self.damaged(f"it names a block {number} of {len(self.index.blocks)}")
        return self.index.blocks[number], memoryview(self.data)[self.at[number] : self.at[number + 1]]

    def numbers(self, number: int, dtype: Any, count: int | None = None, below: int | None = None) -> Ints:
        try:
            found = unpack_numbers(*self.block(number), dtype)
        except (ValueError, OverflowError, TypeError, zlib.error) as fault:
            self.damaged(f"block {number}: {fault}")
        if count is not None and len(found) != count:
            self.damaged(f"block {number} has {len(found)} values instead of {count}")
        if below is not None and len(found) and int(found.max()) >= below:
            self.damaged(f"block {number} points at entry {int(found.max())} of {below}")
        return found

    def strings(self, number: int) -> list[str]:
        try:
            return unpack_strings(*self.block(number))
        except (ValueError, zlib.error) as fault:
            self.damaged(f"block {number}: {fault}")

    def rows(self, number: int) -> Ints:
        """The rows an argument has; shared by the arguments that have the same."""
        if number not in self._rows:
            found = self.numbers(number, np.uint32, below=self.index.rows)
            if len(found) > 1 and not bool((found[1:] > found[:-1]).all()):
                self.damaged(f"block {number} has rows that do not ascend")
            self._rows[number] = found
        return self._rows[number]

    def events(self) -> Events:
        index = self.index
        if set(index.full) != set(_FULL) or any(one.kind not in _VALUES for one in index.args.values()):
            self.damaged("its columns are not those of an event table")
        cats, names, lanes = self.strings(index.cats), self.strings(index.names), self.strings(index.lanes)
        texts = self.strings(index.texts)
        self.n_texts = len(texts)
        below = {"cat": len(cats), "name": len(names), "lane": len(lanes) // 2}
        full = {name: self.numbers(index.full[name], _FULL[name], index.rows, below.get(name)) for name in _FULL}
        try:
            header = msgspec.convert(index.header, type=Header)
        except msgspec.ValidationError as fault:
            self.damaged(str(fault))
        return Events(
            **full,
            cats=tuple(cats),
            names=tuple(names),
            lanes=tuple(zip(lanes[::2], lanes[1::2], strict=True)) if len(lanes) % 2 == 0 else (),
            lane_names=index.lane_names,
            texts=tuple(texts),
            args={name: _Stored(self, entry) for name, entry in index.args.items()},
            header=header,
        )


class _Stored(Sparse):
    """An argument that is unpacked when first looked at."""

    def __init__(self, file: _File, entry: _Argument) -> None:
        object.__setattr__(self, "kind", entry.kind)
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "_entry", entry)

    @cached_property
    def rows(self) -> Ints:
        file: _File = self.__dict__["_file"]
        return file.rows(self.__dict__["_entry"].rows)

    @cached_property
    def values(self) -> Ints:
        file, entry = self.__dict__["_file"], self.__dict__["_entry"]
        below = file.n_texts if self.kind == "text" else None
        found: Ints = file.numbers(entry.values, np.int64 if entry.wide else _VALUES[self.kind], len(self.rows), below)
        return found
