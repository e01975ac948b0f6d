"""After a power cut: what was synced is there, of the rest any part may be missing, and nothing is ever wrong.

The writer's system calls are recorded; then the disk as it may look after a cut is built from them, again and again:
the calls up to some moment, and of those that no sync covers any sectors, in any order, with zeros in the gaps.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.faults.rounds import chance, note_tries, times

from stepscope.errors import BadData, NotFound
from stepscope.records import End, Media
from stepscope.runs.compact.compact import compact
from stepscope.runs.read.folder import RunFolder
from stepscope.runs.write import logfile

from .written import new_run, quiet_writer

SECTOR = 512


class Call(NamedTuple):
    what: str
    path: Path
    data: bytes = b""
    offset: int = 0


class Recorder:
    """Watches writes, truncations and syncs of this process below one folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[Call] = []
        self._folder = folder
        for name in ("write", "fdatasync", "fsync", "ftruncate"):
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(fd: int, *arguments: Any) -> Any:
            path = Path(os.readlink(f"/proc/self/fd/{fd}"))
            before = os.fstat(fd).st_size
            done = real(fd, *arguments)
            if path.is_relative_to(self._folder) and not path.is_dir():
                if name == "write":
                    self.calls.append(Call("write", path, bytes(arguments[0][:done]), before))
                elif name == "ftruncate":
                    self.calls.append(Call("cut", path, offset=arguments[0]))
                else:
                    self.calls.append(Call("sync", path))
            return done

        return call

    def after_a_cut(self, folder: Path, moment: int, chance: random.Random) -> None:
        """Put under `folder` the files as a power cut after `moment` calls may leave them."""
        files: dict[Path, bytearray] = {}
        synced = {call.path: at for at, call in enumerate(self.calls[:moment]) if call.what == "sync"}
        for at, (what, path, data, offset) in enumerate(self.calls[:moment]):
            file = files.setdefault(path, bytearray())
            safe = at < synced.get(path, -1)
            if what == "cut" and (safe or chance.random() < 0.5):
                del file[offset:]
            elif what == "write" and safe:
                _put(file, offset, data)
            elif what == "write":
                for start in range(0, len(data), SECTOR):
                    if chance.random() < 0.7:
                        _put(file, offset + start, data[start : start + SECTOR])
        for path, content in files.items():
            target = folder / path.relative_to(self._folder)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content)


def _put(file: bytearray, offset: int, data: bytes) -> None:
    if len(file) < offset:
        file += bytes(offset - len(file))
    file[offset : offset + len(data)] = data


def value(step: int) -> float:
    return step * 1.25 + 0.125


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to know which file a call is for")
def test_a_power_cut_at_any_moment_costs_only_what_was_not_synced(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfile, "SEGMENT_BYTES", 6000)
    monkeypatch.setattr(logfile, "FIRST_STRETCH_BYTES", 1500)
    path = new_run(store)
    recorder = Recorder(path, monkeypatch)
    writer = quiet_writer(path)
    row = writer.keyset(("loss", "acc"))
    durable: list[tuple[int, int]] = []
    for step in range(200):
        row.write(step, (value(step), -step))
        if step % 30 == 7:
            writer.media(Media(key="m", step=step, time=1.0, kind="image"), bytes([step]) * 3000)
        if step % 25 == 24:
            assert writer.flush()
            durable.append((len(recorder.calls), step + 1))
    writer.close(End(time=time.time(), status="finished"))
    durable.append((len(recorder.calls), 200))
    monkeypatch.undo()

    dice = chance(11)
    note_tries(times(100))
    copy = tmp_path / "copy" / path.name
    torn = 0
    for _ in range(times(100)):
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        shutil.copy(path / "meta.json", copy)
        moment = dice.randrange(len(recorder.calls) + 1)
        recorder.after_a_cut(copy, moment, dice)
        certain = max([rows for calls, rows in durable if calls <= moment], default=0)
        torn += check(copy, certain)
        compact(copy, gone=True)
        check(copy, certain)
    assert torn > 50, "the cuts should have cost something, or they prove nothing"


def check(path: Path, certain: int) -> bool:
    """Every value that comes back was written, and all that was synced is there; whether anything was damaged."""
    run = RunFolder(path)
    run.refresh()
    if not certain and "loss" not in run.metrics():
        return True
    loss, acc = run.series("loss"), run.series("acc")
    assert loss.values.tolist() == [value(step) for step in loss.steps.tolist()]
    assert acc.values.tolist() == [-step for step in acc.steps.tolist()]
    assert loss.steps.tolist() == sorted(set(loss.steps.tolist()))
    assert set(range(certain)) <= set(loss.steps.tolist())
    for media in run.media():
        try:
            content = run.media_bytes(media)
        except (NotFound, BadData):  # told, never made up
            continue
        assert content == bytes([media.step]) * 3000
    return bool(run.damage) or run.damage.torn_bytes > 0
