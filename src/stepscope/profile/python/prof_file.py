"""`.prof` files: what cProfile writes. Read without `marshal`, which may crash the interpreter on bytes from elsewhere.

A `.prof` file is one marshalled dict of tuples. The reader knows only the dozen types such a file has, checks every
length against the bytes that are left, and is held to a depth, a number of objects and a time.
"""

from __future__ import annotations

import marshal
import os
import struct
from pathlib import Path
from typing import Any

from stepscope.common import clocks
from stepscope.common.units import bytes_text
from stepscope.errors import BadData, NotFound
from stepscope.files.opening import read_file
from stepscope.profile.python.stats import ProfStats

MOST_BYTES = 64 << 20
MOST_OBJECTS = 6_000_000
MOST_SECONDS = 2.0
MOST_DEPTH = 8
"""A dict of tuples of dicts of tuples: a real file is five deep."""

_REF = 0x80


class _End:
    """What ends a dict."""


_END = _End()


def read_prof(path: str | Path) -> ProfStats:
    """The statistics in a `.prof` file."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise BadData(
                f"{path} has {bytes_text(size)}; profiles of cProfile up to {bytes_text(MOST_BYTES)} are read. "
                "Profile a shorter part of the program"
            )
        data = read_file(path, MOST_BYTES)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}") from None
    return stats_in(data, str(path))


def stats_in(data: bytes, name: str = "the profile") -> ProfStats:
    """The statistics in the bytes of a `.prof` file; `name` is for messages."""
    if len(data) > MOST_BYTES:
        raise BadData(
            f"{name} has {bytes_text(len(data))}; profiles of cProfile up to {bytes_text(MOST_BYTES)} are read"
        )
    if not data:
        raise BadData(f"{name} is empty; cProfile writes its file when the program has ended")
    try:
        found = _Reader(data).top()
        return ProfStats.of(_checked(found))
    except _Bad as fault:
        raise BadData(
            f"{name} is not a profile of cProfile: {fault}. "
            "Such a file is made by 'python -m cProfile -o run.prof train.py'"
        ) from None


def prof_bytes(stats: ProfStats) -> bytes:
    """As cProfile writes it: `pstats`, snakeviz and others read it."""
    return marshal.dumps(stats.as_dict())


def write_prof(stats: ProfStats, path: str | Path) -> None:
    """Write a `.prof` file, whole or not at all."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(prof_bytes(stats))
    temporary.replace(path)


class _Bad(Exception):
    """Why these bytes are not what they should be."""


class _Reader:
    """The types of marshal (versions 0 to 5) that a profile has."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._refs: list[Any] = []
        self._left = MOST_OBJECTS
        self._until = clocks.thread_time() + MOST_SECONDS

    def top(self) -> Any:
        return self._object(0)

    def _take(self, count: int) -> bytes:
        if count < 0 or count > len(self._data) - self._at:
            raise _Bad(f"it ends in the middle, at byte {len(self._data)}")
        self._at += count
        return self._data[self._at - count : self._at]

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "little", signed=True)

    def _object(self, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or (not self._left % 8192 and clocks.thread_time() > self._until):
            raise _Bad("it has more entries than can be read in two seconds")
        if depth > MOST_DEPTH:
            raise _Bad(f"at byte {self._at} it is nested deeper than a profile is")
        code = self._take(1)[0]
        kind, is_ref = chr(code & ~_REF), bool(code & _REF)
        slot = -1
        if is_ref:  # containers are numbered before what they hold
            slot = len(self._refs)
            self._refs.append(None)
        found = self._of_kind(kind, depth)
        if is_ref:
            self._refs[slot] = found
        return found

    def _of_kind(self, kind: str, depth: int) -> Any:
        if kind in _TEXTS:
            return self._text(kind)
        if kind == "i":
            return self._int()
        if kind == "g":
            return struct.unpack("<d", self._take(8))[0]
        if kind in "()":
            return self._tuple(self._take(1)[0] if kind == ")" else self._int(), depth)
        if kind == "{":
            return self._dict(depth)
        if kind == "r":
            return self._referred(self._int())
        return self._rare(kind)

    def _rare(self, kind: str) -> Any:
        """What only old or odd files have."""
        if kind == "0":
            return _END
        if kind == "l":
            return self._long()
        if kind == "I":
            return int.from_bytes(self._take(8), "little", signed=True)
        if kind == "f":
            text = self._take(self._take(1)[0])
            try:
                return float(text)
            except ValueError:
                raise _Bad(f"{text[:20]!r} is not a number") from None
        raise _Bad(f"byte {self._at - 1} is {kind!r}, which no profile has")

    def _text(self, kind: str) -> str:
        raw = self._take(self._take(1)[0] if kind in "zZ" else self._int())
        return raw.decode("utf-8", "replace")

    def _long(self) -> int:
        count = self._int()
        digits = self._take(2 * min(abs(count), 8))
        if abs(count) > 8:  # 8 digits of 15 bits: far beyond any count of calls
            raise _Bad("a number in it is too large")
        value = sum(int.from_bytes(digits[2 * i : 2 * i + 2], "little") << (15 * i) for i in range(abs(count)))
        return -value if count < 0 else value

    def _tuple(self, count: int, depth: int) -> tuple[Any, ...]:
        if count > 5 or count < 0:
            raise _Bad(f"at byte {self._at} there is a tuple of {count}; a profile has none over five")
        return tuple(self._object(depth + 1) for _ in range(count))

    def _dict(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (key := self._object(depth + 1)) is not _END:
            if not _is_function(key):  # checked before it is hashed: a tuple of tuples of ... hashes without end
                raise _Bad(f"at byte {self._at} an entry is not for a function (file, line, name)")
            found[key] = self._object(depth + 1)
        return found

    def _referred(self, index: int) -> Any:
        if not 0 <= index < len(self._refs) or self._refs[index] is None:
            raise _Bad(f"at byte {self._at} it refers to something that is not there")
        return self._refs[index]


_TEXTS = frozenset("zZaAut")


def _is_function(key: Any) -> bool:
    return type(key) is tuple and len(key) == 3 and type(key[0]) is str and type(key[1]) is int and type(key[2]) is str


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _is_time(value: Any) -> bool:
    return (type(value) is float and abs(value) < 1e12) or _is_count(value)


def _are_calls(values: tuple[Any, ...]) -> bool:
    return _is_count(values[0]) and _is_count(values[1]) and _is_time(values[2]) and _is_time(values[3])


def _checked(found: Any) -> dict[Any, Any]:
    """The dict, when every entry is what a profile has. Shared parts are counted again: they are read again later."""
    if type(found) is not dict:
        raise _Bad(f"it holds a {type(found).__name__ if found is not _END else 'nothing'}, not a dict")
    left = MOST_OBJECTS
    for function, entry in found.items():
        if type(entry) is not tuple or len(entry) != 5 or not _are_calls(entry) or type(entry[4]) is not dict:
            raise _Bad(f"the entry of {function[2][:80]!r} has not the five parts it should have")
        left -= 1 + len(entry[4])
        if left < 0:
            raise _Bad("it has more entries than can be read in two seconds")
        for edge in entry[4].values():
            if not (_is_count(edge) or (type(edge) is tuple and len(edge) == 4 and _are_calls(edge))):
                raise _Bad(f"a caller of {function[2][:80]!r} has not the four parts it should have")
    return found
