"""What a script prints of its training, beside the losses that the pulse saw since it printed last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.parts.watch import Companion
from stepscope.launch.printed.series import Place, PrintedSeries

if TYPE_CHECKING:
    from stepscope.evidence.printed_numbers import PrintedNumbers
    from stepscope.record.observers import Watcher
    from stepscope.record.pulse import Beat

_LOSS = re.compile(r"(?:train(?:ing)?[ _/-]*)?(?:avg |average |mean )?loss", re.IGNORECASE)
_MOST_NAMES = 20


class ComparedNumbers(Companion):
    """Only sums are kept: of the losses since the last time."""

    ending = "comparing what is printed with what was seen"

    def __init__(self, printed: PrintedSeries, logbook: Logbook) -> None:
        self._printed, self._logbook = printed, logbook
        self._table: PrintedNumbers | None = None
        self._sum, self._count = 0.0, 0

    def watcher_made(self, watcher: Watcher) -> None:
        self._table = watcher.printed_numbers
        self._logbook.on_beat.append(self._beat)
        self._printed.listeners.append(self._said)

    def _beat(self, beat: Beat) -> None:
        if (beat.which and not beat.continues) or beat.terms:
            self._table = None  # several losses: which of them is printed cannot be known
        if beat.loss is not None and not beat.bad_loss:
            self._sum += beat.loss
            self._count += 1

    def _said(self, values: Mapping[str, float], place: Place) -> None:
        fence.call(self.ending, self._compare, values, place)

    def _compare(self, values: Mapping[str, float], place: Place) -> None:
        table = self._table
        names = [name for name in values if _LOSS.fullmatch(name.strip())]
        if table is None or len(names) != 1 or not self._count or len(table.all) >= _MOST_NAMES:
            return
        table.of(names[0], "loss", place).add(values[names[0]], self._sum / self._count)
        self._sum, self._count = 0.0, 0
