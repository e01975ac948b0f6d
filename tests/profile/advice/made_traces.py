"""Traces of an accelerator, made by hand: what the examples of the advice write down in a few lines."""

from __future__ import annotations

from typing import Any

from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.events import Events, Header

A100 = {"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "totalGlobalMem": 80 << 30, "numSms": 108}
V100 = {**A100, "name": "NVIDIA V100", "computeMajor": 7, "totalGlobalMem": 16 << 30, "numSms": 80}


def call(op: str, ms: float, *, line: int = 20, calls: float = 1, **more: object) -> dict[str, Any]:
    """What a line did in each step, as the facts write it down."""
    found = {
        "file": "train.py",
        "line": line,
        "in": "main",
        "op": op,
        "fetching": False,
        "calls": calls,
        "around_ns": 0,
    }
    return {**found, "ns": int(ms * 1e6), "every_step": True, **more}


def loader(**settings: object) -> dict[str, Any]:
    """A loader that trains, as the facts describe it."""
    usual = {
        "made": ["train.py", 9],
        "iterated": ["train.py", 12],
        "num_workers": 4,
        "batch_size": 32,
        "pin_memory": True,
    }
    return {**usual, "persistent_workers": True, "trains": 50, "batches": 50, "passes": 1, **settings}


class Gpu:
    """Four equal steps. Everything added is in each of them; times in milliseconds, one after the other on the device.

    gpu = Gpu(step=10)
    gpu.op("aten::mm", "ampere_sgemm_128x64_nn", 4)     # a kernel of 4 ms, started by an operator
    gpu.copy("HtoD (Pageable -> Device)", 1, 8_000_000)
    gpu.call("cudaStreamSynchronize", 2)
    """

    def __init__(self, step: float = 10, device: dict[str, Any] = A100, steps: int = 4) -> None:
        self.step, self.device, self.count = step, device, steps
        self._added: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def op(self, name: str, kernel: str, ms: float, *, times: int = 1, parent: str = "", **args: Any) -> None:
        for _ in range(times):
            self._added.append(("op", (name, kernel, ms / times, parent), args))

    def copy(self, direction: str, ms: float, bytes: int, *, op: str = "aten::copy_", host: float = 0.01) -> None:
        self._added.append(("copy", (f"Memcpy {direction}", ms, bytes, op, host), {}))

    def call(self, name: str, ms: float) -> None:
        self._added.append(("call", (name, ms), {}))

    def data(self, ms: float) -> None:
        self._added.append(("data", (ms,), {}))

    def events(self) -> Events:
        builder = Builder(Header(fields={"deviceProperties": [self.device]}))
        self._correlation = 0
        for step in range(self.count):
            begin = round(1e9 + step * self.step * 1e6)
            builder.add(
                f"ProfilerStep#{step}", "user_annotation", start=begin, dur=round(self.step * 1e6), pid=1, tid=1
            )
            self._host, self._busy = begin + 1000, begin + 2000
            for kind, what, args in self._added:
                getattr(self, f"_{kind}")(builder, what, args)
        return builder.events()

    def _op(self, builder: Builder, what: tuple[Any, ...], args: dict[str, Any]) -> None:
        name, kernel, ms, parent = what
        about = {"Input Dims": args["dims"], "Input type": args["types"]} if "dims" in args else {}
        start = self._host
        if parent:
            builder.add(parent, "cpu_op", start=start, dur=6000, pid=1, tid=1)
        builder.add(name, "cpu_op", start=start + 500, dur=5000, pid=1, tid=1, args=about)
        self._launch(builder, "cudaLaunchKernel", start + 1000, 2000)
        more = {"blocks per SM": args.get("blocks", 8.0), "est. achieved occupancy %": args.get("occupancy", 50)}
        self._work(builder, kernel, "kernel", ms, more)
        self._host = start + 7000

    def _copy(self, builder: Builder, what: tuple[Any, ...], args: dict[str, Any]) -> None:
        name, ms, size, op, host = what
        start, took = self._host, round(host * 1e6)
        builder.add(op, "cpu_op", start=start, dur=took + 3000, pid=1, tid=1)
        self._launch(builder, "cudaMemcpyAsync", start + 1000, took)
        self._work(builder, name, "gpu_memcpy", ms, {"bytes": size})
        self._host = start + took + 4000

    def _call(self, builder: Builder, what: tuple[Any, ...], args: dict[str, Any]) -> None:
        name, ms = what
        builder.add(name, "cuda_runtime", start=self._host, dur=round(ms * 1e6), pid=1, tid=1)
        self._host += round(ms * 1e6) + 1000
        self._busy = max(self._busy, self._host)

    def _data(self, builder: Builder, what: tuple[Any, ...], args: dict[str, Any]) -> None:
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        took = round(what[0] * 1e6)
        builder.add(name, "user_annotation", start=self._host, dur=took, pid=1, tid=1)
        self._host += took + 1000
        self._busy = max(self._busy, self._host)

    def _launch(self, builder: Builder, name: str, start: int, dur: int) -> None:
        self._correlation += 1
        args = {"correlation": self._correlation}
        builder.add(name, "cuda_runtime", start=start, dur=dur, pid=1, tid=1, args=args)

    def _work(self, builder: Builder, name: str, cat: str, ms: float, more: dict[str, Any]) -> None:
        self._busy = max(self._busy, self._host + 3000)
        args = {"correlation": self._correlation, "device": 0, "stream": 7, **more}
        builder.add(name, cat, start=self._busy, dur=round(ms * 1e6), pid=0, tid="stream 7", args=args)
        self._busy += round(ms * 1e6) + 200
