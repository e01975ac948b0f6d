"""What tests of the writer share: make a run, write to it, and read the raw frames back."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from stepscope.records import Event, FileHeader, RunMeta
from stepscope.runs.format.frames import Frame, Hole, Kind, scan
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, log_files
from stepscope.runs.write.writer import RunWriter


class Log(NamedTuple):
    """One log file, read back."""

    path: Path
    header: FileHeader
    frames: list[Frame]
    holes: list[Hole]
    tail: int
    """Bytes after the last whole frame."""


def new_run(store: Path) -> Path:
    return create_run(store, RunMeta(id=new_run_id(), project="p", name="n", created=time.time()))


def quiet_writer(path: Path, **options: Any) -> RunWriter:
    """A writer without a thread, as long as nothing goes wrong."""
    return RunWriter(path, run_id=path.name, **{"heartbeat_s": 0, "fsync_s": 0, "mode": "direct", **options})


def read_logs(path: Path) -> list[Log]:
    """All log files with at least a header, checked for sequence numbers that are missing or come twice."""
    logs = []
    for file in log_files(path):
        data = file.read_bytes()
        found = list(scan(data))
        whole = [item for item in found if isinstance(item, Frame)]
        holes = [item for item in found if isinstance(item, Hole)]
        if not whole:
            continue
        assert [frame.seq for frame in whole] == list(range(len(whole))), f"sequence numbers of {file.name}"
        header = msgspec.msgpack.decode(whole[0].payload, type=FileHeader)
        logs.append(Log(file, header, whole, holes, len(data) - whole[-1].end))
    return logs


def rows(path: Path) -> list[tuple[int, dict[str, float]]]:
    """Every row of a run as (step, values), file by file; fails on a row whose names are not defined before it."""
    found = []
    for log in read_logs(path):
        names: dict[int, list[str]] = {}
        for frame in log.frames:
            if frame.kind == Kind.DEFINE:
                number, defined = msgspec.msgpack.decode(frame.payload)
                names[number] = defined
            elif frame.kind == Kind.ROW:
                keyset, _ticks, step = struct.unpack_from("<IIq", frame.payload)
                values = memoryview(frame.payload)[16:].cast("d")
                assert len(values) == len(names[keyset])
                found.append((step, dict(zip(names[keyset], values.tolist(), strict=True))))
    return found


def row_times(path: Path) -> list[float]:
    return [
        log.header.base_time + struct.unpack_from("<II", frame.payload)[1] * 1e-4
        for log in read_logs(path)
        for frame in log.frames
        if frame.kind == Kind.ROW
    ]


def events(path: Path) -> list[Any]:
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Event)
    return [decoder.decode(f.payload) for log in read_logs(path) for f in log.frames if f.kind == Kind.EVENT]


def payloads(path: Path, kind: Kind) -> list[bytes]:
    return [bytes(frame.payload) for log in read_logs(path) for frame in log.frames if frame.kind == kind]


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked child that leaves without any clean-up; its pid."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def wait_for(pid: int, timeout: float = 300) -> int:
    """The exit status of a child (negative for a signal); kills it and fails if it hangs."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    raise AssertionError(f"the child hung for {timeout} s")


def until(condition: Callable[[], bool], timeout: float = 300) -> None:
    """Wait for `condition`, and fail if it does not come true."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
