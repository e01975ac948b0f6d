"""Records that refer to each other, as bytes and back: every object once, however many references it has.

Objects of the given classes become rows of a table per class, and a reference becomes the class and the row. An
instance of a subclass is written as its base class: observers add live state in a subclass, which is not written.
Fields contain numbers, strings, None, and lists, tuples, sets and dicts of them. A field added since the bytes were
written gets its default; a removed one is ignored.

A training loop repeats itself step after step. To compress this well, a table is written column by column, references
to time-ordered objects (`__order__`) as offsets from the referrer, integers as differences, and clocks (`__clocks__`)
in microseconds.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter, sub
from typing import Any

import msgspec

from stepscope.errors import StepscopeError

_POINTER, _TUPLE, _SET, _WIDE, _MAP, _SAME, _STEPS, _CLOCK, _PLACE = 1, 2, 3, 4, 5, 6, 7, 8, 9
_packed = msgspec.msgpack.Encoder()
_way = struct.Struct(">i")
_Ext = msgspec.msgpack.Ext
_SHORTEST_TEXT = 8
_MOST_OBJECTS = 10_000_000
_VERSION = 1
_ATOMS = frozenset((bool, float, bytes))
_LEAVES = frozenset((bool, float, bytes, str, int))
_PLAIN = _LEAVES | {type(None)}
_WHOLE = {int}
_COMMON = {type(None), bool, int, str}
_AS_THEY_ARE = _ATOMS | {type(None)}
_NUMBERS = _AS_THEY_ARE - {bytes} | _WHOLE
_TEXTS = {str, type(None)}
_SEQUENCES = frozenset((list, tuple, deque, set, frozenset))


class _Table(msgspec.Struct, array_like=True):
    name: str
    count: int
    is_moving: bool
    fields: list[str]
    columns: list[Any]


class _Document(msgspec.Struct, array_like=True):
    version: int
    tables: list[_Table]
    root: Any


class _Writer:
    """Finds all objects first, so that those of one class can be written in order of creation."""

    def __init__(self, classes: Sequence[type], text: Callable[[str], str] | None, strict: bool) -> None:
        self._text, self._strict = text, strict
        self._texts: dict[str, str] = {}
        self._shapes: dict[tuple[Any, ...], Any] = {}
        self._ways: dict[int, Any] = {}
        self._numbers: dict[type, int | None] = {kind: number for number, kind in enumerate(classes)}
        self._orders = [getattr(kind, "__order__", None) for kind in classes]
        self.fields = [fields_of(kind) for kind in classes]
        self._getters = [_getter(fields) for fields in self.fields]
        self.found: list[list[tuple[Any, Sequence[Any]]]] = [[] for _ in classes]
        """By class: each object, and the values of its fields."""
        self._places: dict[int, int] = {}
        self._moving = 0
        """Objects before this index have an order in time: the offset to them is similar in every step."""
        self._fixed: dict[int, Any] = {}
        self.owner = 0

    def find(self, root: Any) -> None:
        """Number everything reachable from the root."""
        waiting, seen = [root], {0}
        while waiting:
            value = waiting.pop()
            kind = type(value)
            within: Iterable[Any] = ()
            if kind in _SEQUENCES:
                within = value
            elif kind is dict:
                within = itertools.chain(value.values(), value)
            elif id(value) not in seen:
                number = self._numbers.get(kind) if kind in self._numbers else self._derived(kind)
                if number is not None:
                    seen.add(id(value))
                    within = self._values(value, number)
                    self.found[number].append((value, within))
            waiting += [one for one in within if type(one) not in _PLAIN]
        for those, order in zip(self.found, self._orders, strict=True):
            if order is not None:
                those.sort(key=partial(_order_of, order))
                self._number(those)
        self._moving = len(self._places)
        for those, order in zip(self.found, self._orders, strict=True):
            if order is None:
                self._number(those)
        self._fixed = {place: _Ext(_PLACE, _way.pack(place)) for place in range(self._moving, len(self._places))}

    def _values(self, value: Any, number: int) -> Sequence[Any]:
        try:
            return self._getters[number](value)
        except AttributeError:  # created by code that does not set all of its fields
            return [getattr(value, name, None) for name in self.fields[number]]

    def _number(self, those: list[tuple[Any, Sequence[Any]]]) -> None:
        for value, _ in those:
            self._places[id(value)] = len(self._places)

    def columns(self, table: int) -> list[list[Any]]:
        """The fields of all objects of one class."""
        those = self.found[table]
        owners = [self._places[id(value)] for value, _ in those]
        return [self._column(column, owners) for column in zip(*(values for _, values in those), strict=True)]

    def _column(self, column: Sequence[Any], owners: list[int]) -> list[Any]:
        """One field of all objects of a class. Most columns have one type of value, which is fast."""
        kinds = set(map(type, column))
        if kinds <= _AS_THEY_ARE:
            return list(column)
        if kinds <= _NUMBERS and _are_within(column, -(2**63), 2**64 - 1):
            return list(column)
        if kinds <= _TEXTS:
            known = {text: self.plain(text) for text in set(column)}
            return [known[text] for text in column]
        found = []
        for self.owner, value in zip(owners, column, strict=True):
            found.append(self.plain(value))
        return found

    def plain(self, value: Any) -> Any:
        """A value with references instead of objects."""
        kind = type(value)
        if value is None or kind in _ATOMS:
            return value
        if kind is str:
            return value if self._text is None or len(value) < _SHORTEST_TEXT else self._masked(value)
        if kind is int:
            return value if -(2**63) <= value < 2**64 else _Ext(_WIDE, str(value).encode())
        place = self._places.get(id(value))
        if place is not None:
            return self._pointer(place - self.owner) if place < self._moving else self._fixed[place]
        if kind is list or kind is deque:
            return [self.plain(one) for one in value]
        if kind is tuple:
            return self._tuple(value)
        if kind is dict:
            return self._mapping(value)
        if kind in (set, frozenset):
            return _Ext(_SET, _packed.encode([self.plain(one) for one in sorted(value, key=repr)]))
        if not self._strict:
            return None
        raise StepscopeError(f"a record holds {value!r} ({kind.__name__}); it may hold plain values and other records")

    def _mapping(self, value: dict[Any, Any]) -> Any:
        pairs = [(self.plain(key), self.plain(one)) for key, one in value.items()]
        if any(type(key) is _Ext for key, _ in pairs):  # msgpack has no such keys
            return _Ext(_MAP, _packed.encode(pairs))
        return dict(pairs)

    def _pointer(self, way: int) -> Any:
        known = self._ways.get(way)
        if known is None:
            known = self._ways[way] = _Ext(_POINTER, _way.pack(way))
        return known

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        """Shapes are the most common tuples, and few are distinct."""
        if set(map(type, value)) != _WHOLE:
            return _Ext(_TUPLE, _packed.encode([self.plain(one) for one in value]))
        known = self._shapes.get(value)
        if known is None:
            known = self._shapes[value] = _Ext(_TUPLE, _packed.encode([self.plain(one) for one in value]))
        return known

    def _masked(self, value: str) -> str:
        assert self._text is not None
        known = self._texts.get(value)
        if known is None:
            known = self._texts[value] = self._text(value)
        return known

    def _derived(self, kind: type) -> int | None:
        """The number of the nearest registered base class."""
        found = next((self._numbers[base] for base in kind.__mro__ if base in self._numbers), None)
        self._numbers[kind] = found
        return found


def _getter(fields: list[str]) -> Callable[[Any], Sequence[Any]]:
    if len(fields) > 1:
        return attrgetter(*fields)
    return lambda value: [getattr(value, name) for name in fields]


def _order_of(name: str, pair: tuple[Any, Sequence[Any]]) -> Any:
    return getattr(pair[0], name)


def _folded(column: list[Any], is_clock: bool) -> Any:
    """A compressed column: one common value, or differences of integers."""
    first = column[0]
    kinds = set(map(type, column))
    if len(column) > 1 and kinds <= _COMMON and len(kinds) == 1 and column.count(first) == len(column):
        return _Ext(_SAME, _packed.encode(first))
    if is_clock and kinds == {float} and all(-1e12 < value < 1e12 for value in column):
        return _Ext(_CLOCK, _packed.encode(_steps([round(value * 1e6) for value in column])))
    if len(column) > 2 and kinds == _WHOLE and _are_within(column, 1 - 2**62, 2**62 - 1):
        return _Ext(_STEPS, _packed.encode(_steps(column)))
    return column


def _unfolded(column: Any, count: int) -> list[Any]:
    if not isinstance(column, _Ext):
        return list(column)
    value = msgspec.msgpack.decode(column.data, ext_hook=_Ext)
    if column.code == _SAME:
        return [value] * count
    numbers = list(itertools.accumulate(value))
    return [number / 1e6 for number in numbers] if column.code == _CLOCK else numbers


def _steps(numbers: list[int]) -> list[int]:
    return [numbers[0], *map(sub, itertools.islice(numbers, 1, None), numbers)] if numbers else []


def _are_within(column: Sequence[Any], lowest: int, highest: int) -> bool:
    """Whether all whole numbers of a column, which has no other values than numbers and None, are in this range."""
    whole = [one for one in column if type(one) is int]
    return not whole or (min(whole) >= lowest and max(whole) <= highest)


def fields_of(kind: type) -> list[str]:
    """The stored fields of a class: those it lists itself, or its fields or slots without a leading underscore."""
    said = getattr(kind, "__record__", None) or getattr(kind, "__struct_fields__", None)
    if said is not None:
        return list(said)
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    every = [name for base in reversed(kind.__mro__) for name in getattr(base, "__slots__", ())]
    return [name for name in every if not name.startswith("_")]


def encode(
    root: Any, classes: Sequence[type], *, text: Callable[[str], str] | None = None, strict: bool = True
) -> bytes:
    """The bytes of a value and of all records reachable from it; `classes` are those that may be referenced.

    `text` is called for each longer string. A value that is neither plain nor a record is an error, or None if not
    `strict`.
    """
    writer = _Writer(classes, text, strict)
    writer.find(root)
    found = []
    for table, (kind, fields) in enumerate(zip(classes, writer.fields, strict=True)):
        clocks = getattr(kind, "__clocks__", ())
        columns = zip(fields, writer.columns(table), strict=False)
        those = [_folded(column, name in clocks) for name, column in columns]
        found.append(
            _Table(kind.__name__, len(writer.found[table]), hasattr(kind, "__order__"), fields if those else [], those)
        )
    writer.owner = 0
    return msgspec.msgpack.encode(_Document(_VERSION, found, writer.plain(root)))


def decode(data: bytes | memoryview, classes: Iterable[type]) -> Any:
    """The argument of `encode`; raises `StepscopeError` for other bytes."""
    kinds = {kind.__name__: kind for kind in classes}
    try:
        document = msgspec.msgpack.decode(data, type=_Document, ext_hook=_Ext)
        tables = sorted(document.tables, key=lambda table: not table.is_moving)
        objects: list[Any] = []
        unread: list[tuple[int, type, list[str], list[list[Any]]]] = []
        for table in tables:
            if not 0 <= table.count <= _MOST_OBJECTS - len(objects):
                raise ValueError(f"{table.count} objects in one table")
            columns = [_unfolded(column, table.count) for column in table.columns]
            kind = kinds.get(table.name)
            if kind is not None:
                unread.append((len(objects), kind, table.fields, columns))
            objects.extend(_blanks(kind, table.count, table.fields, columns))
        for first, kind, fields, columns in unread:
            _fill(objects, first, kind, fields, columns)
            _refuse_circles(objects[first : first + len(columns[0])] if columns else [], kind)
        return _filled(document.root, objects, 0)
    except (msgspec.MsgspecError, ValueError, IndexError, TypeError, struct.error) as error:
        raise StepscopeError(f"this is not a file of records: {error}") from None


def _fill(objects: list[Any], first: int, kind: type, fields: list[str], columns: list[list[Any]]) -> None:
    """Set the fields of one class's objects, as far as the current class still has them."""
    if issubclass(kind, msgspec.Struct):
        return
    known = set(fields_of(kind))
    for name, column in zip(fields, columns, strict=True):
        if name not in known:
            continue
        values = column
        if not _PLAIN.issuperset(map(type, column)):
            values = [_filled(value, objects, place) for place, value in enumerate(column, first)]
        those = objects[first : first + len(column)]
        slot = getattr(getattr(kind, name, None), "__set__", None)
        if slot is not None:
            deque(map(slot, those, values), maxlen=0)
        else:
            deque(map(setattr, those, itertools.repeat(name), values), maxlen=0)


def _refuse_circles(those: list[Any], kind: type) -> None:
    """An object created after another (`__after__`) cannot precede it: following the chain must terminate."""
    field = getattr(kind, "__after__", None)
    done: set[int] = set()
    for start in those if field is not None else ():
        way: list[tuple[Any, Iterator[Any]]] = []
        on_way: set[int] = set()
        following: Any = start
        while following is not None or way:
            if following is not None and id(following) not in done:
                if id(following) in on_way:
                    raise ValueError(f"{kind.__name__}: one comes before itself")
                on_way.add(id(following))
                before = getattr(following, str(field), None)
                several = before if isinstance(before, (tuple, list)) else (before,)
                way.append((following, iter([one for one in several if type(one) is kind])))
            following = None
            if way:
                one, rest = way[-1]
                following = next(rest, None)
                if following is None:
                    way.pop()
                    on_way.discard(id(one))
                    done.add(id(one))


def _blanks(kind: type | None, count: int, fields: list[str], columns: list[list[Any]]) -> list[Any]:
    """Objects whose fields are set later, once all exist; those of plain values at once."""
    if kind is None:
        return [None] * count
    if issubclass(kind, msgspec.Struct):
        rows = zip(*columns, strict=True)
        kept = set(kind.__struct_fields__)
        plain = [[_filled(one, [], 0) for one in row] for row in rows]
        return [kind(**{name: one for name, one in zip(fields, row, strict=True) if name in kept}) for row in plain]
    made = [kind.__new__(kind) for _ in range(count)]
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        if field.name not in fields:
            _set_default(made, field)
    return made


def _set_default(made: list[Any], field: dataclasses.Field[Any]) -> None:
    for one in made:
        if field.default_factory is not dataclasses.MISSING:
            setattr(one, field.name, field.default_factory())
        elif field.default is not dataclasses.MISSING:
            setattr(one, field.name, field.default)


def _filled(value: Any, objects: list[Any], place: int) -> Any:
    """A value with its references resolved, relative to the object at this index."""
    if isinstance(value, _Ext):
        if value.code == _POINTER:
            (way,) = _way.unpack(value.data)
            if place + way < 0:
                raise ValueError("a reference leads nowhere")
            return objects[place + way]
        if value.code == _PLACE:
            return objects[_way.unpack(value.data)[0]]
        if value.code == _WIDE:
            return int(value.data)
        inner = _filled(msgspec.msgpack.decode(value.data, ext_hook=_Ext), objects, place)
        return tuple(inner) if value.code == _TUPLE else set(inner) if value.code == _SET else dict(inner)
    if isinstance(value, list):
        return [_filled(one, objects, place) for one in value]
    if isinstance(value, dict):
        return {_filled(key, objects, place): _filled(one, objects, place) for key, one in value.items()}
    return value
