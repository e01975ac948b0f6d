"""A run folder, read back: by raw logs put together by hand, and by the real writer."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import BadData, Forbidden, NotFound
from stepscope.records import (
    Alert,
    Artifact,
    ConfigUpdate,
    Console,
    Dropped,
    End,
    Environment,
    FaultNote,
    Finding,
    FindingEvent,
    GitState,
    Media,
    MetricRule,
    NameChange,
    NotesChange,
    RunMeta,
    SummaryUpdate,
    TagsChange,
)
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.frames import Kind, encode
from stepscope.runs.format.layout import create_run
from stepscope.runs.read import runlogs
from stepscope.runs.read.folder import RunFolder, open_run
from stepscope.runs.read.status import Machine
from stepscope.runs.write.writer import RunWriter

from .rawlogs import BASE, RawLog, run_with

nan = float("nan")
MACHINE = Machine("h", "", lambda: BASE + 100, lambda pid: None)


def steps_and_values(run: RunFolder, name: str, **options: Any) -> list[tuple[int, float]]:
    series = run.series(name, **options)
    return list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def attempt(number: int, steps: range, value: float, **header: Any) -> RawLog:
    log = RawLog(attempt=number, file_id=f"{number}.points.0", base_time=BASE + number, **header).define(0, "loss")
    for step in steps:
        log.row(0, step, value)
    return log


garbage = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda kind, seq, payload: encode(kind, seq, payload),
        st.integers(0, 12),
        st.integers(0, 9),
        st.binary(max_size=40),
    ),
    st.builds(lambda log: log.data, st.builds(RawLog, role=st.sampled_from(["run", "system", "edit"]))),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(garbage, max_size=5), max_size=3), st.lists(garbage, max_size=4))
def test_any_files_in_a_run_folder_are_read_without_an_exception(tmp_path_factory, files, compacted) -> None:
    path = run_with(tmp_path_factory.mktemp("store"))
    (path / "compact").mkdir()
    (path / "compact" / "0.log").write_bytes(b"".join(compacted))
    for number, pieces in enumerate(files):
        (path / f"{number}.log").write_bytes(b"".join(pieces))
    run = open_run(path, machine=MACHINE)
    for _ in range(2):
        run.refresh()
        everything(run)
    assert run.status in ("killed", "lost", "running")
    assert isinstance(run.damage.holes, int)
    assert (run.tags, run.config, run.duration_s >= 0, run.media()) == ([], {}, True, [])


# -- what it is ------------------------------------------------------------------------------------------------


def test_events_tell_the_story(store: Path) -> None:
    log = RawLog()
    for at, event in enumerate(
        [
            ConfigUpdate(time=1.0, values={"lr": 0.2, "new": [1]}),
            TagsChange(time=2.0, add=["b", "c"], remove=["a"]),
            NotesChange(time=3.0, text="better"),
            NameChange(time=4.0, name="renamed"),
            Alert(time=5.0, title="look"),
            Artifact(time=6.0, name="m", version=1, digest="d"),
            FindingEvent(time=7.0, finding=Finding(rule="r", severity="error", message="m")),
            FaultNote(time=8.0, where="w", error="e"),
            Dropped(time=9.0, count=3, reason="disk"),
            Dropped(time=9.5, count=4, reason="disk"),
            End(time=10.0, status="finished", exit_code=0),
        ]
    ):
        log.event(event)
        assert log.seq == at + 2
    path = run_with(store, log, config={"lr": 0.1, "seed": 1}, tags=["a"], notes="first")
    run = open_run(path, machine=MACHINE)
    assert (run.id, run.project, run.path, run.created) == (path.name, "p", path, BASE)
    assert run.name == "renamed"
    assert run.config == {"lr": 0.2, "seed": 1, "new": [1]}
    assert run.tags == ["b", "c"]
    assert run.notes == "better"
    assert [alert.title for alert in run.alerts] == ["look"]
    assert [artifact.name for artifact in run.artifacts] == ["m"]
    assert [finding.rule for finding in run.findings] == ["r"]
    assert [fault.error for fault in run.faults] == ["e"]
    assert run.dropped == 7
    assert run.status == "finished"
    assert run.ended == 10.0
    assert run.events(Alert) == run.alerts


def test_a_later_edit_wins_by_its_time(store: Path) -> None:
    edit = RawLog(role="edit", file_id="e", base_time=BASE + 50).event(NotesChange(time=99.0, text="by hand"))
    path = run_with(store, edit, RawLog().event(NotesChange(time=5.0, text="by the script")))
    run = open_run(path, machine=MACHINE)
    assert run.notes == "by hand"
    assert run.ranks == [0]


def test_no_run_and_a_newer_one_say_so(store: Path) -> None:
    with pytest.raises(NotFound, match="is not a run folder"):
        open_run(store / "none")
    path = run_with(store, RawLog(format=9))
    with pytest.raises(BadData, match="has format 9, this Stepscope reads up to 1; update with"):
        open_run(path).metrics()
    with pytest.raises(BadData, match="format 7"):
        open_run(run_with(store, format=7))


# -- series ----------------------------------------------------------------------------------------------------


def test_series_by_name(store: Path) -> None:
    log = RawLog().define(0, "loss", "val/loss").row(0, 0, 1.0, 2.0, ticks=5).row(0, 1, 0.5, nan)
    run = open_run(run_with(store, log), machine=MACHINE)
    assert run.metrics() == ["loss", "val/loss"]
    series = run.series("loss")
    assert series.steps.tolist() == [0, 1]
    assert series.times.tolist() == [BASE + 0.0005, BASE]
    assert (series.run, series.rank, series.start) == (run.id, 0, BASE)


def test_a_wrong_name_lists_what_there_is(store: Path) -> None:
    run = open_run(run_with(store, RawLog().define(0, "train/loss", "lr").row(0, 0, 1.0, 2.0)))
    with pytest.raises(NotFound) as caught:
        run.series("train/los")
    assert str(caught.value).endswith("has no series 'train/los'; did you mean 'train/loss'? It has lr, train/loss")
    with pytest.raises(NotFound, match="has no series 'lr' of rank 3; it exists for rank 0"):
        run.series("lr", rank=3)


def test_steps_are_sorted_ties_as_logged(store: Path) -> None:
    log = RawLog().define(0, "a").define(1, "a", "b")
    for step, value in ((5, 0.0), (3, 1.0), (5, 2.0), (-1, 3.0)):
        log.row(0, step, value)
    log.row(1, 5, 4.0, 0.0).row(0, 5, 5.0)
    run = open_run(run_with(store, log))
    assert steps_and_values(run, "a") == [(-1, 3.0), (3, 1.0), (5, 0.0), (5, 2.0), (5, 4.0), (5, 5.0)]


edge = st.one_of(st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1, 2**62, -1]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(edge, st.integers(0, 1)), max_size=30), st.integers(0, 30))
def test_any_steps_are_kept_in_a_defined_order(tmp_path_factory, rows, cut) -> None:
    store = tmp_path_factory.mktemp("store")
    log = RawLog().define(0, "a").define(1, "a", "b")
    path = run_with(store, log)
    run = open_run(path)
    run.refresh()
    for number, (step, keyset) in enumerate(rows):
        log.row(keyset, step, number, *([0.0] * keyset))
        if number == cut:  # read in two goes: the order must not depend on when one looked
            log.write(path / "0.points.log")
            run.refresh()
            run.series("a")
    log.write(path / "0.points.log")
    run.refresh()
    expected = sorted(((step, float(number)) for number, (step, _) in enumerate(rows)), key=lambda point: point[0])
    assert (steps_and_values(run, "a") if rows else []) == expected
    if rows:
        summary = run.metric_summary("a")
        assert summary == run.series("a").summary
        assert (summary.last_step, summary.last, summary.count) == (*expected[-1], len(rows))


def test_a_resume_supersedes_what_it_logs_again(store: Path) -> None:
    run = open_run(run_with(store, attempt(0, range(100), 0.0), attempt(1, range(50, 120), 1.0)))
    series = run.series("loss")
    assert series.steps.tolist() == list(range(120))
    assert series.values.tolist() == [0.0] * 50 + [1.0] * 70
    everything = run.series("loss", superseded=True)
    assert len(everything) == 170
    assert everything.superseded is not None
    hidden = everything[everything.superseded]
    assert (hidden.steps.tolist(), set(hidden.values.tolist())) == (list(range(50, 100)), {0.0})
    assert run.metric_summary("loss").count == 120
    assert run.summary == {"loss": 1.0}


def test_a_resume_that_goes_on_supersedes_nothing(store: Path) -> None:
    run = open_run(run_with(store, attempt(0, range(10), 0.0), attempt(1, range(10, 20), 1.0)))
    assert len(run.series("loss")) == 20
    assert run.series("loss", superseded=True).superseded.sum() == 0  # type: ignore[union-attr]


def test_a_series_the_resume_does_not_log_stays_whole(store: Path) -> None:
    first = RawLog(file_id="0").define(0, "loss", "warmup")
    for step in range(10):
        first.row(0, step, 0.0, 9.0)
    run = open_run(run_with(store, first, attempt(1, range(5, 8), 1.0)))
    assert len(run.series("warmup")) == 10
    assert steps_and_values(run, "loss")[5:] == [(5, 1.0), (6, 1.0), (7, 1.0)]


def test_a_live_resume_is_seen_as_it_comes(store: Path) -> None:
    path = run_with(store, attempt(0, range(100), 0.0))
    run = open_run(path)
    assert len(run.series("loss")) == 100
    for stop in range(60, 140, 7):
        attempt(1, range(60, stop), 1.0).write(path / "1.log")
        run.refresh()
        fresh = open_run(path)
        assert steps_and_values(run, "loss") == steps_and_values(fresh, "loss")
        assert run.summaries() == fresh.summaries()
    assert steps_and_values(run, "loss")[59:61] == [(59, 0.0), (60, 1.0)]


def test_three_attempts_each_hide_from_their_first_step_on(store: Path) -> None:
    logs = [attempt(0, range(100), 0.0), attempt(1, range(40, 80), 1.0), attempt(2, range(60, 70), 2.0)]
    run = open_run(run_with(store, *logs))
    assert [value for _, value in steps_and_values(run, "loss")] == [0.0] * 40 + [1.0] * 20 + [2.0] * 10


def test_each_rank_has_its_own_series(store: Path) -> None:
    logs = [RawLog(file_id=f"x{at}", rank=at).define(0, "loss") for at in (1, 3)]
    for rank, log in zip((1, 3), logs, strict=True):
        log.row(0, 0, float(rank))
    run = open_run(run_with(store, *logs))
    assert run.ranks == [1, 3]
    assert run.series("loss").values.tolist() == [1.0]
    assert run.series("loss").rank == 1
    assert run.series("loss", rank=3).values.tolist() == [3.0]
    assert run.summaries(rank=3)["loss"].last == 3.0


def test_workers_and_the_main_process_share_a_series(store: Path) -> None:
    main = RawLog(file_id="m.points.0").define(0, "a").row(0, 1, 1.0, ticks=0).row(0, 2, 3.0, ticks=20_000)
    worker = RawLog(file_id="w.points.0", role="worker", pid=8).define(0, "a")
    worker.row(0, 2, 2.0, ticks=10_000).row(0, 1, 1.5, ticks=30_000)
    run = open_run(run_with(store, main, worker))
    assert steps_and_values(run, "a") == [(1, 1.0), (1, 1.5), (2, 2.0), (2, 3.0)]


def test_the_machines_metrics_stand_under_system_and_are_never_hidden(store: Path) -> None:
    logs = [attempt(0, range(3), 0.0)]
    for number in (0, 1):
        log = RawLog(role="system", attempt=number, file_id=f"s{number}", base_time=BASE + number)
        logs.append(log.define(0, "cpu", "system/ram").row(0, 1, float(number), 5.0))
    run = open_run(run_with(store, *logs))
    assert run.metrics() == ["loss", "system/cpu", "system/ram"]
    assert steps_and_values(run, "system/cpu") == [(1, 0.0), (1, 1.0)]
    assert run.metric_summary("system/cpu").count == 2
    assert list(run.summary) == ["loss"]


def test_summary_rules_and_values_set_by_hand(store: Path) -> None:
    log = RawLog().define(0, "loss", "acc", "lr", "x").row(0, 0, 3.0, 0.1, 1.0, 7.0).row(0, 1, nan, 0.9, 3.0, 8.0)
    log.event(MetricRule(time=1.0, name="*", summary="mean")).event(MetricRule(time=2.0, name="acc", summary="max"))
    log.event(MetricRule(time=3.0, name="x", summary="none")).event(MetricRule(time=3.0, name="loss", goal="min"))
    log.event(SummaryUpdate(time=4.0, values={"best": "yes", "lr": 5}))
    run = open_run(run_with(store, log))
    assert run.summary == {"acc": 0.9, "loss": 3.0, "lr": 5, "best": "yes"}
    assert [rule.name for rule in run.rules] == ["*", "acc", "x", "loss"]


# -- media, console ----------------------------------------------------------------------------------------------


def test_media_by_key_kind_and_step(store: Path) -> None:
    log = RawLog()
    for step, key, kind in ((5, "b", "text"), (1, "a", "image"), (3, "b", "text"), (3, "b", "text")):
        log.pack(Kind.MEDIA, Media(key=key, step=step, time=float(log.seq), kind=kind, data=b"%d" % log.seq))
    run = open_run(run_with(store, log))
    assert run.media_keys() == {"a": "image", "b": "text"}
    assert [(media.step, media.data) for media in run.media("b")] == [(3, b"3"), (3, b"4"), (5, b"1")]
    assert [media.key for media in run.media(kind="image")] == ["a"]
    assert run.media("none") == []
    assert run.media_bytes(run.media("a")[0]) == b"2"


def test_media_of_an_earlier_attempt_are_superseded_like_points(store: Path) -> None:
    logs = []
    for number, steps in ((0, (1, 2, 3)), (1, (2,))):
        log = RawLog(file_id=str(number), attempt=number)
        for step in steps:
            log.pack(Kind.MEDIA, Media(key="k", step=step, time=float(number), kind="text", data=b"%d" % number))
        logs.append(log)
    run = open_run(run_with(store, *logs))
    assert [(media.step, media.data) for media in run.media("k")] == [(1, b"0"), (2, b"1")]
    assert len(run.media("k", superseded=True)) == 4


def test_bytes_are_found_in_media_files_and_blobs_and_their_hash_is_checked(store: Path) -> None:
    small, large = b"s" * 5000, b"l" * 9000
    hashes = [hashlib.sha256(data).hexdigest() for data in (small, large)]
    media = RawLog(kind="media", file_id="m").raw(Kind.BYTES, bytes.fromhex(hashes[0]) + small)
    log = RawLog()
    for sha256 in hashes:
        log.pack(Kind.MEDIA, Media(key="k", step=0, time=0.0, kind="file", sha256=sha256))
    path = run_with(store, log, media)
    (path / "blobs").mkdir()
    (path / "blobs" / hashes[1]).write_bytes(large)
    run = open_run(path)
    assert [run.media_bytes(one) for one in run.media("k")] == [small, large]
    assert run.blob_path(hashes[1]) == path / "blobs" / hashes[1]
    with pytest.raises(NotFound, match="has no blob"):
        run.blob_path(hashes[0])
    (path / "blobs" / hashes[1]).write_bytes(b"changed")
    with pytest.raises(BadData, match="are damaged"):
        run.media_bytes(hashes[1])
    with pytest.raises(NotFound, match="has no bytes"):
        run.media_bytes("0" * 64)


def test_a_hash_is_never_a_path(store: Path) -> None:
    run = open_run(run_with(store))
    for evil in ("../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n", ""):
        with pytest.raises(BadData, match="is not a SHA-256 hash"):
            run.media_bytes(evil)
    (run.path / "blobs").mkdir()
    os.symlink("/etc/passwd", run.path / "blobs" / ("0" * 64))
    with pytest.raises(Forbidden, match="is a symbolic link"):
        run.blob_path("0" * 64)


def test_console_goes_on_from_where_one_was(store: Path) -> None:
    log = RawLog()
    for text in "abc":
        log.pack(Kind.CONSOLE, Console(time=0.0, stream="stdout", text=text))
    path = run_with(store, log)
    run = open_run(path)
    assert [piece.text for piece in run.console()] == ["a", "b", "c"]
    log.pack(Kind.CONSOLE, Console(time=0.0, stream="stderr", text="d")).write(path / "0.points.log")
    run.refresh()
    assert [piece.text for piece in run.console(after=3)] == ["d"]
    assert run.console(rank=1) == []


# -- while it is written -------------------------------------------------------------------------------------------


def test_refresh_says_whether_anything_is_new(store: Path) -> None:
    log = RawLog().define(0, "a").row(0, 0, 1.0)
    path = run_with(store, log)
    run = open_run(path, machine=MACHINE)
    assert run.refresh()
    version = run.version
    assert not run.refresh()
    assert run.version == version
    log.row(0, 1, 2.0).write(path / "0.points.log")
    assert run.refresh()
    assert run.version > version
    attempt(0, range(2), 5.0, pid=9).write(path / "new.log")
    assert run.refresh()
    assert run.metrics() == ["a", "loss"]


def test_a_status_that_changes_by_itself_is_news(store: Path) -> None:
    now = [BASE + 1]
    run = open_run(run_with(store, RawLog()), machine=Machine("h", "", lambda: now[0], lambda pid: None))
    run.refresh()
    assert run.status == "running"
    version = run.version
    now[0] += 60
    assert run.refresh()
    assert run.status == "killed"
    assert run.version > version
    assert not run.refresh()


def test_a_torn_end_is_damage_only_when_the_writer_is_gone(store: Path) -> None:
    log = RawLog().define(0, "a").row(0, 0, 1.0)
    path = run_with(store, log)
    (path / "0.points.log").write_bytes(log.data + log.row(0, 1, 2.0).frames[-1][:20])
    run = open_run(path, machine=MACHINE)
    assert run.status == "killed"
    assert run.damage.torn_bytes == 20
    assert run.holes == 0
    assert len(run.series("a")) == 1


def test_a_writer_is_followed_live_and_nothing_is_seen_twice(store: Path) -> None:
    path = run_with(store)
    run = open_run(path)
    writer = RunWriter(path, run_id=run.id, heartbeat_s=0, fsync_s=0, mode="direct")
    keyset = writer.keyset(("loss", "step2"))
    done = threading.Event()

    def write() -> None:
        for step in range(3000):
            keyset.write(step, (step / 7, step * 2))
            if step % 500 == 0:
                writer.console(Console(time=time.time(), stream="stdout", text=str(step)))
        writer.close(End(time=time.time(), status="finished"))
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = 0
    while not done.is_set():
        run.refresh()
        if "loss" in run.metrics():
            series = run.series("loss")
            assert len(series) >= seen
            seen = len(series)
            np.testing.assert_array_equal(series.steps, np.arange(seen))
            np.testing.assert_array_equal(series.values, np.arange(seen) / 7)
    thread.join()
    run.refresh()
    assert len(run.series("loss")) == 3000
    assert len(run.console()) == 6
    assert run.status == "finished"
    assert not run.damage


def test_refreshing_costs_the_same_however_long_the_history(store: Path) -> None:
    path = run_with(store)
    writer = RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0, mode="direct")
    keyset = writer.keyset(("loss",))
    run = open_run(path)
    took = {}
    for size in (1_000, 60_000):
        start = 0 if size == 1_000 else 1_000
        for step in range(start, size):
            keyset.write(step, (0.5,))
        run.refresh()
        run.series("loss").downsample(100)
        rounds = []
        for extra in range(5):
            keyset.write(size * 100 + extra, (0.5,))
            began = time.process_time()
            run.refresh()
            run.series("loss").downsample(100)
            rounds.append(time.process_time() - began)
        took[size] = min(rounds)
    writer.close()
    assert took[60_000] < 8 * took[1_000] + 0.002


def test_threads_may_ask_while_it_is_refreshed(store: Path) -> None:
    log = RawLog().define(0, "a", "b")
    path = run_with(store, log)
    run = open_run(path)
    faults: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                for name in run.metrics():
                    series = run.series(name)
                    assert len(series.steps) == len(series.values)
                assert isinstance(run.summary, dict)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for step in range(60):
        log.row(0, step, step, -step).write(path / "0.points.log")
        run.refresh()
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(run.series("b")) == 60


# -- compacted ---------------------------------------------------------------------------------------------------


def written(path: Path, rows: int = 3000) -> None:
    writer = RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0, mode="direct")
    keyset, other = writer.keyset(("loss", "acc")), writer.keyset(("loss",))
    chance = np.random.default_rng(0)
    for step in range(rows):
        keyset.write(step, (chance.normal(), nan if step % 9 == 0 else step))
        if step % 10 == 0:
            other.write(step, (chance.normal(),))
    writer.event(Alert(time=5.0, title="x"))
    writer.console(Console(time=1.0, stream="stdout", text="hello"))
    writer.close(End(time=time.time(), status="finished"))


def everything(run: RunFolder) -> Any:
    series = {name: run.series(name) for name in run.metrics()}
    points = {name: (one.steps.tobytes(), one.times.tobytes(), one.values.tobytes()) for name, one in series.items()}
    summaries = {name: (one.last, one.min_step, one.max, one.count, one.nan) for name, one in run.summaries().items()}
    return points, repr(summaries), run.alerts, run.console(), run.status, repr(run.summary)


def test_a_compacted_run_is_the_same_run(store: Path) -> None:
    path = run_with(store)
    written(path)
    open_before = open_run(path)
    before = everything(open_before)
    result = compact(path)
    assert result.files == 1
    assert everything(open_run(path)) == before
    open_before.refresh()
    assert everything(open_before) == before
    assert not open_run(path).damage


def test_a_compaction_that_was_cut_short_gives_nothing_twice(store: Path) -> None:
    path = run_with(store)
    written(path, 500)
    logs = {file.name: file.read_bytes() for file in path.glob("*.log")}
    before = everything(open_run(path))
    compact(path)
    for name, data in logs.items():  # as if it had been killed before it removed the sources
        (path / name).write_bytes(data)
    run = open_run(path)
    assert everything(run) == before
    run.refresh()
    assert everything(run) == before


def test_where_a_compacted_file_is_damaged_the_original_is_used(store: Path) -> None:
    path = run_with(store)
    written(path, 2500)
    logs = {file.name: file.read_bytes() for file in path.glob("*.log")}
    before = everything(open_run(path))
    compact(path)
    (file,) = (path / "compact").glob("*.log")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    alone = open_run(path)
    alone.refresh()
    assert alone.holes == 1
    assert len(alone.series("loss")) < 2750
    for name, raw in logs.items():
        (path / name).write_bytes(raw)
    assert everything(open_run(path)) == before


def test_a_run_compacted_while_it_was_half_read_is_read_whole(store: Path) -> None:
    path = run_with(store)
    log = RawLog().define(0, "a")
    for step in range(3000):
        log.row(0, step, 0.5)
    file = path / "0.points.log"
    file.write_bytes(log.data[: len(log.data) // 2])
    run = open_run(path)
    half = len(run.series("a"))
    assert 0 < half < 3000
    log.raw(Kind.SEAL, b"").write(file)
    assert compact(path).files == 1
    run.refresh()
    assert len(run.series("a")) == 3000
    assert run.metric_summary("a").count == 3000


def test_a_run_larger_than_the_memory_we_allow_ourselves_is_read_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = []
    for segment in range(6):
        log = RawLog(file_id=f"f.points.{segment}", segment=segment, base_time=BASE + segment).define(0, "a", "b")
        for step in range(segment * 300, segment * 300 + 300):
            log.row(0, step, step / 3, nan)
        logs.append(log.raw(Kind.SEAL, b""))
    path = run_with(store, *logs)
    before = everything(open_run(path))
    monkeypatch.setattr(runlogs, "_MOST_BYTES", 15_000)
    run = open_run(path)
    assert everything(run) == before
    held = [part.segment for part in run._logs.parts.values() if not part.segment.dropped]
    assert sum(segment.nbytes for segment in held) <= 15_000
    assert 0 < len(held) < 3
    compact(path, gone=True)  # the files are others now, the points are not
    run.refresh()
    assert everything(run) == before
    for file in path.rglob("*.log"):
        file.unlink()
    with pytest.raises(NotFound, match="is gone; it was there when run"):
        run.series("a", superseded=True)


# -- tables ------------------------------------------------------------------------------------------------------


def test_series_as_tables(store: Path) -> None:
    log = RawLog().define(0, "a").define(1, "b").row(0, 0, 1.0).row(0, 1, 2.0).row(1, 1, 9.0)
    run = open_run(run_with(store, log))
    wide = run.to_pandas()
    assert wide.index.tolist() == [0, 1]
    assert wide["a"].tolist() == [1.0, 2.0]
    assert wide["b"].tolist()[1] == 9.0
    long = run.to_pandas(["b"], shape="long")
    assert long[["name", "step", "value"]].to_numpy().tolist() == [["b", 1, 9.0]]
    assert run.to_polars(shape="long")["name"].to_list() == ["a", "a", "b"]
    assert run.to_polars(["a"])["a"].to_list() == [1.0, 2.0]


def test_it_says_what_it_is(store: Path) -> None:
    path = run_with(store, RawLog().define(0, "a").row(0, 0, 1.0).event(End(time=1.0, status="finished")))
    assert repr(open_run(path)) == f"<RunFolder 'n' ({path.name}): finished, 1 series, {path}>"


def test_what_was_gathered_late_completes_the_meta(store: Path) -> None:
    meta = RunMeta(id="01JCQ4AAAAAAAAAAAAAAAAAAAA", project="p", name="n", created=1.0, hardware={"cpu_count": 2})
    path = create_run(store, meta)
    writer = RunWriter(path, run_id=meta.id)
    late = GitState(commit="abc", dirty=True, diff="+x")
    writer.event(Environment(time=2.0, git=late, packages={"torch": "2.1"}, hardware={"gpus": [{"name": "H200"}]}))
    writer.close(End(time=3.0, status="finished"))
    run = open_run(path)
    assert run.meta.hardware == {"cpu_count": 2, "gpus": [{"name": "H200"}]}
    assert run.meta.git == late
    assert run.meta.packages == {"torch": "2.1"}
