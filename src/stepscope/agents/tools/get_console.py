"""A script's output."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import block, name
from stepscope.runs.read.folder import RunFolder
from stepscope.views.console.console import ConsoleRequest, ConsoleWindow, console
from stepscope.views.console.screen import plain_line

Search = Annotated[str, Field(description="Only lines that contain this text (a pattern with regex=true).")]
First = Annotated[int | None, Field(description="The first row wanted, from 0; default: the last `count` rows.")]
Count = Annotated[int, Field(ge=1, le=300, description="How many lines at most.")]
Stream = Annotated[Literal["", "stdout", "stderr"], Field(description="Only this stream; empty for both.")]
MOST_LETTERS = 16_000


@tool("Console of a run")
def get_console(
    desk: Desk,
    run: RunRef = "last",
    search: Search = "",
    regex: bool = False,
    first: First = None,
    count: Count = 50,
    stream: Stream = "",
) -> Answer:
    """What the script printed: the last lines, a page of them, or the matches of a search, with step and number."""
    folder = desk.open(run)
    request = ConsoleRequest(
        run=folder.id, start=-count if first is None else max(0, first), count=count, stream=stream, search=search,
        regex=regex, only=bool(search),
    )  # fmt: skip
    window = console(desk.ctx, request)
    if not window.lines:
        why = f"no line has {name(search)}" if search else "it printed nothing that was recorded"
        more = "; the search has not reached the end yet, ask again" if window.searched < window.total else ""
        return Answer(f"Run {name(folder.name)}: {why}{more}.", {"run": folder.id, "lines": [], "rows": window.rows})
    last = window.start + len(window.lines)
    of = f"{window.rows} lines" + (f" that have {name(search)}" if search else "")
    head = f"Run {name(folder.name)} ({folder.id}): lines {window.start} to {last - 1} of {of}."
    more = f"\nEarlier: first={max(0, window.start - count)}." if window.start else ""
    more += f"\nLater: first={last}." if last < window.rows else ""
    lines = [
        {"number": one.number, "text": plain_line(one.text), "step": one.step, "stderr": one.stderr}
        for one in window.lines
    ]
    return Answer(head + "\n" + _shown(window) + more, {"run": folder.id, "lines": lines, "rows": window.rows})


def console_text(desk: Desk, folder: RunFolder, count: int) -> str:
    """The last lines of a run's output, without the traceback, which is shown elsewhere; empty if there are none."""
    window = console(desk.ctx, ConsoleRequest(run=folder.id, start=-8 * count, count=8 * count))
    if folder.standing.traceback:
        told = [(one.first, one.last) for one in window.errors]
        window.lines = [one for one in window.lines if not any(a <= one.number <= b for a, b in told)]
    window.lines = window.lines[-count:]
    return _shown(window) if window.lines else ""


def _shown(window: ConsoleWindow) -> str:
    rows = []
    for one in window.lines:
        step = f" step {one.step}" if one.step is not None else ""
        rows.append(f"{one.number}{step}{' stderr' if one.stderr else ''}: {plain_line(one.text)[:600]}")
    return block("console", "\n".join(rows), MOST_LETTERS, keep="end")
