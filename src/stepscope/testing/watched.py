"""One watched test: the same observers and rules as `stepscope run`, around a function instead of a script."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stepscope import fence
from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import CRASHED, RUNNING, rules_for
from stepscope.diagnose.settings import load_settings
from stepscope.errors import UsageError
from stepscope.launch.exit_handling import without_our_frames
from stepscope.record import random_state
from stepscope.record.observers import Watcher
from stepscope.testing.budget import Budget
from stepscope.testing.sources import TestSource

if TYPE_CHECKING:
    from stepscope.records import Finding
    from stepscope.testing.marker import Wishes

NOT_IN_TESTS = frozenset(("repro.no-seed",))
"""Rules that apply only to scripts whose results must be reproducible; a test is not such a script."""


class Watched:
    """From a test's set-up to the end of its body. Internal errors are reported and never fail it."""

    def __init__(self, item: pytest.Item, wishes: Wishes) -> None:
        self.item = item
        self.wishes = wishes
        self.budget = Budget(item, wishes)
        settings = load_settings(item.path, ignore=wishes.allow)
        self._source = TestSource(item.path, item.config.rootpath)
        self._watcher = Watcher()
        rules = [rule for rule in rules_for(*RUNNING, *CRASHED).values() if rule.id not in NOT_IN_TESTS]
        self._engine = Engine(Evidence.of(self._watcher, self._source), settings=settings, rules=rules)
        self._is_asked = False

    def begin(self) -> None:
        self._watcher.on_moment = self._engine.moment
        fence.fenced("watching a test")(self._watcher.start)()

    def repeat(self, step: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
        """The fixture: call it watched; then for a budget again, unwatched."""
        if not callable(step):
            raise UsageError(
                f"training_step got {step!r}; expected the function that makes one step: training_step(step)"
            )
        call = partial(step, *args, **kwargs)
        results = [call() for _ in range(self.wishes.steps)]
        if self.wishes.has_budget:
            if self.budget.measured is not None:
                raise UsageError(
                    "training_step was called twice in a test with a budget; call it once, with the step to measure"
                )
            self._ask()
            before = random_state.taken()
            self.budget.measure(call)
            random_state.put_back(before)
        return results

    def _ask(self) -> None:
        """Watching has ended: run the rules a last time."""
        if not self._is_asked:
            self._is_asked = True
            fence.fenced("ending the watch")(self._watcher.stop)()
            fence.fenced("the last look")(self._engine.finish)()

    def judge(self) -> None:
        """The body succeeded: fail the test if there are findings, or a budget is exceeded."""
        self._ask()
        self.item.user_properties += self.budget.properties()
        found, complaints = self._findings(), self.budget.complaints()
        if found or complaints:
            pytest.fail(self._told(found, complaints), pytrace=False)

    def broke(self, error: BaseException) -> None:
        """The body raised: its error stays the test's failure; the explanation is shown beside it."""
        if isinstance(error, Exception) and not self._is_asked:
            if isinstance(error, AssertionError):
                self._ask()
            else:
                self._is_asked = True
                fence.fenced("explaining the crash")(self._engine.crashed)(error)
                fence.fenced("ending the watch")(self._watcher.stop)()
                self._engine.evidence.crash = None  # it references the frames of the test
            found = self._findings()
            if found:
                self.item.add_report_section("call", "stepscope", self._told(found, [], is_failure=False))
        self.end()
        without_our_frames(error)

    def end(self) -> None:
        self._is_asked = True
        fence.fenced("ending the watch")(self._watcher.stop)()

    def _findings(self) -> list[Finding]:
        return [
            one
            for one in self._engine.findings
            if one.severity != "info" and (not one.file or self._source.holds(one.file))
        ]

    # -- in words ---------------------------------------------------------------------------------------------------

    def _told(self, found: list[Finding], complaints: list[str], *, is_failure: bool = True) -> str:
        from stepscope.diagnose.show import render

        color = bool(getattr(self.item.config.get_terminal_writer(), "hasmarkup", False))
        root, width = Path(self.item.config.invocation_params.dir), _width(self.item.config)
        parts = [render(one, color=color, width=width, root=root).rstrip() for one in found]
        if found and is_failure:
            rules = ", ".join(repr(rule) for rule in dict.fromkeys(one.rule for one in found))
            parts.append(f"if this is intended: @pytest.mark.stepscope(allow=[{rules}])")
        return "\n\n".join([*parts, *complaints])


def _width(config: pytest.Config) -> int:
    writer = config.get_terminal_writer()
    return max(60, min(int(writer.fullwidth), 160)) if sys.stdout is not None else 100
