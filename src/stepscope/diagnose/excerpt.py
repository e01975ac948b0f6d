"""The lines of source around a finding: taken when it is found, so that it reads the same later and elsewhere."""

from __future__ import annotations

import io
import linecache
import os
import stat
import tokenize
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from stepscope.records import Finding, Related

BEFORE, AFTER = 3, 2
"""How many lines are kept on each side; the terminal shows one of them, the browser all."""
MAX_LINE = 2_000
"""Letters kept of one line: generated code has lines of megabytes."""
MAX_FILE_BYTES = 16 << 20

Region = tuple[int, int]
"""From one letter to (not including) another, on one line."""


def lines_of(file: str) -> list[str]:
    """The lines of a source file, or of a notebook cell; nothing where there is none to read."""
    try:
        about = os.stat(file)
    except ValueError:  # a NUL in it: no path at all
        return []
    except OSError:  # a cell or a zipped module has no file of its own; linecache may know its text all the same
        return linecache.getlines(file)
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_FILE_BYTES:
        return []
    return linecache.getlines(file)


def with_source(
    finding: Finding, *, began: float | None = None, lines: Callable[[str], list[str] | None] = lambda file: None
) -> Finding:
    """The finding with the lines around it, and those around its related places, written into it.

    Columns arrive as Python counts them, in bytes of UTF-8, and leave as letters. `began` is when the script was read:
    a file edited after that is marked, because its lines may not be the ones that ran. A finding that has its lines
    already is returned as it is. `lines` gives those of a file where they are at hand, as a run has kept them.
    """
    if finding.file is None or finding.line is None or finding.source:
        return finding
    kept = lines(finding.file)
    found = lines_of(finding.file) if kept is None else kept
    source = lines_around(found, finding.line, BEFORE, AFTER)
    text = found[finding.line - 1] if source and finding.line <= len(found) else ""
    return replace(
        finding,
        source=source,
        source_changed=finding.source_changed or (kept is None and _is_newer(finding.file, began)),
        column=_letters(text, finding.column),
        end_column=_letters(text, finding.end_column),
        related=[_related_source(one, lines) for one in finding.related],
    )


def _related_source(one: Related, lines: Callable[[str], list[str] | None]) -> Related:
    kept = lines(one.file)
    found = lines_of(one.file) if kept is None else kept
    return one if one.source else replace(one, source=lines_around(found, one.line, 1, 0))


def _is_newer(file: str, began: float | None) -> bool:
    if began is None:
        return False
    try:
        return os.path.getmtime(file) > began
    except (OSError, ValueError):
        return False


def lines_around(lines: Sequence[str], line: int, before: int, after: int) -> list[tuple[int, str]]:
    """The numbered lines around one, without blank ones at either edge."""
    if not 1 <= line <= len(lines):
        return []
    first, last = max(1, line - before), min(len(lines), line + after)
    found = [(at, lines[at - 1].rstrip("\r\n\f")[:MAX_LINE]) for at in range(first, last + 1)]
    while found[0][0] < line and not found[0][1].strip():
        del found[0]
    while found[-1][0] > line and not found[-1][1].strip():
        del found[-1]
    return found


def _letters(text: str, column: int | None) -> int | None:
    """A column in bytes as one in letters.

    >>> _letters("x = '漢' + y", 11), _letters("x = y", 4), _letters("", 3)
    (9, 4, 3)
    """
    if column is None or not text or text.isascii():
        return column
    return len(text.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))


def code_span(text: str, column: int | None = None, end_column: int | None = None) -> Region:
    """What to underline: the expression where it is known, else the statement without its indent and its comment.

    >>> code_span("    loss.backward()  # go"), code_span("    loss.backward()", 4, 8), code_span("f(a,", 2)
    ((4, 19), (4, 8), (2, 4))
    """
    code_end = len(text.rstrip())
    comment = _comment_start(text)
    if comment is not None and text[:comment].strip():
        code_end = len(text[:comment].rstrip())
    if column is None or not 0 <= column < max(code_end, 1):
        return len(text) - len(text.lstrip()), code_end
    if end_column is None or end_column <= column:
        return column, code_end
    return column, min(end_column, len(text))


def _comment_start(text: str) -> int | None:
    if "#" not in text:
        return None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip() + "\n").readline):
            if token.type == tokenize.COMMENT:
                return token.start[1] + len(text) - len(text.lstrip())
    except (tokenize.TokenError, SyntaxError):
        pass  # one line of a longer statement; what came before its end was read all the same
    return None
