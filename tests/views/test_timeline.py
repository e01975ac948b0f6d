"""The timeline's routes over a run's real folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.profile.store import new_folder, write_meta
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.profile.trace.read import read_trace
from stepscope.records.profile import ProfileFile, ProfileMeta
from stepscope.views.context import Context
from stepscope.views.profile import timeline as page
from stepscope.views.profile.timeline import (
    EventRequest,
    FindRequest,
    NamesRequest,
    RangeRequest,
    TilesRequest,
    TimelineRequest,
)

from .conftest import write_run

H200 = Path(__file__).parent.parent / "samples" / "traces" / "h200.json.gz"


def put(store: Path, run: str, *tables: Builder) -> str:
    """A profile with these events, a rank each."""
    folder = new_folder(store / run, "p1", 0)
    for rank, builder in enumerate(tables):
        save_events(builder.events(), folder / f"rank{rank}.events")
    files = [ProfileFile(name=f"rank{rank}.events", kind="events", rank=rank) for rank in range(len(tables))]
    write_meta(folder, ProfileMeta(id="p1", kind="pytorch", created=0.0, world=len(tables), files=files))
    return folder.name


def two_ops(shift: int = 0) -> Builder:
    builder = Builder()
    builder.add("ProfilerStep#3", "user_annotation", start=1_700_000_000_000_000_000 + shift, dur=1_000, pid=1, tid=1)
    builder.add("aten::mm", "cpu_op", start=1_700_000_000_000_000_100 + shift, dur=400, pid=1, tid=1)
    builder.add("aten::add", "cpu_op", start=1_700_000_000_000_000_600 + shift, dur=100, pid=1, tid=1)
    return builder


def test_lanes_steps_and_times_come_once(ctx: Context, store: Path) -> None:
    run = write_run(store)
    profile = put(store, run, two_ops(), two_ops(5))
    found = page.timeline(ctx, TimelineRequest(run=run, profile=profile, rank=1))
    assert (found.rank, found.ranks, found.base_ns) == (1, [0, 1], "1700000000000000005")
    assert (found.begin_ns, found.end_ns, found.events) == (0, 1_000, 3)
    assert [(step.number, step.begin_ns, step.end_ns, step.inferred) for step in found.steps] == [(3, 0, 1_000, False)]
    assert [(lane.name, lane.events, lane.depths) for lane in found.lanes] == [("Main thread", 3, 2)]


def test_ranks_on_one_axis_have_their_clocks_brought_together(ctx: Context, store: Path) -> None:
    run = write_run(store)
    profile = put(store, run, two_ops(), two_ops(5))
    pages = [page.timeline(ctx, TimelineRequest(run=run, profile=profile, rank=rank, together=True)) for rank in (0, 1)]
    assert [one.base_ns for one in pages] == ["1700000000000000000", "1700000000000000005"]


def test_tiles_events_hits_and_statistics_fit_together(ctx: Context, store: Path) -> None:
    run = write_run(store)
    profile = put(store, run, two_ops())
    packed = page.tiles(ctx, TilesRequest(run=run, profile=profile, rank=0, level=0, first=0, count=1, lanes=[0]))
    assert packed.body is not None
    assert packed.body[:4] == b"SSTL"
    known = page.names(ctx, NamesRequest(run=run, profile=profile, rank=0))
    assert (known.names, known.more) == (["ProfilerStep#3", "aten::mm", "aten::add"], False)
    hit = page.find(ctx, FindRequest(run=run, profile=profile, rank=0, names=[1, 2], after_ns=300)).hit
    assert hit is not None
    assert (hit.name, hit.start_ns, hit.dur_ns) == ("aten::add", 600, 100)
    event = page.event(ctx, EventRequest(run=run, profile=profile, rank=0, event=hit.event))
    assert (event.at, event.step) == (hit, 3)
    whole = page.selection(ctx, RangeRequest(run=run, profile=profile, rank=0, begin_ns=-50, end_ns=1e18))
    assert {one.name: one.total_ns for one in whole.names} == {
        "ProfilerStep#3": 1_000,
        "aten::mm": 400,
        "aten::add": 100,
    }
    with pytest.raises(UsageError, match="end after it begins"):
        page.selection(ctx, RangeRequest(run=run, profile=profile, rank=0, begin_ns=5, end_ns=5))


def test_names_come_in_pages(ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "NAMES_PAGE", 2)
    run = write_run(store)
    profile = put(store, run, two_ops())
    pages = [page.names(ctx, NamesRequest(run=run, profile=profile, rank=0, first=at)) for at in (0, 2, 9)]
    assert [(len(one.names), one.more) for one in pages] == [(2, True), (1, False), (0, False)]


def test_a_timeline_is_made_once(ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(store)
    profile = put(store, run, two_ops())
    page.timeline(ctx, TimelineRequest(run=run, profile=profile))
    monkeypatch.setattr(page, "Timeline", None)
    assert page.timeline(ctx, TimelineRequest(run=run, profile=profile)).events == 3


def test_what_is_missing_or_damaged_is_said(ctx: Context, store: Path) -> None:
    run, other = write_run(store), write_run(store)
    profile = put(store, run, two_ops())
    assert put(store, other) == "p1"
    with pytest.raises(NotFound, match="no rank 7"):
        page.timeline(ctx, TimelineRequest(run=run, profile=profile, rank=7))
    with pytest.raises(NotFound, match="no profile"):
        page.timeline(ctx, TimelineRequest(run=run, profile="../p1"))
    with pytest.raises(NotFound, match="no events; record some"):
        page.timeline(ctx, TimelineRequest(run=other, profile="p1"))
    file = store / run / "profiles" / "p1" / "rank0.events"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(BadData):
        page.timeline(ctx, TimelineRequest(run=run, profile=profile))


def test_a_real_trace_is_served_whole(ctx: Context, store: Path) -> None:
    run = write_run(store)
    folder = new_folder(store / run, "p1", 0)
    events = read_trace(H200, cache=False)
    save_events(events, folder / "rank0.events")
    file = ProfileFile(name="rank0.events", kind="events")
    write_meta(folder, ProfileMeta(id="p1", kind="opened", created=0.0, files=[file]))
    found = page.timeline(ctx, TimelineRequest(run=run, profile="p1"))
    assert [step.number for step in found.steps] == [4, 5]
    assert found.end_ns < found.span_ns  # the profiler's own last mark stands beyond the program
    assert found.notes == ["792 allocations are not drawn here; the Memory tab has them"]
    assert [(group.name, group.kind) for group in found.groups][:2] == [("python3 444", "host"), ("GPU 0", "device")]
