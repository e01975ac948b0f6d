"""Stepscope: the trace, every analysis, and the timeline."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from stepscope.profile.analyses.analysis import all_analyses
from stepscope.profile.profile import Profile
from stepscope.profile.timeline.timeline import Timeline
from stepscope.profile.trace.read import read_trace

ANALYSES = all_analyses()


def rss_anon() -> float:
    text = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("RssAnon"))


def timeline(profile: Profile) -> int:
    """What the browser asks for when the page opens: all lanes over the whole trace."""
    trace = profile.trace(0)
    if trace is None:
        return 0
    made = Timeline(trace)
    level = max(0, (made.lines.span_ns // 1500).bit_length())
    return len(made.tiles(level=level, first=0, count=2, lanes=[lane.id for lane in made.lanes]))


def views(profile: Profile) -> tuple[str, float]:
    """Every analysis and the timeline; what they came to."""
    slow: list[tuple[float, str]] = []
    filled = 0
    for name, analysis in ANALYSES.items():
        before = time.process_time()
        filled += analysis(profile, 0) is not None
        slow.append((time.process_time() - before, name))
    before = time.process_time()
    tile_bytes = timeline(profile)
    slow.append((time.process_time() - before, "timeline"))
    worst = ", ".join(f"{name} {seconds * 1000:.0f} ms" for seconds, name in sorted(slow, reverse=True)[:4])
    said = f"{filled} of {len(ANALYSES)} analyses answered, {tile_bytes >> 10} kB of tiles; slowest: {worst}"
    return said, sum(seconds for seconds, _ in slow)


def main(path: Path, sample: Path, arm: str) -> None:
    scanner: Any = arm if arm != "again" else "auto"
    views(Profile.of_events({0: read_trace(sample, scanner=scanner, cache=False)}))
    started = time.process_time()
    print(json.dumps({"base_mb": rss_anon(), "start_s": started}), flush=True)
    events = read_trace(path, scanner=scanner, cache=arm == "again")
    read_s = time.process_time() - started
    said = f"second open: {len(events):,} events ready"
    if arm != "again":
        said = f"reading {read_s:.2f} s; " + views(Profile.of_events({0: events}))[0]
    print(json.dumps({"cpu_s": time.process_time() - started, "read_s": read_s, "said": said}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
