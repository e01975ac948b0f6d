"""The sessions of `stepscope run` and its kin: lists of parts, each ended before those above it."""

from __future__ import annotations

from collections.abc import Callable

from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.child_processes import Children
from stepscope.launch.hyperparameters import Hyperparameters
from stepscope.launch.limits import Limiter
from stepscope.launch.options import Options
from stepscope.launch.part import Part
from stepscope.launch.parts.compared_numbers import ComparedNumbers
from stepscope.launch.parts.curves import CurvesJudged
from stepscope.launch.parts.final_rules import LastLook
from stepscope.launch.parts.hangs import WatchedForHangs
from stepscope.launch.parts.hooks import DryRun, Hooks, Switched
from stepscope.launch.parts.keep_evidence import Capsules, KeptEvidence
from stepscope.launch.parts.loop import FirstStep, FollowedLoop, Limited, SeenSettings
from stepscope.launch.parts.loss_course import FollowedLoss
from stepscope.launch.parts.loss_terms import LossTerms
from stepscope.launch.parts.printed import PrintedNumbers
from stepscope.launch.parts.pulse import Logged, Windows, deep_of
from stepscope.launch.parts.run import OpenedRun, RunAtTheEnd
from stepscope.launch.parts.sampled_lines import SampledLines
from stepscope.launch.parts.steps_by_hand import StepsByHand
from stepscope.launch.parts.terminal import ShownStatus, Values, status_text
from stepscope.launch.parts.trainers import FollowedTrainers, HeardTrackers, boundaries_of
from stepscope.launch.parts.unrecognized import NothingRecognized
from stepscope.launch.parts.verdict import Judged, SummedUp
from stepscope.launch.parts.watch import Companion, Watch
from stepscope.launch.parts.watch_companions import EvaluatedResults, Experimenting, Processes, Wakes
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.launch.session_context import Around
from stepscope.launch.tracking import BESIDE
from stepscope.launch.verdict_facts import Case


class Pieces:
    """What several parts of a session work with, made once for all of them."""

    def __init__(self, around: Around, exit_code: Callable[[], int] | None = None) -> None:
        self.around = around
        self.limiter = Limiter(around.options.limits, around.loop, check=around.options.check)
        self.logbook = Logbook(around.loop, around.tracking.log)
        self.settings = Hyperparameters(around.tracking.settings, around.tracking.another)
        self.evidence = KeptEvidence(around)
        tracking = around.tracking
        self.children = Children(
            around.settings,
            lambda: "" if tracking.is_own else BESIDE,
            self.evidence.for_process,
            around.rank_notes.lead,
        )
        self.boundaries, self.hub = boundaries_of(around, self.limiter.roles, self.children.rank_command)
        self.printed = PrintedNumbers(around, self.hub, self.boundaries)
        profiling = None if around.is_dry else around.options.profiling
        self.deep = None if profiling is None else deep_of(around, profiling)
        self.experimenting = Experimenting(around, self.limiter)
        self.capsules = Capsules(around, self.logbook)
        self.processes = Processes(around, self.children)
        self.sampled = SampledLines(around)
        self.evaluated = [self.logbook.evaluated]
        self.exit_code = exit_code or around.exit_code

    def watch(self, *more: Companion) -> Watch:
        """The watch, with what goes with it; `more` have observers of their own."""
        results = EvaluatedResults(self.boundaries, self.evaluated, self.limiter.roles, self.printed.series)
        wakes = Wakes(self.logbook, self.deep)
        compared = ComparedNumbers(self.printed.series, self.logbook)
        order = [
            results,
            compared,
            FollowedLoss(self.logbook),
            *more,
            self.sampled,
            self.capsules,
            self.experimenting,
            self.evidence,
            self.processes,
            wakes,
        ]
        return Watch(self.around, order)

    def case(self, watch: Watch | None) -> Case:
        return Case(self.around, self.limiter, self.children, watch, self.exit_code)

    def entrance(self, watch: Watch | None) -> list[Part]:
        """What is there before torch is, for a script that has not begun."""
        around = self.around
        return [
            self.processes,
            OpenedRun(around.tracking),
            Hooks(around),
            Switched(around),
            DryRun(around),
            FirstStep(around, self.settings),
            SeenSettings(around, self.settings),
            FollowedTrainers(around, self.boundaries, self.logbook, watch),
            HeardTrackers(around, self.hub),
            self.printed,
        ]

    def training(self, watch: Watch) -> list[Part]:
        """What follows the training from the import of torch on."""
        around = self.around
        return [
            FollowedLoop(around.loop),
            Limited(self.limiter),
            Windows(around, self.deep),
            Logged(self.logbook),
            StepsByHand(around, self.logbook),
            LossTerms(around, self.logbook),
            watch,
            self.evidence,
            self.capsules,
            self.experimenting,
            LastLook(around, watch, self.children, self.experimenting),
            WatchedForHangs(around, watch, self.evidence),
            self.sampled,
        ]

    def ends(self) -> RunAtTheEnd:
        return RunAtTheEnd(self.around.tracking, self.around.loop)


def run_session(script: Script, options: Options, *, says_verdict: bool = True) -> Session:
    """Of `stepscope run` and `stepscope check`."""
    around = Around(script, options)
    pieces = Pieces(around)
    watch = pieces.watch()
    case = pieces.case(watch)
    return Session(
        around,
        [
            SummedUp(case, pieces.logbook, says_verdict=says_verdict),
            NothingRecognized(case, pieces.printed.series),
            Judged(case),
            CurvesJudged(around),
            *pieces.entrance(watch),
            *pieces.training(watch),
            ShownStatus(around, status_text(around, pieces.logbook)),
            Values(around, watch),
            pieces.ends(),
        ],
    )
