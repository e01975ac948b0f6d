"""Event timing, waiting and graph capture: what only a GPU can show."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from inspectors.nets import make_case
from torch import Tensor, nn

import stepscope
from gpu.lab import Lab, check
from stepscope.record.pulse import Pulse


@check(needs_cuda=True)
def events_agree_with_the_profiler(lab: Lab):
    """Large products, so that the host runs ahead and an event pair holds the kernel and nothing else."""
    x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def work() -> None:
        y = x
        for _ in range(12):
            y = (y @ x).tanh()

    work()
    lab.wait()
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
        lab.wait()
    kernels = sum(getattr(row, "self_device_time_total", 0) for row in profiler.key_averages())
    with stepscope.record() as step:
        work()
    events = sum(op.cost.device_us or 0 for op in step)
    named = {name: sum(op.cost.device_us or 0 for op in step if op.name == name) for name in ("matmul", "tanh")}
    say = f"events {events:,.0f} us ({named}), profiler's kernels {kernels:,.0f} us: {events / kernels:.3f}x"
    yield 0.9 < events / kernels < 1.15, say


@check(needs_cuda=True)
def events_of_a_step(lab: Lab):
    """The ops of a whole training step against two events around it; gaps between ops belong to no op."""
    case = lab.gpt()
    for _ in range(3):
        case.step()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    case.step()
    end.record()
    lab.wait()
    plain_us = start.elapsed_time(end) * 1000
    with stepscope.record(case.model) as step:
        case.step()
    ops = [op for op in step if op.name != "backward"]
    missing = Counter(op.name for op in ops if op.cost.device_us is None)
    by_phase = {
        phase: round(sum(op.cost.device_us or 0 for op in ops if op.phase == phase)) for phase in
        ("forward", "loss", "backward", "optimizer")
    }  # fmt: skip
    total = sum(by_phase.values())
    yield 0.5 < total / plain_us < 1.5, f"ops {total:,} us of a step of {plain_us:,.0f} us by events; {by_phase}"
    yield len(missing) < 8, f"ops without a device time: {dict(missing)}"


@contextmanager
def syncs_told() -> Iterator[list[str]]:
    """The synchronising calls made inside, by torch's own debug mode."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield told
        finally:
            torch.cuda.set_sync_debug_mode("default")
            told += [f"{one.filename}:{one.lineno} {one.message}" for one in said if "synchroniz" in str(one.message)]


@check(needs_cuda=True)
def statistics_without_a_sync(lab: Lab):
    case = make_case("gpt2", quick=True, device="cuda")
    case.step()
    with syncs_told() as plain:
        case.step()
    for options in ({"stats": False}, {"stats": True}, {"stats": True, "depth": "modules"}):
        with stepscope.record(case.model, **options) as step:
            case.step()  # the first time allocates
        with stepscope.record(case.model, **options) as step, syncs_told() as told:
            case.step()
        yield len(told) <= len(plain), f"{options}: {len(told)} syncs, plain {len(plain)} {told[:2]}"
    with stepscope.record(case.model, stats=True) as step:
        case.step()
    ready = sum(1 for op in step for one in op.output_stats or () if one is not None and one.numel)
    yield ready > 100, f"{ready} tensors with statistics"
    with Pulse():
        case.step()
        with syncs_told() as told:
            case.step()
    yield not told, f"the pulse: {len(told)} syncs {told[:2]}"


@check(needs_cuda=True)
def the_host_runs_ahead(lab: Lab):
    """Behind a second of other work on the device, a recorded step must not wait for it."""
    # A net so small that what is launched for it fits into the driver's queue of about a thousand launches.
    model = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(4, 8, device="cuda")
    rate_khz = getattr(torch.cuda.get_device_properties(0), "clock_rate", 1_800_000)

    def step() -> None:
        model(data).square().mean().backward()
        optimizer.step()

    for what in ("record", "record with statistics", "pulse"):
        for warm in (True, False):
            within = Pulse() if what == "pulse" else stepscope.record(model, stats=what != "record")
            lab.wait()
            with within:
                if not warm:
                    torch.cuda._sleep(rate_khz * 1000)  # about a second
                started = time.perf_counter()
                step()
                enqueued = time.perf_counter() - started
                lab.wait()
                done = time.perf_counter() - started
        yield enqueued < 0.6 * done, f"{what}: enqueued after {enqueued:.3f} s, the device was done after {done:.3f} s"


def around(what: str, model: nn.Module) -> AbstractContextManager:
    if what == "nothing":
        return nullcontext()
    if what == "pulse":
        return Pulse()
    if what == "trace_values":
        return stepscope.trace_values()
    depth = "modules" if what == "modules" else "ops"
    return stepscope.record(model, depth=depth, stats=what == "record with statistics")


def captured(what: str) -> tuple[Tensor, list[Tensor]]:
    """The loss of the fourth step after a warm-up, and the weights; all but the pulse's first from a captured graph."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
    data = torch.randn(32, 64, device="cuda")

    def step() -> Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with around(what, model):
        if what == "pulse":
            step()  # so that a beat is on its way while the capture runs
        with torch.cuda.graph(graph):
            loss = step()
        for _ in range(3 if what == "pulse" else 4):
            graph.replay()
    torch.cuda.synchronize()
    return loss.detach().clone(), [p.detach().clone() for p in model.parameters()]


@check(needs_cuda=True)
def graph_capture_goes_on(lab: Lab):
    """Capture a training step while everything of ours is on; replayed, it gives what it gives without us."""
    loss, weights = captured("nothing")
    for what in ("nothing", "record", "record with statistics", "modules", "trace_values", "pulse"):
        try:
            found, ours = captured(what)
        except RuntimeError as error:
            yield False, f"under {what}: {str(error).splitlines()[0]}"
            continue
        same = torch.equal(found, loss) and all(torch.equal(a, b) for a, b in zip(ours, weights, strict=True))
        yield same, f"captured under {what}: loss {found.item():.8g} after four steps, {loss.item():.8g} without"
