"""The machine beside the training: CPU, memory, disk, network and GPUs, sampled in the background."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stepscope.common import clocks


class Rate:
    """The rate of a counter, per second, between polls."""

    def __init__(self, clock: Callable[[], float] = clocks.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, float]] = {}

    def of(self, name: str, counter: float) -> float | None:
        now = self._clock()
        before = self._seen.get(name)
        self._seen[name] = (now, counter)
        if before is None or now <= before[0] or counter < before[1]:  # ignore a counter that was reset
            return None
        return (counter - before[1]) / (now - before[0])


class Sampler:
    """Reads the system metrics; the first poll only opens them, because most are differences."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rate = Rate()
        self._psutil: Any = None
        self._process: Any = None
        self._nvml: Any = None
        self._gpus: list[Any] = []

    def open(self) -> None:
        """Import and prime what is needed; called on the background thread, never at import."""
        import psutil

        self._psutil = psutil
        self._process = psutil.Process()
        psutil.cpu_percent()
        self._process.cpu_percent()
        self._open_gpus()
        self.sample()

    def _open_gpus(self) -> None:
        try:
            import pynvml
        except ImportError:
            return
        try:
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
            self._gpus = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
            self._nvml = pynvml
        except pynvml.NVMLError:  # no driver on this machine
            self._gpus = []

    def sample(self) -> dict[str, float]:
        """All available meters, by metric name."""
        found: dict[str, float | None] = {}
        for group in (self._machine, self._own_process, self._disk, self._network):
            try:
                found.update(group())
            except (OSError, self._psutil.Error, NotImplementedError, AttributeError):  # not on this system
                continue
        for index in range(len(self._gpus)):
            found.update(self._gpu(index))
        return {f"system/{name}": float(value) for name, value in found.items() if value is not None}

    def _machine(self) -> dict[str, float | None]:
        memory = self._psutil.virtual_memory()
        return {
            "cpu_percent": self._psutil.cpu_percent(),
            "memory_bytes": memory.total - memory.available,
            "memory_percent": memory.percent,
        }

    def _own_process(self) -> dict[str, float | None]:
        with self._process.oneshot():
            return {
                "process_cpu_percent": self._process.cpu_percent(),
                "process_rss_bytes": self._process.memory_info().rss,
                "process_threads": self._process.num_threads(),
            }

    def _disk(self) -> dict[str, float | None]:
        usage = self._psutil.disk_usage(str(self._folder))
        found: dict[str, float | None] = {"disk_percent": usage.percent, "disk_free_bytes": usage.free}
        counters = self._psutil.disk_io_counters()
        if counters is not None:
            found["disk_read_bytes_per_s"] = self._rate.of("disk_read", counters.read_bytes)
            found["disk_write_bytes_per_s"] = self._rate.of("disk_write", counters.write_bytes)
        return found

    def _network(self) -> dict[str, float | None]:
        counters = self._psutil.net_io_counters()
        if counters is None:
            return {}
        return {
            "network_sent_bytes_per_s": self._rate.of("sent", counters.bytes_sent),
            "network_received_bytes_per_s": self._rate.of("received", counters.bytes_recv),
        }

    def _gpu(self, index: int) -> dict[str, float | None]:
        nvml, handle = self._nvml, self._gpus[index]
        found: dict[str, float | None] = {}

        def read(name: str, meter: Callable[[], float]) -> None:
            try:
                found[f"gpu{index}/{name}"] = meter()
            except nvml.NVMLError:  # this card has no such meter
                pass

        read("use_percent", lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        read("memory_bytes", lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used)
        read("memory_percent", lambda: _share(nvml.nvmlDeviceGetMemoryInfo(handle)))
        read("power_w", lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000)
        read("temperature_c", lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        return found

    def close(self) -> None:
        if self._nvml is not None and "pynvml" in sys.modules:
            try:
                self._nvml.nvmlShutdown()
            except self._nvml.NVMLError:  # the driver was unloaded first
                pass
            self._nvml = None
            self._gpus = []


def _share(memory: Any) -> float:
    return 100.0 * float(memory.used) / float(memory.total) if memory.total else 0.0
