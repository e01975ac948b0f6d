"""The *Console* of a run: pages of lines from any number, found by number, step, text or pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from stepscope.errors import NotFound, UsageError
from stepscope.runs.read.folder import RunFolder
from stepscope.views.console.index import ConsoleIndex, LineFilter, Numbers
from stepscope.views.console.screen import ErrorLines, plain_line
from stepscope.views.context import Context
from stepscope.views.route import Download, route

MAX_WINDOW = 1000
MAX_TEXT = 4000
"""Maximum characters of a line in a page; `POST /api/console/copy` returns all of it."""
MAX_COPIED = 4 << 20
MAX_ERRORS = 100
MAX_PATTERN = 1000
SEARCH_S = 0.4
_DOWNLOAD_LINES = 2000


class ConsoleRequest(msgspec.Struct):
    """Some of the rows that match the filters."""

    run: str
    start: int = 0
    """The first row wanted; negative counts from the end."""
    count: int = 200
    rank: int | None = None
    stream: Literal["", "stdout", "stderr"] = ""
    rewrites: bool = False
    """Also earlier versions of lines that a progress bar overwrote."""
    search: str = ""
    regex: bool = False
    only: bool = False
    """Hide lines that do not match the search."""


class ConsoleLine(msgspec.Struct, omit_defaults=True):
    number: int
    """The number among all lines of the run, independent of filters, so that links stay valid."""
    text: str
    time: float
    """Unix seconds."""
    step: int | None = None
    rank: int = 0
    stderr: bool = False
    match: bool = False
    rewritten: bool = False
    """An overwritten version of a line."""
    cut: int = 0
    """Number of characters cut off at its end."""


class ConsoleError(msgspec.Struct):
    """A traceback among the lines."""

    first: int
    last: int
    """Numbers of its lines."""
    text: str
    step: int | None = None
    rank: int = 0


class ConsoleWindow(msgspec.Struct):
    start: int
    lines: list[ConsoleLine]
    rows: int
    """Number of lines that match these filters."""
    total: int
    """Number of lines printed, overwritten ones included."""
    rewritten: int
    """Number of overwritten lines."""
    matches: int
    searched: int
    """The line up to which the search has progressed; ask again until it is `total`."""
    ranks: list[int]
    streams: list[str]
    steps: bool
    """Whether any line has a step."""
    errors: list[ConsoleError]
    """The newest ones, oldest first."""
    error_count: int
    built: int
    """If this changes, files were replaced and all lines may have new numbers."""


@route("POST", "/api/console")
def console(ctx: Context, request: ConsoleRequest) -> ConsoleWindow:
    """A page of lines and its context."""
    index = ctx.consoles.of(ctx.runs.get(request.run))
    with index.lock:
        seen = _Seen.by(index, request)
        rows = seen.rows
        start = max(0, len(rows) + request.start) if request.start < 0 else min(request.start, len(rows))
        wanted = rows[start : start + max(0, min(request.count, MAX_WINDOW))].tolist()
        errors = index.errors()
        return ConsoleWindow(
            start=start,
            lines=[_line(index, number, seen) for number in wanted],
            rows=len(rows),
            total=len(index),
            rewritten=index.rewritten,
            matches=len(seen.matches),
            searched=seen.searched,
            ranks=index.ranks,
            streams=index.streams,
            steps=index.has_steps,
            errors=[_error(index, one) for one in errors[-MAX_ERRORS:]],
            error_count=len(errors),
            built=index.built,
        )


@dataclass
class _Seen:
    """The rows a request refers to."""

    rows: Numbers
    matches: Numbers
    """Rows that match the search."""
    searched: int

    @classmethod
    def by(cls, index: ConsoleIndex, request: ConsoleRequest | ConsoleFindRequest) -> _Seen:
        rows = index.rows(LineFilter(request.rank, request.stream, request.rewrites))
        if not request.search:
            return cls(rows, np.empty(0, np.int64), len(index))
        if len(request.search) > MAX_PATTERN:
            raise UsageError(f"a search of {len(request.search):,} characters; expected up to {MAX_PATTERN:,}")
        search = index.search(request.search, request.regex)
        searched = search.advance(index, SEARCH_S)
        matches = search.among(rows)
        if request.only:
            rows = rows[matches]
            matches = np.arange(len(rows))
        return cls(rows, matches, searched)

    def is_match(self, number: int) -> bool:
        at = np.searchsorted(self.rows, number)
        place = np.searchsorted(self.matches, at)
        return bool(place < len(self.matches) and self.matches[place] == at)


def _line(index: ConsoleIndex, number: int, seen: _Seen) -> ConsoleLine:
    piece = index.pieces[index.piece_of(number)]
    text = index.text(number)
    return ConsoleLine(
        number=number,
        text=text[:MAX_TEXT],
        time=piece.time,
        step=piece.step,
        rank=index.rank_of(number),
        stderr=piece.stream == "stderr",
        match=seen.is_match(number),
        rewritten=index.is_hidden(number),
        cut=max(0, len(text) - MAX_TEXT),
    )


def _error(index: ConsoleIndex, one: ErrorLines) -> ConsoleError:
    step = index.pieces[index.piece_of(one.last)].step
    return ConsoleError(first=one.first, last=one.last, text=one.text, step=step, rank=index.rank_of(one.last))


class ConsoleFindRequest(msgspec.Struct):
    """A position among the rows that match the filters."""

    run: str
    what: Literal["next", "previous", "line", "step"]
    """next, previous: a match after or before `row` · line, step: that number, or the nearest after it."""
    row: int = -1
    number: int = 0
    rank: int | None = None
    stream: Literal["", "stdout", "stderr"] = ""
    rewrites: bool = False
    search: str = ""
    regex: bool = False
    only: bool = False


class ConsoleFound(msgspec.Struct):
    row: int | None
    """None: none exists, or not found yet."""
    number: int | None = None
    """The line's number."""
    nth: int = 0
    """For a match: its index among the matches, from 1."""
    matches: int = 0
    more: bool = False
    """The search has not covered all lines yet; ask again."""


@route("POST", "/api/console/find")
def console_find(ctx: Context, request: ConsoleFindRequest) -> ConsoleFound:
    """The row of a line, a step, or the next match."""
    index = ctx.consoles.of(ctx.runs.get(request.run))
    with index.lock:
        seen = _Seen.by(index, request)
        more = seen.searched < len(index)
        if not len(seen.rows):
            return ConsoleFound(row=None, more=more)
        if request.what == "line":
            row: int | None = index.row_of_line(seen.rows, request.number)
        elif request.what == "step":
            row = index.row_of_step(seen.rows, request.number)
        else:
            return _match(seen, request, more)
        number = None if row is None else int(seen.rows[row])
        return ConsoleFound(row=row, number=number, matches=len(seen.matches), more=more)


def _match(seen: _Seen, request: ConsoleFindRequest, more: bool) -> ConsoleFound:
    """The match after or before a row, wrapping around at the end."""
    matches = seen.matches
    if not len(matches):
        return ConsoleFound(row=None, more=more)
    if request.what == "next":
        at = int(np.searchsorted(matches, request.row, side="right")) % len(matches)
    else:
        at = (int(np.searchsorted(matches, request.row)) - 1) % len(matches)
    row = int(matches[at])
    return ConsoleFound(row=row, number=int(seen.rows[row]), nth=at + 1, matches=len(matches), more=more)


class ConsoleCopyRequest(msgspec.Struct):
    """Complete lines from one number to another, both included."""

    run: str
    first: int
    last: int
    rank: int | None = None
    stream: Literal["", "stdout", "stderr"] = ""
    rewrites: bool = False


class ConsoleCopy(msgspec.Struct):
    text: str
    """Without colors."""
    lines: int
    cut: bool = False
    """The text was truncated."""


@route("POST", "/api/console/copy")
def console_copy(ctx: Context, request: ConsoleCopyRequest) -> ConsoleCopy:
    """Lines as plain text, for the clipboard."""
    index = ctx.consoles.of(ctx.runs.get(request.run))
    with index.lock:
        rows = index.rows(LineFilter(request.rank, request.stream, request.rewrites))
        low, high = np.searchsorted(rows, [request.first, request.last + 1])
        if low >= high:
            asked = f"{request.first:,} to {request.last:,}"
            raise NotFound(f"no line from {asked} matches these filters; the run has {len(index):,}")
        taken: list[str] = []
        size = 0
        for number in rows[low:high]:
            line = plain_line(index.text(int(number)))
            size += len(line) + 1
            if size > MAX_COPIED:
                break
            taken.append(line)
        return ConsoleCopy(text="\n".join(taken), lines=len(taken), cut=len(taken) < high - low)


class ConsoleTextRequest(msgspec.Struct):
    run: str
    rank: int | None = None
    stream: Literal["", "stdout", "stderr"] = ""
    rewrites: bool = False
    colours: bool = False
    """Keep the escapes, for `less -R`."""


@route("GET", "/api/console/text/{run}")
def console_text(ctx: Context, request: ConsoleTextRequest) -> Download:
    """The whole console output as a text file."""
    folder = ctx.runs.get(request.run)
    index = ctx.consoles.of(folder)
    with index.lock:
        rows = index.rows(LineFilter(request.rank, request.stream, request.rewrites))
    pieces = _text_of(index, rows, index.built, request.colours)
    return Download("text/plain", pieces=pieces, filename=f"{_file_name(folder)}-console.txt")


def _text_of(index: ConsoleIndex, rows: Numbers, built: int, colours: bool) -> Iterator[bytes]:
    for at in range(0, len(rows), _DOWNLOAD_LINES):
        with index.lock:
            if index.built != built:
                yield b"[stepscope: the run's files were replaced meanwhile; download again for the rest]\n"
                return
            lines = [index.text(int(number)) for number in rows[at : at + _DOWNLOAD_LINES]]
        shown = lines if colours else [plain_line(line) for line in lines]
        yield ("\n".join(shown) + "\n").encode("utf-8", "replace")


def _file_name(folder: RunFolder) -> str:
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in folder.name)[:80].strip(".-")
    return safe or folder.id
