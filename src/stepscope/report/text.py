"""A report's text, split into its parts: front matter, Markdown, and fenced blocks that name a panel.

    ```stepscope chart
    key: train/loss
    smooth: ema:0.6
    ```

The page, the file and the command all split the text here. Nothing is lost: the pieces joined again are exactly the
text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

WORD = "stepscope"
"""The first word of a fence that makes its block a panel."""
UNTITLED = "Untitled report"
MAX_OPTIONS = 100
MAX_PANELS = 500
"""Blocks beyond this are shown as code: no page draws this many."""
MAX_FRONT_LINES = 200
MAX_TITLE = 200

# Lines are stripped before matching: a pattern for trailing spaces is very slow on a long line.
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)


@dataclass(frozen=True)
class Fault:
    """What is wrong on a line (from 0) of the whole text."""

    line: int
    text: str


@dataclass(frozen=True)
class Piece:
    """A range of lines. `line` is its first, `end` the one after its last, counted from 0 in the whole text."""

    kind: Literal["front", "markdown", "panel"]
    text: str
    line: int
    end: int
    panel: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class ReportText:
    """A parsed report."""

    text: str
    pieces: list[Piece]

    @property
    def front(self) -> dict[str, Any]:
        """The fields of the front matter: `title`, `runs` or `query`, `project`, `author`."""
        return self.pieces[0].options if self.pieces and self.pieces[0].kind == "front" else {}

    @property
    def faults(self) -> list[Fault]:
        return [fault for piece in self.pieces for fault in piece.faults]

    @property
    def title(self) -> str:
        """From the front matter, else the first heading."""
        said = str(self.front.get("title") or "").strip()
        return (said or self._heading() or UNTITLED)[:MAX_TITLE]

    def _heading(self) -> str:
        for piece in self.pieces:
            if piece.kind == "markdown":
                for line in piece.text.split("\n")[:1000]:
                    if line.startswith("# ") and (words := line[2:].strip().rstrip("#").strip()):
                        return words
        return ""


def cut(text: str) -> ReportText:
    r"""Split a text into pieces.

    >>> [(piece.kind, piece.panel, piece.options) for piece in cut("# Hi\n```stepscope chart\nkey: loss\n```\n").pieces]
    [('markdown', '', {}), ('panel', 'chart', {'key': 'loss'})]
    """
    lines = text.split("\n")
    start = _front_end(lines)
    pieces: list[Piece] = []
    if start:
        options, faults = _options(lines[1 : start - 1], 1)
        pieces.append(Piece("front", _joined(lines, 0, start), 0, start, "", options, tuple(faults)))
    for first, last, closed in islice(_panels(lines, start), MAX_PANELS):
        if first > start:
            pieces.append(Piece("markdown", _joined(lines, start, first), start, first))
        pieces.append(_panel(lines, first, last, closed))
        start = last
    if start < len(lines) and (lines[start:] != [""] or not pieces):
        pieces.append(Piece("markdown", _joined(lines, start, len(lines)), start, len(lines)))
    return ReportText(text, pieces)


def panel_text(panel: str, options: dict[str, Any]) -> str:
    """A panel's block as written by hand.

    >>> print(panel_text("chart", {"key": "train/loss", "log": True, "title": "12"}), end="")
    ```stepscope chart
    key: train/loss
    log: true
    title: "12"
    ```
    """
    lines = [f"{name}: {_spelled(value)}" for name, value in options.items() if value is not None]
    mark = fence("\n".join(lines))
    return "\n".join([f"{mark}{WORD} {panel}", *lines, mark, ""])


def fence(text: str) -> str:
    """A fence of backticks longer than any in the text."""
    return "`" * (1 + max([2, *(len(run) for run in re.findall(r"`{3,}", text))]))


def _spelled(value: Any) -> str:
    """A value that reads back as itself: bare text if possible, JSON otherwise."""
    if isinstance(value, str) and value == value.strip() and value and _value(value) == value and "\n" not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _front_end(lines: Sequence[str]) -> int:
    """The line after the front matter; 0 if there is none."""
    if lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:MAX_FRONT_LINES], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
    return 0


def _panels(lines: Sequence[str], start: int) -> Iterator[tuple[int, int, bool]]:
    """First line, line after the last, and whether it was closed, of each panel. Fences inside others are text."""
    number = start
    while number < len(lines):
        opened = _opening(lines[number])
        if opened is None:
            number += 1
            continue
        mark, words = opened
        end = next((at for at in range(number + 1, len(lines)) if _closes(lines[at], mark)), None)
        after = len(lines) if end is None else end + 1
        if words[:1] == [WORD]:
            yield number, after, end is not None
        number = after


def _opening(line: str) -> tuple[str, list[str]] | None:
    match = _FENCE.fullmatch(line.rstrip())
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    return match[1], match[2].split()


def _closes(line: str, mark: str) -> bool:
    match = _FENCE.fullmatch(line.rstrip())
    return match is not None and not match[2] and match[1][0] == mark[0] and len(match[1]) >= len(mark)


def _panel(lines: Sequence[str], first: int, last: int, closed: bool) -> Piece:
    opened = _opening(lines[first])
    words = opened[1] if opened else []
    options, faults = _options(lines[first + 1 : last - 1 if closed else last], first + 1)
    if not closed:
        faults.append(Fault(first, "the block is never closed; end it with a line of ```"))
    if len(words) < 2:
        faults.append(Fault(first, f"the block names no panel; write ```{WORD} chart, for example"))
    elif len(words) > 2:
        faults.append(Fault(first, f"{' '.join(words[2:])!r} is one word too many; put each option on its own line"))
    panel = words[1] if len(words) > 1 else ""
    return Piece("panel", _joined(lines, first, last), first, last, panel, options, tuple(faults))


def _options(lines: Sequence[str], start: int) -> tuple[dict[str, Any], list[Fault]]:
    """`name: value` on each line. Empty lines and lines that begin with # are ignored."""
    options: dict[str, Any] = {}
    faults: list[Fault] = []
    for number, line in enumerate(lines, start):
        name, colon, value = line.partition(":")
        name = name.strip()
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not colon or not _NAME.fullmatch(name):
            faults.append(Fault(number, f"{_short(line)!r} is not an option; write it as `name: value`"))
        elif name in options:
            faults.append(Fault(number, f"{name} is given twice"))
        elif len(options) >= MAX_OPTIONS:
            faults.append(Fault(number, f"more than {MAX_OPTIONS} options"))
            break
        else:
            options[name] = _value(value.strip())
    return options, faults


def _value(text: str) -> Any:
    """JSON if it is JSON, else the text itself."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(word: str) -> Any:
    raise ValueError(word)  # NaN and Infinity are words here, not numbers


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 60 else text[:59] + "…"


def _joined(lines: Sequence[str], first: int, last: int) -> str:
    """Those lines verbatim, each with its line break except the text's last."""
    return "\n".join(lines[first:last]) + ("\n" if last < len(lines) else "")
