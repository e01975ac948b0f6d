"""Runs whose numbers are hard to draw: large, tiny, flat, far from zero, one spike, not finite, hardly any."""

from __future__ import annotations

import math
from pathlib import Path

import stepscope

STEPS = 1999
SPIKE = 1234


def awkward(store: Path) -> None:
    for number, name in enumerate(
        ["baseline", "wide", "a name that is much longer than any column of a page could ever be"]
    ):
        with stepscope.init(
            "awkward", name, {"lr": 0.1 * (number + 1)}, dir=store, console=False, system=False, git=False
        ) as run:
            for step in range(STEPS):
                run.log(_row(step, number), step=step)
            run.log({"once": -12345.678 - number}, step=1_234_567)
            run.log({"late": 0.25 + number, "late too": 1e-300 * number}, step=987_654_321)


def _row(step: int, number: int) -> dict[str, float]:
    wave = math.sin(step / 60 + number)
    return {
        "system/process_rss_bytes": 612_786_176 + step * 4096 + number,
        "system/memory_percent": 100.0,
        "system/cpu_percent": 97 + 2 * wave,
        "system/process_threads": 5.0,
        "flat": 5.0,
        "flat and large": -612_786_176.5,
        "far from zero": 1_000_000 + 3e-4 * wave,
        "near one": 1 + 1e-9 * wave,
        "tiny": 3e-9 * wave,
        "huge": 4e300 * wave,
        "negative": -48_211.75 + 9_000 * wave,
        "spike": 50.0 if step == SPIKE and number == 0 else 1.15 + wave,
        "loss": _broken(step, 2.3 * math.exp(-step / 300) + 0.1),
        "whole": float(step // 700),
    }


def _broken(step: int, loss: float) -> float:
    if step < 1500:
        return loss
    return (math.nan, -math.inf, math.inf, loss)[step % 4]
