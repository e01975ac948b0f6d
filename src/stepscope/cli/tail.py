"""`stepscope tail`: follow a run in the terminal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import print_json_line
from stepscope.cli._options import json_option, open_named, store_option
from stepscope.cli._terminal import STATUS_STYLE, clean, console, number
from stepscope.common.units import duration

if TYPE_CHECKING:
    from rich.console import Console

    from stepscope.runs.read.folder import RunFolder

_POLL_S = 0.5
_LINES_BEFORE = 10
"""How much earlier output is printed first, as with `tail -f`."""


@click.command(name="tail", short_help="Follow a live run in the terminal.")
@click.argument("run", default="last")
@store_option
@click.option("--metrics", "-m", default="", help="Comma-separated names or patterns; all but system/ by default.")
@click.option(
    "--console", "show_console", is_flag=True, help="Also show what the script prints, starting with its last lines."
)
@click.option("--once", is_flag=True, help="Print the current state and exit.")
@json_option
def command(run: str, store: Path, metrics: str, show_console: bool, once: bool, as_json: bool) -> None:
    """Follow a live run in the terminal.

    Prints new values of its metrics, its alerts, and how it ends.

    \b
    stepscope tail                     # the newest run
    stepscope tail "first try" -m 'loss,val/*' --console
    """
    folder = open_named(run, store)
    follower = _Follower(folder, [part.strip() for part in metrics.split(",") if part.strip()], show_console, as_json)
    follower.start()
    while True:
        follower.step()
        if once or folder.status != "running":
            break
        time.sleep(_POLL_S)
        folder.refresh()
    follower.end()


class _Follower:
    """Prints what is new in a run since the last poll; the cost does not grow with the run."""

    def __init__(self, run: RunFolder, patterns: list[str], show_console: bool, as_json: bool) -> None:
        self.run, self.patterns, self.show_console, self.as_json = run, patterns, show_console, as_json
        self.out: Console = console()
        self.seen: dict[str, int] = {}
        self.alerts = 0
        self.console_place = 0

    def start(self) -> None:
        if not self.as_json:
            self.out.print(f"{clean(self.run.name)}  {self.run.id}", style="bold")

    def step(self) -> None:
        if self.show_console:
            self._console()
        moved = {
            name: one for name in self._names() if (one := self.run.metric_summary(name)).count != self.seen.get(name)
        }
        for name, one in moved.items():
            self.seen[name] = one.count
        if moved:
            newest = max(one.last_step for one in moved.values() if one.last_step is not None)
            self._line(newest, {name: one.last for name, one in moved.items()})
        for alert in self.run.alerts[self.alerts :]:
            self.alerts += 1
            if self.as_json:
                print_json_line({"event": "alert", "title": alert.title, "text": alert.text, "level": alert.level})
            else:
                self.out.print(f"{alert.level}: {clean(alert.title)}  {clean(alert.text)}", style="yellow")

    def end(self) -> None:
        run = self.run
        if self.as_json:
            error = run.standing.error or None
            print_json_line({"event": "status", "status": run.status, "duration_s": run.duration_s, "error": error})
            return
        self.out.print(f"{run.status} after {duration(run.duration_s)}", style=STATUS_STYLE[run.status])
        if run.standing.error:
            self.out.print(clean(run.standing.error, keep_newlines=True), style="red")

    def _names(self) -> list[str]:
        from fnmatch import fnmatchcase

        names = self.run.metrics()
        if not self.patterns:
            return [name for name in names if not name.startswith("system/")]
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in self.patterns)]

    def _line(self, step: int, values: dict[str, float | None]) -> None:
        if self.as_json:
            print_json_line({"event": "metrics", "step": step, "values": values})
            return
        shown = list(values.items())[:8]
        more = f"  and {len(values) - 8} more" if len(values) > 8 else ""
        self.out.print(f"step {step:<8} " + "  ".join(f"{clean(k)} {number(v)}" for k, v in shown) + more)

    def _console(self) -> None:
        pieces = self.run.console(after=self.console_place)
        lines = clean("".join(piece.text for piece in pieces), keep_newlines=True).splitlines()
        for line in lines if self.console_place else lines[-_LINES_BEFORE:]:
            if self.as_json:
                print_json_line({"event": "console", "text": line})
            else:
                self.out.print(line, style="dim")
        self.console_place += len(pieces)
