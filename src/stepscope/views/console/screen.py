"""Terminal emulation for lines: which earlier line each overwrites, and which lines form a traceback."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|.)?", re.S)
_UP = re.compile(r"\x1b\[(\d{0,4})[AF]")
_KEPT_ROWS = 200
_LONGEST_TRACE = 2000
TRACEBACK = "Traceback (most recent call last)"
_GOES_ON = (" ", "\t", "|", "+", "│", "╭", "╰", "┃", "┏", "┗", "❱")
"""Prefixes of traceback lines, plain or in a box."""


def last_form(line: str) -> str:
    """What a line shows after its carriage returns: the last text written."""
    if "\r" not in line:
        return line
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def plain_line(line: str) -> str:
    """The line without colors and other escapes, for searching.

    >>> plain_line("\\x1b[1;31merror\\x1b[0m: out of memory")
    'error: out of memory'
    """
    return _ESCAPES.sub("", line) if "\x1b" in line else line


class Screen:
    """The last rows of one stream. A progress bar rewrites its row; nested bars move up and rewrite several."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._cursor = 0
        self._open = False

    def plain(self, first: int, count: int) -> bool:
        """Add `count` finished lines at once if nothing can be overwritten; otherwise return False."""
        if self._open or self._cursor != len(self._rows):
            return False
        self._rows = [*self._rows, *range(max(first, first + count - _KEPT_ROWS), first + count)][-_KEPT_ROWS:]
        self._cursor = len(self._rows)
        return True

    def begin(self, rewrite: bool) -> None:
        """Start a new piece: unless it rewrites an unfinished line, that line becomes final."""
        if self._open and not rewrite:
            self._cursor += 1
        self._open = False

    def write(self, number: int, text: str, ended: bool) -> int | None:
        """Add one line; returns the number of the line it replaces, or its own if it only moves the cursor."""
        gone: int | None = None
        if self._cursor >= len(self._rows):
            self._rows.append(number)
            self._cursor = len(self._rows) - 1
        elif plain_line(text).strip():
            gone, self._rows[self._cursor] = self._rows[self._cursor], number
        else:
            gone = number
        if "\x1b" in text:
            self._cursor = max(0, self._cursor - sum(int(move or 1) for move in _UP.findall(text)))
        self._open = not ended
        self._cursor += ended
        if len(self._rows) > 2 * _KEPT_ROWS:
            cut = min(len(self._rows) - _KEPT_ROWS, self._cursor)
            del self._rows[:cut]
            self._cursor -= cut
        return gone


def moves_up(text: str) -> bool:
    """Whether a piece moves the cursor up, so that its lines must be handled one by one."""
    return "\x1b[" in text and _UP.search(text) is not None


@dataclass
class ErrorLines:
    """A traceback among the lines."""

    first: int
    last: int
    text: str
    """The exception, in one line."""


@dataclass
class TracebackWatch:
    """Follows one stream and records where tracebacks begin and end."""

    found: list[ErrorLines] = field(default_factory=list)
    _first: int | None = None

    def wants(self, text: str) -> bool:
        return self._first is not None or TRACEBACK in text

    def line(self, number: int, text: str) -> None:
        shown = plain_line(last_form(text))
        if TRACEBACK in shown:
            self._first = number
        elif self._first is not None and shown.strip() and not shown.startswith(_GOES_ON):
            self.found.append(ErrorLines(self._first, number, shown.strip()[:500]))
            self._first = None
        elif self._first is not None and number - self._first > _LONGEST_TRACE:
            self._first = None
