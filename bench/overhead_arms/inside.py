"""What one recorded step costs in the process itself: the tools and the worker of bench/inspect.py on three nets."""

from __future__ import annotations

import argparse
from typing import Any

from inspectors.bench import measure

__all__ = ["inside", "inside_table"]

NETS = ("gpt-small", "resnet18", "mlp")
TOOLS = {
    "record": ("stepscope", "record: not read"),
    "record, and read": ("stepscope", "record: metadata and cost"),
    "trace_values": ("stepscope", "trace_values"),
    "detect_anomaly": ("torch", "detect_anomaly"),
    "torch.profiler": ("torch", "profiler"),
    "summary": ("stepscope", "summary"),
    "torchinfo": ("torchinfo", "summary"),
}


def inside(seconds: float, peers: bool) -> dict[str, dict[str, dict[str, Any]]]:
    """Net -> tool -> figures, in CPU time, one thread. torchinfo has to be installed: only with `peers`."""
    options = argparse.Namespace(seconds=seconds, least=5, threads=1, clock="cpu", quick=False, timeout=600)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for net in NETS:
        for name, (peer, tool) in TOOLS.items():
            if peer == "torchinfo" and not peers:
                continue
            one = measure(peer, tool, net, options)
            print(f"  {net:10} {name:15} {one.get('error') or format(one['ratio'], '.3f') + 'x'}", flush=True)
            found.setdefault(net, {})[name] = one
    return found


def inside_table(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The last two stand beside a plain forward, the others beside a plain step."""
    names = [name for name in TOOLS if any(name in tools for tools in found.values())]
    lines = ["| | plain step, ms | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for net, tools in found.items():
        cells = [f"{tools[name]['ratio']:.2f}x" if "ratio" in tools[name] else "failed" for name in names]
        plain = tools["record"].get("plain_ms")
        lines.append(f"| {net} | {'–' if plain is None else format(plain, '.3g')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
