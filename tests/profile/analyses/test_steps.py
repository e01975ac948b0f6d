from __future__ import annotations

from typing import Any

from stepscope.profile.analyses.phases import phases, phases_on_device
from stepscope.profile.analyses.steps import steps
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.trace import Trace

HOST = {"pid": 1, "tid": 1}
MAIN = {"pid": 0, "tid": 7}
SIDE = {"pid": 0, "tid": 9}


def by_key(found: Any) -> list[dict[str, int]]:
    return [dict(zip([part.key for part in found.parts], row, strict=True)) for row in found.parts_ns]


def one_device_step() -> Trace:
    """0 to 100: each kind of part once, some of them at the same time."""
    builder = Builder()
    builder.add("ProfilerStep#3", "user_annotation", start=0, dur=100, **HOST)
    builder.add("enumerate(DataLoader)#X.__next__", "user_annotation", start=0, dur=20, **HOST)
    builder.add("aten::mm", "cpu_op", start=20, dur=30, **HOST)
    builder.add("cudaLaunchKernel", "cuda_runtime", start=25, dur=5, args={"correlation": 1}, **HOST)
    builder.add("cudaEventQuery", "cuda_runtime", start=0, dur=100, pid=1, tid=99)  # a watchdog, not the training
    builder.add("gemm", "kernel", start=40, dur=20, args={"correlation": 1}, **MAIN)
    builder.add("ncclDevKernel_AllReduce", "kernel", start=50, dur=25, **SIDE)
    builder.add("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", start=70, dur=10, **MAIN)
    builder.add("Memset (Device)", "gpu_memset", start=79, dur=6, **MAIN)
    return Trace(builder.events())


def test_each_moment_of_a_step_belongs_to_one_part() -> None:
    found = steps(one_device_step())
    assert by_key(found) == [{"kernel": 20, "communication": 15, "memcpy": 5, "memset": 5, "data": 20, "runtime": 5,
                              "host": 15, "other": 15}]  # fmt: skip
    assert found.steps == [3]
    assert found.checks[0].ok


def test_kernels_of_a_real_trace_are_counted_as_a_plain_sweep_counts_them(h200: Trace, h200_raw: list[Any]) -> None:
    found = steps(h200)
    marks = sorted((e["ts"], e["dur"]) for e in h200_raw
                   if e["name"].startswith("ProfilerStep#") and e.get("cat") == "user_annotation")  # fmt: skip
    for (begin, length), parts in zip(marks, by_key(found), strict=True):
        covered, reach = 0.0, begin
        for start, dur in sorted((e["ts"], e["dur"]) for e in h200_raw if e.get("cat") == "kernel"):
            left, right = max(start, reach), min(start + dur, begin + length)
            covered, reach = covered + max(0.0, right - left), max(reach, min(right, begin + length))
        assert abs(parts["kernel"] / 1000 - covered) < 0.1
        assert abs(sum(parts.values()) / 1000 - length) < 0.01


def test_a_slow_first_step_is_left_out_of_the_typical_one() -> None:
    builder = Builder()
    for n, (start, dur) in enumerate([(0, 900), (900, 100), (1000, 110), (1110, 90)]):
        builder.add(f"ProfilerStep#{n}", "user_annotation", start=start, dur=dur, **HOST)
        builder.add("aten::mm", "cpu_op", start=start, dur=dur // 2, **HOST)
    found = steps(Trace(builder.events()))
    assert found.first_is_odd
    assert found.typical_ns == [0, 50, 50]
    assert found.p50_ns == 100
    assert any("9.0x" in note for note in found.notes)


def test_a_trace_without_marks_says_so() -> None:
    builder = Builder()
    builder.add("aten::mm", "cpu_op", start=5, dur=10, **HOST)
    found = steps(Trace(builder.events()))
    assert found.wall_ns == [10]
    assert any("no step marks" in note for note in found.notes)


def test_nothing_comes_of_nothing() -> None:
    empty = Trace(Builder().events())
    assert steps(empty) is None
    assert phases(empty) is None


def test_recorded_phases_are_taken_as_they_are() -> None:
    builder = Builder()
    builder.add("StepscopeStep#8", "user_annotation", start=0, dur=100, **HOST)
    for name, start, dur in [
        ("data", 0, 10),
        ("forward", 10, 30),
        ("h2d", 12, 5),
        ("backward", 40, 40),
        ("optimizer", 82, 8),
    ]:
        builder.add(name, "phase", start=start, dur=dur, args={"step": 8}, **HOST)
    found = phases(Trace(builder.events()))
    assert by_key(found) == [{"data": 10, "h2d": 5, "forward": 25, "backward": 40, "optimizer": 8, "other": 12}]
    assert found.notes == []


def test_phases_are_found_from_what_ran() -> None:
    """Gradient accumulation: forward and backward twice, then the update; an operator after it is no forward."""
    builder = Builder()
    builder.add("ProfilerStep#1", "user_annotation", start=0, dur=100, **HOST)
    builder.add("enumerate(DataLoader)#X.__next__", "user_annotation", start=0, dur=10, **HOST)
    for at in (10, 45):
        builder.add("aten::linear", "cpu_op", start=at, dur=5, **HOST)
        builder.add("aten::relu", "cpu_op", start=at + 7, dur=3, **HOST)
        for start, dur in ((at + 15, 5), (at + 21, 9)):
            builder.add(
                "autograd::engine::evaluate_function: MmBackward0", "cpu_op", start=start, dur=dur, pid=1, tid=2
            )
    builder.add("Optimizer.step#SGD.step", "user_annotation", start=80, dur=10, **HOST)
    builder.add("aten::add_", "cpu_op", start=82, dur=3, **HOST)
    builder.add("aten::item", "cpu_op", start=92, dur=4, **HOST)
    found = phases(Trace(builder.events()))
    assert by_key(found) == [{"data": 10, "h2d": 0, "forward": 20, "backward": 30, "optimizer": 10, "other": 30}]


def test_reducing_gradients_is_backward() -> None:
    """DistributedDataParallel's reducer works on the engine's thread, after the last node."""
    builder = Builder()
    builder.add("ProfilerStep#1", "user_annotation", start=0, dur=100, **HOST)
    builder.add("aten::linear", "cpu_op", start=0, dur=20, **HOST)
    builder.add("autograd::engine::evaluate_function: MmBackward0", "cpu_op", start=20, dur=30, pid=1, tid=2)
    builder.add("torch.distributed.ddp.reducer::copy_bucket_to_grad", "cpu_op", start=55, dur=15, pid=1, tid=2)
    builder.add("aten::unflatten_dense_tensors", "cpu_op", start=70, dur=10, pid=1, tid=2)
    (found,) = by_key(phases(Trace(builder.events())))
    assert (found["forward"], found["backward"], found["other"]) == (20, 60, 20)


def test_phases_of_a_real_trace_match_its_marks(h200: Trace, h200_raw: list[Any]) -> None:
    found = phases(h200)

    def marked(prefix: str) -> float:
        return sum(e["dur"] for e in h200_raw if e["name"].startswith(prefix) and e.get("cat") == "user_annotation")

    total = {key: sum(step[key] for step in by_key(found)) / 1000 for key in by_key(found)[0]}
    assert abs(total["data"] - marked("enumerate(DataLoader)#")) < 0.1
    assert abs(total["optimizer"] - marked("Optimizer.step#") - marked("Optimizer.zero_grad#")) < 400  # Python between
    nodes = [e for e in h200_raw if e["name"].startswith("autograd::engine::evaluate_function")]
    halves = [[e for e in nodes if (e["ts"] < found_end) == first] for first, found_end in
              ((True, max(e["ts"] for e in nodes[: len(nodes) // 2]) + 1),
               (False, max(e["ts"] for e in nodes[: len(nodes) // 2]) + 1))]  # fmt: skip
    spans = [max(e["ts"] + e["dur"] for e in half) - min(e["ts"] for e in half) for half in halves]
    assert abs(total["backward"] - sum(spans)) < 0.1
    assert total["forward"] > 0


def test_work_on_a_device_belongs_to_the_phase_that_launched_it(h200_busy: Trace) -> None:
    """Four products forward; in backward a gradient for each weight and for each input but the first: 4 and 4 + 3."""
    sheet = phases_on_device(h200_busy)
    assert sheet is not None
    assert all(check.ok for check in sheet.checks)
    found = {row[0]: row[1] for row in sheet.rows}
    assert 0.5 < found["Forward"] / found["Backward"] < 0.8
    assert found["Forward"] > 10 * found["Optimizer"] > 0
    # The host has long launched all of it when the device is done, and waits in `loss.item()`.
    host = by_key(phases(h200_busy))[1]
    assert host["other"] > 10 * host["forward"]
    device = by_key(steps(h200_busy))[1]
    assert device["kernel"] > 0.95 * sum(device.values())
