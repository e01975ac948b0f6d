"""Pieces of source text to replace, and the edit they make together: whole lines, checked to be Python."""

from __future__ import annotations

import ast
import difflib
import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.records import Edit, TextChange

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source, SourceFile

Position = tuple[int, int]
"""Line from 1 and column in bytes of UTF-8, as Python's trees count."""


@dataclass(frozen=True)
class Span:
    """From one position to (not including) another, replaced by a text."""

    file: SourceFile
    start: Position
    end: Position
    text: str


Plan = Callable[["Source"], "Sequence[Span] | None"]
"""What to replace, worked out from the source; None where the change would not be certain."""


def digest(text: str) -> str:
    """What a file is known by: of its text with one kind of line end and one at its end."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def written(plan: Plan, source: Source, label: str = "") -> Edit | None:
    """The edit a plan makes; None where it makes none, or what it makes is not Python."""
    spans = plan(source)
    if not spans:
        return None
    changes: list[TextChange] = []
    for file in {id(span.file): span.file for span in spans}.values():
        text = _replaced(file.text, [span for span in spans if span.file is file])
        if text is None or not _is_python(text):
            return None
        changes += _changed_lines(file, text)
    return Edit(changes=changes, label=label) if changes else None


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _replaced(text: str, spans: Sequence[Span]) -> str | None:
    """The text with all spans replaced; None where two of them overlap."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def at(position: Position) -> int:
        number, column = position
        if number > len(lines):
            return len(text)
        line = lines[number - 1]
        letters = column if line.isascii() else len(line.encode()[:column].decode("utf-8", "ignore"))
        return min(starts[number - 1] + letters, len(text))

    pieces = sorted(((at(span.start), at(span.end), number, span.text) for number, span in enumerate(spans)))
    if any(before[1] > after[0] for before, after in itertools.pairwise(pieces)):
        return None
    done, last = [], 0
    for start, end, _, new in pieces:
        done += [text[last:start], new]
        last = end
    return "".join([*done, text[last:]])


def _changed_lines(file: SourceFile, text: str) -> list[TextChange]:
    old, new = file.text.split("\n"), text.split("\n")
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    known = digest(file.text)
    return [
        TextChange(file=file.path, line=first + 1, old=old[first:last], new=new[begin:end], sha256=known)
        for kind, first, last, begin, end in matcher.get_opcodes()
        if kind != "equal"
    ]
