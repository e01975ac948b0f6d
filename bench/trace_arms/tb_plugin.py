"""torch-tb-profiler: parse a worker's trace and generate the data of all its pages, as its loader does."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from pathlib import Path

from torch_tb_profiler.profiler.data import DistributedRunProfileData, RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

logging.disable(logging.CRITICAL)


def read(path: str) -> str:
    with tempfile.TemporaryDirectory() as cache:
        data = RunProfileData.parse("worker0", "1", path, cache)
        profile = RunGenerator("worker0", "1", data).generate_run_profile()
        DistributedRunProfileData(data)
    overview = profile.overview["steps"]["rows"] if profile.overview else []
    return f"its pages: {', '.join(str(view.display_name) for view in profile.views)}; {len(overview)} steps"


read(sys.argv[2])
text = Path("/proc/self/status").read_text()
base = next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("RssAnon"))
started = time.process_time()
print(json.dumps({"base_mb": base, "start_s": started}), flush=True)
said = read(sys.argv[1])
print(json.dumps({"cpu_s": time.process_time() - started, "said": said}))
