"""A run's output: the last lines, or those with a word."""

from __future__ import annotations

from stepscope.errors import UsageError
from stepscope.plain_text import clean
from stepscope.report.text import fence
from stepscope.views.console.console import ConsoleRequest, console
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures, markdown_text

MOST_LINES = 500


class ConsoleOptions(Options, kw_only=True):
    lines: int = 40
    find: str = ""
    """Only lines that contain this."""


def check(bound: Bound) -> None:
    if not 1 <= bound.options.lines <= MOST_LINES:
        raise UsageError(f"lines must be 1 to {MOST_LINES}, not {bound.options.lines}")


def request(bound: Bound, run: str) -> ConsoleRequest:
    lines, find = bound.options.lines, bound.options.find
    return ConsoleRequest(run=run, start=-lines, count=lines, search=find, only=bool(find))


def pack(bound: Bound, packing: Packing) -> None:
    for run in bound.runs:
        packing.ask("POST /api/console", request(bound, run))


def write(bound: Bound, out: Pictures) -> str:
    parts = []
    for entry in bound.entries:
        found = console(bound.ctx, request(bound, entry.id))
        title = f"**{markdown_text(entry.name)}**\n\n" if len(bound.entries) > 1 else ""
        text = "\n".join(clean(line.text) for line in found.lines)
        mark = fence(text)
        parts.append(f"{title}{mark}text\n{text}\n{mark}\n" if text else f"{title}*Nothing was printed.*\n")
    return "\n".join(parts)


PANEL = PanelKind("console", "The last lines a run printed", ConsoleOptions, pack, write, check)
