"""Analyses of the input pipeline, on tables whose answers are known by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.profile.analyses.data_lines import data_lines
from stepscope.profile.analyses.data_stages import data_stages
from stepscope.profile.analyses.data_starvation import data_queue, data_starvation, data_waits, data_workers
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.records.profile import ProfileFile, ProfileMeta, Sheet

MS = 1_000_000


def add(builder: Builder, name: str, start_ms: float, dur_ms: float, **args: Any) -> None:
    worker = args.get("worker", -1)
    builder.add(
        name,
        "data",
        start=int(start_ms * MS),
        dur=int(dur_ms * MS),
        pid=100 + worker,
        tid=2 if name == "put" else 1,
        args={"loader": 0, **args},
    )


def of_batch(builder: Builder, at: float, batch: int, worker: int, detail: bool = True) -> None:
    """Ten milliseconds: two samples of 3 ms with a transform of 2 ms each, 3 ms of collation, 1 ms around."""
    add(builder, "fetch", at, 10, batch=batch, worker=worker, **({"detail": 1} if detail else {}))
    if detail:
        for sample in (at, at + 3):
            add(builder, "sample", sample, 3, batch=batch, worker=worker, place="data.py:9")
            add(builder, "transform Crop", sample + 0.5, 2, batch=batch, worker=worker, place="data.py:30")
        add(builder, "collate", at + 6.5, 3, batch=batch, worker=worker)


def starving(folder: Path) -> Profile:
    """Two workers of 10 ms a batch; training asks, waits 4 ms, works 1 ms; one pass of ten batches."""
    builder = Builder()
    for batch in range(10):
        worker, at = batch % 2, 5.0 * batch
        of_batch(builder, at, batch, worker, detail=batch < 4)
        if batch >= 8:
            add(builder, "queue", at + 10, 5, batch=batch, worker=worker)
        add(builder, "put", at + 10, 0.5, batch=batch, worker=worker)
        add(builder, "wait", 10 + 5 * batch, 20 if batch == 0 else 4, batch=batch, worker=-1, ready=batch % 2)
    save_events(builder.events(), folder / "rank0.data.events")
    facts = {"loaders": [{"number": 0, "dataset": "Photos", "made": "train.py:34", "workers": 2}]}
    (folder / "rank0.data.json").write_bytes(msgspec.json.encode(facts))
    files = [
        ProfileFile(name="rank0.data.events", kind="events"),
        ProfileFile(name="rank0.data.json", kind="data"),
    ]
    return Profile(ProfileMeta(id="p", kind="simple", created=0.0, files=files), folder)


def as_dicts(sheet: Sheet | None) -> list[dict[str, Any]]:
    assert sheet is not None
    return [dict(zip([column.key for column in sheet.columns], row, strict=True)) for row in sheet.rows]


def test_stages_have_their_own_times_and_sum_to_the_fetch(tmp_path: Path) -> None:
    sheet = data_stages(starving(tmp_path), 0)
    assert sheet is not None
    shares = {row["stage"]: (row["calls"], row["mean"], row["share"], row["place"]) for row in as_dicts(sheet)}
    assert shares == {
        "transform Crop": (8, 2 * MS, 0.4, "data.py:30"),
        "collate": (4, 3 * MS, 0.3, None),
        "dataset: own code": (8, 1 * MS, 0.2, "data.py:9"),
        "around the samples": (4, 1 * MS, 0.1, None),
        "packing for the main process": (10, MS // 2, None, None),
    }
    (check,) = sheet.checks
    assert check.ok
    assert check.got == check.expected == 40 * MS
    assert sheet.notes[0].startswith("4 of 10 batches")
    assert as_dicts(sheet)[0]["per_batch"] == 4 * MS


def test_a_wait_that_begins_inside_a_fetch_is_no_stage_of_it(tmp_path: Path) -> None:
    builder = Builder()
    of_batch(builder, 0.0, 0, -1)
    add(builder, "wait", 0.001, 10.5, batch=0, worker=-1, ready=0)
    save_events(builder.events(), tmp_path / "rank0.data.events")
    files = [ProfileFile(name="rank0.data.events", kind="events")]
    sheet = data_stages(Profile(ProfileMeta(id="p", kind="simple", created=0.0, files=files), tmp_path), 0)
    assert sheet is not None
    assert (sheet.checks[0].ok, sum(row["share"] for row in as_dicts(sheet))) == (True, pytest.approx(1.0))


def test_starvation_says_how_long_and_for_what(tmp_path: Path) -> None:
    (row,) = as_dicts(sheet := data_starvation(starving(tmp_path), 0))
    assert row["loader"] == "Photos (train.py:34)"
    assert (row["workers"], row["batches"], row["wait"], row["first"]) == (2, 10, 4 * MS, 20 * MS)
    assert row["waiting"] == pytest.approx(0.8)
    assert (row["supply"], row["demand"]) == pytest.approx((200.0, 1000.0))
    assert (row["ready"], row["empty"]) == (0.5, 0.5)
    assert row["busy"] == pytest.approx(100 / 110)
    assert (row["stage"], row["stage_share"]) == ("transform Crop", 0.4)
    assert sheet is not None
    assert sheet.notes == [
        "Training waits 80% of its loop for Photos (train.py:34): it could use 1,000 batches a second, 2 workers can "
        "load 200; 40% of loading is 'transform Crop'."
    ]


def test_each_worker_has_a_row(tmp_path: Path) -> None:
    rows = as_dicts(data_workers(starving(tmp_path), 0))
    assert [(row["worker"], row["batches"], row["fetch"]) for row in rows] == [(0, 5, 10 * MS), (1, 5, 10 * MS)]
    assert rows[0]["busy"] == pytest.approx(50 / 55)


def test_curves_of_waits_and_of_the_queue(tmp_path: Path) -> None:
    profile = starving(tmp_path)
    waits, queue = data_waits(profile, 0), data_queue(profile, 0)
    assert waits is not None
    assert waits.lines["wait"] == [20.0 * MS] + [4.0 * MS] * 9
    assert waits.at_ns[:2] == [10 * MS, 15 * MS]
    assert queue is not None
    assert queue.lines["ready"] == [0.0, 1.0] * 5


def test_a_long_curve_keeps_its_extremes() -> None:
    builder = Builder()
    for batch in range(5000):
        add(builder, "wait", batch, 9 if batch == 3333 else 0.1, batch=batch)
    curve = data_waits(Profile.of_events({0: builder.events()}), 0)
    assert curve is not None
    assert len(curve.at_ns) <= 1000
    assert max(curve.lines["wait"]) == 9 * MS


def test_a_profile_without_loaders_has_none_of_it() -> None:
    builder = Builder()
    builder.add("aten::mm", "cpu_op", start=0, dur=5)
    empty = Profile.of_events({0: builder.events()})
    for ask in (data_stages, data_starvation, data_workers, data_waits, data_queue):
        assert ask(empty, 0) is None


def test_lines_of_workers_with_their_shares(tmp_path: Path) -> None:
    profile = starving(tmp_path)
    assert data_lines(profile, 0) is None
    facts = {"lines": [[0, "data.py", 12, "Photos.__getitem__", 3 * MS], [0, "data.py", 30, "crop", MS]]}
    (tmp_path / "rank0.data.json").write_bytes(msgspec.json.encode(facts))
    rows = as_dicts(data_lines(profile, 0))
    assert [(row["place"], row["time"], row["share"]) for row in rows] == [
        ("data.py:12", 3 * MS, 0.75),
        ("data.py:30", MS, 0.25),
    ]


def test_a_damaged_description_costs_only_the_names(tmp_path: Path) -> None:
    profile = starving(tmp_path)
    (tmp_path / "rank0.data.json").write_bytes(b"{")
    (row,) = as_dicts(data_starvation(profile, 0))
    assert row["loader"] == "loader 0"
