"""One profile as the analyses see it: the traces of its ranks, and what collectors wrote beside. No torch needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import BadData
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.profile.store import PROFILES, is_profile_folder, read_meta
from stepscope.profile.trace.events import Events, joined
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import ProfileFile, ProfileMeta, Stack, StepParts
from stepscope.runs.format.sidecar import is_as_written

LARGEST_PART = 2 << 30
"""Bytes of one file of a profile other than its traces."""

__all__ = ["PROFILES", "Profile", "profiles_in"]


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_stack_decoder = msgspec.msgpack.Decoder(Stack)

_parts_decoder = msgspec.msgpack.Decoder(StepParts)


class Profile:
    """What was recorded. Files are read when first asked for.

    Profile.load(run_folder / "profiles" / "p0001")     # of a run
    Profile.of_events({0: events})                       # of tables in memory
    """

    def __init__(
        self, meta: ProfileMeta, folder: Path | None = None, tables: Mapping[int, Events] | None = None
    ) -> None:
        self.meta = meta
        self.folder = folder
        self._tables: dict[int, Events] = dict(tables or {})
        self._traces: dict[int, Trace | None] = {}

    @classmethod
    def load(cls, folder: Path) -> Profile:
        """The profile in a folder."""
        return cls(read_meta(folder), folder)

    @classmethod
    def of_events(cls, tables: Mapping[int, Events], *, id: str = "opened", created: float = 0.0) -> Profile:
        """A profile of event tables that are in memory, by rank."""
        return cls(ProfileMeta(id=id, kind="opened", created=created, world=max(1, len(tables))), tables=tables)

    @property
    def ranks(self) -> list[int]:
        return sorted({*self._tables, *(file.rank for file in self.meta.files)}) or [0]

    def files(self, kind: str, rank: int | None = None) -> list[ProfileFile]:
        return [f for f in self.meta.files if f.kind == kind and (rank is None or f.rank == rank)]

    def path(self, file: ProfileFile) -> Path:
        """Where a file of the profile is; never outside its folder, whatever profile.json says."""
        if self.folder is None or Path(file.name).name != file.name:
            raise BadData(f"the profile names a file {file.name!r} that is not in its folder")
        return self.folder / file.name

    def read(self, kind: str, rank: int = 0) -> bytes | None:
        """The bytes of the first file of a kind, or None."""
        for file in self.files(kind, rank):
            path = self.path(file)
            if path.exists():
                data = read_file(path, LARGEST_PART, within=path.parent)
                if not is_as_written(path, data):
                    raise BadData(f"{path} is damaged: it does not match its checksum; record the profile again")
                return data
        return None

    def facts(self, rank: int = 0) -> dict[str, Any]:
        """What the collectors wrote down of the process: loaders, optimizers, flags (see collect/facts.py)."""
        raw = self.read("facts", rank)
        found: dict[str, Any] = {} if raw is None else msgspec.json.decode(raw)
        return found

    def stacks(self, rank: int = 0) -> Stack | None:
        """The Python call tree, from the sampler or from cProfile."""
        raw = self.read("stacks", rank)
        return None if raw is None else _stack_decoder.decode(raw)

    def phases(self, rank: int = 0) -> StepParts | None:
        """Every step of the run by phase, as the simple profiler timed it."""
        raw = self.read("phases", rank)
        try:
            return None if raw is None else _parts_decoder.decode(raw)
        except MALFORMED as fault:
            raise BadData(
                f"the phases of rank {rank} are damaged: {fault}; the profile's other parts are whole"
            ) from None

    def trace(self, rank: int = 0) -> Trace | None:
        """All events of a rank as one trace: torch's and our own."""
        if rank not in self._traces:
            table = self._tables.get(rank)
            if table is None:
                table = self._read_events(rank)
            self._traces[rank] = None if table is None else Trace(table, rank, self.meta.world, self._usual_ns(rank))
        return self._traces[rank]

    def _usual_ns(self, rank: int) -> int:
        """What a step takes outside of windows, by the phases of all steps; 0 when too few are known."""
        phases = self.phases(rank)
        return sum(phases.typical_ns) if phases is not None and len(phases.steps) >= 3 else 0

    def _read_events(self, rank: int) -> Events | None:
        from stepscope.profile.trace.columns import load_events

        main = f"rank{rank}.events"
        paths = [self.path(file) for file in self.files("events", rank)]
        beside = [load_events(path) for path in paths if path.name != main and path.exists()]
        tables = [*self._read_main(rank, [path for path in paths if path.name == main and path.exists()]), *beside]
        return joined(tables) if tables else None

    def _read_main(self, rank: int, columns: list[Path]) -> list[Events]:
        """Torch's trace: its columns, or itself where they are not made yet, damaged, or of an older version."""
        from stepscope.profile.trace.columns import load_events

        try:
            return [load_events(path) for path in columns] or self._read_traces(rank)
        except BadData:
            found = self._read_traces(rank)
            if not found:
                raise
            return found

    def _read_traces(self, rank: int) -> list[Events]:
        from stepscope.profile.trace.read import read_trace

        paths = [self.path(file) for file in self.files("trace", rank)]
        return [read_trace(path, cache=False) for path in paths[:1] if path.exists()]  # a viewer writes nothing


def profiles_in(run_folder: Path) -> list[Path]:
    """The folders of a run's profiles, oldest first."""
    folder = run_folder / PROFILES
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if is_profile_folder(path))
