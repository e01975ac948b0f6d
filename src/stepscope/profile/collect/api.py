"""`with stepscope.profile() as p:` records what runs inside; `p.step()` with a schedule records some steps of many."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import finalize

from stepscope import fence
from stepscope.common import clocks
from stepscope.errors import MissingExtra, NotFound, UsageError
from stepscope.profile.collect.schedule import Action, Schedule
from stepscope.profile.collect.steps_by_optimizer import StepsByOptimizer
from stepscope.profile.profile import Profile
from stepscope.profile.store import new_folder, write_meta, write_part
from stepscope.records.profile import ProfileMeta, Sheet

if TYPE_CHECKING:
    from stepscope.profile.advice.verdict import Verdict
    from stepscope.profile.collect.child import Reading
    from stepscope.profile.collect.facts import Facts
    from stepscope.profile.collect.torch_window import TorchWindow

_going: Profiler | None = None
READ_WITHIN_S = 300.0


def profile(
    path: str | os.PathLike[str] | None = None,
    *,
    schedule: Callable[[int], Any] | None = None,
    profiler: Literal["pytorch", "advanced"] = "pytorch",
    record_shapes: bool = True,
    profile_memory: bool = True,
    with_stack: bool = True,
    on_ready: Callable[[Profiler], Any] | None = None,
) -> Profiler:
    """Profile what runs in a `with` block.

        with stepscope.profile() as p:
            train_some_steps()
        print(p.verdict())
        p.sheet("operators"), p.export("chrome", "trace.json.gz")

    With a `schedule` (`stepscope.profile.schedule`, or torch.profiler's) call `p.step()` after each step; `on_ready(p)`
    is called after each window. Inside a run the profile goes to the run's folder; else to `path`, or, without one,
    to a temporary folder that lives as long as `p`.
    """
    if profiler not in ("pytorch", "advanced"):
        raise UsageError(f"profiler={profiler!r} is not known; there are 'pytorch' and 'advanced' (cProfile)")
    options = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_stack": with_stack}
    return Profiler(path, schedule, profiler, options, on_ready)


class ProfileRoom(Protocol):
    """What `stepscope.profile` is to a type checker: the function, and the schedule beside it."""

    def __call__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        schedule: Callable[[int], Any] | None = None,
        profiler: Literal["pytorch", "advanced"] = "pytorch",
        record_shapes: bool = True,
        profile_memory: bool = True,
        with_stack: bool = True,
        on_ready: Callable[[Profiler], Any] | None = None,
    ) -> Profiler: ...

    def schedule(
        self, *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
    ) -> Schedule: ...


class Profiler:
    """What `stepscope.profile(...)` gives. Reading methods speak of the last window that is over."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        schedule: Callable[[int], Any] | None,
        kind: Literal["pytorch", "advanced"],
        options: dict[str, bool],
        on_ready: Callable[[Profiler], Any] | None,
    ) -> None:
        self.step_num = 0
        self.profiles: list[Path] = []
        """The folders of what was recorded, oldest first."""
        self._path = None if path is None else Path(path)
        self._schedule: Schedule | None = None if schedule is None else _named(schedule)
        self._kind: Literal["pytorch", "advanced"] = kind
        self._options = options
        self._on_ready = on_ready
        self._window: TorchWindow | None = None
        self._calls: Any = None
        self._facts: Facts | None = None
        self._by_optimizer: StepsByOptimizer | None = None
        self._reading: Reading | None = None
        self._profile: Profile | None = None
        self._stepped = False
        self._began = 0

    # -- recording ------------------------------------------------------------------------------------------------

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def start(self) -> None:
        """What `with` does at its beginning."""
        global _going
        torch = _torch()
        if _going is not None:
            raise UsageError("a stepscope.profile is already active; one at a time: end it before you begin another")
        from stepscope.profile.collect.torch_window import someone_profiles

        if someone_profiles(torch):
            raise UsageError("torch.profiler is at work already, and there can be one at a time; end it first")
        if self._path is not None and self._path.exists() and (not self._path.is_dir() or os.listdir(self._path)):
            raise UsageError(f"{str(self._path)!r} is there already; a profile gets a folder of its own")
        _going = self
        self._look(torch)
        self._act(Action.NONE, self._action(0))

    def stop(self) -> None:
        """What `with` does at its end: what was recorded so far is kept."""
        global _going
        if _going is not self:
            return
        _going = None
        self._finish()
        if self._facts is not None:
            fence.fenced("ending the look")(self._facts.remove)()
        if self._by_optimizer is not None:
            self._by_optimizer.remove()
        self._facts = self._by_optimizer = None

    def step(self) -> None:
        """A step is over; the next begins. With a schedule, this is what drives it."""
        if _going is not self:
            raise UsageError("p.step() goes inside the with block (or between start() and stop())")
        self._stepped = True
        self._advance()

    def _advance(self) -> None:
        before = self._action(self.step_num)
        self.step_num += 1
        self._act(before, self._action(self.step_num))

    def _action(self, step: int) -> Action:
        return Action.RECORD if self._schedule is None else self._schedule(step)

    def _act(self, before: Action, now: Action) -> None:
        """From one step to the next: as torch.profiler does for every pair of actions."""
        records = (Action.RECORD, Action.RECORD_AND_SAVE)
        if before is Action.RECORD_AND_SAVE or (before in records and now not in records):
            if self._window is not None:
                self._window.mark(None)
            self._finish()
        if now is Action.WARMUP:
            self._prepare()
        elif now in records:
            if not self._is_on:
                self._begin()
            elif self._window is not None:
                self._window.mark(self.step_num)
        elif self._window is not None and not self._window.is_on:
            self._window = None  # warmed up for nothing

    @property
    def _is_on(self) -> bool:
        return self._calls is not None or (self._window is not None and self._window.is_on)

    def _look(self, torch: ModuleType) -> None:
        """Advice needs to know loaders and optimizers; steps without p.step() end with the optimizer's."""
        from stepscope.profile.collect.facts import Facts

        if self._kind == "pytorch":
            self._facts = Facts()
            self._facts.install(torch)
            if "torch.utils.data.dataloader" in sys.modules:
                self._facts.install_loaders(sys.modules["torch.utils.data.dataloader"])
        if self._schedule is None:
            self._by_optimizer = StepsByOptimizer(lambda: None if self._stepped else self._advance())
            self._by_optimizer.install()

    def _prepare(self) -> None:
        if self._kind == "advanced" or self._window is not None:
            return
        from stepscope.profile.collect.torch_window import TorchWindow, WindowOptions

        self._window = TorchWindow(_torch(), WindowOptions(**self._options), secret=False)
        self._window.prepare()

    def _begin(self) -> None:
        self._began = self.step_num
        if self._kind == "advanced":
            from stepscope.profile.python.cprofile import CProfiler

            self._calls = CProfiler()
            self._calls.start()
            return
        self._prepare()
        assert self._window is not None
        self._window.start()
        self._window.mark(self.step_num)

    # -- keeping --------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        calls, self._calls = self._calls, None
        window, self._window = self._window, None
        if calls is not None:
            calls.stop()
        if window is not None and window.is_on:
            window.stop()
        elif calls is None:
            return
        fence.fenced("keeping the profile")(self._keep)(window, calls)
        if window is not None:
            window.drop()
        if self._on_ready is not None:
            self._on_ready(self)

    def _keep(self, window: TorchWindow | None, calls: Any) -> None:
        folder, in_run = self._folder()
        if calls is not None:
            from stepscope.profile.python.prof_file import write_prof

            write_prof(calls.result(), folder / "rank0.prof")
        if window is not None:
            from stepscope.profile.collect.window_facts import look_at

            facts = {} if self._facts is None else self._facts.result()
            facts.update(fence.fenced("naming what was recorded", default={})(look_at)(window))
            window.save(folder / "rank0.trace.json")
            write_part(folder, "rank0.facts.json", facts)
            if window.snapshot is not None:
                write_part(folder, "rank0.memory", window.snapshot)
        write_meta(folder, self._described(folder.name, [] if window is None else window.steps))
        self.profiles.append(folder)
        self._profile = None
        if window is not None and in_run:
            from stepscope.profile.collect.child import Reading

            self._reading = fence.fenced("reading a trace in a child")(Reading)(folder, 0)

    def _described(self, id: str, steps: list[int]) -> ProfileMeta:
        last = steps[-1] if steps else max(self.step_num - 1, self._began)
        return ProfileMeta(
            id=id,
            kind=self._kind,
            created=clocks.time(),
            first_step=self._began,
            last_step=last,
            why="with stepscope.profile(...)",
            options=dict(self._options) if self._kind == "pytorch" else {},
        )

    def _folder(self) -> tuple[Path, bool]:
        """A fresh folder, and whether it is a run's."""
        session = sys.modules.get("stepscope.track.session")  # without it there is no run
        run = None if session is None else session.current()
        name = f"block-{self._began:06d}"
        if self._path is not None:
            folder = (
                self._path if not self.profiles else self._path.with_name(f"{self._path.name}-{len(self.profiles) + 1}")
            )
            folder.mkdir(parents=True, exist_ok=True)
            return folder, False
        if run is not None and run.path is not None and not run.is_finished:
            return new_folder(run.path, name, 0), True
        temporary = tempfile.TemporaryDirectory(prefix="stepscope-profile-")
        finalize(self, temporary.cleanup)
        return new_folder(Path(temporary.name), name, 0), False

    # -- reading --------------------------------------------------------------------------------------------------

    @property
    def result(self) -> Profile:
        """The profile itself, for `stepscope.profile.analyses`."""
        if self._profile is None:
            if not self.profiles:
                raise NotFound(self._why_nothing())
            if self._reading is not None:
                self._reading.wait(READ_WITHIN_S)
                self._reading = None
            self._profile = Profile.load(self.profiles[-1])
        return self._profile

    def _why_nothing(self) -> str:
        if _going is self:
            return "nothing is recorded yet: the profile can be read when the with block (or a window of it) is over"
        if self._schedule is not None and not self._stepped:
            return "nothing was recorded: with a schedule, call p.step() after each training step"
        if self._schedule is not None:
            return f"nothing was recorded: the {self.step_num} steps were over before the schedule's first active one"
        return "nothing was recorded: the with block was never entered"

    def verdict(self) -> Verdict:
        """What the time goes into and what to change; `print` it, or read its `findings`."""
        from stepscope.profile.advice.verdict import verdict

        return verdict(self.result)

    def sheet(self, name: str, *, sort: str | None = None) -> Sheet:
        """One table by its name: operators, kernels, modules, lines, memory-peak ..."""
        from stepscope.profile.analyses.analysis import analysis_named
        from stepscope.profile.show import sorted_rows

        found = analysis_named(name)(self.result)
        if not isinstance(found, Sheet):
            why = "is not a table" if found is not None else "has no result for this profile"
            raise NotFound(f"{name!r} {why}; ask p.answer({name!r}) for whatever it answers")
        return sorted_rows(found, sort)

    def answer(self, name: str) -> Any:
        """What an analysis answers: a Sheet, StepParts, Curve or Stack, or None."""
        from stepscope.profile.analyses.analysis import analysis_named

        return analysis_named(name)(self.result)

    def table(
        self, name: str | None = None, *, sort_by: str | None = None, row_limit: int = 20, width: int = 120
    ) -> str:
        """A table as text; without a name that of operators, or of functions."""
        from stepscope.profile.show import sheet_text

        chosen = name or ("operators" if self._kind == "pytorch" else "python-profile-functions")
        return sheet_text(self.sheet(chosen), sort=sort_by, most=row_limit, width=width)

    def export(self, kind: str, path: str | os.PathLike[str]) -> list[Path]:
        """For other tools: chrome, speedscope, prof, csv, parquet, json."""
        from stepscope.profile.export.export import export

        return export(self.result, kind, Path(path))

    def __str__(self) -> str:
        return str(self.verdict())

    def __repr__(self) -> str:
        done = f"{len(self.profiles)} recorded" if self.profiles else "nothing recorded yet"
        return f"<stepscope.profile {self._kind}: {done}>"


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise MissingExtra("stepscope.profile", "torch", extra="torch") from None
    return torch


def _named(schedule: Callable[[int], Any]) -> Schedule:
    """A Stepscope or torch.profiler schedule: their actions have the same names."""
    if not callable(schedule):
        raise UsageError(
            f"schedule={schedule!r} is not a schedule; create one with stepscope.profile.schedule(wait=1, ...)"
        )
    return lambda step: Action[schedule(step).name]
