"""One window of torch.profiler: begun and ended at steps that we have found, saved as a trace.

Built on the lowest layer that is the same in all versions (`torch.autograd.profiler.profile`), because the layers above
make a Python object of every event when they stop, which takes a hundred times as long as writing the trace.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope import events
from stepscope.common import clocks
from stepscope.profile.collect.others import OURS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stepscope.profile.collect.live_objects import Alive
    from stepscope.profile.collect.memory import CudaHistory
    from stepscope.profile.collect.module_spans import ModuleSpans
    from stepscope.profile.memory.snapshot import MemorySnapshot

_NOISE = (
    b"Memory block of unknown size was allocated before the profiling started",
    b"External init callback must run in same thread as registerClient",
)


@dataclass(frozen=True)
class WindowOptions:
    """What torch.profiler is asked to write down."""

    record_shapes: bool = True
    profile_memory: bool = True
    with_stack: bool = False
    with_modules: bool = True
    """Real names of modules: from the stacks, or by a span for each call of a module."""
    cuda_history: bool = False
    """CUDA's own history of allocations, with the Python stack of each."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def someone_profiles(torch: ModuleType) -> bool:
    """Whether a profiler of torch is at work now, whoever started it."""
    return bool(torch._C._autograd._profiler_enabled())


def stacks_are_safe(torch: ModuleType) -> bool:
    """Whether Python calls can be followed: where somebody has replaced `Module.__call__` by a function that does not
    call its first argument `self`, torch.profiler crashes the process."""
    code = getattr(torch.nn.Module.__call__, "__code__", None)
    return code is not None and "self" in code.co_varnames[: code.co_argcount]


class TorchWindow:
    """prepare -> start -> mark(step) ... -> stop -> save. Each may take milliseconds; none raises into the script's
    code, because all are called behind the fence."""

    def __init__(self, torch: ModuleType, options: WindowOptions, *, secret: bool = True) -> None:
        """`secret`: the script knows nothing of it; else the script asked for it, and a window of a run makes way."""
        self.options = options
        self._secret = secret
        self.is_on = False
        self.steps: list[int] = []
        self.stop_s = 0.0
        self.save_s = 0.0
        self._torch = torch
        self._mark: Any = None
        self._rest: int | None = None
        self._cancelled: list[int] = []
        self._spans: ModuleSpans | None = None
        self._history: CudaHistory | None = None
        self.snapshot: MemorySnapshot | None = None
        self.paths: dict[int, tuple[str, str]] = {}
        """The names of modules as it began: by its end the script may be over, and they gone."""
        self._alive: Alive | None = None
        self._storages: dict[str, list[list[Any]]] | None = None
        self.walls_s: list[float] = []
        """How long its steps took."""
        self._marked = 0.0
        self._profile: Any = None

    def prepare(self) -> None:
        """Warm up: the first use of a device's tracing library takes long and must not be in the trace."""
        options, profiler = self.options, self._torch.autograd.profiler
        stack = options.with_stack and stacks_are_safe(self._torch)
        first = threading.current_thread() is threading.main_thread()
        with quiet_kineto(), nullcontext() if first else without_noise():
            self._profile = profiler.profile(
                use_cpu=True,
                **_device_asked_for(self._torch, self._secret),
                record_shapes=options.record_shapes,
                profile_memory=options.profile_memory,
                with_stack=stack,
                with_modules=options.with_modules and stack,
                use_kineto=True,
            )
            if self._secret:
                setattr(self._profile, OURS, True)
            self._profile._prepare_trace()

    def start(self) -> None:
        # Here, before anything is recorded: most runs never open a window.
        from stepscope.profile.collect.live_objects import Alive
        from stepscope.profile.collect.module_names import module_paths

        if self._profile is None:
            self.prepare()
        if self.options.with_modules or self.options.profile_memory:
            self._alive = Alive()
            self.paths = module_paths(self._alive.models) if self.options.with_stack else {}
        self._begin_beside()
        with events.quietly():
            old = self._torch.empty(1, device="cpu") if self.options.profile_memory else None
        self._profile._start_trace()
        self.is_on = True
        self._describe()
        if old is not None:
            with without_noise():
                del old

    def _begin_beside(self) -> None:
        from stepscope.profile.collect.memory import CudaHistory
        from stepscope.profile.collect.module_spans import ModuleSpans

        if self.options.with_modules and not self.options.with_stack:
            self._spans = ModuleSpans()
            self._spans.begin()
        if self.options.cuda_history:
            self._history = CudaHistory()
            self._history.begin()

    def _describe(self) -> None:
        """What torch.profiler.profile would note in the trace, so that any reader of traces finds it."""
        add = getattr(self._torch.autograd, "_add_metadata_json", None)
        if add is None:
            return
        for name in ("record_shapes", "profile_memory", "with_stack"):
            if getattr(self.options, name):
                add(name, "1")
        group = getattr(self._torch, "distributed", None)
        if group is not None and group.is_available() and group.is_initialized():
            add(
                "distributedInfo",
                f'{{"backend": "{group.get_backend()}", "rank": {group.get_rank()}, '
                f'"world_size": {group.get_world_size()}}}',
            )

    def mark(self, step: int | None) -> None:
        """A step begins here, and the one before is over; None: only over."""
        from stepscope.profile.collect.module_spans import hidden_span

        now = clocks.perf_counter()
        if self._mark is not None:
            with events.quietly():
                self._mark.__exit__(None, None, None)
            self._mark = None
            self.walls_s.append(now - self._marked)
            self._note_storages()
        self._marked = now
        if step is not None and self.is_on:
            self.steps.append(step)
            self._mark = hidden_span(self._torch, f"ProfilerStep#{step}")

    def _note_storages(self) -> None:
        """After its first step, should the script be over before the window is."""
        from stepscope.profile.collect.memory import storages

        if self.options.profile_memory and self._alive is not None and self._storages is None:
            self._storages = storages(self._alive.models, self._alive.optimizers)

    @property
    def storages(self) -> dict[str, list[list[Any]]]:
        """Whose memory is where: now, or as it was while all models were there."""
        from stepscope.profile.collect.memory import storages

        alive = self._alive
        if alive is None or (not alive.are_all_here and self._storages is not None):
            return self._storages or {}
        return storages(alive.models, alive.optimizers)

    def cancel(self) -> None:
        """The step that was marked last does not count: the loader had no batch for it."""
        if self._mark is not None:
            step = self.steps[-1]
            self.mark(None)
            self.steps.pop()
            self.walls_s.pop()
            self._cancelled.append(step)

    def stop(self) -> None:
        """End it. Waits for the device, and takes time for each event. A step that is still running does not count."""
        if not self.is_on:
            return
        if self._mark is not None and len(self.steps) > 1:
            self._rest = self.steps.pop()
        self.mark(None)
        del self.walls_s[len(self.steps) :]
        self.is_on = False
        began = clocks.perf_counter()
        if self._spans is not None:
            self._spans.end()
        self._profile.__exit__(None, None, None)
        if self._history is not None:
            self.snapshot = self._history.end()
        self.stop_s = clocks.perf_counter() - began

    @property
    def live(self) -> Any:
        """The stopped profile itself, for those who read more of it than its trace."""
        return self._profile

    @property
    def events(self) -> int:
        """How many events it holds."""
        results = None if self._profile is None else self._profile.kineto_results
        return 0 if results is None else len(results.events())

    def save(self, path: Path) -> None:
        """Write the trace, whole or not at all. Works once."""
        began = clocks.perf_counter()
        fd, temporary = tempfile.mkstemp(prefix=".", suffix=".json", dir=path.parent)  # only we may read it
        os.close(fd)
        try:
            self._profile.kineto_results.save(temporary)
            for step in [*self._cancelled, *([] if self._rest is None else [self._rest])]:
                _rename_first(temporary, f'"ProfilerStep#{step}"', f'"ProfilerRest#{step}"')
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        self.save_s = clocks.perf_counter() - began

    def drop(self) -> None:
        """Let go of everything that was recorded."""
        self._profile = self._mark = self.snapshot = self._alive = None


def _rename_first(file: str, old: str, new: str) -> None:
    """A name in a trace for another of the same length, in place: what was marked as a step turned out to be none.

    The first: where a number was marked twice, it is the one that came to nothing.
    """
    with open(file, "r+b") as raw, mmap.mmap(raw.fileno(), 0) as whole:
        at = whole.find(old.encode())
        if at >= 0:
            whole[at : at + len(old)] = new.encode()


def _device(torch: ModuleType, only_in_use: bool) -> str | None:
    """What to trace besides the host: what the script uses; where it asked for the profile itself, what there is."""
    if only_in_use:  # asking what there is would wake the driver: see moves.py
        names = {"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None)}
        return next((name for name, room in names.items() if room is not None and room.is_initialized()), None)
    kinds = {str(kind).rpartition(".")[2] for kind in torch.autograd._supported_activities()}
    return next((name.lower() for name in ("CUDA", "XPU") if name in kinds), None)


def _device_asked_for(torch: ModuleType, only_in_use: bool) -> dict[str, Any]:
    """How to ask for it: before torch 2.3, `use_device` was for other devices than CUDA."""
    device = _device(torch, only_in_use)
    major, minor = (int(part) for part in torch.__version__.split(".")[:2])
    return {"use_cuda": True} if device == "cuda" and (major, minor) < (2, 3) else {"use_device": device}


@contextmanager
def quiet_kineto() -> Iterator[None]:
    """Keep torch's tracing library from writing its own progress to the terminal: read when it first starts."""
    if "KINETO_LOG_LEVEL" in os.environ:
        yield
        return
    os.environ["KINETO_LOG_LEVEL"] = "99"
    try:
        yield
    finally:
        os.environ.pop("KINETO_LOG_LEVEL", None)


@contextmanager
def without_noise() -> Iterator[None]:
    """Torch says once in a thousand frees that it knows nothing of memory from before, and in a thread other than the
    main one that it was imported elsewhere: let it say so to nobody.

    Whatever else is written to stderr in these microseconds is passed on.
    """
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            file.seek(0)
            for line in file.read().splitlines(keepends=True):
                if not any(noise in line for noise in _NOISE):
                    os.write(2, line)
            os.close(kept)
