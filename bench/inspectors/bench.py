"""Starts a process for each tool and net, and sets their figures side by side. The program is bench/inspect.py."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from peers import peer_python

from inspectors.goals import goals

ROOT = Path(__file__).parents[2]
PEERS = ("stepscope", "torch", "torchinfo", "torchview", "torchlens")
NETS = (
    "resnet50",
    "resnet50-little",
    "resnet18",
    "gpt2",
    "gpt2-little",
    "gpt-small",
    "mlp",
    "small",
)  # as in nets.py, which needs torch

Figures = dict[tuple[str, str], dict[str, dict]]
"""(peer, tool) -> net -> figures."""


def python_of(peer: str) -> Path:
    """The interpreter for a peer; makes its venv on first use."""
    wanted = import_module(f"inspectors.{peer}").REQUIREMENTS
    if not wanted:
        return Path(sys.executable)
    return peer_python(peer, wanted)


def measure(peer: str, tool: str, net: str, options: argparse.Namespace) -> dict:
    """One tool on one net in a fresh process; a failure is reported in its place, never left out."""
    command = [python_of(peer), "-m", "inspectors.worker", peer, tool, net]
    command += ["--seconds", str(options.seconds), "--least", str(options.least), "--threads", str(options.threads)]
    command += ["--clock", options.clock]
    command += ["--quick"] if options.quick else []
    threads = {name: str(options.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=options.timeout,
            cwd=ROOT / "bench",
            env={**os.environ, **threads},
        )
    except subprocess.TimeoutExpired:
        return {"error": f"over {options.timeout} s"}
    answer = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not answer:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1][:200]}
    return summed_up(json.loads(answer[-1][7:]))


def summed_up(raw: dict) -> dict:
    plain, tool = raw.pop("plain_ms"), raw.pop("tool_ms")
    return {
        **raw,
        "pairs": len(plain),
        "plain_ms": statistics.median(plain),
        "tool_ms": statistics.median(tool),
        "plain_min_ms": min(plain),
        "tool_min_ms": min(tool),
        "ratio": statistics.median(b / a for a, b in zip(plain, tool, strict=True)),
        "ratio_of_min": min(tool) / min(plain),
    }


def cells(one: dict) -> list[str]:
    if "error" in one:
        return [f"failed: {one['error']}", "–", "–", "–", "–", "–", "–"]
    return [
        one["baseline"],
        f"{one['plain_ms']:,.4g}",
        f"{one['tool_ms']:,.4g}",
        f"**{one['ratio']:.3g}x**",
        f"{one['ratio_of_min']:.3g}x",
        f"{one['first_ms']:,.4g}",
        str(one["pairs"]),
    ]


def table(figures: Figures, net: str) -> str:
    """Markdown: a row per tool."""
    heads = ["tool", "beside a plain", "plain, ms", "with it, ms", "ratio", "of the minima", "first use, ms", "pairs"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for (peer, tool), by_net in figures.items():
        if net in by_net:
            name = f"{peer} {by_net[net].get('version', '')}".strip()
            lines.append("| " + " | ".join([f"{name}, {tool}", *cells(by_net[net])]) + " |")
    return "\n".join(lines)


def parse(text: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PEERS), help="comma-separated peers")
    parser.add_argument("--tools", default="", help="only tools whose name has this in it")
    parser.add_argument("--nets", default=",".join(NETS), help="comma-separated nets")
    parser.add_argument("--quick", action="store_true", help="small nets")
    parser.add_argument("--seconds", type=float, default=20, help="measuring time of one tool on one net")
    parser.add_argument("--least", type=int, default=5, help="pairs to measure at least")
    parser.add_argument("--threads", type=int, default=1, help="torch's threads")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is not quiet")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one tool on one net")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args()


def main(text: str | None) -> None:
    options = parse(text)
    figures: Figures = {}
    for net in options.nets.split(","):
        for peer in options.only.split(","):
            for tool in import_module(f"inspectors.{peer}").TOOLS:
                if options.tools not in tool:
                    continue
                one = measure(peer, tool, net, options)
                figures.setdefault((peer, tool), {})[net] = one
                said = one.get("error") or f"{one['ratio']:.3f}x of {one['plain_ms']:.4g} ms ({one['pairs']} pairs)"
                print(f"{net:16} {peer:10} {tool:38} {said}", flush=True)
    for net in options.nets.split(","):
        print(f"\n### {net}{' (quick)' if options.quick else ''}\n\n{table(figures, net)}")
    print("\n### Goals\n\n" + goals(figures))
    if "stepscope" in options.only:
        done = subprocess.run(
            [sys.executable, "-m", "inspectors.faults"], capture_output=True, text=True, cwd=ROOT / "bench"
        )
        print("\n### Which line they name\n\n" + (done.stdout or done.stderr))
    if options.json:
        options.json.write_text(json.dumps({f"{p}, {t}": value for (p, t), value in figures.items()}, indent=1))
