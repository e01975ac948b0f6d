"""A finding as a good compiler prints it: what, where, the line with the proof under it, and the way out.

error[opt.no-zero-grad]: gradients of earlier steps are still there when backward runs
  --> train.py:88
   |
87 |         loss = criterion(model(x), y)
88 |         loss.backward()
   |         ^^^^^^^^^^^^^^^ grad norm 1.9 -> 3.8 -> 5.8 while each step's own gradient stays near 1.9
   = fix: call optimizer.zero_grad() before line 88
   = more: stepscope explain opt.no-zero-grad
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from stepscope.diagnose.edits.apply import diff_lines
from stepscope.diagnose.evidence_words import evidence_words
from stepscope.diagnose.excerpt import code_span, lines_around, lines_of
from stepscope.diagnose.text_cells import Cells, width_of
from stepscope.plain_text import clean
from stepscope.records import Finding, Related

_MOST_HINTS = 8
MIN_WIDTH = 40
PIPED_WIDTH = 120
LABEL_ROOM = 30
"""A label with less room than this beside the carets goes to the lines below them."""

MOST_DIFF_LINES = 12

_DIFF = {"+": "added", "-": "removed", "@": "quiet"}
_COLOURS: dict[str, str] = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "note": "1;32",
    "fix": "1;32",
    "frame": "1;34",
    "strong": "1",
    "quiet": "2",
    "added": "32",
    "removed": "31",
}


def wants_color(stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """Whether to print in color: on a terminal, unless NO_COLOR is set; anywhere when FORCE_COLOR is."""
    asked = os.environ if environ is None else environ
    if asked.get("NO_COLOR"):
        return False
    if (force := asked.get("FORCE_COLOR")) is not None:
        return force not in ("", "0", "false")
    if asked.get("TERM") == "dumb":
        return False
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # a stand-in without a terminal, or a stream that was closed
        return False


def terminal_width(stream: TextIO) -> int:
    """How wide a finding may be there: a terminal's width, up to 160 columns; 120 in a pipe."""
    try:
        is_terminal = stream.isatty()
    except (AttributeError, ValueError):
        is_terminal = False
    return min(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, 160) if is_terminal else PIPED_WIDTH


def place_of(file: str, line: int | None, root: Path) -> str:
    """`train.py:88`, by the shortest path that is true from `root`."""
    shown = file
    if os.path.isabs(file):
        try:
            relative = os.path.relpath(file, root)
        except ValueError:  # another drive
            relative = file
        shown = file if relative.startswith("..") else relative
    return clean(shown) + (f":{line}" if line else "")


def hint_lines(hints: Sequence[Finding], width: int, root: Path) -> list[str]:
    """Hints in a block, one line each: where, what, and the rule."""
    lines = ["hints:"]
    for one in list({(hint.rule, hint.message): hint for hint in hints}.values())[:_MOST_HINTS]:
        place = f"{place_of(one.file, one.line, root)}: " if one.file else ""
        text = f"  {place}{clean(one.message).strip()}"
        rule = f" [{clean(one.rule)}]"
        lines.append(f"{text}{rule}" if width_of(text + rule) <= width else f"{text[: width - len(rule) - 3]}...{rule}")
    return lines


def render(finding: Finding, *, color: bool, width: int, root: Path) -> str:
    """The whole message, ending without a newline."""
    return "\n".join(_Painter(color, max(width, MIN_WIDTH), root).lines(finding))


class _Painter:
    """How wide, in which colors, and relative to which folder paths are written."""

    def __init__(self, color: bool, width: int, root: Path) -> None:
        self.color = color
        self.width = width
        self.root = root

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.color and text else text

    def lines(self, finding: Finding) -> Iterator[str]:
        head = f"{finding.severity}[{clean(finding.rule)}]"
        yield from self.title(head, finding.severity, finding.message)
        source = _shown_source(finding)
        gutter = max(len(str(line or 0)) for line in (finding.line, *(one.line for one in finding.related)))
        seen = clean(finding.label) or evidence_words(finding.evidence)
        if finding.file:
            yield self.arrow(place_of(finding.file, finding.line, self.root), gutter)
        if source:
            region = (finding.column, finding.end_column)
            yield from self.excerpt(source, finding.line or 0, region, seen, finding.severity, gutter)
        elif seen:
            yield from self.remark("seen", seen, gutter)
        if note := _doubt(finding, bool(source)):
            yield from self.remark("note", note, gutter)
        if finding.fix:
            yield from self.remark("fix", finding.fix, gutter)
        yield from self.edits(finding, gutter)
        yield from self.remark("more", f"stepscope explain {clean(finding.rule)}", gutter)
        for one in finding.related:
            yield from self.related(one, gutter)

    def edits(self, finding: Finding, gutter: int) -> Iterator[str]:
        """The edit as a small diff; of several only what they try."""
        if len(finding.edits) > 1:
            tries = ", ".join(one.label for one in finding.edits)
            yield from self.remark("try", f"{tries}; stepscope fix runs each of them", gutter)
            return
        room = self.width - gutter - 5
        for edit in finding.edits:
            for sign, text in diff_lines(edit)[:MOST_DIFF_LINES]:
                shown = Cells(clean(text)).window(0, room)
                yield f"{' ' * gutter}   {self.paint(f'{sign} {shown}'.rstrip(), _DIFF[sign])}"

    def title(self, head: str, style: str, message: str) -> Iterator[str]:
        first, *rest = _wrap(f"{head}: {clean(message).strip()}", self.width, 2)
        yield self.paint(head, style) + self.paint(first[len(head) :], "strong")
        for line in rest:
            yield self.paint(line, "strong")

    def related(self, one: Related, gutter: int) -> Iterator[str]:
        source = one.source or _on_disk(one.file, one.line, 1)
        yield from self.title("note", "note", one.label or "related to this place")
        yield self.arrow(place_of(one.file, one.line, self.root), gutter)
        if source:
            yield from self.excerpt(_from_line_before(source, one.line), one.line, (None, None), "", "note", gutter)

    def arrow(self, place: str, gutter: int) -> str:
        return " " * gutter + self.paint("-->", "frame") + f" {place}"

    def remark(self, name: str, text: str, gutter: int) -> Iterator[str]:
        """`= fix: ...`, its further lines hanging under the first."""
        lead = f"{name}: "
        room = self.width - gutter - 3
        parts = clean(text, keep_newlines=True).split("\n")
        pieces = [line for part in parts for line in _wrap(part, room - len(lead))]
        style = name if name in _COLOURS else "strong"
        for at, piece in enumerate(pieces):
            sign = self.paint("=", "frame") if at == 0 else " "
            word = self.paint(lead, style) if at == 0 else " " * len(lead)
            yield f"{' ' * gutter} {sign} {word}{piece}".rstrip()

    def excerpt(
        self,
        source: Sequence[tuple[int, str]],
        line: int,
        region: tuple[int | None, int | None],
        label: str,
        style: str,
        gutter: int,
    ) -> Iterator[str]:
        bar = self.paint("|", "frame")
        empty = f"{' ' * gutter} {bar}"
        room = self.width - gutter - 3
        target = Cells(dict(source).get(line, ""))
        first, last = code_span(dict(source).get(line, ""), *region)
        start, end = target.column(first), max(target.column(last), target.column(first) + 1)
        left = _window(start, end, target.width, room)
        yield empty
        for number, text in source:
            shown = Cells(text).window(left, room)
            yield f"{self.paint(f'{number:>{gutter}}', 'frame')} {bar} {shown}".rstrip()
            if number == line:
                carets = "^" * max(1, min(end - left, room) - (start - left))
                yield from self.underline(empty, start - left, carets, label, room, style)

    def underline(self, empty: str, indent: int, carets: str, label: str, room: int, style: str) -> Iterator[str]:
        """The carets, with the label beside them, or below where there is no room."""
        lead = f"{empty} {' ' * indent}"
        if not label:
            yield lead + self.paint(carets, style)
            return
        beside = room - indent - len(carets) - 1
        if width_of(label) <= beside or beside >= LABEL_ROOM:
            first, *rest = _wrap(label, beside)
            yield lead + self.paint(f"{carets} {first}", style)
            lead += " " * (len(carets) + 1)
        else:
            yield lead + self.paint(carets, style)
            indent = max(0, min(indent, room - LABEL_ROOM))
            lead, rest = f"{empty} {' ' * indent}", _wrap(label, room - indent)
        for line in rest:
            yield lead + self.paint(line, style)


def _shown_source(finding: Finding) -> list[tuple[int, str]]:
    """The line and the one before, as kept with the finding, else as they are on disk now."""
    if not finding.file or not finding.line:
        return []
    kept = finding.source or _on_disk(finding.file, finding.line, 1)
    return _from_line_before(kept, finding.line)


def _is_source(file: str) -> bool:
    return file.endswith((".py", ".pyw")) and os.path.isfile(file)


def _on_disk(file: str, line: int, before: int) -> list[tuple[int, str]]:
    """The lines as they are now. A run from elsewhere may name any file: only Python source is opened for it."""
    return lines_around(lines_of(file), line, before, 0) if _is_source(file) else []


def _from_line_before(source: Sequence[tuple[int, str]], line: int) -> list[tuple[int, str]]:
    found = [(at, text) for at, text in source if line - 1 <= at <= line]
    if not found or found[-1][0] != line:
        return []
    return found[1:] if len(found) > 1 and not found[0][1].strip() else found


def _doubt(finding: Finding, has_source: bool) -> str:
    """What the reader must know about the lines that are shown, or not."""
    if finding.source_changed:
        return "the file was edited after the script began; the lines shown may not be those that ran"
    if not has_source or not finding.source or not finding.file or not _is_source(finding.file):
        return ""
    now = _on_disk(finding.file, finding.line or 0, 0)
    kept = [(at, text) for at, text in finding.source if at == finding.line]
    return "" if now == kept else "the file has changed since; this is the line as it was"


def _window(start: int, end: int, width: int, room: int) -> int:
    """The first column to show, so that what is underlined is seen with something before it."""
    if width <= room or end <= room - 1:
        return 0
    if end - start >= room - 8:
        return max(0, start - 4)
    return max(0, min(start - (room - (end - start)) // 2, width - room))


def _wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """Lines no wider than `width`, broken at spaces; later lines begin with `indent` spaces."""
    if width_of(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line.strip() and width_of(longer) > width:
            lines.append(line)
            longer = " " * indent + word
        line = longer
    return [*lines, line]
