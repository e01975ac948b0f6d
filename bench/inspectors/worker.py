"""Runs inside a tool's venv: one tool on one net, one RESULT line. Called by bench/inspect.py as a module."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import time

import torch

from inspectors.nets import make_case

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def timed(function, clock) -> float:
    started = clock()
    function()
    return (clock() - started) * 1000


def pairs(plain, tool, clock, seconds: float, least: int) -> tuple[list[float], list[float]]:
    """Times of both, one after the other, which first taking turns: what slows the machine slows both."""
    without: list[float] = []
    within: list[float] = []
    until = time.perf_counter() + seconds
    while len(within) < least or time.perf_counter() < until:
        if len(within) % 2:
            within.append(timed(tool, clock))
            without.append(timed(plain, clock))
        else:
            without.append(timed(plain, clock))
            within.append(timed(tool, clock))
    return without, within


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer")
    parser.add_argument("tool")
    parser.add_argument("net")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--least", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock = CLOCKS[options.clock]
    module = importlib.import_module(f"inspectors.{options.peer}")
    baseline, use = module.TOOLS[options.tool]
    case = make_case(options.net, options.quick)
    case.model.train(baseline != "forward")
    plain = getattr(case, baseline)
    plain()
    if baseline == "steps":
        case.repeat = max(1, round(50 / min(timed(plain, clock) for _ in range(3))))
    warm = min(timed(plain, clock) for _ in range(3))
    first = timed(lambda: use(case), clock)  # imports and caches included, as in a user's first call
    use(case)
    without, within = pairs(plain, lambda: use(case), clock, options.seconds, options.least)
    without, within = ([one / case.repeat for one in times] for times in (without, within))
    result = {
        "baseline": baseline,
        "before_ms": warm,
        "first_ms": first,
        "plain_ms": without,
        "tool_ms": within,
        "version": importlib.metadata.version(options.peer),
    }
    print("RESULT " + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
