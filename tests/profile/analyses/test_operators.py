from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.profile.analyses.operators import operators, operators_by_line, operators_by_shape
from stepscope.profile.trace.build import Builder, events_of
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet


def table(sheet: Sheet | None) -> dict[str, dict[str, Any]]:
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    return {row[0]: dict(zip(keys, row, strict=True)) for row in sheet.rows}


def test_host_times_are_those_of_key_averages(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch.profiler import ProfilerActivity, profile

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    optimizer = torch.optim.AdamW(model.parameters())
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(2, 3, 8, 8)).square().mean().backward()
            optimizer.step()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = Trace(events_of(json.loads((tmp_path / "trace.json").read_text())))
    found = table(operators(trace))
    truth = {average.key: average for average in prof.key_averages() if average.key in found}
    assert len(truth) > 30
    for name, average in truth.items():
        assert found[name]["calls"] == average.count, name
        assert found[name]["host_self_ns"] / 1000 == pytest.approx(average.self_cpu_time_total, abs=0.02), name
        # An operator inside itself (a view of a view) is counted twice by torch, once by us.
        assert found[name]["host_total_ns"] / 1000 <= average.cpu_time_total + 0.02, name
    for name in ("aten::convolution_backward", "aten::addmm", "aten::conv2d", "aten::relu", "aten::mean"):
        assert found[name]["host_total_ns"] / 1000 == pytest.approx(truth[name].cpu_time_total, abs=0.02), name


def test_times_of_a_gpu_trace_are_those_of_key_averages(h200_plain: Trace, h200_plain_truth: dict[str, Any]) -> None:
    """To the nanosecond, but for one thing: torch takes the calls of the pinning thread for the training thread's."""
    found = table(operators(h200_plain))
    shared = {name: truth for name, truth in h200_plain_truth["key_averages"].items() if name in found}
    assert len(shared) > 90
    beyond = 0.0
    for name, (count, self_cpu, _, self_device, device) in shared.items():
        mine = found[name]
        assert mine["calls"] == count, name
        assert mine["device_self_ns"] / 1000 == pytest.approx(self_device, abs=0.001), name
        if name not in {"aten::linear", "aten::nll_loss"}:  # inside themselves
            assert mine["device_total_ns"] / 1000 == pytest.approx(device, abs=0.001), name
        more = mine["host_self_ns"] / 1000 - self_cpu
        assert more == pytest.approx(0, abs=0.001) or 0 < more < 15, name
        beyond += more
    events = h200_plain.events
    calls = h200_plain.rows(Kind.RUNTIME)
    elsewhere = calls[~np.isin(events.lane[calls], np.unique(events.lane[h200_plain.rows(Kind.OP)]))]
    assert beyond == pytest.approx(events.dur[elsewhere].sum() / 1000, abs=10)


def test_every_check_of_a_real_trace_holds(h200: Trace, h200_plain: Trace, two_ranks: Trace) -> None:
    for trace in (h200, h200_plain, two_ranks):
        for sheet in (operators(trace), operators_by_shape(trace)):
            assert sheet is not None
            assert [check.name for check in sheet.checks if not check.ok] == []


def test_an_operator_inside_itself_is_counted_once() -> None:
    builder = Builder()
    builder.add("aten::to", "cpu_op", start=0, dur=100)
    builder.add("aten::copy_", "cpu_op", start=10, dur=80)
    builder.add("aten::to", "cpu_op", start=20, dur=50)
    found = table(operators(Trace(builder.events())))
    assert found["aten::to"]["calls"] == 2
    assert found["aten::to"]["host_total_ns"] == 100
    assert found["aten::to"]["host_self_ns"] == 70
    assert found["aten::copy_"]["host_self_ns"] == 30


def test_work_that_no_operator_launched_is_said() -> None:
    builder = Builder()
    builder.add("aten::mm", "cpu_op", start=0, dur=10, pid=1)
    builder.add("cudaLaunchKernel", "cuda_runtime", start=2, dur=3, pid=1, args={"correlation": 5})
    builder.add("gemm", "kernel", start=20, dur=30, args={"correlation": 5})
    builder.add("orphan", "kernel", start=60, dur=10, args={"correlation": 77})
    sheet = operators(Trace(builder.events()))
    assert sheet is not None
    assert table(sheet)["aten::mm"]["device_self_ns"] == 30
    assert table(sheet)["aten::mm"]["host_self_ns"] == 7
    assert table(sheet)["aten::mm"]["runtime_ns"] == 3
    assert "25.0%" in sheet.notes[0]
    assert all(check.ok for check in sheet.checks)


def test_shapes_split_an_operator(h200: Trace) -> None:
    whole, parts = table(operators(h200))["aten::addmm"], operators_by_shape(h200)
    assert parts is not None
    keys = [column.key for column in parts.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in parts.rows if row[0] == "aten::addmm"]
    assert sum(row["calls"] for row in rows) == whole["calls"]
    assert sum(row["device_self_ns"] for row in rows) == whole["device_self_ns"]
    assert {row["types"] for row in rows} == {"bfloat16"}
    assert "1536, 2048x512, 512x1536" in {row["shapes"] for row in rows}


def test_tensor_cores_are_told_from_the_kernels(h200: Trace) -> None:
    found = table(operators(h200))
    assert found["aten::mm"]["tensor_core_share"] == 1.0
    assert found["aten::copy_"]["tensor_core_share"] is None
    assert not found["aten::copy_"]["tensor_core_eligible"]


def test_operators_name_the_line_they_come_from(h200: Trace) -> None:
    """Forward by its stack; backward, which has none of its own, by the line of forward that made it."""
    found = table(operators(h200))
    assert found["aten::embedding"]["line"] == "gpu_trace.py:29"
    assert found["aten::embedding_dense_backward"]["line"] == "gpu_trace.py:29"
    assert found["aten::addmm"]["line"].startswith("gpu_trace.py:")


def test_without_stacks_there_is_no_line(h200_plain: Trace) -> None:
    assert "line" not in table(operators(h200_plain))["aten::mm"]


def test_an_operator_is_split_by_the_lines_it_comes_from(h200: Trace) -> None:
    whole, sheet = table(operators(h200))["aten::addmm"], operators_by_line(h200)
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in sheet.rows if row[0] == "aten::addmm"]
    assert {row["line"] for row in rows} == {"gpu_trace.py:19", "gpu_trace.py:29"}  # the blocks, and the head
    assert sum(row["device_self_ns"] for row in rows) == whole["device_self_ns"]
    block = next(row for row in rows if row["line"] == "gpu_trace.py:19")
    assert block["stack"].endswith(" > gpu_trace.py:29 > gpu_trace.py:19")
    assert all(check.ok for check in sheet.checks)


def test_no_lines_without_stacks(h200_plain: Trace) -> None:
    assert operators_by_line(h200_plain) is None
