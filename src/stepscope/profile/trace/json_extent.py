"""Where a JSON value ends, in bytes that may end before it does."""

from __future__ import annotations

import re

from stepscope.profile.trace.scanning import Status

_BLANK = re.compile(rb"[ \t\n\r]*")
_PLAIN = rb'[^"\\\x00-\x1f]*'
_BODY = _PLAIN + rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})' + _PLAIN + rb")*"
_STRING = re.compile(rb'"' + _BODY + rb'"')
_HALF_STRING = re.compile(rb'"' + _BODY + rb"(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=[^0-9.eE+\-]|[+\-])")
_HALF_NUMBER = re.compile(rb"-?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)?\Z")
_WORDS = (b"true", b"false", b"null")
_CLOSER = {b"{": b"}", b"[": b"]"}
_DEEPEST = 900


def _scalar(data: bytes, at: int) -> tuple[Status, int]:
    first = data[at : at + 1]
    if first == b'"':
        whole, half = _STRING, _HALF_STRING
    elif first.isdigit() or first == b"-":
        whole, half = _NUMBER, _HALF_NUMBER
    else:
        for word in _WORDS:
            if data.startswith(word, at):
                return Status.OK, at + len(word)
            if len(data) - at < len(word) and word.startswith(data[at:]):
                return Status.MORE, at
        return Status.BAD, at
    found = whole.match(data, at)
    if found is not None:
        return Status.OK, found.end()
    return (Status.MORE if half.match(data, at) else Status.BAD), at


def _blank(data: bytes, at: int) -> int:
    found = _BLANK.match(data, at)
    return at if found is None else found.end()


def member_start(data: bytes, at: int) -> tuple[Status, bytes, int]:
    """Of a member of an object: its key as it is written, and where its value begins."""
    if data[at : at + 1] != b'"':
        return (Status.BAD if at < len(data) else Status.MORE), b"", at
    status, end = _scalar(data, at)
    if status is not Status.OK:
        return status, b"", at
    colon = _blank(data, end)
    if colon >= len(data):
        return Status.MORE, b"", at
    if data[colon] != ord(":"):
        return Status.BAD, b"", at
    value = _blank(data, colon + 1)
    return (Status.OK if value < len(data) else Status.MORE), data[at:end], value


def value_end(data: bytes, at: int) -> tuple[Status, int]:
    """OK and where the value ends; MORE when the bytes end first; BAD when it is no JSON.

    >>> value_end(b'{"a": [1, "]"]}, {', 0)
    (<Status.OK: 0>, 15)
    """
    if data[at : at + 1] not in _CLOSER:
        return _scalar(data, at)
    closers: list[bytes] = []
    is_empty = False  # the innermost object or list, so far
    while True:
        at = _blank(data, at)
        if at >= len(data):
            return Status.MORE, at
        if not (is_empty and data[at : at + 1] == closers[-1]):
            if closers and closers[-1] == b"}":
                status, _, at = member_start(data, at)
                if status is not Status.OK:
                    return status, at
            char = data[at : at + 1]
            if char in _CLOSER:
                if len(closers) >= _DEEPEST:
                    return Status.BAD, at
                closers.append(_CLOSER[char])
                at, is_empty = at + 1, True
                continue
            status, at = _scalar(data, at)
            if status is not Status.OK:
                return status, at
        status, at = _after_value(data, at, closers)
        if status is not Status.OK or not closers:
            return status, at
        is_empty = False


def _after_value(data: bytes, at: int, closers: list[bytes]) -> tuple[Status, int]:
    """Closes what ends here, up to the comma before the next value or the end of the outermost value."""
    while True:
        at = _blank(data, at)
        if at >= len(data):
            return Status.MORE, at
        char = data[at : at + 1]
        at += 1
        if char == closers[-1]:
            closers.pop()
            if not closers:
                return Status.OK, at
        elif char == b",":
            return Status.OK, at
        else:
            return Status.BAD, at - 1
