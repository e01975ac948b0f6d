from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile.analyses.flops import flops
from stepscope.profile.trace.build import Builder, events_of
from stepscope.profile.trace.flop_formulas import flops_of
from stepscope.profile.trace.flops import model_flops_utilisation
from stepscope.profile.trace.peaks import peak_flops
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet


def by_operator(sheet: Sheet | None) -> dict[str, dict[str, Any]]:
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    return {row[0]: dict(zip(keys, row, strict=True)) for row in sheet.rows}


# The GPT of the sample: width, heads, blocks, tokens in a batch, length, words; two steps.
WIDTH, HEADS, BLOCKS, BATCH, LENGTH, WORDS, STEPS = 512, 8, 2, 8, 256, 1000, 2
WEIGHTS = BLOCKS * (WIDTH * 3 * WIDTH + WIDTH * WIDTH + 2 * WIDTH * 4 * WIDTH) + WIDTH * WORDS
LINEAR = 2 * BATCH * LENGTH * WEIGHTS
ATTENTION = BLOCKS * 2 * (2 * BATCH * HEADS * LENGTH * LENGTH * (WIDTH // HEADS))


def test_a_gpt_is_counted_as_by_hand(h200: Trace) -> None:
    found = by_operator(flops(h200))
    assert found["aten::addmm"]["flops"] == STEPS * LINEAR
    assert found["aten::mm"]["flops"] == STEPS * 2 * LINEAR
    assert found["aten::_scaled_dot_product_cudnn_attention"]["flops"] == STEPS * ATTENTION
    assert found["aten::_scaled_dot_product_cudnn_attention_backward"]["flops"] == STEPS * ATTENTION * 2
    assert len(found) == 4
    assert found["aten::mm"]["dtype"] == "bfloat16"


def test_mfu_is_the_arithmetic_over_peak_and_time(h200: Trace) -> None:
    every = STEPS * 3 * (LINEAR + ATTENTION)
    seconds = sum(step.wall_ns for step in h200.steps) / 1e9
    assert model_flops_utilisation(h200) == pytest.approx(every / 989.4e12 / seconds, rel=1e-6)
    sheet = flops(h200)
    assert sheet is not None
    assert all(check.ok for check in sheet.checks)
    assert any(note.startswith("MFU 0.6%") for note in sheet.notes)
    mm = by_operator(sheet)["aten::mm"]
    assert mm["peak_share"] == pytest.approx(mm["flops"] / (mm["time_ns"] / 1e9) / 989.4e12, rel=1e-6)


def test_a_busy_device_reaches_a_high_mfu(h200_busy: Trace) -> None:
    """Eleven products of 8192 x 8192 x 8192 a step; 97% busy, of which the products reach 72% of the peak."""
    by_hand = 11 * 2 * 8192**3
    seconds = sum(step.wall_ns for step in h200_busy.steps) / len(h200_busy.steps) / 1e9
    assert by_operator(flops(h200_busy))["aten::mm"]["step_flops"] == by_hand
    assert model_flops_utilisation(h200_busy) == pytest.approx(by_hand / 989.4e12 / seconds, rel=1e-6)
    assert 0.6 < by_hand / 989.4e12 / seconds < 0.7


def test_real_operators_on_the_processor_are_counted_as_by_hand(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch.nn import functional
    from torch.profiler import ProfilerActivity, profile

    conv = torch.nn.Conv2d(6, 8, (3, 5), stride=2, padding=1, groups=2)
    query = torch.randn(2, 4, 16, 8, requires_grad=True)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        out = conv(torch.randn(3, 6, 11, 13, requires_grad=True))
        out.sum().backward()
        functional.scaled_dot_product_attention(query, query, query).sum().backward()
        functional.linear(torch.randn(7, 10), torch.randn(12, 10))
        torch.bmm(torch.randn(2, 3, 4), torch.randn(2, 4, 5))
        torch.einsum("ij,jk->ik", torch.randn(3, 4), torch.randn(4, 5))
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    found = by_operator(flops(Trace(events_of(json.loads((tmp_path / "trace.json").read_text())))))
    convolution = 2 * out.numel() * (6 // 2) * 3 * 5
    attention = 2 * 2 * (2 * 4 * 16 * 16 * 8)
    assert found["aten::convolution"]["flops"] == convolution
    assert found["aten::convolution_backward"]["flops"] == 2 * convolution
    assert found["aten::_scaled_dot_product_flash_attention_for_cpu"]["flops"] == attention
    assert found["aten::_scaled_dot_product_flash_attention_for_cpu_backward"]["flops"] == attention * 2
    products = sum(found[name]["flops"] for name in ("aten::addmm", "aten::mm", "aten::bmm", "aten::linear")
                   if name in found)  # fmt: skip
    assert products == 2 * (7 * 10 * 12 + 2 * 3 * 4 * 5 + 3 * 4 * 5)


@pytest.mark.parametrize(
    ("name", "dims", "concrete", "expected"),
    [
        ("aten::mm", [[2, 3], [3, 5]], [], 60),
        ("aten::baddbmm", [[4, 2, 5], [4, 2, 3], [4, 3, 5], [], []], [], 4 * 60),
        ("aten::mv", [[2, 3], [3]], [], 12),
        ("aten::convolution", [[1, 4, 9], [6, 4, 3], [6], [], [], [], [], [], []],
         ["", "", "", "[1]", "[0]", "[2]", "False", "[0]", "1"], 2 * 6 * 5 * 4 * 3),
        ("aten::convolution", [[1, 4, 5], [4, 6, 3], [6], [], [], [], [], [], []],
         ["", "", "", "[2]", "[0]", "[1]", "True", "[0]", "1"], 2 * 4 * 5 * 6 * 3),
        ("aten::convolution", [[1, 4, 9], [6, 4, 3]], [], None),
        ("aten::convolution_backward", [[1, 6, 5], [1, 4, 9], [6, 4, 3], [], [], [], [], [], [], [], []],
         ["", "", "", "[6]", "[1]", "[0]", "[2]", "False", "[0]", "1", "[False, True, True]"], 2 * 6 * 5 * 4 * 3),
        ("aten::_flash_attention_forward", [[1, 7, 2, 4], [1, 9, 2, 4], [1, 9, 2, 4]], [], 2 * 2 * 7 * 9 * 8),
        ("aten::_cudnn_rnn", [[5, 2, 3], [[8, 3], [8, 2], [8], [8]]], [], 2 * 10 * (24 + 16)),
        ("aten::mm", "nonsense", [], None),
        ("aten::mm", [[2, 3]], [], None),
    ],
)  # fmt: skip
def test_formulas(name: str, dims: Any, concrete: list[str], expected: int | None) -> None:
    assert flops_of(name, json.dumps(dims), json.dumps(concrete) if concrete else "") == expected


def test_an_unknown_device_has_no_mfu_and_says_so() -> None:
    builder = Builder()
    shapes = {"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"]}
    builder.add("aten::mm", "cpu_op", start=0, dur=100, pid=1, args=shapes)
    builder.add("cudaLaunchKernel", "cuda_runtime", start=5, dur=5, pid=1, args={"correlation": 1})
    builder.add("sgemm", "kernel", start=20, dur=30, args={"correlation": 1})
    sheet = flops(Trace(builder.events()))
    found = by_operator(sheet)["aten::mm"]
    assert (found["flops"], found["time_ns"], found["rate"], found["peak_share"]) == (60, 30, 2e9, None)
    assert sheet is not None
    assert any("no MFU" in note for note in sheet.notes)


def test_float32_on_tensor_cores_is_tf32() -> None:
    builder = Builder()
    for n, kernel in enumerate(["ampere_sgemm_128x64_nn", "ampere_s1688gemm_fp32_128x64_nn"]):
        shapes = {"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"]}
        builder.add("aten::mm", "cpu_op", start=100 * n, dur=50, pid=1, args=shapes)
        builder.add("cudaLaunchKernel", "cuda_runtime", start=100 * n, dur=5, pid=1, args={"correlation": n})
        builder.add(kernel, "kernel", start=100 * n + 20, dur=30, args={"correlation": n})
    sheet = flops(Trace(builder.events()))
    assert sheet is not None
    assert {row[1] for row in sheet.rows} == {"float32", "tf32"}


def test_peaks_are_those_of_the_maker() -> None:
    assert peak_flops("NVIDIA A100-SXM4-80GB", "tf32") == 156e12
    assert peak_flops("NVIDIA H100 PCIe", "bfloat16") == 756e12
    assert peak_flops("NVIDIA H100 80GB HBM3", "float16") == 989.4e12
    assert peak_flops("Tesla V100-SXM2-16GB", "bfloat16") is None
    assert peak_flops("NVIDIA A10G", "float16") is None
    assert peak_flops("", "float32") is None
