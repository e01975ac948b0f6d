"""How the script came off: judged when all is known, and said at the very end."""

from __future__ import annotations

import shlex

from stepscope import fence
from stepscope.common.units import counted
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.coverage import keep_coverage
from stepscope.launch.part import Ended, Part
from stepscope.launch.reporting import CLOSING, by_severity
from stepscope.launch.session_context import Around
from stepscope.launch.verdict import judge, verdict_text
from stepscope.launch.verdict_facts import Case
from stepscope.launch.without_torch import needs_torch
from stepscope.runs.store import usual_store
from stepscope.track.run import Run

_RECORDED = "what it logs and prints and the system are recorded; findings, steps and phases need PyTorch"


def as_shown(run: Run) -> str:
    """What to type after `stepscope show`; with its folder where it does not lie in the usual one."""
    store = None if run.path is None else run.path.parent
    is_usual = store is None or store == usual_store().absolute()
    return run.name if is_usual else f"{run.name} --dir {shlex.quote(str(store))}"


class Judged(Part):
    """What was looked at goes into the run, and the verdict to the files that were asked for."""

    ending = "judging the script"

    def __init__(self, case: Case) -> None:
        self._case = case

    def end(self, ended: Ended) -> None:
        around = self._case.around
        fence.call("keeping what was looked at", keep_coverage, self._case)
        around.judged = fence.call("judging the script", judge, self._case, ended.error)
        around.reporter.close(around.judged)


class SummedUp(Part):
    """The last words of `stepscope run` and `stepscope check`."""

    ending = "summing up"

    def __init__(self, case: Case, logbook: Logbook, *, says_verdict: bool = True) -> None:
        self._case, self._logbook, self._says_verdict = case, logbook, says_verdict

    def end(self, ended: Ended) -> None:
        around, limiter = self._case.around, self._case.limiter
        options, note = around.options, around.reporter.note
        if limiter.stopped is not None and not options.check:
            note(f"stopped {limiter.stopped}")
        if options.limits.overfit_batches is not None:
            note(self._logbook.overfit_verdict(options.limits.overfit_batches))
        if options.check:
            self._say_verdict(around)
            return
        around.reporter.say_hints()
        for mistake in around.settings.mistaken_comments([around.script.path]):
            note(mistake)
        if not (around.reporter.findings or ended.crash is not None) and self._needed_torch():
            return
        steps = around.loop.steps or self._case.children.steps
        if around.reporter.findings or steps or (ended.crash is not None and self._case.watcher is not None):
            self._count(ended)

    def _say_verdict(self, around: Around) -> None:
        if around.judged is not None and self._says_verdict:
            text = verdict_text(around.judged, around.script.name, around.reporter.findings, around.options.quiet)
            around.reporter.say(text, CLOSING)

    def _needed_torch(self) -> bool:
        around = self._case.around
        without = needs_torch(around.script.name, around.loop.steps)
        if without is None or self._case.children.steps or not around.options.record:
            return False
        if around.tracking.is_dropped:
            return True
        run = around.tracking.run
        where = "" if run is None else f"; see it with: stepscope show {as_shown(run)}"
        around.reporter.note(f"{without}: {_RECORDED}{where}", CLOSING)
        return True

    def _count(self, ended: Ended) -> None:
        """The closing line: what was found, in how much, what was looked at, and where to see it."""
        around, judged = self._case.around, self._case.around.judged
        run = around.tracking.run
        steps = counted(around.loop.steps or self._case.children.steps, "step")
        found = by_severity(around.reporter.findings) or ("nothing found" if around.options.diagnose else "")
        if ended.crash is not None:
            said = f"crashed after {steps}; {found or 'not diagnosed'}"
        else:
            said = f"{found} in {steps}" if found else f"{steps}, not diagnosed"
        where = "" if run is None or run.path is None else f"; see the run with: stepscope show {as_shown(run)}"
        watched = f"; {judged.watched}" if judged is not None and judged.watched else ""
        around.reporter.note(f"{around.script.name}: {said}{watched}{where}", CLOSING)
