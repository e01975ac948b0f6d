"""What a verdict on a script is based on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.launch.child_processes import Children
from stepscope.launch.limits import Limiter
from stepscope.launch.parts.watch import Watch
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.launch.loop import Loop
    from stepscope.record.observers import Watcher
    from stepscope.records import Finding


@dataclass(frozen=True)
class Case:
    """The script, how far it came, and who has looked at it."""

    around: Around
    limiter: Limiter
    children: Children
    watch: Watch | None
    exit_code: Callable[[], int]

    @property
    def loop(self) -> Loop:
        return self.around.loop

    @property
    def findings(self) -> list[Finding]:
        return self.around.reporter.findings

    @property
    def watcher(self) -> Watcher | None:
        return None if self.watch is None else self.watch.watcher

    @property
    def engine(self) -> Engine | None:
        return None if self.watch is None else self.watch.engine
