"""Write foreign runs as run folders: each once; later polls add only what is new.

`import.json` in the run folder records the run's source, how far it was read, and the length of the log files at that
point. Whatever a killed import wrote after that is truncated before the next one continues, so nothing is imported
twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import BadData, StepscopeError, StorageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import open_writable, read_file
from stepscope.importers.foreign import Bundle, Columns, ForeignRun, Restart, Source, Thing, Traces, WideRow
from stepscope.importers.lock import ImportLock
from stepscope.records import Console, End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, write_file
from stepscope.runs.format.sealed import seal_of, sealed
from stepscope.runs.write.writer import RunWriter
from stepscope.track.masked_writer import MaskedWriter

ORIGIN = "import.json"
_WRITER = "import"
_LARGEST_ORIGIN = 64 << 20
_LATEST = 2.0**33
"""The year 2242."""
_RUNNING_S = 180.0
"""How long a followed run may be silent: TensorBoard's writers buffer points for two minutes."""


class Origin(msgspec.Struct):
    """`import.json`."""

    kind: str
    path: str
    key: str
    cursor: Any = None
    files: dict[str, int] = {}
    """The import's own log files and their complete length when `cursor` was written."""
    ended: bool = False
    attempt: int = 0
    first_step: int | None = None
    heard: float = 0.0
    """The newest time in the data."""


_origin_decoder = msgspec.json.Decoder(Origin)  # created at import, not on first use in some thread


@dataclass
class _News:
    """What the source had for one run."""

    last: float
    """The newest time in it."""
    end: End | None = None
    pieces: int = 0


@dataclass
class Landed:
    """The result of one poll of a source."""

    runs: list[Path] = field(default_factory=list)
    """The run folders that are new or were extended."""
    new_runs: int = 0
    points: int = 0
    media: int = 0
    troubles: list[str] = field(default_factory=list)


class Landing:
    """Imports the runs of one source into one store. Keeps its files open between polls when following."""

    def __init__(self, source: Source, store: Path, *, project: str | None = None) -> None:
        self.source = source
        self.store = store
        self._project = project
        self._where = str(source.path.resolve())
        self._lock = ImportLock(store, sha256(f"{source.kind}:{self._where}".encode()).hexdigest()[:16])
        self._has_looked = False
        self._troubles: list[str] = []
        self._cut: set[str] = set()
        self._torn: set[str] = set()
        """Runs with written pieces that the cursor does not cover yet."""
        self._known: dict[str, Path] = {}
        self._origins: dict[str, Origin] = {}
        self._writers: dict[str, RunWriter] = {}

    def look(
        self,
        *,
        follow: bool = False,
        told: Callable[[ForeignRun, Landed], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Landed:
        """Import what is new. With `follow`, growing runs stay open; otherwise each is ended at its current state.

        `Conflict` while another process imports the same.
        """
        landed = Landed()
        with self._lock if not follow else nullcontext(self._lock.__enter__()):
            self._find_known()
            for run in self.source.runs():
                if stop():
                    break
                self._land(run, landed, follow)
                if told is not None:
                    told(run, landed)
        landed.troubles += [*self._troubles, *self.source.troubles()]
        self._troubles = []
        return landed

    def close(self) -> None:
        """End the runs that were being followed."""
        for key in list(self._writers):
            if key in self._torn:
                self._undo(key)
            else:
                self._finish(key, None)
        self._lock.release()

    def _find_known(self) -> None:
        if self._has_looked:
            return
        self._has_looked = True
        for path in self.store.glob(f"*/{ORIGIN}"):
            try:
                origin = _read_origin(path)
            except (OSError, BadData, *MALFORMED) as fault:
                self._troubles.append(
                    f"{path} cannot be read ({fault}); delete that run, and it will be imported again"
                )
                continue
            if (origin.kind, origin.path) == (self.source.kind, self._where):
                self._known[origin.key] = path.parent
                self._origins[origin.key] = origin

    def _land(self, run: ForeignRun, landed: Landed, follow: bool) -> None:
        if run.key in self._torn:
            self._undo(run.key)
        origin = self._origins.get(run.key)
        if origin is not None and not self._known[run.key].is_dir():
            return  # deleted here; a new import brings it back
        before = landed.points + landed.media
        new = self._take_in(run, landed, origin)
        heard = max(new.last, run.created)
        grows = follow and new.end is None and time.time() - heard < _RUNNING_S
        if new.pieces or origin is None or (not origin.ended and not grows):
            self._note_progress(run, landed, heard, grows)
            if landed.points + landed.media > before or origin is None:
                landed.runs.append(self._known[run.key])
        if run.key in self._writers and not grows:
            self._finish(run.key, new.end)

    def _take_in(self, run: ForeignRun, landed: Landed, origin: Origin | None) -> _News:
        """Write all pieces of a run that are new."""
        new = _News(last=origin.heard if origin is not None else 0.0)
        for piece in self.source.read(run, origin.cursor if origin is not None else None):
            writer = self._writer(run, landed)
            self._torn.add(run.key)
            new.pieces += 1
            if isinstance(piece, End):
                new.end = piece
                new.last = max(new.last, _possible(piece.time))
            elif isinstance(piece, Restart):
                self._restart(run.key, piece)
            else:
                new.last = max(new.last, self._keep(writer, piece, landed))
        return new

    def _note_progress(self, run: ForeignRun, landed: Landed, heard: float, grows: bool) -> None:
        writer = self._writer(run, landed)  # a run without a single point is still a run
        self._origins[run.key].heard = heard
        if grows:
            writer.beat()
        self._settle(run.key)
        self._origins[run.key].cursor = self.source.cursor(run)
        if grows:
            self._save(run.key)

    def _keep(self, writer: RunWriter, piece: Any, landed: Landed) -> float:
        """Write one piece; returns its newest time."""
        if isinstance(piece, Columns):
            if not len(piece.values):
                return 0.0
            writer.columns(piece.name, piece.steps, piece.times, piece.values)
            landed.points += len(piece.values)
            possible = piece.times[(piece.times > 0) & (piece.times < _LATEST)]
            return float(possible.max()) if len(possible) else 0.0
        if isinstance(piece, WideRow):
            writer.wide(piece.step, piece.values, unix=piece.time)
            landed.points += len(piece.values)
            return _possible(piece.time)
        if isinstance(piece, Thing):
            self._keep_thing(writer, piece)
            landed.media += 1
            return _possible(piece.media.time)
        if isinstance(piece, Bundle):
            self._keep_bundle(writer, piece)
            return _possible(piece.artifact.time)
        if isinstance(piece, Traces):
            self._keep_traces(writer.path, piece, landed)
            return 0.0
        if isinstance(piece, Console):
            writer.console(piece)
        else:
            writer.event(piece)
        return _possible(piece.time)

    def _keep_thing(self, writer: RunWriter, thing: Thing) -> None:
        if thing.file is not None:
            sha256, size = writer.blob_file(thing.file, within=thing.within)
            writer.media(msgspec.structs.replace(thing.media, sha256=sha256, size=size))
        else:
            writer.media(thing.media, thing.data)

    def _keep_bundle(self, writer: RunWriter, bundle: Bundle) -> None:
        found = {path: writer.blob_file(path, within=bundle.within)[0] for path in bundle.files.values()}
        changed = [path for sha256, path in bundle.files.items() if found[path] != sha256]
        if changed:
            raise BadData(f"{changed[0]} changed while it was read; import again")
        writer.event(bundle.artifact)

    def _keep_traces(self, run: Path, traces: Traces, landed: Landed) -> None:
        """Open the traces once and store their tables; anything else is reported and skipped."""
        from stepscope.profile.open import open_profile
        from stepscope.profile.store import PROFILES, read_meta, write_meta

        into = run / PROFILES / traces.id
        try:
            open_profile(traces.files, into=into)
            write_meta(into, msgspec.structs.replace(read_meta(into), created=traces.time))
        except StepscopeError as fault:
            landed.troubles.append(f"{traces.files[0]}: {fault}")
            return
        landed.media += 1

    def _writer(self, run: ForeignRun, landed: Landed) -> RunWriter:
        known = self._writers.get(run.key)
        if known is not None:
            return known
        path = self._known.get(run.key)
        if path is None:
            path = self._create(run)
            landed.new_runs += 1
        elif run.key not in self._cut:
            _cut_back(path, self._origins[run.key])
        self._cut.add(run.key)
        origin = self._origins[run.key]
        origin.ended = False
        writer = MaskedWriter(
            path, run_id=path.name, heartbeat_s=0, fsync_s=0, mode="direct", elsewhere=_WRITER,
            attempt=origin.attempt, first_step=origin.first_step,
        )  # fmt: skip
        self._writers[run.key] = writer
        return writer

    def _restart(self, key: str, piece: Restart) -> None:
        """Continue as another attempt, in new files: points it logs again hide the earlier ones."""
        writer, origin = self._writers.pop(key), self._origins[key]
        if not writer.flush() or writer.dropped:
            raise StorageError(f"{writer.path} could not be written completely; free some space and import again")
        writer.close(None)
        origin.attempt += 1
        origin.first_step = piece.step

    def _create(self, run: ForeignRun) -> Path:
        meta = RunMeta(
            id=new_run_id(run.created),
            project=self._project or run.project,
            name=run.name,
            created=run.created,
            config=run.config,
            tags=run.tags,
            notes=run.notes,
            group=run.group,
            **run.more,
        )
        path = create_run(self.store, meta)
        origin = Origin(kind=self.source.kind, path=self._where, key=run.key)
        (path / ORIGIN).write_bytes(sealed(msgspec.json.encode(origin)))  # not synced: there is nothing to lose yet
        self._known[run.key] = path
        self._origins[run.key] = origin
        return path

    def _settle(self, key: str) -> None:
        """Write everything, before recording that it is done."""
        writer, path = self._writers[key], self._known[key]
        if not writer.flush(fsync=False) or writer.dropped or writer.path != path:
            raise StorageError(
                f"{path} could not be written completely; free some space and import again: nothing is imported twice"
            )

    def _save(self, key: str) -> None:
        """Record the position."""
        path, origin = self._known[key], self._origins[key]
        origin.files = {file.name: file.stat().st_size for file in path.glob(f"{_WRITER}.*.log")}
        write_file(path / ORIGIN, sealed(msgspec.json.encode(origin)))
        self._torn.discard(key)

    def _undo(self, key: str) -> None:
        """A poll was interrupted: its partial data is truncated, here or by the next import."""
        writer = self._writers.pop(key, None)
        if writer is not None:
            writer.close(None)
        self._torn.discard(key)
        self._cut.discard(key)
        path = self._known[key]
        try:
            self._origins[key] = _read_origin(path / ORIGIN)
        except (OSError, BadData, *MALFORMED) as fault:
            raise BadData(f"{path / ORIGIN} cannot be read; delete the run and import it again") from fault

    def _finish(self, key: str, end: End | None) -> None:
        writer, origin = self._writers.pop(key), self._origins[key]
        writer.close(end or End(time=origin.heard, status="finished"))
        origin.ended = True
        self._save(key)


def _read_origin(file: Path) -> Origin:
    data = read_file(file, _LARGEST_ORIGIN, within=file.parent)
    if seal_of(data) == "damaged":
        raise BadData("it does not match its checksum")
    return _origin_decoder.decode(data)


def _possible(moment: float) -> float:
    """A plausible time, or None: other tools' files may contain any number."""
    return moment if 0 < moment < _LATEST else 0.0


def _cut_back(path: Path, origin: Origin) -> None:
    """Undo what an import wrote after its last recorded position, part of a file or a whole one."""
    for file in path.glob(f"{_WRITER}.*.log"):
        whole = origin.files.get(file.name, 0)
        size = file.stat().st_size
        if size < whole:
            raise BadData(f"{file} is shorter than when it was imported; delete the run and import it again")
        if whole == 0:
            file.unlink()
        elif size > whole:
            with open_writable(file, within=path) as log:
                log.truncate(whole)
