"""`stepscope tune-data`: a script trains while settings of its loader are tried, and then it is over."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.process import DivertedStdout
from stepscope.launch.options import Options
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.loop import FollowedLoop, Limited
from stepscope.launch.parts.pulse import Logged, Windows
from stepscope.launch.parts.terminal import ShownStatus, status_text
from stepscope.launch.parts.verdict import Judged
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.launch.session_context import Around
from stepscope.launch.sessions import Pieces
from stepscope.launch.trial.schedules import halt_schedules
from stepscope.profile.data.loaders import Loaders
from stepscope.profile.data.tuner import Budget, Tuner


def tune_session(
    script: Script,
    options: Options,
    *,
    budget: Budget,
    batch_sizes: tuple[int, ...] = (),
    most_workers: int | None = None,
    json_file: Path | None = None,
) -> Session:
    """Nothing is saved and no run is kept."""
    around = Around(script, options, dry=True)
    tuner = Tuner(
        budget,
        backwards=lambda: around.loop.backwards,
        finish=_finish,
        say=around.reporter.note,
        batch_sizes=batch_sizes,
        most_workers=most_workers,
    )
    tuning = _Tuning(around, tuner)
    report = _Report(around, tuner, tuning, json_file)
    pieces = Pieces(around, report.exit_code)
    parts = [
        report,
        Judged(pieces.case(None)),
        *pieces.entrance(None),
        FollowedLoop(around.loop),
        Limited(pieces.limiter),
        Windows(around, None),
        Logged(pieces.logbook),
        ShownStatus(around, status_text(around, pieces.logbook)),
        tuning,
        pieces.ends(),
    ]
    return Session(around, parts, report.exit_code)


class _Tuning(Part):
    """Stands between the script and its training loader."""

    ending = "taking hooks away"

    def __init__(self, around: Around, tuner: Tuner) -> None:
        self._around, self._tuner = around, tuner
        self.made = Loaders()
        self._places = Installed()

    def torch_came(self, torch: ModuleType) -> None:
        self.made.install(self._places)
        self._tuner.diversion.install(sys.modules["torch.utils.data.dataloader"])
        halt_schedules(self._around.imports, self._places, lambda: self._tuner.loader is not None)

    def end(self, ended: Ended) -> None:
        fence.call("taking hooks away", self._tuner.diversion.remove)
        self._places.remove()


def _finish() -> None:
    stop = SystemExit(0)
    stop._stepscope_reason = "all settings were tried"  # type: ignore[attr-defined]
    raise stop


class _Report(Part):
    """What was measured, and the settings that were fastest."""

    ending = "reporting on the loaders"

    def __init__(self, around: Around, tuner: Tuner, tuning: _Tuning, json_file: Path | None) -> None:
        self._around, self._tuner, self._tuning = around, tuner, tuning
        self._json_file = json_file
        self._stdout: DivertedStdout | None = None
        self._folder = Path.cwd()
        self._worked = False

    def begin(self) -> None:
        if str(self._json_file) == "-":  # what the script prints must not end up in the JSON
            self._stdout = DivertedStdout()

    def end(self, ended: Ended) -> None:
        if self._around.rank != 0:
            return
        from stepscope.profile.data.tuning_report import TuningReport

        tuner = self._tuner
        if not tuner.is_over and tuner.loader is not None:
            how = "crashed" if ended.crash is not None else "ended"
            tuner.notes.append(f"the script {how} before all settings were tried; these are the results so far")
        place = None if tuner.loader is None else self._tuning.made.place(tuner.loader)
        report = TuningReport(tuner, place)
        self._worked = tuner.now is not None and report.now_s is not None
        if self._json_file is not None:
            self._write_json(report)
            if self._stdout is not None:
                return
        head = f"stepscope tune-data {self._around.script.name}"
        if tuner.loader is None:
            self._around.reporter.say(f"{head}: {self._why_not()}")
            return
        print_lines([[("", "")], [(head, "bold")], *report.lines()])

    def _why_not(self) -> str:
        """Why there was nothing to tune, and what to do."""
        if not self._around.loop.batches:
            return (
                "the script read no batch from a torch DataLoader; there is nothing to tune. "
                "If it trains on tensors in memory, it needs none"
            )
        if not self._around.loop.backwards:
            return (
                f"the script read {self._around.loop.batches} batches but never called backward(); "
                "pass the arguments with which it trains"
            )
        return (
            f"the training loader gave too few batches ({self._around.loop.batches} in total) before the script ended; "
            "train longer, or on more data"
        )

    def _write_json(self, report: Any) -> None:
        import msgspec

        from stepscope.inspect.table import finite_json

        text = msgspec.json.encode(finite_json(report.as_dict(self._around.script.path))).decode() + "\n"
        if self._stdout is None:
            assert self._json_file is not None
            (self._folder / self._json_file).write_text(text, encoding="utf-8")
        else:
            self._stdout.write(text)

    def exit_code(self) -> int:
        return 0 if self._worked or self._around.rank != 0 else 3


def print_lines(lines: list[Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for line in lines:
        if console.is_terminal:
            console.print(Text.assemble(*line, overflow="fold"))
        else:
            console.file.write("".join(text for text, _ in line).rstrip() + "\n")
    console.file.flush()
