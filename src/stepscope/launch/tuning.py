"""The session of `stepscope tune-data`: a script trains while settings of its loader are tried, and then it is over."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.process import DivertedStdout
from stepscope.launch.options import Options
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.profile.data.loaders import Loaders
from stepscope.profile.data.tuner import Budget, Tuner

__all__ = ["TuneSession"]


class TuneSession(Session):
    """Stands between the script and its training loader; nothing is saved and no run is kept."""

    def __init__(
        self,
        script: Script,
        options: Options,
        *,
        budget: Budget,
        batch_sizes: tuple[int, ...] = (),
        most_workers: int | None = None,
        json_file: Path | None = None,
    ) -> None:
        super().__init__(script, options)
        self.is_dry = True
        self._json_file = json_file
        self._stdout: DivertedStdout | None = None
        self._folder = Path.cwd()
        self._made = Loaders()
        self._places = Installed()
        self._worked = False
        self.tuner = Tuner(
            budget,
            backwards=lambda: self.loop.backwards,
            finish=self._finish,
            say=self.reporter.note,
            batch_sizes=batch_sizes,
            most_workers=most_workers,
        )

    def begin(self) -> None:
        if str(self._json_file) == "-":  # what the script prints must not stand in the JSON
            self._stdout = DivertedStdout()
        super().begin()

    def _loaders_came(self, module: Any) -> None:
        super()._loaders_came(module)
        self._made.install(self._places)
        self.tuner.diversion.install(module)

    def _torch_came(self, torch: Any) -> None:
        super()._torch_came(torch)
        self.imports.when("torch.optim.lr_scheduler", self._schedulers_came)

    def _schedulers_came(self, module: Any) -> None:
        """A pass goes on until all is tried, and schedulers that know its length would raise at its end."""
        kind = getattr(module, "LRScheduler", None) or module._LRScheduler
        tuner = self.tuner

        def layer(step: Any) -> Any:
            @wraps(step)
            def halted(scheduler: Any, *args: Any, **kwargs: Any) -> None:
                if tuner.loader is None:
                    step(scheduler, *args, **kwargs)

            return halted

        self._places.wrap("torch.optim.lr_scheduler:LRScheduler.step", layer, owner=kind)

    def _finish(self) -> None:
        stop = SystemExit(0)
        stop._stepscope_reason = "all settings were tried"  # type: ignore[attr-defined]
        raise stop

    def _take_away(self) -> None:
        fence.fenced("taking hooks away")(self.tuner.diversion.remove)()
        self._places.remove()
        super()._take_away()

    # -- the report -----------------------------------------------------------------------------------------------

    @fence.fenced("reporting on the loaders")
    def _sum_up(self, crashed: bool) -> None:
        if self._rank != 0:
            return
        from stepscope.profile.data.tuning_report import TuningReport

        tuner = self.tuner
        if not tuner.is_over and tuner.loader is not None:
            how = "crashed" if crashed else "ended"
            tuner.notes.append(f"the script {how} before all was tried; what was measured until then is shown")
        place = None if tuner.loader is None else self._made.place(tuner.loader)
        report = TuningReport(tuner, place)
        self._worked = tuner.now is not None and report.now_s is not None
        if self._json_file is not None:
            self._write_json(report)
            if self._stdout is not None:
                return
        head = f"stepscope tune-data {self.script.name}"
        if tuner.loader is None:
            self.reporter.say(f"{head}: {self._why_not()}")
            return
        _print([[("", "")], [(head, "bold")], *report.lines()])

    def _why_not(self) -> str:
        """Why there was nothing to tune, and what to do."""
        if not self.loop.batches:
            return (
                "the script read no batch from a torch DataLoader; there is nothing to tune. "
                "If it trains on tensors that it holds, it needs none"
            )
        if not self.loop.backwards:
            return (
                f"the script read {self.loop.batches} batches but never called backward(); "
                "give it the arguments with which it trains"
            )
        return (
            f"the training loader gave too few batches ({self.loop.batches} in all) before the script ended; "
            "let it train longer, or on more data"
        )

    def _write_json(self, report: Any) -> None:
        import msgspec

        from stepscope.inspect.table import finite_json

        text = msgspec.json.encode(finite_json(report.as_dict(self.script.path))).decode() + "\n"
        if self._stdout is None:
            assert self._json_file is not None
            (self._folder / self._json_file).write_text(text, encoding="utf-8")
        else:
            self._stdout.write(text)

    @property
    def exit_code(self) -> int:
        return 0 if self._worked or self._rank != 0 else 3


def _print(lines: list[Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for line in lines:
        if console.is_terminal:
            console.print(Text.assemble(*line, overflow="fold"))
        else:
            console.file.write("".join(text for text, _ in line).rstrip() + "\n")
    console.file.flush()
