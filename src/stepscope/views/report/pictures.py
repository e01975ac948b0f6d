"""A report as Markdown with images, for readers without the app."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from stepscope.errors import StepscopeError
from stepscope.plain_text import clean
from stepscope.views.hues import hues_of, told_apart
from stepscope.views.report.blocks import BoundReport, MarkdownBlock
from stepscope.views.report.panel import Bound

CANNOT_DRAW = "This panel could not be drawn when the file was made."
"""The reason is only for the author of the report: it may name other runs, and folders."""
_MARKS = re.compile(r"([\\`*_\[\]<>|#~])")
_MOST_LETTERS = 200
_NAMES = re.compile(r"[^a-z0-9]+")


class Marked(str):
    """Text that is already Markdown."""


@dataclass
class Pictures:
    """The text so far, and the files it refers to."""

    text: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    hues: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, ending: str, data: bytes) -> str:
        """Store a file under a name derived from `name`; returns the path for the text."""
        base = _NAMES.sub("-", name.lower()).strip("-")[:50] or "picture"
        path, number = f"images/{base}.{ending}", 1
        while path in self.files and self.files[path] != data:
            number += 1
            path = f"images/{base}-{number}.{ending}"
        self.files[path] = data
        return path

    def picture(self, name: str, ending: str, data: bytes, words: str) -> str:
        """Store an image; returns the Markdown that shows it."""
        return f"![{markdown_text(words)}]({self.add(name, ending, data)})\n"

    def table(self, head: list[str], rows: list[list[Any]], numbers: set[int] = frozenset()) -> str:  # type: ignore[assignment]
        """A table; the columns in `numbers` are right-aligned."""
        lines = ["| " + " | ".join(markdown_text(one) for one in head) + " |"]
        lines.append("|" + "|".join(" ---: " if at in numbers else " --- " for at in range(len(head))) + "|")
        for row in rows:
            cells = [cell if isinstance(cell, Marked) else markdown_text(cell_text(cell)) for cell in row]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"


def write_markdown(report: BoundReport) -> Pictures:
    """The whole report."""
    out = Pictures()
    parts: list[str] = []
    if not _has_heading(report):
        parts.append(f"# {markdown_text(report.text.title)}\n\n")
    for number, block in enumerate(report.blocks):
        if isinstance(block, MarkdownBlock):
            text = block.text if parts[1:] else block.text.lstrip("\n")
            parts.append(text if text.endswith("\n") else text + "\n")
        elif (bound := report.bound.get(number)) is not None:
            own = {} if out.hues else hues_of(bound.ctx, report.entries)
            out.hues = out.hues or told_apart([entry.id for entry in report.entries], own)
            parts.append(_panel(bound, out))
        else:
            parts.append(f"> {CANNOT_DRAW}\n")
    out.text = "".join(parts).lstrip("\n")
    return out


def _panel(bound: Bound, out: Pictures) -> str:
    try:
        body = bound.kind.write(bound, out)
    except StepscopeError:
        body = f"> {CANNOT_DRAW}\n"
    drawn = body.startswith("![")  # with its title in the image
    title = f"**{markdown_text(bound.title)}**\n\n" if bound.title and not drawn else ""
    caption = f"\n*{markdown_text(bound.options.caption)}*\n" if bound.options.caption else ""
    return f"{title}{body}{caption}"


def _has_heading(report: BoundReport) -> bool:
    return any(
        isinstance(block, MarkdownBlock) and re.search(r"^# ", block.text, re.MULTILINE) for block in report.blocks
    )


def markdown_text(text: str) -> str:
    r"""Escape text from a run, so that it stays text.

    >>> markdown_text("a|b *c* <img>")
    'a\\|b \\*c\\* \\<img\\>'
    """
    return _MARKS.sub(r"\\\1", clean(str(text)))


def told(text: str) -> str:
    r"""Escape Stepscope's own text about a run: code between backticks stays code.

    >>> told("call `zero_grad()` *before* it")
    'call `zero_grad()` \\*before\\* it'
    """
    parts = re.split(r"(`[^`\n]+`)", clean(text))
    return "".join(part if part.startswith("`") and part.endswith("`") else markdown_text(part) for part in parts)


def cell_text(value: Any) -> str:
    """A short table cell.

    >>> [cell_text(value) for value in (0.123456789, 12.0, True, None, 1234567.0, 1e-9)]
    ['0.123457', '12', 'yes', '', '1.23457e+06', '1e-09']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
