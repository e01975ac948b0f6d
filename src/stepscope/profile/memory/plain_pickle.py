"""Reads pickles that hold plain data and nothing else: no classes, no functions, nothing that runs.

A memory snapshot is passed around as a pickle, and Python's own reader runs whatever a pickle tells it to. This one
knows the instructions for dictionaries, lists, tuples, text, bytes and numbers; at any other it stops. It keeps no
table that a file could make huge by naming a large place in it, and it counts what it makes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from stepscope.errors import BadData

_MOST_OBJECTS = 50_000_000

_RUNS_CODE = {
    b"c": "GLOBAL", b"R": "REDUCE", b"b": "BUILD", b"i": "INST", b"o": "OBJ", b"\x81": "NEWOBJ", b"\x92": "NEWOBJ_EX",
    b"\x93": "STACK_GLOBAL", b"P": "PERSID", b"Q": "BINPERSID", b"\x82": "EXT1", b"\x83": "EXT2", b"\x84": "EXT4",
}  # fmt: skip


class _Mark:
    """Where a collection begins on the stack."""


_MARK = _Mark()


class _Reader:
    """The machine a pickle is a program for, without the instructions that call anything."""

    def __init__(self, data: bytes, name: str, most: int) -> None:
        self.data, self.name, self.most = data, name, most
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        data, do, made = self.data, _INSTRUCTIONS, 0
        while True:
            made += 1
            if made > self.most:
                raise BadData(f"{self.name} holds more than {self.most:,} objects, too many for a memory snapshot")
            code = data[self.at : self.at + 1]
            self.at += 1
            if code == b".":
                if len(self.stack) != 1 or self.stack[0] is _MARK:
                    raise self.bad("it ends in the middle")
                return self.stack[0]
            step = do.get(code)
            if step is None:
                raise self.refused(code)
            step(self)

    def bad(self, why: str) -> BadData:
        return BadData(f"{self.name} is damaged: {why}, at byte {self.at:,}")

    def refused(self, code: bytes) -> BadData:
        if not code:
            return self.bad("it ends before its last instruction")
        if code in _RUNS_CODE:
            return BadData(
                f"{self.name} is not a plain snapshot: "
                f"it would call code ({_RUNS_CODE[code]} at byte {self.at - 1:,}). "
                "It was not opened. torch.cuda.memory._dump_snapshot() writes one without."
            )
        return BadData(
            f"{self.name} is not a memory snapshot: byte {self.at - 1:,} is {code!r}, which plain data never has"
        )

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise self.bad(f"{size:,} bytes should follow, {len(self.data) - self.at:,} do")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def number(self, form: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def top(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise self.bad("something is missing")
        return self.stack[-1]

    def pop(self) -> Any:
        value = self.top()
        self.stack.pop()
        return value

    def since_mark(self) -> list[Any]:
        stack = self.stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is _MARK:
                found = stack[i + 1 :]
                del stack[i:]
                return found
        raise self.bad("a collection ends that never began")

    # -- collections ----------------------------------------------------------------------------------------------

    def append(self, values: list[Any]) -> None:
        target = self.top()
        if type(target) is not list:
            raise self.bad("something is added to what is not a list")
        target.extend(values)

    def set_items(self, values: list[Any]) -> None:
        target = self.top()
        if type(target) is not dict or len(values) % 2:
            raise self.bad("something is set in what is not a dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if type(key) is not str:  # numbers could be chosen to collide, and snapshots have none
                raise self.bad(f"a key is {type(key).__name__}, not text")
            target[key] = value

    def recall(self, place: int) -> None:
        if place not in self.memo:
            raise self.bad(f"place {place} was never filled")
        self.stack.append(self.memo[place])

    def tuple_of(self, size: int) -> None:
        values = [self.pop() for _ in range(size)]
        self.stack.append(tuple(reversed(values)))

    def text(self, size: int) -> None:
        try:
            self.stack.append(self.take(size).decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            raise self.bad("text is not UTF-8") from None

    def long(self, size: int) -> None:
        if size > 64:
            raise self.bad(f"a number of {size:,} bytes")
        self.stack.append(int.from_bytes(self.take(size), "little", signed=True))

    def two(self) -> list[Any]:
        value, key = self.pop(), self.pop()
        return [key, value]


_INSTRUCTIONS: dict[bytes, Callable[[_Reader], object]] = {
    b"h": lambda r: r.recall(r.take(1)[0]),
    b"j": lambda r: r.recall(r.number("<I")),
    b"\x94": lambda r: r.memo.__setitem__(len(r.memo), r.top()),
    b"q": lambda r: r.memo.__setitem__(r.take(1)[0], r.top()),
    b"r": lambda r: r.memo.__setitem__(r.number("<I"), r.top()),
    b"K": lambda r: r.push(r.take(1)[0]),
    b"M": lambda r: r.push(r.number("<H")),
    b"J": lambda r: r.push(r.number("<i")),
    b"\x8a": lambda r: r.long(r.take(1)[0]),
    b"\x8b": lambda r: r.long(r.number("<i")),
    b"G": lambda r: r.push(struct.unpack(">d", r.take(8))[0]),
    b"N": lambda r: r.push(None),
    b"\x88": lambda r: r.push(True),
    b"\x89": lambda r: r.push(False),
    b"\x8c": lambda r: r.text(r.take(1)[0]),
    b"X": lambda r: r.text(r.number("<I")),
    b"\x8d": lambda r: r.text(r.number("<Q")),
    b"C": lambda r: r.push(r.take(r.take(1)[0])),
    b"B": lambda r: r.push(r.take(r.number("<I"))),
    b"\x8e": lambda r: r.push(r.take(r.number("<Q"))),
    b"}": lambda r: r.push({}),
    b"]": lambda r: r.push([]),
    b")": lambda r: r.push(()),
    b"(": lambda r: r.push(_MARK),
    b"u": lambda r: r.set_items(r.since_mark()),
    b"s": lambda r: r.set_items(r.two()),
    b"e": lambda r: r.append(r.since_mark()),
    b"a": lambda r: r.append([r.pop()]),
    b"t": lambda r: r.push(tuple(r.since_mark())),
    b"\x85": lambda r: r.tuple_of(1),
    b"\x86": lambda r: r.tuple_of(2),
    b"\x87": lambda r: r.tuple_of(3),
    b"0": lambda r: r.stack.pop() if r.stack else r.top(),
    b"1": lambda r: r.since_mark(),
    b"\x80": lambda r: r.take(1),
    b"\x95": lambda r: r.take(8),
}


def read_plain_pickle(data: bytes, name: str = "the pickle", most: int = _MOST_OBJECTS) -> Any:
    """The data in a pickle.

    >>> import pickle
    >>> read_plain_pickle(pickle.dumps({"segments": [1, 2.5, None, "x"]}))
    {'segments': [1, 2.5, None, 'x']}
    """
    return _Reader(data, name, most).run()
