"""What a node's leader does at each look: it reads the logs of the node's ranks and writes the node's one log.

The ranks write to a folder on the node. Into the run go the band of each series (`cells.py`), all events of all ranks,
and who is alive. A rank that stands out, fails or logs media is mirrored: its log files are copied to the run as they
grow, under the names they have.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from stepscope.common import clocks
from stepscope.files.opening import open_file, read_file
from stepscope.records import Artifact, End, Event, FileHeader, RankGone, RankJoined, RankSaid
from stepscope.runs.format.blobs import put_file
from stepscope.runs.format.chunks import decode_chunk
from stepscope.runs.format.filesystem import create_file
from stepscope.runs.format.layout import BLOBS, log_files, write_file
from stepscope.runs.format.packing import pack
from stepscope.runs.node.outliers import Outliers
from stepscope.runs.points.rank_cells import Cells, RankPoints, cells_of, columns_of
from stepscope.runs.read.batches import Batch
from stepscope.runs.read.logs import LogReader
from stepscope.runs.read.status import Machine, this_machine
from stepscope.runs.write.logfile import write_all
from stepscope.runs.write.writer import RunWriter

PASSED_ON = "passed_on.json"
"""In the folder on the node: how far its logs were passed on, for whoever leads next."""
MIRRORED = 2
"""Maximum number of ranks of a node that are mirrored only because they differ from the others."""
_LARGEST = 16 << 20
_COPY_BYTES = 1 << 20


class _PassedOn(msgspec.Struct):
    seqs: dict[str, int] = {}
    """By the name of the log file: the last frame that was passed on."""
    joined: list[str] = []
    gone: list[str] = []
    mirrored: list[int] = []


class NodeLeader:
    """Passes on what the ranks of a node write to `local`: into the node's log, and to the folder of the run."""

    def __init__(
        self, local: Path, run: Path, make_writer: Callable[[], RunWriter], machine: Machine | None = None
    ) -> None:
        self._local, self._run = local, run
        self._make_writer, self._machine = make_writer, machine or this_machine()
        self._writer: RunWriter | None = None
        self._readers: dict[str, LogReader] = {}
        self._headers: dict[str, FileHeader] = {}
        """By log: its first header."""
        self._ranks: dict[str, int] = {}
        """By log file."""
        self._outliers = Outliers()
        self._ends: dict[int, End] = {}
        self._done = _read_state(local)

    @property
    def ends(self) -> dict[int, End]:
        """How the ranks of the node have ended, those that have."""
        return self._ends

    def look(self) -> None:
        """Pass on what is new."""
        fresh: dict[str, list[RankPoints]] = {}
        for path in log_files(self._local):
            if ".media." not in path.name:
                for batch in self._polled(path):
                    self._take(path, batch, fresh)
        self._write_cells({name: cells_of(points) for name, points in fresh.items()})
        self._notice_gone()
        for rank in self._outliers.look(fresh, MIRRORED):
            self._mirror(rank)
        for path in log_files(self._local):
            if self._ranks.get(path.name) in self._done.mirrored or self._is_of_mirrored(path):
                _append_copy(path, self._run / path.name, self._local)
        if self._done.mirrored:
            self._copy_blobs()
        write_file(self._local / PASSED_ON, msgspec.json.encode(self._done))

    def _write_cells(self, found: dict[str, Cells]) -> None:
        """Series that were logged at the same steps share their rows."""
        together: dict[bytes, list[str]] = {}
        for name, cells in found.items():
            together.setdefault(cells.steps.tobytes(), []).append(name)
        for names in together.values():
            row = self._log.keyset(tuple(column for name in names for column in columns_of(name)))
            values = np.hstack([found[name].values for name in names])
            for step, line in zip(found[names[0]].steps.tolist(), values.tolist(), strict=True):
                row.write(step, line)

    def close(self) -> None:
        """End the node's log; a later look begins another."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    @property
    def is_behind(self) -> bool:
        """Whether a rank has written since the last look."""
        for path in log_files(self._local):
            reader = self._readers.get(path.name)
            if ".media." not in path.name and (reader is None or path.stat().st_size > reader.offset):
                return True
        return False

    @property
    def _log(self) -> RunWriter:
        if self._writer is None:
            self._writer = self._make_writer()
        return self._writer

    # -- the logs of the ranks ---------------------------------------------------------------------------------------

    def _polled(self, path: Path) -> list[Batch]:
        reader = self._readers.get(path.name)
        if reader is None:
            reader = self._readers[path.name] = LogReader(path, within=self._local)
        return [] if reader.sealed and not reader.tail else reader.poll()

    def _take(self, path: Path, batch: Batch, fresh: dict[str, list[RankPoints]]) -> None:
        header = batch.header
        if header is None:
            return
        self._ranks[path.name] = header.rank
        log = log_of(header)
        self._headers.setdefault(log, header)
        before = self._done.seqs.get(path.name, -1)
        self._done.seqs[path.name] = max(before, self._readers[path.name].seq)
        if header.role == "run":
            self._join(log, header)
        for seq, event in batch.events:
            if isinstance(event, End) and header.role == "run":
                self._ends[header.rank] = event
            if seq > before:
                self._pass_on(log, header, seq, event)
        if batch.media:
            self._mirror(header.rank)
        for name, points in _points_in(batch, header, before):
            fresh.setdefault(name, []).append(points)

    def _join(self, log: str, header: FileHeader) -> None:
        if log not in self._done.joined:
            self._done.joined.append(log)
            self._log.event(RankJoined(time=clocks.time(), header=header))

    def _pass_on(self, log: str, header: FileHeader, seq: int, event: Event) -> None:
        self._join(log, header)
        said = RankSaid(time=event.time, log=log, segment=header.segment, seq=seq, content=pack(event))
        self._log.event(said)
        is_failure = isinstance(event, End) and event.status == "failed"
        if isinstance(event, Artifact) or is_failure:
            self._mirror(header.rank)

    def _notice_gone(self) -> None:
        for log, header in self._headers.items():
            is_open = header.role == "run" and header.rank not in self._ends and log not in self._done.gone
            if is_open and header.pid and self._machine.started(header.pid) is None:
                self._done.gone.append(log)
                self._log.event(RankGone(time=clocks.time(), log=log))

    # -- ranks that are kept in full ---------------------------------------------------------------------------------

    def _mirror(self, rank: int) -> None:
        if rank not in self._done.mirrored:
            self._done.mirrored.append(rank)

    def _is_of_mirrored(self, path: Path) -> bool:
        """Of a media file, which is not read: its name has the rank."""
        parts = path.name.split(".")
        return ".media." in path.name and parts[1].isdecimal() and int(parts[1]) in self._done.mirrored

    def _copy_blobs(self) -> None:
        folder = self._local / BLOBS
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not (self._run / BLOBS / path.name).exists():
                put_file(self._run, path, within=self._local)


def log_of(header: FileHeader) -> str:
    """The id of a log, which all its segments share."""
    return header.file_id.partition(".")[0]


def _read_state(local: Path) -> _PassedOn:
    try:
        return msgspec.json.decode(read_file(local / PASSED_ON, _LARGEST, within=local), type=_PassedOn)
    except (OSError, msgspec.MsgspecError):
        return _PassedOn()


def _append_copy(source: Path, target: Path, within: Path) -> None:
    """Bring a copy up to date with a log file that only grows."""
    try:
        done = target.stat().st_size
    except FileNotFoundError:
        done = -1
    with open_file(source, within=within) as file:
        if done >= os.fstat(file.fileno()).st_size:
            return
        file.seek(max(done, 0))
        fd = create_file(target) if done < 0 else os.open(target, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        try:
            while piece := file.read(_COPY_BYTES):
                _, fault = write_all(fd, piece)
                if fault is not None:
                    raise fault
        finally:
            os.close(fd)


def _points_in(batch: Batch, header: FileHeader, before: int) -> Iterator[tuple[str, RankPoints]]:
    """The points that a rank wrote after this frame, by series."""
    prefix = "system/" if header.role == "system" else ""
    for rows in batch.rows:
        new = rows.seqs.astype("int64") > before
        for column, name in enumerate(rows.names):
            points = RankPoints(header.rank, rows.steps[new], rows.values[new, column])
            if len(points.steps):
                yield name if name.startswith(prefix) else prefix + name, points
    for head, payload in batch.chunks if before < 0 else ():
        decoded = decode_chunk(payload)
        yield head.name, RankPoints(header.rank, decoded[1], decoded[3])
