"""A sweep in the terminal: a headline, the table of its runs, and a line when a run ends."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepscope.cli._terminal import clean, number, sparkline
from stepscope.common.units import duration

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from stepscope.sweep.spec import Sweep
    from stepscope.sweep.trials import Trial

STYLE = {
    "running": "bold blue",
    "finished": "green",
    "pruned": "yellow",
    "diverged": "red",
    "timeout": "yellow",
    "failed": "bold red",
    "interrupted": "magenta",
    "requeued": "dim",
}
MOST_PARAMS = 8
WIDEST = 20


def headline(
    sweep: Sweep, trials: Sequence[Trial], best: Trial | None, total: int | None, spent_s: float, ending: str | None
) -> Text:
    """The sweep in one line: progress and the best result so far."""
    from rich.text import Text

    over = sum(trial.is_over for trial in trials)
    line = Text()
    line.append(clean(sweep.name), style="bold")
    line.append(f"  {sweep.method}", style="dim")
    line.append(f"  {over} of {total} runs" if total is not None else f"  {over} runs")
    for state in ("running", "pruned", "diverged", "timeout", "failed", "interrupted", "requeued"):
        count = sum(trial.state == state for trial in trials)
        if count:
            line.append(f"  {count} {state}", style=STYLE[state])
    if best is not None and sweep.metric is not None:
        line.append(f"  best {clean(sweep.metric.name)} ")
        line.append(number(best.value), style="bold green")
        line.append(f" (run {best.number})")
    line.append(f"  {duration(spent_s)}", style="dim")
    if ending is not None:
        line.append(f"  ending: {clean(ending)}", style="yellow")
    return line


def table(sweep: Sweep, trials: Sequence[Trial], best: Trial | None) -> Table:
    """The runs with their parameters and the metric. If space is short, the reasons are truncated first."""
    from rich.table import Table
    from rich.text import Text

    shown = sweep.space.varied[:MOST_PARAMS]
    metric = None if sweep.metric is None else clean(sweep.metric.name)
    heads = ["run", "state", *[clean(name) for name in shown], *([metric, ""] if metric else []), "step", "time", ""]
    rows = [
        [Text(cell) if isinstance(cell, str) else cell for cell in _row(sweep, trial, shown, best)] for trial in trials
    ]
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for place, head in enumerate(heads):
        is_last = place == len(heads) - 1
        width = max([len(head), *[row[place].cell_len for row in rows]])
        made.add_column(
            head,
            justify="left" if head in ("state", "") else "right",
            no_wrap=True,
            overflow="ellipsis",
            min_width=None if is_last else min(width, WIDEST),
            max_width=None if is_last else WIDEST,
        )
    for row in rows:
        made.add_row(*row)
    return made


def _row(sweep: Sweep, trial: Trial, shown: Sequence[str], best: Trial | None) -> list[Any]:
    from rich.text import Text

    is_best = best is not None and trial.number == best.number
    took = "-" if not trial.started else duration((trial.ended or time.time()) - trial.started)
    row: list[Any] = [str(trial.number), Text(_state(trial), style=STYLE[trial.state])]
    row += [number(trial.params.get(name)) for name in shown]
    if sweep.metric is not None:
        row.append(Text(number(trial.value), style="bold green" if is_best else ""))
        row.append(Text(sparkline(trial.recent, 12), style="green" if is_best else "blue"))
    row += ["-" if trial.step is None else str(trial.step), took]
    row.append(Text("best", style="bold green") if is_best else Text(clean(trial.reason), style="dim"))
    return row


def _state(trial: Trial) -> str:
    again = f" (attempt {trial.attempt})" if trial.attempt > 1 and trial.state == "running" else ""
    crashed = f", crashed {trial.crashes}x" if trial.crashes and trial.state != "failed" else ""
    return trial.state + again + crashed


def picture(head: Text, sweep: Sweep, trials: Sequence[Trial], best: Trial | None, height: int) -> Group:
    """The live view: running runs, the best, and the newest of the rest."""
    from rich.console import Group
    from rich.text import Text

    room = max(height - 5, 3)
    running = [trial for trial in trials if trial.state == "running"]
    rest = [trial for trial in reversed(trials) if trial.state != "running" and trial is not best]
    chosen = [*running, *([best] if best is not None else []), *rest][:room]
    listed = sorted(chosen, key=lambda trial: trial.number)
    left = len(trials) - len(listed)
    foot = f"{left} more above. " if left > 0 else ""
    foot += "Ctrl-C stops the runs; the same command resumes them later"
    return Group(head, Text(), table(sweep, listed, best), Text(), Text(foot, style="dim"))


def line_about(what: str, trial: Trial, sweep: Sweep, best: Trial | None, done: int, total: int | None) -> str:
    """One log line for a change in a run."""
    params = "  ".join(f"{clean(name)}={number(trial.params.get(name))}" for name in sweep.space.varied)
    count = f"[{done}/{total}]" if total is not None else f"[{done}]"
    head = f"{count} run {trial.number}"
    if what == "started":
        again = f" retry, attempt {trial.attempt}" if trial.attempt > 1 else ""
        return f"{head} started{again}  {params}"
    if what == "taken over":
        return f"{head} continues  {params}"
    parts: list[str] = ["crashed, retrying" if what == "repeated" and trial.crashes else trial.state]
    if sweep.metric is not None and trial.value is not None:
        parts.append(f"{clean(sweep.metric.name)} {number(trial.value)}")
    if trial.ended and trial.started:
        parts.append(duration(trial.ended - trial.started))
    if best is not None and best.number == trial.number:
        parts.append("best so far")
    if trial.reason:
        parts.append(f"({clean(trial.reason)})")
    return f"{head} {'  '.join(parts)}"


def as_json(sweep: Sweep, trials: Sequence[Trial], best: Trial | None, ending: str | None) -> Mapping[str, Any]:
    """The sweep as JSON data."""
    return {
        "name": sweep.name,
        "method": sweep.method,
        "metric": None if sweep.metric is None else {"name": sweep.metric.name, "goal": sweep.metric.goal},
        "ended": ending,
        "best": None if best is None else best.number,
        "runs": [
            {
                "number": trial.number,
                "state": trial.state,
                "params": trial.params,
                "value": trial.value,
                "step": trial.step,
                "attempts": trial.attempt,
                "crashes": trial.crashes,
                "reason": trial.reason,
                "exit_code": trial.exit_code,
                "started": trial.started,
                "ended": trial.ended,
                "run": trial.run,
            }
            for trial in trials
        ],
    }
