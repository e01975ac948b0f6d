"""A running sweep: its progress in the terminal, and signals forwarded to its runs."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._sweep_show import headline, line_about, picture

if TYPE_CHECKING:
    from rich.console import Console

    from stepscope.sweep.runner import Runner
    from stepscope.sweep.trials import Trial

REFRESH_S = 0.25


def trials_of(runner: Runner) -> list[Trial]:
    return [runner.trials[number] for number in sorted(runner.trials)]


@contextmanager
def signals_to(runner: Runner) -> Iterator[None]:
    """Make Ctrl-C and similar signals stop the runs first. Ignored signals (`nohup`, background jobs) stay ignored.

    They are ignored by a handler, not by SIG_IGN: the runs would inherit SIG_IGN and ignore the stop request.
    """
    before = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            is_ignored = signal.getsignal(number) == signal.SIG_IGN
            before[number] = signal.signal(number, lambda *_, ignore=is_ignored: None if ignore else runner.interrupt())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def show_while_it_goes(out: Console, runner: Runner) -> None:
    """Run the sweep and show its progress. If the terminal goes away, the runs are stopped cleanly."""
    if not out.is_terminal:
        # Use click: rich would exit the process on a closed pipe.
        runner.on_change = lambda what, trial: _while_heard(
            lambda: click.echo(_line(runner, what, trial), err=out.stderr)
        )
        runner.go()
        return
    from rich.live import Live

    runner.past.draw()
    with Live(console=out, auto_refresh=False, transient=True, redirect_stderr=False) as live:
        drawn = [0.0]

        def draw() -> None:
            if time.monotonic() - drawn[0] >= REFRESH_S:
                drawn[0] = time.monotonic()
                made = picture(_head(runner), runner.sweep, trials_of(runner), runner.best, out.height)
                _while_heard(lambda: live.update(made, refresh=True))

        runner.on_tick = draw
        runner.go()


def _while_heard(show: Callable[[], None]) -> None:
    try:
        show()
    except OSError:  # the reader has closed the pipe
        pass


def _line(runner: Runner, what: str, trial: Trial) -> str:
    done = sum(one.is_over for one in runner.trials.values())
    return line_about(what, trial, runner.sweep, runner.best, done, runner.total)


def _head(runner: Runner) -> Any:
    paused = "paused on the Sweeps page" if runner.is_paused else None
    ending = "stopping the runs" if runner.interrupts else runner.ending or paused
    return headline(runner.sweep, trials_of(runner), runner.best, runner.total, runner.spent_s, ending)
