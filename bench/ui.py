"""Our browser app beside TensorBoard's, trackio's and MLflow's, in one Chromium: time to the first chart, and to rest.

    .venv/bin/python bench/ui.py                        # all tools, all cases; some ten minutes for the stores
    .venv/bin/python bench/ui.py --only stepscope,tensorboard --cases long --rounds 5
    .venv/bin/python bench/ui.py --live                 # an hour of live updates, played fast; the page's memory
    .venv/bin/python bench/ui.py --busy 30              # CPU time of 13 live panels

Each tool serves the same runs from its own store. The server is up, has read its data (nothing of it used the processor
for a while) and has been visited once before the page is opened in a fresh profile. *First* is when the wanted thing (a
chart that is drawn, a row of the table) is on the screen, counted from the navigation; *settled* is the last change of
the page or long task before 1.5 s of rest. Stores are kept under .bench/ui and made once.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
from peers import peer_python
from ui_stores.cases import CASES, Case

ROOT = Path(__file__).parent.parent
STORES = ROOT / ".bench" / "ui"
TOOLS = ("stepscope", "tensorboard", "trackio", "mlflow")
VIEWS = {"long": ("charts",), "wide": ("charts", "all"), "many": ("table",)}
READY_S = 600
WORKER = ROOT / "bench" / "ui_stores" / "worker.py"
LIVE = ROOT / "bench" / "ui_stores" / "live.py"
HEAD = "| | first, ms | settled, ms | longest task, ms | heap, MB | points a series |\n|---|---|---|---|---|---|"


def python_of(tool: str) -> Path:
    return (
        Path(sys.executable)
        if tool == "stepscope"
        else peer_python(tool, import_module(f"ui_stores.{tool}").REQUIREMENTS)
    )


def size_for(tool: str, case: Case) -> Case:
    """The case as this tool gets it: some stores cannot be filled with all points in a sensible time."""
    kind = import_module(f"ui_stores.{tool}")
    return case.smaller(getattr(kind, "WIDE_POINTS", kind.MOST_POINTS) if case.name == "wide" else kind.MOST_POINTS)


def store_of(tool: str, case: Case) -> Path:
    """The folder with the case in the tool's own format, made on first use."""
    sized = size_for(tool, case)
    folder = STORES / f"{tool}-{case.name}-{sized.points}"
    done = folder.with_suffix(".done")
    if not done.exists():
        print(f"  writing {case.title} for {tool} ({sized.points} points a series)", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        command = [python_of(tool), WORKER, "make", tool, case.name, folder, str(sized.points)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        done.touch()
    return folder


@contextmanager
def served(tool: str, folder: Path, rest: bool = True) -> Iterator[int]:
    """The tool's server over a store, when it has read what is there; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = psutil.Popen([python_of(tool), WORKER, "serve", tool, folder, str(port)])
    try:
        _wait_for_port(port, process)
        if rest:
            _wait_for_rest(process)
        yield port
    finally:
        for one in [*process.children(recursive=True), process]:
            one.kill()
        process.wait()


def _wait_for_port(port: int, server: psutil.Popen) -> None:
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            raise SystemExit(f"the server ended with exit code {server.poll()} before it listened on port {port}")
        time.sleep(0.2)
    raise SystemExit(f"nothing listens on port {port} after {READY_S} s")


def _wait_for_rest(process: psutil.Popen, quiet_s: float = 4.0) -> None:
    """Until server and children used less than a tenth of a processor for a while."""
    end = time.monotonic() + READY_S
    since, before = time.monotonic(), _cpu_s(process)
    while time.monotonic() < end and time.monotonic() - since < quiet_s:
        time.sleep(0.5)
        now = _cpu_s(process)
        if now - before > 0.05:
            since = time.monotonic()
        before = now


def _cpu_s(process: psutil.Popen) -> float:
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def visit(plan: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(["node", ROOT / "bench" / "ui.mjs", json.dumps(plan)], capture_output=True, text=True)
    if done.returncode:
        return {"first_ms": None, "error": (done.stderr.strip().splitlines() or ["no output"])[0][:200]}
    return json.loads(done.stdout)


def plan_for(tool: str, view: str, folder: Path, case: Case, port: int) -> dict[str, Any]:
    kind = import_module(f"ui_stores.{tool}")
    plan = {"url": kind.pages(port, folder, case)[view], "wanted": kind.ROW if view == "table" else kind.CHART}
    if tool == "stepscope" and view != "table":
        plan["act"] = "zoom"
    pick = getattr(kind, "PICK_ALL", None)
    if pick and view == "all":
        plan["pick"] = pick
    return plan


def measure(tools: list[str], case: Case, rounds: int) -> None:
    stores = {tool: store_of(tool, case) for tool in tools}
    for view in VIEWS[case.name]:
        found: dict[str, list[dict[str, Any]]] = {tool: [] for tool in tools}
        with ExitStack() as servers:
            ports = {tool: servers.enter_context(served(tool, stores[tool])) for tool in tools}
            plans = {tool: plan_for(tool, view, stores[tool], case, ports[tool]) for tool in tools}
            for plan in plans.values():
                visit({**plan, "act": None})  # warms the server, as whoever looked before us would have
            for _ in range(rounds):  # in turn, so that other work on the machine meets all of them
                for tool, plan in plans.items():
                    found[tool].append(visit(plan))
        say(case, view, found)


def say(case: Case, view: str, found: dict[str, list[dict[str, Any]]]) -> None:
    """One table; each peer's median beside how many times ours it is."""
    print(f"\n### {case.title}, {view}\n\n{HEAD}")
    ours: dict[str, float] = {}
    for tool, answers in found.items():
        cells = []
        for name in ("first_ms", "settled_ms", "longest_task_ms", "heap_mb"):
            values = [one[name] for one in answers if one.get(name) is not None]
            if not values:
                cells.append("never")
                continue
            middle = statistics.median(values)
            ours.setdefault(name, middle)
            ratio = f" ({middle / ours[name]:.1f}x)" if tool != "stepscope" and ours.get(name) else ""
            cells.append(f"{middle:,.0f}{ratio}")
        errors = {one["error"] for one in answers if "error" in one}
        points = f"{size_for(tool, case).points:,}"
        print(f"| {tool} | {' | '.join(cells)} | {points} | {'; '.join(errors)}".rstrip(), flush=True)
    zooms = [one for answers in found.values() for one in answers if "zoom_longest_ms" in one]
    if zooms:
        wall, cpu = (max(one[name] for one in zooms) for name in ("zoom_longest_ms", "zoom_cpu_ms"))
        print(
            f"\nOurs while zooming: longest task {wall:,.0f} ms, {cpu:,.0f} ms of CPU, of {len(zooms)} visits.",
            flush=True,
        )
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"\nLoad of the machine at the end: {load:.0f} on {psutil.cpu_count()} processors.", flush=True)


def live(speed: int) -> None:
    """The page's memory over an hour of a training that logs every second, played `speed` times as fast."""
    seconds = 3600 / speed
    folder = STORES / "live"
    subprocess.run([sys.executable, LIVE, "make", folder], check=True)
    with served("stepscope", folder) as port:
        writer = subprocess.Popen([sys.executable, LIVE, "play", folder, str(speed)])
        try:
            kind = import_module("ui_stores.stepscope")
            url = f"http://127.0.0.1:{port}/#/charts"
            plan = {"url": url, "wanted": kind.CHART, "act": "live", "live_s": seconds, "speed": speed, "most_ms": 3000}
            answer = visit(plan)
        finally:
            writer.kill()
    print(f"\n### An hour of live updates, {speed} times as fast\n")
    print("| minutes | answers with new points | heap, MB | nodes | listeners |\n|---|---|---|---|---|")
    for one in answer["live"]:
        counts = f"{one['heap_mb']:.1f} | {one['nodes']:.0f} | {one['listeners']:.0f}"
        print(f"| {one['s'] * speed / 60:.0f} | {one['asks']} | {counts} |")


def busy(seconds: int) -> None:
    """Which share of a processor a page of 13 live panels takes, with a run that logs 35 times a second."""
    folder = STORES / "live"
    subprocess.run([sys.executable, LIVE, "make", folder], check=True)
    writer = subprocess.Popen([sys.executable, LIVE, "play", folder, "35", "13"])
    try:
        time.sleep(20)
        with served("stepscope", folder, rest=False) as port:
            kind = import_module("ui_stores.stepscope")
            newest = max(path.name for path in folder.iterdir() if path.is_dir() and path.name.isupper())
            url = f"http://127.0.0.1:{port}/#/charts?runs={newest}"
            plan = {"url": url, "wanted": kind.CHART, "act": "busy", "busy_s": seconds, "most_ms": 3000, "height": 2000}
            answer = visit(plan)
    finally:
        writer.kill()
    if "busy" not in answer:
        raise SystemExit(f"the page could not be measured: {answer}")
    found = answer["busy"]
    print(f"\n### {found['panels']} live panels, {seconds} s: share of one processor\n")
    print("| page | painting | browser | requests for points |\n|---|---|---|---|")
    print(f"| {found['renderer']:.1%} | {found['gpu']:.1%} | {found['browser']:.1%} | {found['asks']} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TOOLS))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--live", action="store_true", help="only the hour of live updates")
    parser.add_argument("--speed", type=int, default=12, help="how many times as fast the hour is played")
    parser.add_argument("--busy", type=int, default=0, metavar="SECONDS", help="only the CPU time of 13 live panels")
    asked = parser.parse_args()
    if asked.busy:
        return busy(asked.busy)
    if asked.live:
        return live(asked.speed)
    tools = [tool for tool in TOOLS if tool in asked.only.split(",")]
    for name in asked.cases.split(","):
        measure(tools, CASES[name], asked.rounds)
    return None


if __name__ == "__main__":
    main()
