from __future__ import annotations

from pathlib import Path

import msgspec

from stepscope.profile.analyses.compile import compiled
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.flops import arithmetic
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import ProfileFile, ProfileMeta


def traced() -> Builder:
    """Region 0 breaks into region 1; 0 is compiled twice. Times as dynamo of torch 2.13 marks them."""
    builder = Builder()
    for version, at in ((0, 0), (1, 1000)):
        builder.add("dynamo", "cpu_op", start=at, dur=400)
        builder.add(f"dynamo_data: compile_id=0/{version}", "user_annotation", start=at + 1, dur=2)
        builder.add("_compile.compile_inner (dynamo_timed)", "cpu_op", start=at + 5, dur=300)
        builder.add(f"Torch-Compiled Region: 0/{version}", "cpu_op", start=at + 500, dur=300)
        if version == 0:
            builder.add("dynamo", "cpu_op", start=at + 510, dur=100)
            builder.add("dynamo_data: compile_id=1/0", "user_annotation", start=at + 511, dur=2)
        builder.add("Torch-Compiled Region: 1/0", "cpu_op", start=at + 700, dur=50)
    return builder


def test_compilations_recompilations_and_breaks_are_counted() -> None:
    sheet = compiled(Profile.of_events({0: traced().events()}), 0)
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    found = {row[0]: dict(zip(keys, row, strict=True)) for row in sheet.rows}
    assert (found["0"]["calls"], found["0"]["versions"], found["0"]["compiles"]) == (2, 2, 2)
    assert (found["0"]["compile_ns"], found["0"]["host_ns"], found["0"]["after_break"]) == (800, 500, 0)
    assert (found["1"]["calls"], found["1"]["compiles"], found["1"]["after_break"]) == (2, 1, 2)
    assert any("3 compilations" in note and "1 of them compiled a region again" in note for note in sheet.notes)
    assert any("graph breaks" in note for note in sheet.notes)


def test_a_real_compilation(compiled_trace: Trace) -> None:
    """Two regions around a graph break, each compiled for the first size and once more for any size."""
    sheet = compiled(Profile.of_events({0: compiled_trace.events}), 0)
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    found = {row[0]: dict(zip(keys, row, strict=True)) for row in sheet.rows}
    assert {name: (row["calls"], row["versions"], row["compiles"]) for name, row in found.items()} == {
        "0": (5, 2, 2),
        "1": (5, 2, 2),
    }
    assert (found["0"]["after_break"], found["1"]["after_break"]) == (0, 5)
    assert found["0"]["compile_ns"] > 1000 * found["0"]["host_ns"]


def test_what_a_compiler_tries_is_no_arithmetic(compiled_trace: Trace) -> None:
    """x @ w and the gradient of w; what was traced with tensors without data does not count."""
    found = arithmetic(compiled_trace)
    assert found is not None
    assert found.flops.sum() == 2 * 2 * (8 + 8 + 16 + 24 + 24) * 64 * 64


def test_what_the_process_counted_is_told(tmp_path: Path) -> None:
    facts = {"compile": {"used": True, "graphs": 3, "breaks": 2, "break_reasons": ["print in forward"]}}
    (tmp_path / "rank0.facts.json").write_bytes(msgspec.json.encode(facts))
    meta = ProfileMeta(id="p", kind="pytorch", created=0.0, files=[ProfileFile(name="rank0.facts.json", kind="facts")])
    sheet = compiled(Profile(meta, tmp_path), 0)
    assert sheet is not None
    assert sheet.notes == ["since the process began: 3 graphs, 2 graph breaks", "graph break: print in forward"]


def test_a_run_without_compilation_has_no_such_page() -> None:
    builder = Builder()
    builder.add("aten::mm", "cpu_op", start=0, dur=5)
    assert compiled(Profile.of_events({0: builder.events()}), 0) is None
