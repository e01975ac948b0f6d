"""What is shown while the script runs: the status line, and the first value that is not finite."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.detect_nan import DetectNan
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.watch import Watch
from stepscope.launch.reporting import by_severity
from stepscope.launch.session_context import Around
from stepscope.launch.status import StatusLine


def status_text(around: Around, logbook: Logbook) -> Callable[[int], str]:
    """Step, loss, speed and findings in one line."""

    def text(width: int) -> str:
        return logbook.status(by_severity([one for one in around.reporter.findings if one.severity != "info"]))

    return text


class ShownStatus(Part):
    """One line at the bottom of the terminal of rank 0."""

    ending = "removing the status line"

    def __init__(self, around: Around, text: Callable[[int], str]) -> None:
        self._around, self._text = around, text
        self._status: StatusLine | None = None

    def begin(self) -> None:
        around = self._around
        if around.options.quiet or around.rank != 0 or not StatusLine.is_wanted():
            return
        status = self._status = StatusLine(self._text)
        status.install()
        around.reporter.before_writing = status.wipe
        around.loop.on_step.append(lambda optimizer: status.tick())
        around.loop.on_batch.append(lambda iterator, batch: status.tick())

    def end(self, ended: Ended) -> None:
        if self._status is not None:
            self._status.remove()


class Values(Part):
    """`--detect-nan`: every value is followed, in place of the watch."""

    ending = "--detect-nan"

    def __init__(self, around: Around, watch: Watch) -> None:
        self._watch = watch
        self._detect = DetectNan(around.loop, around.reporter.say) if around.options.switches.detect_nan else None

    def torch_came(self, torch: ModuleType) -> None:
        if self._detect is None:
            return
        if self._watch.watcher is not None:
            self._watch.watcher.governor.close("--detect-nan follows every value instead")
        self._detect.start(torch)

    def end(self, ended: Ended) -> None:
        if self._detect is not None:
            self._detect.stop()
