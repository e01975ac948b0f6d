"""Which of W&B's runs is open in this process, and which ended last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.wandb.errors import Error

if TYPE_CHECKING:
    from stepscope.wandb.handle import Run

_open: Run | None = None
_ended: Run | None = None


def open_run() -> Run | None:
    """The run that `wandb.log` uses, or None."""
    return _open


def last_ended() -> Run | None:
    """The run that ended last in this process, for a sweep's agent."""
    return _ended


def the_run(what: str) -> Run:
    """The open run, or W&B's error for a call that comes too early."""
    if _open is None:
        raise Error(f"You must call wandb.init() before wandb.{what}")
    return _open


def opened(run: Run) -> None:
    global _open
    _open = run


def ended(run: Run) -> None:
    global _open, _ended
    _ended = run
    if _open is run:
        _open = None
