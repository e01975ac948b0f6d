from __future__ import annotations

from typing import Any

import pytest

from stepscope.profile.analyses.ranges import ranges
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.trace import Trace


def test_named_ranges_of_a_real_trace(h200_plain: Trace, h200_plain_truth: dict[str, Any]) -> None:
    sheet = ranges(h200_plain)
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    found = {row[0]: dict(zip(keys, row, strict=True)) for row in sheet.rows}
    assert set(found) == {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                          "Optimizer.zero_grad#AdamW.zero_grad", "Optimizer.step#AdamW.step"}  # fmt: skip
    # (Of ranges that launch work, torch keeps a second row of the same name for the device.)
    loading = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    count, own, total, _, _ = h200_plain_truth["key_averages"][loading]
    assert found[loading]["calls"] == count
    assert found[loading]["host_self_ns"] / 1000 == pytest.approx(own, abs=0.01)
    assert found[loading]["host_total_ns"] / 1000 == pytest.approx(total, abs=0.01)
    assert found["Optimizer.step#AdamW.step"]["device_total_ns"] > 0


def test_a_range_inside_itself_is_counted_once() -> None:
    builder = Builder()
    builder.add("outer", "user_annotation", start=0, dur=100)
    builder.add("outer", "user_annotation", start=10, dur=50)
    builder.add("aten::mm", "cpu_op", start=20, dur=30)
    sheet = ranges(Trace(builder.events()))
    assert sheet is not None
    assert [row[:3] + row[4:5] for row in sheet.rows] == [["outer", 2, 100, 70]]
