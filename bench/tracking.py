"""Tracking beside its peers, in one run, as ratios: what a scalar costs, what a point weighs, how fast it comes back.

    .venv/bin/python bench/tracking.py                  # all peers; makes a venv for each under .bench/
    .venv/bin/python bench/tracking.py --only tensorboard,trackio --points 200000

Each tool runs in its own processes and venv, one after the other, on the same machine. CPU on the caller's thread is
`time.thread_time`; everything else is wall time. Slow tools log fewer points: their read time is scaled to a million,
their chart is measured on what they logged (the row `points` says how many).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from peers import peer_python

ROOT = Path(__file__).parent.parent
PEERS = ("stepscope", "tensorboard", "wandb", "mlflow", "aim", "trackio")
COLUMNS = (
    ("points", "points logged in the bulk tasks"),
    ("caller_us", "caller CPU, µs per scalar (10 in a call)"),
    ("caller_us_one", "caller CPU, µs per scalar (1 in a call)"),
    ("durable_per_s", "durable points per second"),
    ("bytes_per_point", "bytes per point (10 in a call)"),
    ("bytes_per_point_one", "bytes per point (1 in a call)"),
    ("empty_ms", "start + finish of an empty run, ms"),
    ("read_s", "read a million points back, s"),
    ("chart_ms", "chart data of that series over HTTP, ms"),
    ("caller_wall_us", "caller wall time, µs per scalar, over a whole run"),
)
HIGHER_IS_BETTER = {"durable_per_s"}


def python_of(peer: str) -> Path:
    """The interpreter for a peer; makes its venv on first use."""
    if peer == "stepscope":
        return Path(sys.executable)
    return peer_python(peer, import_module(f"trackers.{peer}").REQUIREMENTS)


TASKS = ("version", "caller", "caller_one", "empty", "bare", "wide", "single", "read", "chart")
SLOW = {"aim": 50_000, "mlflow": 10_000, "wandb": 300_000, "trackio": 300_000}
"""How many points a slow peer logs in the bulk tasks; its read time is scaled up from there, its chart is not."""


def measure(peer: str, points: int, timeout_s: int) -> dict[str, float | str]:
    """One peer's figures, each task in a fresh process; one that fails is reported in its place, never left out."""
    points = min(points, SLOW.get(peer, points))
    results: dict[str, float | str] = {"points": float(points)}
    weight: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix=f"bench-{peer}-") as top:
        for task in TASKS:
            folder = Path(top) / ("single" if task in ("read", "chart") else task)
            folder.mkdir(exist_ok=True)
            command = [python_of(peer), ROOT / "bench" / "trackers" / "worker.py", peer, task, folder, str(points)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
            except subprocess.TimeoutExpired:
                results[f"{task}_error"] = f"over {timeout_s} s"
                continue
            weight[task] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            answer = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
            if answer:
                results.update(json.loads(answer[-1][7:]))
            else:
                results[f"{task}_error"] = (done.stderr.strip().splitlines() or ["no output"])[-1][:200]
    results["bytes_per_point"] = (weight["wide"] - weight["bare"]) / points
    results["bytes_per_point_one"] = (weight["single"] - weight["bare"]) / points
    return results


def table(results: dict[str, dict[str, float | str]]) -> str:
    """Markdown: a row per measure, Stepscope's value, then each peer as value (ratio)."""
    peers = list(results)
    lines = ["| | " + " | ".join(f"{p} {results[p].get('version', '')}".strip() for p in peers) + " |"]
    lines.append("|---" * (len(peers) + 1) + "|")
    ours = results.get("stepscope", {})
    for key, label in COLUMNS:
        cells = []
        for peer in peers:
            value, own = results[peer].get(key), ours.get(key)
            if not isinstance(value, float):
                cells.append("–")
            elif key == "points":
                cells.append(f"{value:,.0f}")
            elif peer == "stepscope" or not isinstance(own, float) or not own or not value:
                cells.append(f"{value:,.4g}")
            else:
                ratio = own / value if key in HIGHER_IS_BETTER else value / own
                cells.append(f"{value:,.4g} ({ratio:.1f}x)")
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PEERS), help="comma-separated peers")
    parser.add_argument("--points", type=int, default=1_000_000, help="points of the bulk run (slow peers log fewer)")
    parser.add_argument("--timeout", type=int, default=400, help="seconds for one task of one peer")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    results: dict[str, dict[str, float | str]] = {}
    for peer in options.only.split(","):
        print(f"{peer} ...", flush=True)
        results[peer] = measure(peer, options.points, options.timeout)
        for key, value in results[peer].items():
            print(f"  {key:22} {value if isinstance(value, str) else f'{value:,.4g}'}", flush=True)
    print("\n(ratios: how many times better Stepscope is)\n")
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "bench"))
    main()
