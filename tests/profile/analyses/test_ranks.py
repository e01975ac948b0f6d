"""Ranks, collectives, overlap and stragglers: against raw sums of real traces, and made ones whose truth is known."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile.analyses.communication import communication
from stepscope.profile.analyses.overlap import overlap
from stepscope.profile.analyses.ranks import ranks
from stepscope.profile.analyses.steps import steps
from stepscope.profile.analyses.stragglers import stragglers
from stepscope.profile.clocks import align
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder, events_of
from stepscope.profile.trace.events import Events, Header
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet

SAMPLES = Path(__file__).parents[2] / "samples" / "traces"
MS = 1_000_000


def by_key(sheet: Sheet | None, row: int = 0) -> dict[str, Any]:
    assert sheet is not None
    return dict(zip([column.key for column in sheet.columns], sheet.rows[row], strict=True))


def made_rank(rank: int, *, late_ms: float = 0.0, clock_ms: float = 0.0, host: str = "") -> Events:
    """Three steps of 10 ms: 4 ms of kernel, then an all-reduce that all leave at 9 ms; this rank comes late to it."""
    builder = Builder(Header(fields={"host_name": host} if host else {}))
    shift = int(clock_ms * MS)
    for step in range(3):
        begin = 1_000_000 * MS + step * 10 * MS + shift
        comes, leaves = begin + int((4 + late_ms) * MS), begin + 9 * MS
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=begin, dur=10 * MS, pid=1, tid=1)
        builder.add("gemm", "kernel", start=begin, dur=comes - begin, pid=0, tid=7, args={"stream": 7})
        builder.add(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", start=comes, dur=leaves - comes, pid=0, tid=9,
            args={"stream": 9, "Collective name": "allreduce", "In msg nelems": 1_000_000, "dtype": "Float",
                  "Group size": 4, "Process Group Name": "0"},
        )  # fmt: skip
    return builder.events()


def four(**shift: float) -> Profile:
    hosts = {rank: f"node-{rank}" for rank in range(4)} if shift else dict.fromkeys(range(4), "node")
    late = {2: 3.0, 3: 1.0}
    return Profile.of_events(
        {r: made_rank(r, late_ms=late.get(r, 0), clock_ms=shift.get(f"r{r}", 0), host=hosts[r]) for r in range(4)}
    )


def test_collectives_sum_to_what_the_raw_trace_says() -> None:
    raw = {
        rank: json.loads(gzip.decompress((SAMPLES / f"two_ranks_rank{rank}.json.gz").read_bytes())) for rank in (0, 1)
    }
    spans = [
        event["dur"]
        for trace in raw.values()
        for event in trace["traceEvents"]
        if event.get("cat") == "user_annotation" and event["name"] == "gloo:all_reduce"
    ]
    sheet = communication(Profile.of_events({rank: events_of(trace) for rank, trace in raw.items()}))
    assert sheet is not None
    assert sum(row[2] for row in sheet.rows) == len(spans) == 8
    assert sum(row[3] for row in sheet.rows) == pytest.approx(sum(spans) * 1000, abs=8)
    # DDP's reducer reduces every gradient once a step: 7,329,768 float32 parameters in two buckets
    assert sum(row[1] for row in sheet.rows) == 7_329_768 * 4
    assert all(check.ok for check in sheet.checks)


def test_waiting_is_the_time_until_the_last_rank_has_come() -> None:
    row = by_key(communication(four()))
    # ranks 0 and 1 wait 3 ms, rank 3 waits 2 ms, rank 2 none: three times
    assert row["wait_ns"] == 3 * (3 + 3 + 2) * MS
    assert row["transfer_ns"] == row["total_ns"] - row["wait_ns"] == 3 * 4 * 2 * MS
    assert row["algorithm_bandwidth"] == pytest.approx(4_000_000 / 0.002)
    assert row["bus_bandwidth"] == pytest.approx(4_000_000 / 0.002 * 1.5)


def test_one_rank_alone_says_that_waiting_is_a_guess() -> None:
    sheet = communication(Profile.of_events({0: made_rank(0)}))
    assert sheet is not None
    assert "only one rank is here" in sheet.notes[-1]
    assert by_key(sheet)["wait_ns"] == 0


def test_without_sizes_waiting_is_unknown_not_zero() -> None:
    table = made_rank(0)
    bare = replace(table, args={key: column for key, column in table.args.items() if key != "In msg nelems"})
    row = by_key(communication(Profile.of_events({0: bare})))
    assert row["bytes"] is None
    assert row["wait_ns"] is None
    assert row["transfer_ns"] is None
    assert row["total_ns"] == 15 * MS


def test_the_straggler_is_named_with_what_it_costs() -> None:
    row = by_key(stragglers(four()))
    assert (row["rank"], row["last"], row["share"]) == (2, 3, 1.0)
    assert row["cost_ns"] == 3 * 3 * 2 * MS  # three others, three times, 2 ms after the second slowest


def test_clocks_of_other_machines_are_moved_until_collectives_end_together() -> None:
    shifted = four(r1=250.0, r2=-40.0)
    clocks = align(shifted)
    assert clocks.offset_ns == {0: 0, 1: -250 * MS, 2: 40 * MS, 3: 0}
    assert "rank 1's clock was moved by -250.000 ms" in clocks.notes[0]
    assert by_key(stragglers(shifted))["rank"] == 2
    assert by_key(communication(shifted)) == by_key(communication(four()))


def test_one_machine_shares_its_clock() -> None:
    clocks = align(four())
    assert set(clocks.offset_ns.values()) == {0}
    assert clocks.notes == ["all ranks ran on one machine and share its clock"]


def test_hidden_and_exposed_communication() -> None:
    builder = Builder()
    builder.add("ncclDevKernel_AllReduce", "kernel", start=0, dur=100, pid=0, tid=9)
    builder.add("gemm", "kernel", start=-50, dur=80, pid=0, tid=7)  # hides 30
    builder.add("gelu", "kernel", start=90, dur=50, pid=0, tid=7)  # hides 10
    row = by_key(overlap(Profile.of_events({0: builder.events()})))
    assert (row["communication_ns"], row["hidden_ns"], row["exposed_ns"], row["computation_ns"]) == (100, 40, 60, 130)


def test_each_ranks_parts_sum_to_its_step() -> None:
    sheet = ranks(four())
    assert sheet is not None
    assert [row[:5] for row in sheet.rows] == [
        [0, 3, 10 * MS, 4 * MS, 5 * MS],
        [1, 3, 10 * MS, 4 * MS, 5 * MS],
        [2, 3, 10 * MS, 7 * MS, 2 * MS],
        [3, 3, 10 * MS, 5 * MS, 4 * MS],
    ]
    assert sheet.checks[0].ok


def test_one_rank_has_no_table_of_ranks() -> None:
    assert ranks(Profile.of_events({0: made_rank(0)})) is None
    assert stragglers(Profile.of_events({0: made_rank(0)})) is None


def test_collectives_that_the_host_carries_out_are_communication_of_the_step() -> None:
    raw = json.loads(gzip.decompress((SAMPLES / "two_ranks_rank0.json.gz").read_bytes()))
    parts = steps(Trace(events_of(raw)))
    assert parts is not None
    communication_ns = parts.parts_ns[0][[part.key for part in parts.parts].index("communication")]
    spans = [
        e["dur"] for e in raw["traceEvents"] if e.get("cat") == "user_annotation" and e["name"] == "gloo:all_reduce"
    ]
    assert 0.9 * sum(spans) < 1e-3 * sum(row[1] for row in parts.parts_ns) <= sum(spans)
    assert communication_ns > 0.4 * parts.wall_ns[0]
    assert all(check.ok for check in parts.checks)
