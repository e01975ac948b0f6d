"""One flipped bit costs at most the frame it stands in, wherever that is: headers and definitions are said twice."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stepscope.records import Alert, Console, End
from stepscope.runs.compact import compact
from stepscope.runs.format.frames import Frame, Kind, scan
from stepscope.runs.format.layout import COMPACT, log_files
from stepscope.runs.read.folder import RunFolder
from stepscope.runs.write.logfile import FIRST_STRETCH_BYTES

from .written import new_run, quiet_writer, read_logs

Seen = tuple[list[tuple[str, int, int, float]], list[str], list[str]]


def write_some(path: Path, rank: int = 0, rows: int = 9, ended: bool = True) -> None:
    writer = quiet_writer(path, rank=rank)
    pair, single = writer.keyset(("loss", "acc")), writer.keyset((f"only of {rank}",))
    for step in range(rows):
        pair.write(step, (step + rank / 7, -step))
        single.write(step, (step * 3.0,))
        if step == 4:
            writer.event(Alert(time=1.0, title=f"half way {rank}"))
            writer.console(Console(time=1.0, stream="stdout", text=f"hello {rank}"))
    if ended:
        writer.close(End(time=time.time(), status="finished"))


def everything(path: Path) -> Seen:
    run = RunFolder(path)
    points = [
        (name, rank, step, value)
        for name in run.metrics()
        for rank in run.ranks
        if rank in run._names()[name]
        for series in [run.series(name, rank)]
        for step, value in zip(series.steps.tolist(), series.values.tolist(), strict=True)
    ]
    return sorted(points), sorted(alert.title for alert in run.alerts), sorted(one.text for one in run.console())


def lost(before: Seen, after: Seen) -> list[int]:
    """How many points, alerts and pieces of text are missing; fails if there is one that was never written."""
    for told, true in zip(after, before, strict=True):
        assert set(told) <= set(true), f"never written: {set(told) - set(true)}"
        assert len(set(told)) == len(told), "something came twice"
    return [len(true) - len(told) for true, told in zip(before, after, strict=True)]


def flips(data: bytes) -> list[tuple[int, Frame, bytes]]:
    """Every byte flipped once: place, the frame that was hit, the file."""
    frames = [item for item in scan(data) if isinstance(item, Frame)]
    found = []
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= (0x01, 0x80, 0xFF, 0x10)[place % 4]
        found.append((place, next(frame for frame in frames if frame.end > place), bytes(damaged)))
    return found


def test_a_flip_anywhere_in_a_finished_run_costs_one_frame(store: Path) -> None:
    path = new_run(store)
    write_some(path)
    truth = everything(path)
    (file,) = log_files(path)
    for place, hit, damaged in flips(file.read_bytes())[::3]:
        file.write_bytes(damaged)
        allowed = {Kind.ROW: [len(hit.payload) // 8 - 2, 0, 0], Kind.EVENT: [0, 1, 0], Kind.CONSOLE: [0, 0, 1]}
        missing = lost(truth, everything(path))
        kind = Kind(hit.kind)
        if kind is Kind.EVENT and missing[1] == 0:
            continue  # the end: the status is then derived
        assert missing == allowed.get(kind, [0, 0, 0]), (place, kind)
        run = RunFolder(path)
        assert run.damage or run.damage.torn_bytes
        assert run.status == "finished"


def test_a_lost_first_page_of_a_killed_run_costs_that_page(store: Path) -> None:
    path = new_run(store)
    write_some(path, rows=FIRST_STRETCH_BYTES // 60, ended=False)
    truth = everything(path)
    (file,) = log_files(path)
    data = file.read_bytes()
    assert len(data) > FIRST_STRETCH_BYTES
    file.write_bytes(bytes(4096) + data[4096:])
    points, alerts, texts = lost(truth, everything(path))
    assert 0 < points < 4096 // 8
    assert (alerts, texts) == (1, 1)
    assert RunFolder(path).damage.nameless_rows == 0


def test_what_follows_a_lost_header_is_kept_for_when_it_is_repeated(store: Path) -> None:
    """Followed live: events and text from before the header's return are not forgotten."""
    path = new_run(store)
    write_some(path)
    truth = everything(path)
    (file,) = log_files(path)
    damaged = bytearray(file.read_bytes())
    damaged[20] ^= 1
    (log,) = read_logs(path)
    file.write_bytes(damaged[: log.frames[-4].start])
    run = RunFolder(path)
    assert (run.metrics(), run.alerts) == ([], [])
    file.write_bytes(damaged)
    assert run.refresh()
    assert [alert.title for alert in run.alerts] == ["half way 0"]
    assert [piece.text for piece in run.console()] == ["hello 0"]
    assert lost(truth, everything(path)) == [0, 0, 0]


@pytest.mark.parametrize("width", [1, 700])
def test_a_flip_in_a_compacted_run_never_gives_points_to_another_rank(store: Path, width: int) -> None:
    path = new_run(store)
    for rank in range(2):
        write_some(path, rank, rows=120)
    compact.compact(path)
    assert log_files(path) == []
    truth = everything(path)
    (file,) = log_files(path / COMPACT)
    data = file.read_bytes()
    chunk = 120
    for place, hit, damaged in flips(data)[::7]:
        end = place + width
        file.write_bytes(damaged if width == 1 else data[:place] + bytes(len(data[place:end])) + data[end:])
        points, alerts, texts = lost(truth, everything(path))
        if width == 1:
            assert points == (chunk if hit.kind == Kind.CHUNK else 0), (place, Kind(hit.kind))
            assert alerts + texts <= 1
