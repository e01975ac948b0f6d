"""What was measured, as rules ask for it: the typical step and its parts, the device's work, and the facts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from stepscope.diagnose.excerpt import lines_of
from stepscope.errors import BadData
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.facts_shape import well_formed
from stepscope.profile.advice.machine import Machine
from stepscope.profile.profile import Profile
from stepscope.profile.trace.ranges import BACKWARD
from stepscope.profile.trace.trace import Trace
from stepscope.profile.typical import typical_rows
from stepscope.records.profile import StepParts

PHASES = ("data", "h2d", "forward", "backward", "optimizer", "other")

_BUSY = 0.3
LAUNCH_NS = 25_000
"""No host takes longer for an operator of one kernel: what is idle beyond that waits for something else."""


_FEW_STEPS = 5


class Measured:
    """One rank of a profile. Everything is worked out when first asked for.

    run.step_ns                   # the typical step
    run.part("data")              # what of it went to waiting for data
    run.loader                    # the facts of the loader that trains, or {}
    run.gpu                       # the device's work, or None
    """

    def __init__(self, profile: Profile, rank: int = 0, facts: dict[str, Any] | None = None) -> None:
        self.profile = profile
        self.rank = rank
        self.found: list[str] = []
        """The ids of the rules that have found something in it so far."""
        self.withdrawn: list[str] = []
        """Advice that a trial has contradicted, and what it measured."""
        self.damaged: list[str] = []
        """What of the profile could not be read; advice is given from the rest."""
        self.facts: dict[str, Any] = self._read_facts() if facts is None else facts

    def _read_facts(self) -> dict[str, Any]:
        try:
            return well_formed(self.profile.facts(self.rank))
        except (BadData, msgspec.MsgspecError) as fault:
            self._note_damage(f"the facts about the process cannot be read ({fault})")
            return {}

    @cached_property
    def trace(self) -> Trace | None:
        return self.trace_of(self.rank)

    def trace_of(self, rank: int) -> Trace | None:
        """None where nothing was traced, and where the trace is damaged: one note says so, not every rule."""
        try:
            return self.profile.trace(rank)
        except BadData as fault:
            self._note_damage(f"the trace of rank {rank} cannot be read, so advice based on it is missing ({fault})")
            return None

    @cached_property
    def _phases(self) -> StepParts | None:
        try:
            return self.profile.phases(self.rank)
        except BadData as fault:
            self._note_damage(str(fault))
            return None

    def parts_of(self, rank: int) -> dict[str, int]:
        """Each phase of the typical step of a rank, as its own timer saw it; empty where too few steps were timed."""
        try:
            phases = self.profile.phases(rank)
        except BadData:
            return {}
        return _typical(phases) if phases is not None and len(phases.steps) >= _FEW_STEPS else {}

    def _note_damage(self, what: str) -> None:
        if what not in self.damaged:
            self.damaged.append(what)

    # -- the step -------------------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> dict[str, int]:
        """Nanoseconds of each phase of the typical step. From the clock that is always on, where there was one: a
        window of the profiler makes the host slower than it is."""
        always_on = self._phases
        if always_on is not None and len(always_on.steps) >= 3:
            return _typical(always_on)
        traced = self._traced_phases
        known = self.facts.get("steps", {})
        if not known.get("wall_ns"):
            return traced
        return _combined(known, traced)

    @cached_property
    def _traced_phases(self) -> dict[str, int]:
        if self.trace is None:
            return {}
        from stepscope.profile.analyses.phases import phases

        found = phases(self.trace)
        return {} if found is None else _typical(found)

    @cached_property
    def step_ns(self) -> int:
        """The wall time of the typical step; 0 when there is none."""
        total = sum(self.parts.values())
        if self._is_timed or self.gpu is None:
            return total
        return max(total, self.gpu.step_ns)  # the marks of a trace are the host's, which runs ahead

    @property
    def _is_timed(self) -> bool:
        """Whether the clock that is always on says what a step takes."""
        always_on = self._phases
        return (always_on is not None and len(always_on.steps) >= 3) or bool(self.facts.get("steps", {}).get("wall_ns"))

    def part(self, key: str) -> int:
        return self.parts.get(key, 0)

    def share(self, nanoseconds: float) -> float:
        """Of the typical step, 0 to 1."""
        return min(1.0, max(0.0, nanoseconds / self.step_ns)) if self.step_ns else 0.0

    def on_device(self, nanoseconds: float) -> int:
        """A time of the device's work: a window makes the host slower, not the device, so it stands as it is."""
        return int(min(nanoseconds, self.step_ns))

    def on_host(self, nanoseconds: float) -> int:
        """A time of the host inside the profiler's window, as a time of the typical step, which is shorter."""
        inside = self.gpu.step_ns if self.gpu is not None else sum(self._traced_phases.values())
        return int(nanoseconds * min(1.0, self.step_ns / inside)) if inside else 0

    def of_look(self, nanoseconds: float) -> int:
        """A time of the steps in which single lines were watched, as a time of the typical step."""
        wall = int(self.facts.get("look", {}).get("wall_ns", 0))
        return int(nanoseconds * min(1.0, self.step_ns / wall)) if wall and self.step_ns else int(nanoseconds)

    # -- the device -----------------------------------------------------------------------------------------------

    @cached_property
    def gpu(self) -> DeviceWork | None:
        """The work on an accelerator, when the trace has any."""
        return DeviceWork(self.trace) if self.trace is not None and self.trace.has_device else None

    @cached_property
    def idle_ns(self) -> int:
        """What of the typical step the device did nothing. By the step as it is outside the profiler's window: inside
        it the host is slower, and the device idles because it is watched."""
        return max(0, self.step_ns - self.gpu.busy_ns) if self.gpu is not None else 0

    @property
    def launch_ns(self) -> float:
        """What it costs the host to start one kernel from Python: operator, autograd and the call that launches."""
        return LAUNCH_NS

    @property
    def idle_beside_data_ns(self) -> int:
        """The same, without the time in which the loop waits for data."""
        return max(0, self.idle_ns - self.part("data"))

    @cached_property
    def kind(self) -> str:
        """cpu, cuda, rocm, xpu or mps: where the training ran."""
        said = str(self.facts.get("device", {}).get("kind", ""))
        if self.trace is not None and self.trace.has_device:
            cats = " ".join(self.trace.events.cats).lower()
            return said if said not in ("", "cpu") else _kind_of(cats)
        on_host = all(
            set(one.get("devices", [])) <= {"cpu"}
            for one in [*self.facts.get("models", []), *self.facts.get("optimizers", [])]
        )
        return "cpu" if on_host else said or "cpu"

    @cached_property
    def device(self) -> dict[str, Any]:
        """name, capability, total_bytes, sms of the accelerator; what the trace says where there are no facts."""
        found: dict[str, Any] = dict(self.facts.get("device", {}))
        said = [] if self.trace is None else self.trace.events.header.fields.get("deviceProperties") or []
        if said and isinstance(said[0], dict):
            first = said[0]
            found.setdefault("name", first.get("name", ""))
            found.setdefault("capability", [first.get("computeMajor", 0), first.get("computeMinor", 0)])
            found.setdefault("total_bytes", first.get("totalGlobalMem", 0))
            found.setdefault("sms", first.get("numSms", 0))
        return found

    @property
    def capability(self) -> tuple[int, int]:
        """Of an NVIDIA device: (8, 0) is Ampere."""
        found = self.device.get("capability") or [0, 0]
        return int(found[0]), int(found[1])

    @property
    def cores(self) -> int:
        """The processors the training may use; 1 when not known."""
        return int(self.facts.get("cpu", {}).get("cores", 1))

    @cached_property
    def machine(self) -> Machine:
        """What a worker, a copy, a launch cost on the machine of the training."""
        return Machine.of(self.facts.get("machine"))

    @cached_property
    def stretch(self) -> float:
        """How much longer things take here than on an idle machine: wall time over CPU time, where other
        programs are at work. The figures of the machine are its quickest times."""
        steps = self.facts.get("steps", {})
        wall, work = float(steps.get("wall_ns") or 0), float(steps.get("work_ns") or 0)
        if not work or self._others < _BUSY:
            return 1.0
        resting = float(steps.get("data_ns") or 0) * (1 - float(self.loader.get("working_share") or 1.0))
        return min(20.0, max(1.0, (wall - resting) / work))

    @property
    def _others(self) -> float:
        """Processors that other programs keep busy."""
        return float(self.facts.get("cpu", {}).get("others") or 0.0)

    def capacity(self, processes: int) -> float:
        """How many processors' work this many busy training threads get done: other programs want their share."""
        shared = self.cores * processes / (processes + self._others)
        return max(0.1, min(processes, max(self.cores - self._others, shared)))

    @cached_property
    def backward_nodes(self) -> dict[str, int]:
        """Time of each sort of backward node a step, on the host: `SelectBackward0` and so on."""
        trace, found = self.trace, dict[str, int]()
        if trace is None or not trace.steps:
            return found
        events = trace.events
        nodes = np.flatnonzero(events.named(lambda name: name.startswith(BACKWARD)) & (trace.step_of >= 0))
        totals = np.bincount(events.name[nodes], events.dur[nodes].clip(0), len(events.names))
        for name in np.flatnonzero(totals).tolist():
            found[events.names[name].rpartition(": ")[2]] = self.on_host(totals[name] / len(trace.steps))
        return found

    # -- the facts ------------------------------------------------------------------------------------------------

    @cached_property
    def loaders(self) -> list[dict[str, Any]]:
        return list(self.facts.get("loaders", []))

    @cached_property
    def loader(self) -> dict[str, Any]:
        """The loader that feeds the training; {} when none was seen."""
        training = [one for one in self.loaders if one.get("trains")]
        return max(training, key=lambda one: int(one["trains"]), default={})

    @cached_property
    def optimizer(self) -> dict[str, Any]:
        """The one with most numbers to update."""
        return max(self.facts.get("optimizers", []), key=lambda one: int(one.get("numbers", 0)), default={})

    @cached_property
    def model(self) -> dict[str, Any]:
        return max(self.facts.get("models", []), key=lambda one: int(one.get("parameters", 0)), default={})

    @property
    def flags(self) -> dict[str, Any]:
        found: dict[str, Any] = self.facts.get("flags", {})
        return found

    def calls(self, *ops: str, fetching: bool | None = None) -> Iterator[dict[str, Any]]:
        """What single lines did, a step; all of them, or those of some functions."""
        for call in self.facts.get("calls", []):
            if (not ops or call["op"] in ops) and (fetching is None or call["fetching"] == fetching):
                yield call

    def by_line(self, calls: Iterator[dict[str, Any]]) -> dict[tuple[str, int], list[dict[str, Any]]]:
        """Calls gathered by their line; those without a line of the user's are left out."""
        found: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for call in calls:
            if call["file"]:
                found.setdefault((call["file"], call["line"]), []).append(call)
        return found

    @staticmethod
    def where(fact: dict[str, Any], *keys: str) -> tuple[str, int] | None:
        """The first place that a fact knows: `run.where(run.loader, "made", "iterated")`; a call's own without keys."""
        places: list[Any] = [fact.get(key) for key in keys] if keys else [(fact.get("file"), fact.get("line"))]
        for found in places:
            if found and found[0]:
                return str(found[0]), int(found[1])
        return None

    def line_with(self, *words: str) -> tuple[str, int] | None:
        """The line of the user's own files that says one of these words, outside comments and imports."""
        files = {str(one["file"]) for one in self.facts.get("calls", []) if one.get("file")}
        files |= {str(one["made"][0]) for one in [*self.loaders, *self.facts.get("optimizers", [])] if one.get("made")}
        for file in sorted(files):
            for number, text in enumerate(lines_of(file), 1):
                code = text.split("#")[0]
                if "import " not in code and any(word in code for word in words):
                    return file, number
        return None


def _typical(steps: StepParts) -> dict[str, int]:
    """Each part's mean over the typical steps."""
    table = np.array(steps.parts_ns, np.int64)
    kept = typical_rows(steps.wall_ns, steps.first_is_odd)
    means = table[kept].mean(axis=0) if len(kept) else np.zeros(len(steps.parts))
    return {part.key: int(value) for part, value in zip(steps.parts, means, strict=True)}


def _combined(known: dict[str, Any], traced: dict[str, int]) -> dict[str, int]:
    """Wall, data and optimizer as they were outside the profiler's window; the rest as it is split inside."""
    wall, data = int(known["wall_ns"]), int(known.get("data_ns", 0))
    optimizer = int(known.get("optimizer_ns", 0)) + int(known.get("zero_grad_ns", 0))
    rest = max(0, wall - data - optimizer)
    others = {key: value for key, value in traced.items() if key not in ("data", "optimizer")}
    total = sum(others.values())
    split = {key: rest * value // total for key, value in others.items()} if total else {"other": rest}
    return {"data": data, **split, "optimizer": optimizer}


def _kind_of(cats: str) -> str:
    """The sort of accelerator by the categories of its events."""
    for word, kind in (("mtia", "mtia"), ("xpu", "xpu"), ("hip", "rocm")):
        if word in cats:
            return kind
    return "cuda"
