"""HTA (traceinsight): one rank through the analyses of its documentation."""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import Any

try:
    from traceinsight.trace_analysis import TraceAnalysis
except ImportError:
    from hta.trace_analysis import TraceAnalysis

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
NAMES = (
    "get_temporal_breakdown", "get_idle_time_breakdown", "get_gpu_kernel_breakdown", "get_comm_comp_overlap",
    "get_memory_bw_summary", "get_memory_bw_time_series", "get_queue_length_summary", "get_queue_length_time_series",
    "get_cuda_kernel_launch_stats",
)  # fmt: skip
DRAWN = NAMES[:4]


def read(path: Path) -> str:
    started = time.process_time()
    found: Any = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent))
    parsed = time.process_time() - started
    done, failed = [], []
    for name in NAMES:
        options = {"visualize": False} if name in DRAWN else {}
        try:
            getattr(found, name)(**options)
            done.append(name)
        except Exception as fault:
            failed.append(f"{name} ({type(fault).__name__})")
    return f"parsing {parsed:.1f} s; {len(done)} analyses" + (f"; failed: {', '.join(failed)}" if failed else "")


def main(path: Path, sample: Path) -> None:
    read(sample)
    text = Path("/proc/self/status").read_text()
    base = next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("RssAnon"))
    started = time.process_time()
    print(json.dumps({"base_mb": base, "start_s": started}), flush=True)
    said = read(path)
    print(json.dumps({"cpu_s": time.process_time() - started, "said": said}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
