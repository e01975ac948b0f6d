"""Memory: against sizes known by hand, torch's own counts, and the peak that CUDA itself reported."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.profile.recorded import FILE, assert_checked, by_key, recorded

from stepscope.profile.analyses.memory_categories import memory_categories
from stepscope.profile.analyses.memory_curve import memory_curve, stretches
from stepscope.profile.analyses.memory_events import memory_events
from stepscope.profile.analyses.memory_lines import memory_lines
from stepscope.profile.analyses.memory_modules import memory_modules
from stepscope.profile.analyses.memory_operators import memory_operators
from stepscope.profile.analyses.memory_peak import memory_peak
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder, events_of
from stepscope.profile.trace.trace import Trace

SAMPLES = Path(__file__).parents[2] / "samples" / "traces"
ALL = (memory_peak, memory_events, memory_modules, memory_lines)


def h200(name: str = "h200") -> Profile:
    return Profile.of_events({0: events_of(json.loads(gzip.decompress((SAMPLES / f"{name}.json.gz").read_bytes())))})


def truth(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SAMPLES / f"{name}.truth.json").read_text())
    return found


@pytest.mark.parametrize("name", ["h200", "h200_plain"])
def test_the_peak_is_what_cuda_says(name: str) -> None:
    rows = by_key(memory_peak(h200(name)), "what")
    assert rows["CUDA 0"]["bytes"] == truth(name)["facts"]["max_memory_allocated"]
    assert_checked(memory_peak(h200(name)))


def test_every_sheet_of_a_real_gpu_trace_agrees_with_itself() -> None:
    profile = h200()
    for analysis in ALL:
        assert_checked(analysis(profile))
    trace = profile.trace(0)
    assert trace is not None
    assert_checked(memory_operators(trace))


def test_the_curve_of_a_gpu_ends_at_the_allocators_own_number() -> None:
    curve = memory_curve(h200())
    raw = json.loads(gzip.decompress((SAMPLES / "h200.json.gz").read_bytes()))["traceEvents"]
    told = [e for e in raw if e["name"] == "[memory]" and e["args"]["Device Type"] == 1]
    last = max(told, key=lambda e: (e["ts"], e["args"]["Ev Idx"]))
    assert curve is not None
    assert curve.lines["CUDA 0 allocated"][-1] == last["args"]["Total Allocated"]
    assert max(curve.lines["CUDA 0 allocated"]) == max(e["args"]["Total Allocated"] for e in told)
    assert len(curve.at_ns) == len(curve.lines["CUDA 0 reserved"])


@pytest.mark.parametrize("name", ["h200", "h200_plain"])
def test_categories_over_time_sum_to_what_cuda_counts(name: str) -> None:
    curve = memory_categories(h200(name))
    raw = json.loads(gzip.decompress((SAMPLES / f"{name}.json.gz").read_bytes()))["traceEvents"]
    counts = {
        round(e["ts"] * 1000): e["args"]["Total Allocated"]
        for e in sorted(raw, key=lambda e: e["ts"])
        if e["name"] == "[memory]" and e["args"]["Device Type"] == 1
    }
    assert curve is not None
    assert curve.stacked
    sums = [sum(values) for values in zip(*curve.lines.values(), strict=True)]
    assert sums == list(counts.values())
    assert max(sums) == truth(name)["facts"]["max_memory_allocated"]


def test_parameters_gradients_and_state_are_what_they_are_by_hand() -> None:
    found = recorded(warm=True)
    sheet = memory_peak(found.profile())
    assert_checked(sheet)
    rows = by_key(sheet, "what")
    weights = found.sizes["parameters"]
    assert rows["parameters"]["bytes"] == weights
    # Adam keeps two numbers for every weight, and a count of four bytes for each of the ten tensors.
    assert rows["optimizer state"]["bytes"] == 2 * weights + 10 * 4
    assert rows["gradients"]["bytes"] <= weights
    assert rows["input"]["bytes"] >= 32 * 64 * 4


def test_state_born_in_the_window_is_found_by_its_address() -> None:
    found = recorded(warm=False)
    rows = by_key(memory_events(found.profile()), "name")
    first = rows["blocks.0.fc1.weight exp_avg"]
    assert (first["bytes"], first["category"], first["life_ns"]) == (64 * 128 * 4, "optimizer", None)


def test_activations_are_those_that_backward_needs() -> None:
    sheet = memory_events(recorded(warm=True).profile())
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in sheet.rows]
    relu = [row for row in rows if row["operator"] == "aten::relu"]
    assert {row["category"] for row in relu} == {"activations"}
    assert {row["bytes"] for row in relu} == {32 * 128 * 4}
    assert {row["where"] for row in relu} == {f"{FILE}:14"}
    assert {row["module"] for row in relu} == {"blocks.0.act", "blocks.1.act"}


def test_modules_hold_their_own_weights() -> None:
    found = recorded(warm=True)
    sheet = memory_modules(found.profile())
    assert_checked(sheet)
    rows = by_key(sheet, "path")
    assert rows["Net"]["parameters_bytes"] == found.sizes["parameters"]
    assert rows["blocks.0.fc1"]["parameters_bytes"] == (64 * 128 + 128) * 4
    assert rows["blocks.0.fc1"]["optimizer_bytes"] == 2 * (64 * 128 + 128) * 4 + 2 * 4


def test_operators_match_key_averages() -> None:
    found = recorded(stacks=False, spans=True)
    rows = by_key(memory_operators(Trace(events_of(found.trace))), "operator")
    wanted = ("aten::empty", "aten::addmm", "aten::relu", "aten::linear", "aten::mm", "aten::zeros_like", "aten::randn")
    for name in wanted:
        assert rows[name]["own_bytes"] == found.averages[name]["own_bytes"], name
        assert rows[name]["total_bytes"] == found.averages[name]["total_bytes"], name


# -- made by hand ---------------------------------------------------------------------------------------------------


def told(builder: Builder, at: int, change: int, total: int, address: int, thread: int = 1) -> None:
    builder.add(
        "[memory]", "cpu_instant_event", start=at, pid=1, tid=thread, ph="i",
        args={"Bytes": change, "Addr": address, "Total Allocated": total, "Total Reserved": 4096, "Device Type": 1,
              "Device Id": 0},
    )  # fmt: skip


def made_training() -> Profile:
    """1000 bytes before; forward makes 100 (kept) and 50 (freed at once), backward 30 (a gradient) and 20 (freed)."""
    builder = Builder()
    node = "autograd::engine::evaluate_function: AddmmBackward0"
    builder.add("aten::linear", "cpu_op", start=100, dur=50, pid=1, tid=1, args={"Sequence number": 5})
    builder.add(node, "cpu_op", start=200, dur=50, pid=1, tid=2, args={"Sequence number": 5, "Fwd thread id": 1})
    builder.add("Optimizer.step#SGD.step", "user_annotation", start=300, dur=50, pid=1, tid=1)
    told(builder, 110, 100, 1100, 1)
    told(builder, 120, 50, 1150, 2)
    told(builder, 130, -50, 1100, 2)
    told(builder, 210, 30, 1130, 3, thread=2)
    told(builder, 220, 20, 1150, 4, thread=2)
    told(builder, 230, -20, 1130, 4, thread=2)
    told(builder, 240, -100, 1030, 1, thread=2)
    told(builder, 310, 7, 1037, 5)
    told(builder, 320, 8, 1045, 6)
    told(builder, 330, -8, 1037, 6)
    told(builder, 400, -30, 1007, 3)
    return Profile.of_events({0: builder.events()})


def test_categories_follow_from_birth_and_death() -> None:
    rows = memory_events(made_training())
    assert rows is not None
    found = {row[0]: row[2] for row in rows.rows}
    assert found == {100: "activations", 50: "temporaries", 30: "gradients", 20: "temporaries", 7: "optimizer",
                     8: "temporaries"}  # fmt: skip


def test_a_count_of_the_cpu_that_goes_on_from_an_earlier_window_is_not_taken_for_memory() -> None:
    builder = Builder()
    for at, change, total, address in ((10, -40, 960, 9), (20, 100, 1060, 1), (30, -100, 960, 1), (40, 5, 965, 2)):
        builder.add(
            "[memory]", "cpu_instant_event", start=at, pid=1, tid=1, ph="i",
            args={"Bytes": change, "Addr": address, "Total Allocated": total, "Device Type": 0, "Device Id": -1},
        )  # fmt: skip
    profile = Profile.of_events({0: builder.events()})
    assert_checked(memory_events(profile))
    assert by_key(memory_peak(profile), "what")["CPU"]["bytes"] == 100
    curve = memory_curve(profile)
    assert curve is not None
    assert curve.lines == {"CPU allocated": [0, 100, 0, 5]}


def test_what_was_there_before_is_unknown_and_the_sum_is_whole() -> None:
    sheet = memory_peak(made_training())
    assert_checked(sheet)
    rows = by_key(sheet, "what")
    assert rows["CUDA 0"]["bytes"] == 1150
    assert rows["unknown"]["bytes"] == 1000
    assert rows["activations"]["bytes"] == 100
    assert rows["temporaries"]["bytes"] == 50


def test_no_memory_in_the_trace_no_sheets() -> None:
    builder = Builder()
    builder.add("aten::mm", "cpu_op", start=0, dur=5, pid=1, tid=1)
    profile = Profile.of_events({0: builder.events()})
    assert [analysis(profile) for analysis in (*ALL, memory_curve)] == [None] * 5
    trace = profile.trace(0)
    assert trace is not None
    assert memory_operators(trace) is None


def test_a_long_curve_keeps_every_spike() -> None:
    at = np.arange(100_000) * 10
    values = np.full(100_000, 5.0)
    values[[777, 55_555]] = (99.0, 0.0)
    axis, found = stretches({"x": (at, values, 5.0)}, 0, 1_000_000, most=100)
    assert len(axis) == len(found["x"]) == 201
    assert (max(found["x"]), min(found["x"]), found["x"][-1]) == (99.0, 0.0, 5.0)
    assert axis == sorted(axis)
