"""Records that point at each other, as bytes and back: every object once, whoever points at it.

Objects of the given classes become rows of a table of their class, and a pointer becomes the class and the row. An
object of a class derived from one of them is written as that one: observers add live parts of their own in a subclass,
and those stay behind. Fields hold numbers, words, None, and lists, tuples, sets and dicts of them. A field that a class
did not have when the bytes were written gets its default; one that it no longer has is passed over.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from stepscope.errors import StepscopeError

__all__ = ["decode", "encode"]

_POINTER, _TUPLE, _SET, _WIDE, _MAP = 1, 2, 3, 4, 5
_packed = msgspec.msgpack.Encoder()
_pointer = msgspec.msgpack.Decoder(tuple[int, int])


class _Table(msgspec.Struct, array_like=True):
    name: str
    fields: list[str]
    rows: list[list[Any]]


class _Document(msgspec.Struct, array_like=True):
    version: int
    tables: list[_Table]
    root: Any


class _Writer:
    def __init__(self, classes: Sequence[type]) -> None:
        self._numbers: dict[type, int | None] = {kind: number for number, kind in enumerate(classes)}
        self.fields = [fields_of(kind) for kind in classes]
        self.rows: list[list[Any]] = [[] for _ in classes]
        self._known: dict[int, tuple[int, int]] = {}
        self._kept: list[Any] = []
        self._waiting: list[tuple[Any, int, int]] = []

    def plain(self, value: Any) -> Any:
        """A value without objects: pointers instead of them."""
        kind = type(value)
        if value is None or kind in (bool, float, str, bytes):
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**64 else msgspec.msgpack.Ext(_WIDE, str(value).encode())
        number = self._numbers.get(kind) if kind in self._numbers else self._derived(kind)
        if number is not None:
            return msgspec.msgpack.Ext(_POINTER, _packed.encode(self._place(value, number)))
        if kind is list or kind is deque:
            return [self.plain(one) for one in value]
        if kind is dict:
            pairs = [(self.plain(key), self.plain(one)) for key, one in value.items()]
            if any(type(key) is msgspec.msgpack.Ext for key, _ in pairs):  # which is no key of a map
                return msgspec.msgpack.Ext(_MAP, _packed.encode(pairs))
            return dict(pairs)
        if kind is tuple:
            return msgspec.msgpack.Ext(_TUPLE, _packed.encode([self.plain(one) for one in value]))
        if kind in (set, frozenset):
            return msgspec.msgpack.Ext(_SET, _packed.encode([self.plain(one) for one in sorted(value, key=repr)]))
        raise StepscopeError(f"a record holds {value!r} ({kind.__name__}); it may hold plain values and other records")

    def _derived(self, kind: type) -> int | None:
        """The number of the nearest class that this one is derived from."""
        found = next((self._numbers[base] for base in kind.__mro__ if base in self._numbers), None)
        self._numbers[kind] = found
        return found

    def _place(self, value: Any, table: int) -> tuple[int, int]:
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (table, len(self.rows[table]))
            self._kept.append(value)
            self.rows[table].append([])
            self._waiting.append((value, *known))
        return known

    def finish(self) -> None:
        """Write the rows of everything that was pointed at, and of what those point at."""
        while self._waiting:
            value, table, row = self._waiting.pop()
            self.rows[table][row] = [self.plain(getattr(value, name)) for name in self.fields[table]]


def fields_of(kind: type) -> list[str]:
    """What is kept of a class: what it says itself, or its fields or slots but those with an underscore."""
    said = getattr(kind, "__record__", None) or getattr(kind, "__struct_fields__", None)
    if said is not None:
        return list(said)
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    every = [name for base in reversed(kind.__mro__) for name in getattr(base, "__slots__", ())]
    return [name for name in every if not name.startswith("_")]


def encode(root: Any, classes: Sequence[type], version: int = 1) -> bytes:
    """The bytes of a value and of all records it leads to; `classes` are those that may be pointed at."""
    writer = _Writer(classes)
    plain = writer.plain(root)
    writer.finish()
    rows = zip(classes, writer.fields, writer.rows, strict=True)
    return msgspec.msgpack.encode(
        _Document(version, [_Table(kind.__name__, fields, found) for kind, fields, found in rows], plain)
    )


def decode(data: bytes, classes: Iterable[type]) -> Any:
    """What `encode` was given; raises `StepscopeError` where the bytes are not its own."""
    kinds = {kind.__name__: kind for kind in classes}
    try:
        document = msgspec.msgpack.decode(data, type=_Document, ext_hook=msgspec.msgpack.Ext)
        objects = [
            [_blank(kinds.get(table.name), table.fields, row) for row in table.rows] for table in document.tables
        ]
        for table, made in zip(document.tables, objects, strict=True):
            known = _settable(kinds.get(table.name))
            for row, one in zip(table.rows, made, strict=True):
                for name, value in zip(table.fields, row, strict=True):
                    if name in known:
                        setattr(one, name, _filled(value, objects))
        return _filled(document.root, objects)
    except (msgspec.MsgspecError, ValueError, IndexError, TypeError) as error:
        raise StepscopeError(f"these are no records: {error}") from None


def _settable(kind: type | None) -> set[str]:
    return set() if kind is None or issubclass(kind, msgspec.Struct) else set(fields_of(kind))


def _blank(kind: type | None, fields: list[str], row: list[Any]) -> Any:
    """An object whose fields are filled in later, when all are there; one of plain values at once."""
    if kind is None:
        return None
    if issubclass(kind, msgspec.Struct):
        known = kind.__struct_fields__
        return kind(**{name: _filled(one, []) for name, one in zip(fields, row, strict=True) if name in known})
    made = kind.__new__(kind)
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        if field.default_factory is not dataclasses.MISSING:
            setattr(made, field.name, field.default_factory())
        elif field.default is not dataclasses.MISSING:
            setattr(made, field.name, field.default)
    return made


def _filled(value: Any, objects: list[list[Any]]) -> Any:
    if isinstance(value, msgspec.msgpack.Ext):
        if value.code == _POINTER:
            table, row = _pointer.decode(value.data)
            return objects[table][row]
        if value.code == _WIDE:
            return int(value.data)
        inner = _filled(msgspec.msgpack.decode(value.data, ext_hook=msgspec.msgpack.Ext), objects)
        return tuple(inner) if value.code == _TUPLE else set(inner) if value.code == _SET else dict(inner)
    if isinstance(value, list):
        return [_filled(one, objects) for one in value]
    if isinstance(value, dict):
        return {_filled(key, objects): _filled(one, objects) for key, one in value.items()}
    return value
