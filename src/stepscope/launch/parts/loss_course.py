"""The course of the training loss, kept with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.parts.watch import Companion

if TYPE_CHECKING:
    from stepscope.evidence.loss_course import LossCourse
    from stepscope.record.observers import Watcher
    from stepscope.record.pulse import Beat


class FollowedLoss(Companion):
    ending = "following the loss"

    def __init__(self, logbook: Logbook) -> None:
        self._logbook = logbook
        self._course: LossCourse | None = None

    def watcher_made(self, watcher: Watcher) -> None:
        self._course = watcher.loss_course
        self._logbook.on_beat.append(self._beat)

    def _beat(self, beat: Beat) -> None:
        course = self._course
        if course is None:
            return
        if (beat.which and not beat.continues) or beat.terms:  # several losses take turns: they have no common course
            course.forget()
            self._course = None
        elif beat.loss is not None and not beat.bad_loss:
            course.add(beat.loss)
