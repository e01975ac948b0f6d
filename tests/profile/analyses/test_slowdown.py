"""Recording slows the host down, not the device: shares and MFU are of what steps take without it."""

from __future__ import annotations

import pytest

from stepscope.profile.analyses.overview import devices
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.flops import model_flops_utilisation
from stepscope.profile.trace.trace import Trace

MS = 1_000_000


def recorded(usual_ms: int) -> Trace:
    """Two steps of 30 ms, each with 9 ms of kernels; usually a step takes less."""
    builder = Builder()
    builder.header.fields["deviceProperties"] = [{"id": 0, "name": "NVIDIA H200", "numSms": 132}]
    for step in range(2):
        begin = step * 30 * MS
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=begin, dur=30 * MS, pid=1, tid=1)
        call = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}
        builder.add("aten::mm", "cpu_op", start=begin + MS, dur=MS, pid=1, tid=1, args=call | {"External id": step + 1})
        link = {"correlation": step + 1, "External id": step + 1, "device": 0, "stream": 7}
        builder.add("cudaLaunchKernel", "cuda_runtime", start=begin + MS, dur=1000, pid=1, tid=1, args=link)
        builder.add("gemm", "kernel", start=begin + 2 * MS, dur=9 * MS, pid=0, tid=7, args=link)
    return Trace(builder.events(), usual_step_ns=usual_ms * MS)


def test_busy_share_and_mfu_are_of_the_usual_step() -> None:
    known, unknown = recorded(usual_ms=10), recorded(usual_ms=0)
    assert known.slowdown == 3.0
    assert unknown.slowdown == 1.0
    sheets = [devices(known), devices(unknown)]
    busy = [sheet.rows[0][[c.key for c in sheet.columns].index("busy_share")] for sheet in sheets if sheet is not None]
    assert busy == [pytest.approx(0.9), pytest.approx(0.3)]
    assert sheets[0] is not None
    assert "3.0x as long" in sheets[0].notes[0]
    # 2 * 4096^3 FLOPs a step in 10 ms, of 989 TFLOP/s
    assert model_flops_utilisation(known) == pytest.approx(2 * 4096**3 / 0.010 / 989.4e12, rel=0.01)
    assert model_flops_utilisation(unknown) == pytest.approx(2 * 4096**3 / 0.030 / 989.4e12, rel=0.01)


def test_a_little_longer_is_noise() -> None:
    assert recorded(usual_ms=28).slowdown == 1.0
