"""Reading event files beside TensorBoard's own loaders: CPU seconds, in one run, on files that the real package wrote.

    .ecosystem/newest/bin/python bench/eventfiles.py
    .ecosystem/newest/bin/python bench/eventfiles.py --points 200000 --only ours,accumulator

Each arm runs in a process of its own and counts from the file to the last value; what it imports before is not counted.
Ours checks every checksum and gives every point. `import` is the same with all of it written as a run. `accumulator` is
TensorBoard's EventAccumulator with nothing left out; `loader` only iterates over its EventFileLoader; both with
TensorFlow's record reader. `stub` is the accumulator with the reader that TensorBoard has without TensorFlow; it reads
a tenth of the points here and is scaled. `data server` is the Rust process that the `tensorboard` command starts: it
skips checksums; it is told to keep every point.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ARMS = ("ours", "import", "accumulator", "loader", "stub", "data server")
TAGS = 10


def make(folder: Path, points: int) -> None:
    """Ten series in turn, as a training logs them."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder), max_queue=10_000)
    for step in range(points // TAGS):
        for tag in range(TAGS):
            writer.add_scalar(f"train/metric_{tag}", math.sin(step * (tag + 1)), step)
    writer.close()


def make_media(folder: Path, count: int) -> None:
    """Histograms and pictures."""
    import numpy as np
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder), max_queue=10_000)
    random = np.random.default_rng(0)
    for step in range(count):
        writer.add_histogram("weights", random.normal(size=10_000), step)
        writer.add_image("sample", random.random((3, 64, 64)), step)
    writer.close()


def ours(folder: Path) -> int:
    from stepscope.eventfiles.reader import EventFile

    count = 0
    for path in sorted(folder.iterdir()):
        file = EventFile(path)
        while (news := file.read()) is not None:
            count += sum(len(column.values) for column in news.columns) + len(news.events)
    return count


def imported(folder: Path) -> int:
    from stepscope.importers.import_writer import Landing
    from stepscope.importers.tensorboard import TensorBoardSource

    with tempfile.TemporaryDirectory() as store:
        landed = Landing(TensorBoardSource(folder), Path(store)).look()
    return landed.points + landed.media


def accumulator(folder: Path) -> int:
    from tensorboard.backend.event_processing.event_accumulator import STORE_EVERYTHING_SIZE_GUIDANCE, EventAccumulator

    found = EventAccumulator(str(folder), size_guidance=STORE_EVERYTHING_SIZE_GUIDANCE)
    found.Reload()
    tags = found.Tags()
    return sum(len(found.Scalars(tag)) for tag in tags["scalars"]) + sum(len(found.Images(t)) for t in tags["images"])


def loader(folder: Path) -> int:
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    return sum(1 for path in sorted(folder.iterdir()) for _ in EventFileLoader(str(path)).Load())


def arm(name: str, folder: Path) -> None:
    """In a process of its own: warm up on a small folder beside it, then count."""
    if name == "stub":
        import types

        sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
    reader = {"ours": ours, "import": imported, "accumulator": accumulator, "loader": loader, "stub": accumulator}[name]
    reader(folder.parent / "small")
    began, wall = time.process_time(), time.perf_counter()
    count = reader(folder)
    print(json.dumps({"cpu_s": time.process_time() - began, "wall_s": time.perf_counter() - wall, "count": count}))


def data_server(folder: Path) -> dict[str, float]:
    """CPU seconds of the Rust server until its first look is over."""
    import psutil
    import tensorboard_data_server

    binary = tensorboard_data_server.server_binary()
    command = [binary, "--logdir", str(folder), "--port", "0", "--reload", "once", "-v"]
    command += ["--samples-per-plugin", "scalars=all,images=all,histograms=all"]
    began = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if re.search(r"load cycle finished|Finished load cycle", line, re.IGNORECASE):
                break
        wall = time.perf_counter() - began
        times = psutil.Process(server.pid).cpu_times()
        server.kill()
    return {"cpu_s": times.user + times.system, "wall_s": wall, "count": -1}


def measure(name: str, folder: Path) -> dict[str, float]:
    if name == "data server":
        return data_server(folder)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, __file__, "--arm", name, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(name: str, folder: Path, times: int) -> dict[str, float]:
    return min((measure(name, folder) for _ in range(times)), key=lambda one: one["cpu_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--media", type=int, default=500)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default=",".join(ARMS))
    parser.add_argument("--arm")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    if args.arm:
        arm(args.arm, args.folder)
        return
    with tempfile.TemporaryDirectory() as where:
        root = Path(where)
        make(root / "small", 500)
        make(root / "tenth", args.points // 10)
        make(root / "scalars", args.points)
        make_media(root / "media", args.media)
        size = sum(path.stat().st_size for path in (root / "scalars").iterdir())
        print(f"{args.points:,} scalars, {size / 1e6:.1f} MB")
        print("| | scalars, CPU s | µs a point | ratio | media, CPU s | ratio |\n|---|---|---|---|---|---|")
        base = base_media = 0.0
        for name in args.only.split(","):
            slow = name == "stub"
            found = best(name, root / ("tenth" if slow else "scalars"), args.times)
            seconds = found["cpu_s"] * (10 if slow else 1)
            media = best(name, root / "media", args.times)["cpu_s"]
            base, base_media = base or seconds, base_media or media
            each = seconds / args.points * 1e6
            ratios = f"{seconds / base:.1f}x", f"{media / base_media:.1f}x"
            print(f"| {name} | {seconds:.2f} | {each:.2f} | {ratios[0]} | {media:.2f} | {ratios[1]} |", flush=True)


if __name__ == "__main__":
    main()
