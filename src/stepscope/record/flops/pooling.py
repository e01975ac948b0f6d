"""Pooling and resizing: one operation per value of each window, two per neighbor that is interpolated."""

from __future__ import annotations

import math
import re

from stepscope.record.flops.registry import Called, Work, formula, per_input

__all__: list[str] = []

_NEIGHBOURS = {"nearest": 0, "nearest-exact": 0, "area": 1, "linear": 2, "bilinear": 4, "trilinear": 8, "bicubic": 16}

per_input(1, *(f"adaptive_{kind}_pool{n}d{end}" for kind in ("avg", "max") for n in (1, 2, 3)
               for end in ("", "_with_indices")))  # fmt: skip


@formula(
    *(f"{kind}_pool{n}d{end}" for kind in ("avg", "max", "lp") for n in (1, 2, 3) for end in ("", "_with_indices"))
)
def pool(called: Called) -> Work:
    place = 2 if called.name.startswith("lp") else 1
    kernel = called.get(place, "kernel_size")
    if isinstance(kernel, int):
        found = re.search(r"pool(\d)d", called.name)
        kernel = [kernel] * (int(found.group(1)) if found else 1)
    work = int(called.out.numel()) * math.prod(kernel)
    return Work(work, 0, work)


@formula("interpolate", "upsample", "grid_sample")
def resize(called: Called) -> Work | None:
    grid = called.name == "grid_sample"
    mode = called.get(2, "mode", "bilinear") if grid else called.get(3, "mode", "nearest")
    neighbours = _NEIGHBOURS.get(mode)
    if neighbours is None:
        return None
    work = 2 * neighbours * int(called.out.numel())
    return Work(work, 0, work)
