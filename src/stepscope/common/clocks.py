"""The clocks, and `sleep`, as they were before the script began.

A script's tests replace `time.time` by a mock that knows how often it is called. What runs in the script's process
asks here instead.
"""

from __future__ import annotations

from time import (
    monotonic,
    perf_counter,
    perf_counter_ns,
    process_time,
    sleep,
    thread_time,
    time,
    time_ns,
)

__all__ = ["monotonic", "perf_counter", "perf_counter_ns", "process_time", "sleep", "thread_time", "time", "time_ns"]
