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


def main(path: Path, arm: str) -> None:
    analyses = all_analyses()
    kept: dict[str, Any] = {}
    if arm == "again":
        read_trace(path)
    started = time.process_time()
    print(json.dumps({"base_mb": rss_anon(), "start_s": started}), flush=True)
    if arm == "again":
        events = read_trace(path)
        cpu = time.process_time() - started
        print(json.dumps({"cpu_s": cpu, "said": f"second open, {len(events):,} events ready"}), flush=True)
        return
    events = read_trace(path, scanner=arm, cache=False)
    read_s = time.process_time() - started
    profile = Profile.of_events({0: events})
    slow: list[tuple[float, str]] = []
    for name, analysis in analyses.items():
        before = time.process_time()
        kept[name] = analysis(profile, 0)
        slow.append((time.process_time() - before, name))
    before = time.process_time()
    tile_bytes = timeline(profile)
    slow.append((time.process_time() - before, "timeline"))
    cpu = time.process_time() - started
    filled = sum(answer is not None for answer in kept.values())
    worst = ", ".join(f"{name} {seconds * 1000:.0f} ms" for seconds, name in sorted(slow, reverse=True)[:4])
    said = f"reading {read_s:.2f} s; {filled} of {len(kept)} analyses answered, {tile_bytes >> 10} kB of tiles; {worst}"
    print(json.dumps({"cpu_s": cpu, "read_s": read_s, "said": said}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
