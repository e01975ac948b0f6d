"""From a trace file to all views: CPU seconds and memory, beside the peers, in one run.

    .venv/bin/python bench/traces.py                       # 20, 100 and 500 MB; a venv for each peer under .bench/
    .venv/bin/python bench/traces.py --sizes 20 --only compiled,wheel,again

The traces are made from one that was recorded in a real training on a GPU: its steps again and again with times and
ids moved on (trace_maker.py). Every arm runs in a process of its own (bench/trace_arms/), and first does all of it on
the sample (2.5 MB), so that what is imported or made at first use is there. CPU seconds then count from the file to the
last view; what came before stands beside. Memory is the peak of RssAnon, read every few milliseconds from outside, less
what the process had before it opened the file. Peers that take longer than the limit, or fail, are said to.

"All views": ours computes every analysis and the timeline; torch-tb-profiler generates all of its pages' data; HTA
(traceinsight) runs the analyses of its tutorial for one rank; plain json only parses.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from peers import ROOT, peer_python
from trace_maker import SAMPLE, make_trace

ARMS = {
    "compiled": ("ours.py", None),
    "wheel": ("ours.py", None),
    "again": ("ours.py", None),
    "json": ("plain_json.py", None),
    "torch-tb-profiler": ("tb_plugin.py", ["torch-tb-profiler==0.4.3", "pandas<3", "setuptools<81"]),
    "traceinsight": ("holistic.py", ["traceinsight==0.6.1"]),
}
FOLDER = Path(__file__).parent / "trace_arms"


@dataclass
class Outcome:
    arm: str
    megabytes: int
    cpu_s: float = 0.0
    start_s: float = 0.0
    read_s: float = 0.0
    peak_mb: float = 0.0
    base_mb: float = 0.0
    said: str = ""
    fault: str = ""


def run_arm(arm: str, trace: Path, sample: Path, megabytes: int, limit: float) -> Outcome:
    script, wanted = ARMS[arm]
    python = peer_python(arm, wanted) if wanted else Path(sys.executable)
    found = Outcome(arm, megabytes)
    # One thread: libraries that keep spinning threads would be billed for them.
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1"}
    child = subprocess.Popen(
        [str(python), str(FOLDER / script), str(trace), str(sample), arm],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **threads},
        cwd=ROOT,
    )
    began, peak = time.monotonic(), 0.0
    while child.poll() is None:
        peak = max(peak, rss_anon(child.pid))
        if time.monotonic() - began > limit:
            child.kill()
            found.fault = f"stopped after {limit:.0f} s"
        time.sleep(0.004)
    out, err = child.communicate()
    if not found.fault and child.returncode:
        found.fault = (err.strip().splitlines() or ["no message"])[-1][:160]
    said = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    for line in said:
        for key, value in line.items():
            setattr(found, key, value)
    found.peak_mb = max(0.0, peak - found.base_mb)
    return found


def rss_anon(pid: int) -> float:
    """Megabytes that are the process's own, of it and what it started."""
    total = 0.0
    for one in [pid, *children(pid)]:
        try:
            text = Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("RssAnon")), 0.0)
    return total


def children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def show(found: list[Outcome]) -> None:
    ours = {(one.arm, one.megabytes): one for one in found}
    print("\n| trace | | CPU s | per 100 MB | peak MB | per 100 MB | to ours compiled | to ours wheel | start, CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for one in found:
        if one.fault:
            print(f"| {one.megabytes} MB | {one.arm} | {one.fault} | | | | | | |")
            continue
        size = one.megabytes / 100
        ratios = []
        for arm in ("compiled", "wheel"):
            mine = ours.get((arm, one.megabytes))
            ratios.append(f"{one.cpu_s / mine.cpu_s:.1f}x" if mine and mine.cpu_s and one.arm != arm else "")
        print(
            f"| {one.megabytes} MB | {one.arm} | {one.cpu_s:.2f} | {one.cpu_s / size:.2f} | {one.peak_mb:.0f} "
            f"| {one.peak_mb / size:.0f} | {ratios[0]} | {ratios[1]} | {one.start_s:.2f} |"
        )
    for one in found:
        if one.said:
            print(f"- {one.megabytes} MB, {one.arm}: {one.said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="20,100,500", help="megabytes")
    parser.add_argument("--only", default=",".join(ARMS))
    parser.add_argument("--limit", type=float, default=300, help="seconds an arm may take")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench" / "traces", help="where the traces are made")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    found: list[Outcome] = []
    sample = chosen.folder / "sample.pt.trace.json"
    sample.write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    for megabytes in map(int, chosen.sizes.split(",")):
        trace = chosen.folder / f"steps{megabytes}.pt.trace.json"
        if not trace.exists():
            events = make_trace(trace, megabytes)
            print(f"made {trace.name}: {trace.stat().st_size / 1e6:.0f} MB, {events:,} events", flush=True)
        for arm in chosen.only.split(","):
            if arm == "again":  # once more, now that the columns are there
                run_arm(arm, trace, sample, megabytes, chosen.limit)
            one = run_arm(arm, trace, sample, megabytes, chosen.limit)
            print(f"  {megabytes} MB {arm}: {one.fault or f'{one.cpu_s:.2f} CPU-s, {one.peak_mb:.0f} MB'}", flush=True)
            found.append(one)
    show(found)


if __name__ == "__main__":
    main()
