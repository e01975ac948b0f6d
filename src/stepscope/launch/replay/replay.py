"""Repeat the step of a capsule under a full trace of its values, and compare with what was recorded."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from stepscope.common import clocks
from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import all_rules
from stepscope.errors import NotFound, StepscopeError
from stepscope.events import Installed
from stepscope.launch.capsule.load import Capsule
from stepscope.launch.capsule.manifest import Manifest
from stepscope.launch.exit_handling import without_our_frames
from stepscope.launch.replay.loading import Loaded
from stepscope.launch.replay.rehearsal import Rehearsal, StepOver
from stepscope.launch.replay.source_selection import Stage, compare_sources, staged
from stepscope.launch.script import run_as_main
from stepscope.record.observers.watcher import Watcher
from stepscope.record.trace_values import Report, Tracer
from stepscope.records import Finding


@dataclass
class Outcome:
    """What a replay did and saw."""

    manifest: Manifest
    stage: Stage
    loss: float | None = None
    grad_norm: float | None = None
    error: BaseException | None = None
    """What the script raised in its step, or before it."""
    stopped_at: BaseException | None = None
    """Where the script was when its step was over: its frames are in the traceback."""
    reached: bool = False
    loaded: list[Loaded] = field(default_factory=list)
    batch_tensors: list[str] = field(default_factory=list)
    values_set: int = 0
    arguments_replaced: int = 0
    report: Report | None = None
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def same_loss(self) -> bool | None:
        """Whether the loss is the recorded one, to the bit; None when there is nothing to compare."""
        recorded = self.manifest.loss
        if not recorded or self.loss is None:
            return None
        if math.isnan(float.fromhex(recorded)):
            return math.isnan(self.loss)
        return self.loss.hex() == recorded

    @property
    def same_error(self) -> bool | None:
        if self.manifest.why != "error":
            return None
        return self.error is not None and said(self.error) == self.manifest.error

    @property
    def failed_again(self) -> bool:
        """Whether what went wrong then went wrong now."""
        if self.manifest.why == "error":
            return self.error is not None
        if self.error is not None:
            return True
        numbers = (self.loss,) if self.manifest.why == "loss" else (self.loss, self.grad_norm)
        return any(number is not None and not math.isfinite(number) for number in numbers)


def run_uncompiled(installed: Installed) -> None:
    """Have `torch.compile` return its argument unchanged: inside compiled code no value can be followed."""

    def left_alone(plain: Any) -> Any:
        @wraps(plain)
        def compile(model: Any = None, **options: Any) -> Any:
            return model if model is not None else lambda function: function

        return compile

    installed.wrap("torch:compile", left_alone, outermost=True)
    installed.wrap("torch.nn:Module.compile", lambda plain: lambda module, *args, **options: None, outermost=True)


def said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def replay(capsule: Capsule, *, current: bool = False, on_stage: Callable[[Stage], None] | None = None) -> Outcome:
    """Run the script up to the saved step, and that step with what was saved. Runs the capsule's code: ask first.

    `current` runs the files as they are on the disk now.
    """
    _can_be_replayed(capsule.manifest)
    moved = current and any(one.state == "changed" for one in compare_sources(capsule.manifest))
    with staged(capsule, current=current) as stage:
        if on_stage is not None:
            on_stage(stage)
        return _Replay(capsule, stage, moved).run()


def _can_be_replayed(manifest: Manifest) -> None:
    if manifest.has_batch and not manifest.batches:
        why = next((one for one in manifest.missing if one.startswith("batch:")), "batch: not saved")
        raise NotFound(f"the step cannot be replayed, its batch is not in the capsule ({why})")
    if manifest.anchor is None:
        raise NotFound("the step cannot be replayed: the capsule does not record where in the script it began")


class _Replay:
    """One replay: everything that is put in place for it, and taken away again."""

    def __init__(self, capsule: Capsule, stage: Stage, lines_moved: bool) -> None:
        self.outcome = Outcome(capsule.manifest, stage)
        self.watcher = Watcher()
        self.installed = Installed()
        self.tracer: Tracer | None = None
        self.rehearsal = Rehearsal(self.watcher, capsule, self._trace, lines_moved=lines_moved)
        crash_rules = [rule for rule in all_rules().values() if rule.needs == "crash"]
        self.engine = Engine(Evidence.of(self.watcher), rules=crash_rules)

    def run(self) -> Outcome:
        outcome, rehearsal = self.outcome, self.rehearsal
        began = clocks.perf_counter()
        self._prepare()
        error: BaseException | None = None
        try:
            run_as_main(outcome.stage.script)
        except StepOver as over:
            outcome.stopped_at = without_our_frames(over)
        except SystemExit as over:
            error = None if over.code in (None, 0) else over
        except StepscopeError:
            raise
        except Exception as raised:
            error = raised
            if rehearsal.reached:
                outcome.findings = self.engine.crashed(raised)
            outcome.error = without_our_frames(raised)
        finally:
            self._take_away(error)
        outcome.reached = rehearsal.reached
        outcome.loss, outcome.grad_norm = rehearsal.loss, rehearsal.grad_norm
        outcome.loaded, outcome.values_set = rehearsal.loaded, rehearsal.values_set
        outcome.batch_tensors = rehearsal.batch_tensors
        outcome.arguments_replaced = rehearsal.arguments_replaced
        outcome.error = outcome.error or error
        outcome.seconds = clocks.perf_counter() - began
        if self.tracer is not None:
            outcome.report = self.tracer.check()
        return outcome

    def _prepare(self) -> None:
        self._same_arithmetic()
        run_uncompiled(self.installed)
        self.rehearsal.put_in_place(self.installed)
        self.watcher.start()

    def _same_arithmetic(self) -> None:
        """As many threads as then: sums over other pieces differ in their last bits."""
        import torch

        threads = self.outcome.manifest.facts.get("threads", "")
        if threads.isdigit() and 0 < int(threads) <= (os.cpu_count() or 1):
            before = torch.get_num_threads()
            torch.set_num_threads(int(threads))
            self.installed.add(lambda: torch.set_num_threads(before))

    def _trace(self) -> None:
        """From here on follow every value; after a crash also where tensors come from, which its explanation asks."""
        if self.outcome.manifest.why == "error":
            self.watcher.governor.hold("the step that failed")
        else:
            self.watcher.governor.close("a replay follows every value instead")
        self.tracer = Tracer(nan=True, inf=True, model=None)
        self.tracer.__enter__()

    def _take_away(self, error: Any) -> None:
        if self.tracer is not None:
            self.tracer.__exit__(None, error, None)
        self.watcher.stop()
        self.installed.remove()
        sys.stdout.flush()
