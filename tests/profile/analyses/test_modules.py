"""Modules by name: against the model itself, torch's own links of backward, and sums of a real GPU trace."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tests.profile.recorded import assert_checked, by_key, recorded

from stepscope.profile.analyses.modules import modules
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder, events_of
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

SAMPLES = Path(__file__).parents[2] / "samples" / "traces"

PATHS = [
    "Net", "blocks", "blocks.0", "blocks.0.fc1", "blocks.0.act", "blocks.0.fc2", "blocks.1", "blocks.1.fc1",
    "blocks.1.act", "blocks.1.fc2", "head", "CrossEntropyLoss", None,
]  # fmt: skip


def h200(name: str = "h200") -> Profile:
    return Profile.of_events({0: events_of(json.loads(gzip.decompress((SAMPLES / f"{name}.json.gz").read_bytes())))})


def test_names_modules_as_named_modules_does() -> None:
    sheet = modules(recorded().profile())
    assert sheet is not None
    assert [row[1] for row in sheet.rows] == PATHS
    assert sheet.levels == [0, 1, 2, 3, 3, 3, 2, 3, 3, 3, 1, 0, 0]
    rows = by_key(sheet, "path")
    assert rows["blocks"]["calls"] is None
    assert {rows[path]["calls"] for path in PATHS[2:12]} == {2}
    assert rows["blocks.1.fc2"]["class"] == "Linear"
    assert_checked(sheet)


def test_a_modules_forward_is_the_sum_of_its_calls() -> None:
    found = recorded()
    rows = by_key(modules(found.profile()), "path")
    raw = [e for e in found.trace["traceEvents"] if e["name"] == "nn.Module: Net_0"]
    assert rows["Net"]["forward_ns"] == pytest.approx(sum(e["dur"] for e in raw) * 1000, abs=10)
    inner = sum(rows[path]["forward_ns"] for path in ("blocks", "head"))
    assert rows["Net"]["forward_ns"] == pytest.approx(inner + rows["Net"]["own_ns"], abs=10)


def test_every_layer_has_its_backward_and_its_memory() -> None:
    rows = by_key(modules(recorded().profile()), "path")
    for path in PATHS[3:6] + PATHS[7:12]:
        assert rows[path]["backward_ns"] > 0, path
    assert rows["blocks.0.fc1"]["allocated_bytes"] == 2 * 32 * 128 * 4
    assert rows["head"]["allocated_bytes"] == 2 * 32 * 10 * 4


def test_flops_are_those_by_hand() -> None:
    rows = by_key(modules(recorded().profile()), "path")
    product = 2 * 32 * 64 * 128
    # Two steps; backward makes the gradient of the weights and, but for the first layer, that of the input.
    assert rows["blocks.0.fc1"]["flops"] == 2 * (product + product)
    assert rows["blocks.0.fc2"]["flops"] == 2 * (product + 2 * product)
    assert rows["head"]["flops"] == 2 * 3 * 2 * 32 * 64 * 10


def test_spans_of_our_own_give_the_same_tree_without_stacks() -> None:
    found = recorded(stacks=False, spans=True)
    sheet = modules(found.profile(facts=False))
    rows = by_key(sheet, "path")
    assert [path for path in PATHS if path] == [row for row in rows if row]
    assert rows["blocks.0.fc1"]["allocated_bytes"] == 2 * 32 * 128 * 4
    assert rows["blocks.1.fc2"]["backward_ns"] > 0
    assert_checked(sheet)


def test_a_trace_without_names_shows_classes_and_says_so() -> None:
    sheet = modules(recorded().profile(facts=False))
    rows = by_key(sheet, "path")
    assert "Linear_0" in rows
    assert rows["Linear_0"]["class"] == "Linear"
    assert sheet is not None
    assert "has no module names" in " ".join(sheet.notes)


def test_device_time_of_a_real_gpu_trace_is_all_there() -> None:
    profile = h200()
    sheet = modules(profile)
    assert_checked(sheet)
    trace = profile.trace(0)
    assert trace is not None
    rows = by_key(sheet, "path")
    whole = rows["Net_0"]["device_ns"] + rows[None]["device_ns"]
    assert whole == int(trace.events.dur[trace.device_rows].sum())
    assert rows["Embedding_0"]["device_backward_ns"] > rows["Embedding_0"]["device_forward_ns"] > 0
    assert rows["Linear_2"]["device_backward_ns"] > rows["Linear_2"]["device_forward_ns"] > 0


@pytest.mark.parametrize("name", ["h200", "h200_plain", "two_ranks_rank0"])
def test_backward_belongs_to_the_forward_that_torch_links_it_to(name: str) -> None:
    trace = h200(name).trace(0)
    assert trace is not None
    events = trace.events
    ids, flows = events.number("id"), np.array([cat == "fwdbwd" for cat in events.cats])[events.cat]
    ops = {(int(events.lane[row]), int(events.start[row])): int(row) for row in reversed(trace.rows(Kind.OP).tolist())}
    begins = {int(ids[row]): row for row in np.flatnonzero(flows & (events.ph == ord("s"))).tolist()}
    ends = np.flatnonzero(flows & (events.ph == ord("f"))).tolist()
    assert len(ends) > 100
    for row in ends:
        source = begins[int(ids[row])]
        backward, forward = (ops[int(events.lane[at]), int(events.start[at])] for at in (row, source))
        assert trace.forward_op[backward] == forward


def test_a_module_that_calls_itself_is_counted_once() -> None:
    builder = Builder()
    for begin, dur in ((0, 100), (10, 50)):
        builder.add("nn.Module: Tree_0", "python_function", start=begin, dur=dur, pid=1, tid=1)
    builder.add("aten::mm", "cpu_op", start=20, dur=5, pid=1, tid=1)
    profile = Profile.of_events({0: builder.events()})
    profile.facts = lambda rank=0: {"modules": {"Tree_0": ["Tree", ""]}}  # type: ignore[method-assign]
    rows = by_key(modules(profile), "path")
    assert rows["Tree"]["forward_ns"] == 100
    assert rows["Tree"]["calls"] == 2


def test_a_trace_without_modules_has_no_sheet() -> None:
    assert modules(h200("h200_plain")) is None
    assert Trace(Builder().events()).memory_rows.tolist() == []
