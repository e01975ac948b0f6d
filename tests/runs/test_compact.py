"""Compaction: smaller, the same to the last bit, and safe at every moment."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.records import Alert, Console, End, Media, TagsChange
from stepscope.runs.compact import compact as compact_module
from stepscope.runs.compact.compact import compact, covered_files
from stepscope.runs.compact.source import read_sections, read_source
from stepscope.runs.format.frames import Kind, encode
from stepscope.runs.format.layout import log_files
from stepscope.runs.points.summary import MetricSummary
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter

from .making import make_run

SERIES = {
    "loss": [1 / (step + 1) for step in range(3000)],
    "odd": [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, struct.unpack("<d", b"\x01\0\0\0\0\0\xf0\x7f")[0]]
    * 200,
    "constant": [1.0] * 1500,
}


def story(path: Path) -> dict[str, Any]:
    """Everything a reader sees of a run, values as bits."""
    run = open_run(path)
    summaries = run.summaries().items()
    return {
        "series": {
            name: (one.steps.tobytes(), one.times.tobytes(), one.values.tobytes())
            for name in run.metrics()
            for one in [run.series(name)]
        },
        "summaries": {name: (repr(msgspec.structs.replace(one, mean=0.0)), mean_of(one)) for name, one in summaries},
        "status": (run.status, run.ended, run.tags, run.config, [alert.title for alert in run.alerts]),
        "media": [(media.key, media.step, run.media_bytes(media)) for media in run.media()],
        "console": [piece.text for piece in run.console()],
        "damage": repr(run.damage),
    }


def mean_of(summary: MetricSummary) -> Any:
    """A mean is a sum, and sums depend on the order in the last bits."""
    size = max(abs(summary.min), abs(summary.max)) if summary.finite else 0.0
    return pytest.approx(summary.mean, rel=1e-9, abs=1e-9 * size + 1e-300, nan_ok=True)


def full_run(store: Path) -> Path:
    path = make_run(store, "full", series=SERIES, status=None)
    for rank in (1, 2):
        writer = RunWriter(path, run_id=path.name, rank=rank, heartbeat_s=0, fsync_s=0)
        both = writer.keyset(("a", "b"))
        only = writer.keyset(("b",))
        for step in range(500):
            both.write(step, (step * 0.1, rank))
            only.write(step, (-step,))
        writer.event(Alert(time=5.0, title="look"))
        writer.event(TagsChange(time=6.0, add=[f"rank{rank}"]))
        writer.console(Console(time=7.0, stream="stdout", text="hello\n"))
        writer.media(Media(key="note", step=3, time=8.0, kind="text"), b"small")
        writer.media(Media(key="image", step=4, time=9.0, kind="image"), bytes(5000))
        writer.close(End(time=10.0, status="finished"))
    return path


def test_a_compacted_run_reads_the_same_to_the_last_bit_in_fewer_bytes(store: Path) -> None:
    path = full_run(store)
    before = story(path)
    result = compact(path)
    assert (result.files, result.points) == (2, 3000)
    assert result.bytes_after < result.bytes_before / 2
    assert sorted(set(result.skipped.values())) == ["it contains media, which are already compact", "it is still open"]
    assert story(path) == before
    again = compact(path)
    assert again.files == 0
    assert story(path) == before


def test_single_metric_rows_take_less_than_twelve_bytes_a_point(store: Path) -> None:
    chance = np.random.default_rng(0)
    path = make_run(store, series={"loss": list(chance.random(20_000))})
    result = compact(path)
    assert result.points == 20_000
    assert result.bytes_after / result.points < 12


def test_files_of_a_killed_run_have_no_seal_and_are_compacted_when_it_is_known_to_be_gone(store: Path) -> None:
    path = make_run(store, series=SERIES, status=None)
    before = story(path)["series"]
    assert compact(path).files == 0
    assert compact(path, gone=True).files == 1
    assert story(path)["series"] == before


def test_a_run_that_was_read_halfway_goes_on_reading_the_compacted_file(store: Path) -> None:
    path = make_run(store, series={"loss": SERIES["loss"]})
    half = open_run(path)
    (log,) = log_files(path)
    data = log.read_bytes()
    log.write_bytes(data[: len(data) // 2])
    half.refresh()
    assert 0 < len(half.series("loss")) < 3000
    log.write_bytes(data)
    compact(path)
    half.refresh()
    assert half.series("loss").values.tolist() == SERIES["loss"]


def test_a_reader_that_has_everything_sees_nothing_twice(store: Path) -> None:
    path = make_run(store, series=SERIES)
    reader = open_run(path)
    before = {name: len(reader.series(name)) for name in reader.metrics()}
    compact(path)
    reader.refresh()
    assert {name: len(reader.series(name)) for name in reader.metrics()} == before


def test_a_compaction_between_two_listings_hides_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_run(store, series=SERIES)
    listed: list[Path] = []

    def listing(folder: Path) -> list[Path]:
        listed.append(folder)
        if len(listed) == 2:
            compact(path)
        return log_files(folder)

    monkeypatch.setattr("stepscope.runs.read.runlogs.log_files", listing)
    assert open_run(path).metrics() == sorted(SERIES)


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("moment", ["write", "fsync", "verify", "claim", "replace", "first unlink", "second unlink"])
def test_interrupted_at_any_moment_it_leaves_a_whole_run(
    store: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = full_run(store)
    before = story(path)

    def stop(*args: Any, **kwargs: Any) -> Any:
        raise Interrupted

    unlinked = 0
    real_unlink = Path.unlink

    def unlink(self: Path, missing_ok: bool = False) -> None:
        nonlocal unlinked
        if self.suffix == ".log":
            unlinked += 1
            if unlinked > ("first unlink", "second unlink").index(moment):
                raise Interrupted
        real_unlink(self, missing_ok)

    with monkeypatch.context() as patch:
        if moment == "write":
            patch.setattr(compact_module, "encode", stop)
        elif moment == "fsync":
            patch.setattr(compact_module.os, "fsync", stop)
        elif moment == "verify":
            patch.setattr(compact_module, "_verify", stop)
        elif moment == "claim":
            patch.setattr(compact_module, "put_in_place", stop)
        elif moment == "replace":
            patch.setattr(compact_module.os, "replace", stop)
        else:
            patch.setattr(Path, "unlink", unlink)
        with pytest.raises(Interrupted):
            compact(path)
    assert story(path) == before
    result = compact(path)
    assert story(path) == before
    assert result.files == (2 if "unlink" not in moment else 0)
    assert len(log_files(path)) == 3  # one still open, two of media


def test_a_section_that_came_out_wrong_never_replaces_its_source(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_run(store, series={"loss": SERIES["loss"]})
    before = story(path)
    real = compact_module.encode_chunk

    def wrong(name: str, steps: Any, times: Any, values: Any, **rest: Any) -> bytes:
        return real(name, steps, times, np.asarray(values) + 1e-9, **rest)

    monkeypatch.setattr(compact_module, "encode_chunk", wrong)
    result = compact(path)
    assert result.files == 0
    assert "differed after compaction" in result.skipped[path.name]
    assert story(path) == before
    assert not (path / "compact").exists()


def test_a_damaged_log_stays_as_it_is(store: Path) -> None:
    path = make_run(store, series=SERIES)
    (log,) = log_files(path)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    result = compact(path)
    assert result.files == 0
    assert "damaged at byte" in result.skipped[log.name] or "missing" in result.skipped[log.name]
    assert log.read_bytes() == bytes(data)


def test_a_log_that_would_not_get_smaller_stays(store: Path) -> None:
    path = make_run(store, series={f"metric{n}": [0.1 * n] for n in range(5)})
    result = compact(path)
    assert result.files == 0
    assert list(result.skipped.values()) == ["it would not get smaller"]


def test_a_run_without_anything_to_compact_is_not_touched(store: Path) -> None:
    run = make_run(store, series={"loss": [1.0]})
    before = run.stat().st_mtime_ns
    assert compact(run).files == 0
    assert run.stat().st_mtime_ns == before  # a server would take it for changed, and see to it for ever


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_run_is_left_alone(store: Path) -> None:
    path = make_run(store, series=SERIES)
    path.chmod(0o500)
    try:
        assert compact(path).skipped == {path.name: "the folder is read-only"}
    finally:
        path.chmod(0o700)


def test_a_run_we_may_not_write_to_is_no_error(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_run(store, series=SERIES)
    monkeypatch.setattr(compact_module.os, "access", lambda *args: False)
    assert compact(path).skipped == {path.name: "the folder is read-only"}


def test_a_full_disk_is_no_error(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_run(store, series=SERIES)
    before = story(path)

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compact_module.os, "fsync", full)
    assert "No space left" in compact(path).skipped[path.name]
    assert story(path) == before
    assert not (path / "compact").exists()


def test_what_a_kill_left_half_written_is_cleared_away_in_time(store: Path) -> None:
    path = make_run(store, series=SERIES)
    (path / "compact").mkdir()
    old, new = path / "compact" / ".old.tmp", path / "compact" / ".new.tmp"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    compact(path)
    assert not old.exists()
    assert new.exists()


def test_it_says_which_files_are_covered(store: Path) -> None:
    path = full_run(store)
    ids = {read_source(log).header.file_id for log in log_files(path) if ".points." in log.name}
    compact(path)
    covered = covered_files(path)
    assert len(covered) == 2
    assert set(covered) < ids
    assert {where.name for where in covered.values()} == {"000000.log"}


def test_frames_of_a_kind_we_do_not_know_are_kept(store: Path) -> None:
    path = make_run(store, series={"loss": SERIES["loss"]})
    (log,) = log_files(path)
    frames = log.read_bytes()[:-16]
    seq = struct.unpack_from("<I", log.read_bytes()[-16:], 8)[0]
    log.write_bytes(frames + encode(99, seq, b"from the future") + encode(Kind.SEAL, seq + 1, b""))
    assert compact(path).files == 1
    (section,) = read_sections((path / "compact" / "000000.log").read_bytes())
    assert (99, b"from the future") in section.others


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([("a",), ("a", "b"), ("b", "c"), ("c", "a")]),
            st.integers(-(2**63), 2**63 - 1),
            st.lists(st.floats(width=64), min_size=2, max_size=2),
        ),
        min_size=40,
        max_size=120,
    )
)
def test_any_rows_survive(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    store = tmp_path_factory.mktemp("any")
    path = make_run(store, status=None)
    for log in log_files(path):
        log.unlink()
    writer = RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0)
    for keys, step, values in rows * 4:
        writer.keyset(keys).write(step, values[: len(keys)])
    writer.close(End(time=1.0, status="finished"))
    before = story(path)
    compact(path)
    assert story(path) == before
