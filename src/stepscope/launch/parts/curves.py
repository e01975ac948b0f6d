"""The script is over: the rules on curves are asked of what was recorded."""

from __future__ import annotations

from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around

_MOST_BYTES = 64 << 20
"""Of the run's logs: reading more would hold up the end of the script."""


class CurvesJudged(Part):
    """A loss that never fell, a schedule that never moved: what no single step shows."""

    ending = "judging the curves"

    def __init__(self, around: Around) -> None:
        self._around = around

    def end(self, ended: Ended) -> None:
        around = self._around
        folder = around.run_folder()
        if folder is None or not around.keeps or not around.options.diagnose or around.rank:
            return
        if ended.crash is not None or not around.loop.steps:
            return
        from stepscope.diagnose.stored.engine import judge_curves
        from stepscope.runs.read.folder import open_run

        if sum(path.stat().st_size for path in folder.glob("*.log")) > _MOST_BYTES:
            return
        reporter = around.reporter
        for finding in judge_curves(open_run(folder), around.settings, [one.rule for one in reporter.findings]):
            reporter.take(finding)
