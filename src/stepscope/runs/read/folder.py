"""A run, read back from its folder alone, while it is written or years later."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from stepscope.errors import NotFound
from stepscope.records import (
    Alert,
    Artifact,
    Console,
    Coverage,
    Dropped,
    Event,
    FaultNote,
    FileHeader,
    Finding,
    Media,
    MetricRule,
    RunMeta,
    Status,
)
from stepscope.runs.format.meta import known_meta
from stepscope.runs.points.series import Series
from stepscope.runs.points.summary import MetricSummary, join, rule_for, summarise
from stepscope.runs.points.tables import Shape, pandas_table, polars_table
from stepscope.runs.read.assembly import SeriesBuilder, all_branches, may_supersede
from stepscope.runs.read.attempts import Attempt, attempts_of, time_spent
from stepscope.runs.read.damage import Damage, damage_of
from stepscope.runs.read.medialist import LoggedMedia, media_by_key, media_kinds
from stepscope.runs.read.mediastore import MediaStore
from stepscope.runs.read.no_series import no_series
from stepscope.runs.read.node_bands import node_series
from stepscope.runs.read.run_state import Story, tell
from stepscope.runs.read.runlogs import Entry, RunLogs
from stepscope.runs.read.segments import Segment
from stepscope.runs.read.status import Machine, Standing, derive, this_machine

E = TypeVar("E", bound=Event)

_MOST_POINTS = 16 << 20
"""Number of points of assembled series that are cached."""


def open_run(path: str | PathLike[str], *, machine: Machine | None = None) -> RunFolder:
    """Open a run by its folder. `NotFound` if it is not one, `BadData` if a newer Stepscope made it.

    run = open_run("stepscope-runs/01JCQ4…")
    print(run.status, run.metrics(), run.series("loss").values.min())
    """
    return RunFolder(path, machine=machine)


class RunFolder:
    """One run, read lazily; `refresh()` reads what was written since. Thread-safe."""

    def __init__(self, path: str | PathLike[str], *, machine: Machine | None = None) -> None:
        self.path = Path(path)
        self._written, self._meta_problem = known_meta(self.path)
        self._lock = threading.RLock()
        self._machine = machine or this_machine()
        self._logs = RunLogs(self.path)
        self._media = MediaStore(self.path)
        self._loaded = False
        self._status: Status | None = None
        self._status_changes = 0
        self._known: dict[str, tuple[int, Any]] = {}
        self._builders: OrderedDict[tuple[str, int], SeriesBuilder] = OrderedDict()

    def refresh(self) -> bool:
        """Read what is new; True if there is anything. The cost does not depend on the run's size."""
        with self._lock:
            self._loaded = True
            changed = self._logs.refresh()
            standing = self.standing
            if self._logs.has_open_ends and standing.status != "running":
                changed |= self._logs.refresh(final=True)
                standing = self.standing
            if standing.status != self._status:
                self._status_changes += self._status is not None
                changed |= self._status is not None
                self._status = standing.status
            return changed

    @contextmanager
    def _open(self) -> Iterator[RunLogs]:
        """The run's logs, read at least once, locked for this thread."""
        with self._lock:
            if not self._loaded:
                self.refresh()
            yield self._logs

    def _remember(self, key: str, make: Any) -> Any:
        """The result of `make`, cached until something new is read."""
        with self._open() as logs:
            version, value = self._known.get(key, (-1, None))
            if version != logs.version:
                value = make(logs)
                self._known[key] = (logs.version, value)
            return value

    # -- description ---------------------------------------------------------------------------------------------

    @property
    def meta(self) -> RunMeta:
        """The run's description: `meta.json`, completed by facts found during training."""
        return self._story.meta

    @property
    def id(self) -> str:
        return self._written.id

    @property
    def project(self) -> str:
        return self._written.project

    @property
    def group(self) -> str | None:
        return self._written.group

    @property
    def created(self) -> float:
        return self._written.created

    @property
    def _story(self) -> Story:
        story: Story = self._remember("story", lambda logs: tell(self._written, (one.record for one in logs.events())))
        return story

    @property
    def name(self) -> str:
        return self._story.name

    @property
    def notes(self) -> str:
        return self._story.notes

    @property
    def tags(self) -> list[str]:
        return list(self._story.tags)

    @property
    def config(self) -> dict[str, Any]:
        """Flat: nested keys are joined with `/`."""
        return dict(self._story.config)

    @property
    def config_origins(self) -> dict[str, str]:
        """The source of settings (command line, default, a file ...), where known."""
        return {name: said for name, said in self._story.origins.items() if name in self._story.config}

    @property
    def rules(self) -> list[MetricRule]:
        return list(self._story.rules)

    @property
    def alerts(self) -> list[Alert]:
        return list(self._story.alerts)

    @property
    def artifacts(self) -> list[Artifact]:
        return list(self._story.artifacts)

    @property
    def findings(self) -> list[Finding]:
        return list(self._story.findings)

    @property
    def faults(self) -> list[FaultNote]:
        """Internal errors of Stepscope during recording."""
        return list(self._story.faults)

    @property
    def coverage(self) -> Coverage | None:
        """Which steps were recorded in depth; None if nothing was watched."""
        return self._story.coverage

    # -- status --------------------------------------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """The status with its reason, times, error and traceback."""
        with self._open() as logs:
            found: Standing = self._unless_running("standing", derive, lambda one: one.status, logs)
            return found

    def _unless_running(self, key: str, make: Any, status: Callable[[Any], Status], logs: RunLogs) -> Any:
        """What `make` finds in the states of all logs, remembered unless it says "running": that may end unsaid."""
        version, value = self._known.get(key, (-1, None))
        if version != logs.version:
            value = make(logs.states(), self._machine, self._written.created)
            if status(value) != "running":
                self._known[key] = (logs.version, value)
        return value

    @property
    def status(self) -> Status:
        return self.standing.status

    @property
    def status_detail(self) -> str:
        return self.standing.detail

    @property
    def ended(self) -> float | None:
        """Unix seconds; for a killed or lost run, its last sign of life. None while it runs."""
        return self.standing.ended

    @property
    def heartbeat(self) -> float | None:
        return self.standing.heartbeat

    @property
    def attempts(self) -> list[Attempt]:
        with self._open() as logs:
            found: list[Attempt] = self._unless_running("attempts", attempts_of, lambda _: self.status, logs)
            return list(found)

    @property
    def duration_s(self) -> float:
        """Time spent training: all attempts together, without the pauses between them."""
        return time_spent(self.attempts, self.standing, self._written.created, self._machine.now())

    @property
    def ranks(self) -> list[int]:
        with self._open() as logs:
            return sorted({part.header.rank for part in logs.everything() if part.header.role not in ("edit", "node")})

    @property
    def files(self) -> list[FileHeader]:
        """Who wrote to the run: the header of each log file."""
        with self._open() as logs:
            return [part.header for part in logs.ordered()]

    @property
    def version(self) -> int:
        """Increases whenever anything about the run changes."""
        with self._open() as logs:
            return logs.version + self._status_changes

    @property
    def drops(self) -> list[Dropped]:
        return list(self._story.drops)

    @property
    def dropped(self) -> int:
        """Number of values that could not be stored; `drops` has the reasons."""
        return sum(drop.count for drop in self._story.drops)

    @property
    def damage(self) -> Damage:
        """What is wrong with the files: holes, torn ends, rows without names, a rebuilt `meta.json`."""
        with self._open() as logs:
            return damage_of(logs, self._meta_problem)

    @property
    def holes(self) -> int:
        """Damaged ranges in the files; their content is lost, the rest is intact."""
        return self.damage.holes

    # -- series ------------------------------------------------------------------------------------------------

    def metrics(self) -> list[str]:
        """The names of all series, system metrics (`system/...`) last."""
        return list(self._names())

    def ranks_with(self, name: str) -> list[int]:
        """The ranks that have a series of their own; none where nodes keep it as a band."""
        if name not in self._names() and name in node_series(self):
            return []
        self._segments(name, None)  # says which there are
        return sorted(self._names()[name])

    def _names(self) -> dict[str, dict[int, list[Segment]]]:
        """Every series: by rank, the segments that contain it."""
        names: dict[str, dict[int, list[Segment]]] = self._remember("names", RunLogs.series)
        return names

    def _segments(self, name: str, rank: int | None) -> tuple[int, list[Segment]]:
        names = self._names()
        if name not in names:
            raise NotFound(f"run {self.name!r} ({self.id}) {no_series(name, list(names))}")
        by_rank = names[name]
        chosen = min(by_rank) if rank is None else rank
        if chosen not in by_rank:
            ranks = ", ".join(map(str, sorted(by_rank)))
            on_node = "; its node keeps it as part of a band" if rank in self.ranks and node_series(self) else ""
            raise NotFound(f"run {self.id} has no series {name!r} of rank {rank}{on_node}; it exists for rank {ranks}")
        return chosen, by_rank[chosen]

    def series(self, name: str, rank: int | None = None, superseded: bool = False) -> Series:
        """One series: of the given rank, or of the first that has it.

        Points that a later attempt logged again are excluded; with `superseded=True` all points are included
        and `Series.superseded` marks those.
        """
        with self._open() as logs:
            chosen, segments = self._segments(name, rank)
            if superseded:
                return all_branches(name, chosen, self.id, self.created, segments)
            builder = self._builders.pop((name, chosen), None)
            if builder is None:
                builder = SeriesBuilder(name, chosen, self.id, self.created)
            self._builders[name, chosen] = builder
            series = builder.update(segments)
            while len(self._builders) > 1 and sum(one.count for one in self._builders.values()) > _MOST_POINTS:
                self._builders.popitem(last=False)
            logs.trim()
            return series

    def to_pandas(self, names: Sequence[str] | None = None, shape: Shape = "wide", rank: int | None = None) -> Any:
        """Some or all series as a DataFrame; `tables.py` explains "wide" and "long"."""
        return pandas_table([self.series(name, rank) for name in names or self.metrics()], shape)

    def to_polars(self, names: Sequence[str] | None = None, shape: Shape = "wide", rank: int | None = None) -> Any:
        """The same for polars."""
        return polars_table([self.series(name, rank) for name in names or self.metrics()], shape)

    def summaries(self, rank: int | None = None) -> dict[str, MetricSummary]:
        """The summary of each series."""
        found = {}
        with self._open():
            for name, by_rank in self._names().items():
                chosen = min(by_rank) if rank is None else rank
                if chosen in by_rank:
                    found[name] = self._summed_up(name, chosen, by_rank[chosen])
        return found

    def metric_summary(self, name: str, rank: int | None = None) -> MetricSummary:
        """The summary of one series, updated incrementally."""
        with self._open():
            return self._summed_up(name, *self._segments(name, rank))

    def _summed_up(self, name: str, rank: int, segments: list[Segment]) -> MetricSummary:
        if len(segments) == 1:
            return segments[0].summary(name)
        if may_supersede(name, segments):
            return summarise(self.series(name, rank))
        return join(segment.summary(name) for segment in segments)

    @property
    def summary(self) -> dict[str, Any]:
        """One value per series, by its rule (default: last), then the values set by hand. Without system metrics."""
        summary: dict[str, Any] = self._remember("summary", lambda logs: self._summary())
        return dict(summary)

    def _summary(self) -> dict[str, Any]:
        story = self._story
        values: dict[str, Any] = {}
        for name in self._names():
            if not name.startswith("system/"):
                rule = rule_for(name, [rule for rule in story.rules if rule.summary is not None])
                value = self.metric_summary(name).by_rule(rule.summary if rule else None)
                if value is not None:
                    values[name] = value
        return {**values, **story.summary}

    # -- records -----------------------------------------------------------------------------------------------

    def events(self, kind: type[E]) -> list[E]:
        """All events of one type, in order."""
        with self._open() as logs:
            return [entry.record for entry in logs.events() if isinstance(entry.record, kind)]

    @property
    def last_event(self) -> float:
        """The latest time of any event; 0 if there are none."""
        with self._open() as logs:
            return max((entry.record.time for entry in logs.events()), default=0.0)

    def console(self, after: int = 0, rank: int | None = None) -> list[Console]:
        """What the script printed, from piece number `after` on (all by default)."""
        return [one.record for one in self.console_entries(after) if rank is None or one.part.header.rank == rank]

    def console_entries(self, after: int = 0) -> list[Entry]:
        """The same, each piece with its file; in reading order, not by time."""
        with self._open() as logs:
            return logs.console[after:]

    def media(
        self, key: str | None = None, kind: str | None = None, rank: int | None = None, superseded: bool = False
    ) -> list[Media]:
        """Logged media by step, optionally of one key, kind or rank. Without their bytes; see `media_bytes`."""
        found = self._media_list()
        chosen = [one for each in found for one in found[each]] if key is None else found.get(key, [])
        return [
            one.media
            for one in chosen
            if (kind is None or one.media.kind == kind)
            and (rank is None or one.header.rank == rank)
            and (superseded or not one.superseded)
        ]

    def media_keys(self, as_logged: bool = False) -> dict[str, str]:
        """The keys of media, sorted or `as_logged`, with the kind of the newest medium's first part."""
        return media_kinds(self._media_list(), as_logged)

    def _media_list(self) -> dict[str, list[LoggedMedia]]:
        found: dict[str, list[LoggedMedia]] = self._remember("media", lambda logs: media_by_key(logs.ordered()))
        return found

    def media_bytes(self, media: Media | str) -> bytes:
        """The bytes of a medium (or of a hash), verified against their hash."""
        with self._open() as logs:
            return self._media.content(media, sorted(logs.media_files))

    def blob_path(self, sha256: str) -> Path:
        """The file of a large medium or of an artifact's file; `NotFound` if it is missing."""
        return self._media.existing_blob(sha256)

    def __repr__(self) -> str:
        return f"<RunFolder {self.name!r} ({self.id}): {self.status}, {len(self._names())} series, {self.path}>"
