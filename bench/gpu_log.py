"""Does logging a GPU tensor hold the training up? Run on a machine with a CUDA GPU.

    python bench/gpu_log.py

A training loop keeps the GPU busy behind the host. Logging must not wait for it: the time a `log` call takes
on the caller is compared with the same loop logging `.item()` (a synchronisation each step) and with no logging at all.
Every value read back is checked against the true one.
"""

from __future__ import annotations

import statistics
import tempfile
import time

import torch

import stepscope


def loop(kind: str, store: str, steps: int = 300) -> tuple[float, float, list[float]]:
    """Milliseconds a step, microseconds a `log` call (median), and the true values."""
    torch.manual_seed(0)
    x = torch.randn(4096, 4096, device="cuda")
    truth = torch.zeros(steps, device="cuda")
    spent = []
    run = None if kind == "none" else stepscope.init(project="gpu", name=kind, dir=store, console=False)
    torch.cuda.synchronize()
    started = time.perf_counter()
    for step in range(steps):
        y = x
        for _ in range(4):
            y = torch.tanh(y @ x * 0.01)
        loss = y.square().mean() + step
        truth[step] = loss
        before = time.perf_counter()
        if kind == "item":
            run.log({"loss": loss.item(), "twice": (2 * loss).item()}, step=step)
        elif kind == "async":
            run.log({"loss": loss, "twice": 2 * loss}, step=step)
        spent.append(time.perf_counter() - before)
        if step % 10 == 9:  # a host that runs far ahead is held back by the launch queue, whoever launches
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    wall = time.perf_counter() - started
    if run is not None:
        run.finish()
    return wall / steps * 1000, statistics.median(spent) * 1e6, truth.tolist()


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    with tempfile.TemporaryDirectory() as store:
        loop("none", store, 50)
        for kind in ("none", "async", "item", "none", "async", "item"):
            step_ms, call_us, truth = loop(kind, store)
            print(f"{kind:6} {step_ms:8.3f} ms a step   {call_us:9.1f} us a log call (median)")
            if kind == "none":
                continue
            run = stepscope.run("last", store)
            assert run.status == "finished", run.status
            assert run.series("loss").values.tolist() == truth, "values differ"
            assert run.series("twice").values.tolist() == [2 * value for value in truth]
            assert run.series("loss").steps.tolist() == list(range(len(truth)))
            print(
                "       all values and steps right;",
                "machine:",
                [name for name in run.metrics() if name.startswith("system/")],
            )


if __name__ == "__main__":
    main()
