"""What wakes the governor from outside the watch: the values of the pulse, and the user who asks."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.launch.auto_metrics import Logbook
    from stepscope.launch.deep_windows import Deep
    from stepscope.record.observers import Watcher
    from stepscope.record.pulse import Beat


def wake_on_signs(watcher: Watcher, logbook: Logbook, deep: Deep | None) -> None:
    """Have the next steps looked at when the pulse looks wrong, and when the user asks."""
    _wake_on_values(logbook, watcher)
    if deep is not None:
        _wake_on_request(deep, watcher)


def _wake_on_values(logbook: Logbook, watcher: Watcher) -> None:
    """A loss or a gradient is not finite, or the loss jumps or no longer falls."""
    governor = watcher.governor
    felt, thread = governor.felt, watcher.thread
    seen_here = False

    def loss(value: float) -> None:
        nonlocal seen_here
        seen_here = True
        if not watcher.muted and get_ident() == thread:  # at every step, so without calling `listens`
            felt(value)

    def bad_loss(tensor: object) -> None:
        if watcher.listens():
            governor.alarm("the loss is not finite")

    def beat(beat: Beat) -> None:
        if not watcher.listens():
            return
        if not beat.ok:
            governor.alarm("a value is not finite")
        elif beat.loss is not None and not seen_here:
            governor.felt_late(beat.step + 1, beat.loss)

    logbook.listen_to_losses(loss)
    logbook.on_bad_loss.append(bad_loss)
    logbook.on_beat.append(beat)


def _wake_on_request(deep: Deep, watcher: Watcher) -> None:
    """`stepscope profile --now`, the signal, the page's button."""
    deep.on_asked.append(lambda why: watcher.governor.asked(why) if watcher.listens() else None)
