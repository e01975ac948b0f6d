"""Ranks that a launcher has started meet in the store of their process group."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import torch.distributed as dist

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.launch import rank_exchange
from stepscope.launch.open_files import files_open, files_written
from stepscope.launch.rank_channel import Channel
from stepscope.launch.rank_notes import RankNotes, claims, is_lost_connection
from stepscope.record.observers import Watcher
from stepscope.record.observers.ranks import Began
from stepscope.records import Event, Finding, FindingEvent
from stepscope.records.hang import RankState


class Rank:
    """One rank of two, with a watcher and an engine; both are in this process and share a store."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: dist.Store, number: int) -> None:
        for name, value in {"RANK": number, "WORLD_SIZE": 2, "LOCAL_RANK": number, "MASTER_PORT": 29512}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setattr(rank_exchange, "open_channel", lambda: Channel(store, number, 2))
        self.watcher, self.notes = Watcher(), RankNotes()
        self.engine = Engine(Evidence.of(self.watcher), rules=[])
        self.notes.begin(self.watcher, self.engine)
        assert self.notes.exchange is not None
        self.notes.exchange.write(Began(number, 2))


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[Rank, Rank]:
    store = dist.HashStore()
    return Rank(monkeypatch, store, 0), Rank(monkeypatch, store, 1)


def test_rank_0_reads_what_all_ranks_said(pair: tuple[Rank, Rank]) -> None:
    first, second = pair
    second.notes.look()
    first.notes.look()
    assert [one.rank for one in first.engine.evidence.ranks.all] == [0, 1]  # while the script runs
    second.notes.gather(second.engine, None)
    first.notes.gather(first.engine, ValueError("no"))
    assert [(one.rank, one.ended is not None and one.ended.error) for one in first.engine.evidence.ranks.all] == [
        (0, "ValueError: no"),
        (1, None),
    ]
    assert second.engine.evidence.ranks.all == []


def test_rank_0_waits_a_second_at_most_for_one_that_says_nothing(pair: tuple[Rank, Rank]) -> None:
    first, _ = pair
    began = time.monotonic()
    first.notes.gather(first.engine, None)
    assert [one.rank for one in first.engine.evidence.ranks.all] == [0]
    assert time.monotonic() - began >= rank_exchange.END_S


def test_a_log_of_a_script_that_ends_before_the_first_look_is_seen(pair: tuple[Rank, Rank], tmp_path: Path) -> None:
    first, second = pair
    with (tmp_path / "train.log").open("w") as log:
        log.write("step 0")
        log.flush()
        second.notes.gather(second.engine, None)
        first.notes.gather(first.engine, None)
    found = [[file.path for file in one.open_files] for one in first.engine.evidence.ranks.all]
    assert found == [[str(tmp_path / "train.log")]] * 2


def test_a_process_on_its_own_says_nothing() -> None:
    watcher, notes = Watcher(), RankNotes()
    notes.begin(watcher, Engine(Evidence.of(watcher), rules=[]))
    assert (watcher.distributed.notes, notes.is_on) == (None, False)


def finding(line: int) -> Finding:
    return Finding(
        rule="opt.no-zero-grad", severity="error", message="gradients pile up", file="/a/train.py", line=line
    )


def test_what_several_ranks_find_is_recorded_once_and_what_one_finds_names_it(pair: tuple[Rank, Rank]) -> None:
    first, second = pair
    recorded: list[tuple[int, int | None]] = []

    def of(number: int) -> Callable[[Event], None]:
        return pair[number].notes.once(lambda event: recorded.append((number, event.finding.line)))  # type: ignore[union-attr]

    for number, line in ((1, 7), (0, 7), (1, 9)):
        of(number)(FindingEvent(time=0.0, finding=finding(line)))
    assert recorded == [(1, 7), (1, 9)]
    for line in (7, 9):
        second.notes.found(finding(line))
    second.notes.gather(second.engine, None)
    engine = Engine(Evidence.of(first.watcher))
    engine.adopt(finding(7))
    first.notes.gather(engine, None)
    assert [one.message for one in engine.findings] == ["gradients pile up", "gradients pile up (on rank 1)"]


def test_the_rank_that_failed_first_tells_and_the_others_name_it(pair: tuple[Rank, Rank]) -> None:
    first, second = pair
    assert (second.notes.tells_of_crash(), first.notes.tells_of_crash()) == (True, False)
    assert second.notes.exchange is not None
    channel = second.notes.exchange.channel()
    assert channel is not None
    channel.put("ended/1", msgspec.json.encode(RankState(rank=1, kind="ended", error="ValueError: a bad row")))
    said = "rank 1 failed first (ValueError: a bad row); rank 0 lost its connection to it"
    assert first.notes.who_failed_first() == said
    assert is_lost_connection(RuntimeError("[pair.cc:547] Connection closed by peer [127.0.0.1]:8172"))
    assert not is_lost_connection(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


def test_one_process_of_a_folder_claims_a_thing(tmp_path: Path) -> None:
    assert claims(tmp_path, "crash")
    assert not claims(tmp_path, "crash")
    assert not claims(tmp_path / "gone", "crash")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fdinfo"), reason="needs Linux's table of open files")
def test_files_that_are_written_are_those_this_process_opened(tmp_path: Path) -> None:
    with (tmp_path / "outside.log").open("w") as outside:
        print("x", file=outside, flush=True)
        before = files_open()
        with (tmp_path / "train.log").open("a") as log, (tmp_path / "empty").open("w"):
            print("y", file=log, flush=True)
            (tmp_path / "data").write_bytes(b"12")
            with (tmp_path / "data").open("r+b") as data:
                data.read(1)
                assert files_written(before) == [str(tmp_path / "train.log")]
