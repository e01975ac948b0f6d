"""The user's own lines by the time a sampler saw them, with the phase of the step and what each had called."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType

from stepscope.common.code_owner import is_own_file
from stepscope.profile.python.samples import Samples

LEAST = 0.05
_TORCH = os.sep + "torch" + os.sep
_PHASES = (
    (os.path.join("utils", "data", "_utils", "fetch.py"), "data"),
    (os.path.join("utils", "data", "dataloader.py"), "data"),
    (os.path.join("torch", "_tensor.py"), "backward"),
    (os.path.join("autograd", "__init__.py"), "backward"),
    (os.path.join("autograd", "graph.py"), "backward"),
    (os.path.join("optim", "optimizer.py"), "optimizer"),
    (os.path.join("nn", "modules", "module.py"), "forward"),
)
"""A file of torch on the way says in which phase a stack is."""


@dataclass(frozen=True)
class HotSpot:
    file: str
    line: int
    function: str
    code: CodeType
    at: int
    share: float
    phase: str
    below: str


def hot_spots(samples: Samples, least: float = LEAST) -> list[HotSpot]:
    """Lines with this part of the main thread's time or more, largest first.

    A stack counts for the innermost line of the user's own, whatever library that line has called.
    """
    main = threading.main_thread().ident
    spent: dict[tuple[CodeType, int], dict[tuple[str, str], list[int]]] = {}
    whole = 0
    for key, nanoseconds in samples.time_ns.items():
        if key[0] != main:
            continue
        whole += nanoseconds
        codes = [samples.codes[one] for one in key[1::2]]
        own = next((at for at, code in enumerate(codes) if is_own_file(code.co_filename)), None)
        if own is None:
            continue
        place = key[2 + 2 * own]
        line = samples.line_of(codes[own], place)
        what = _phase(codes), _below(codes[:own])
        found = spent.setdefault((codes[own], line), {}).setdefault(what, [0, place])
        found[0] += nanoseconds
    spots = [_spot(code, line, parts, whole) for (code, line), parts in spent.items()]
    return sorted((one for one in spots if one.share >= least), key=lambda one: -one.share)


def _spot(code: CodeType, line: int, parts: dict[tuple[str, str], list[int]], whole: int) -> HotSpot:
    (phase, below), (_, place) = max(parts.items(), key=lambda one: one[1][0])
    total = sum(one[0] for one in parts.values())
    name = getattr(code, "co_qualname", code.co_name)
    return HotSpot(code.co_filename, line, name, code, place, total / max(1, whole), phase, below)


def _phase(codes: Sequence[CodeType]) -> str:
    """By the outermost sign: a dataset that calls a module is still the loading of data."""
    for code in reversed(codes):
        if _TORCH in code.co_filename:
            for ending, phase in _PHASES:
                if code.co_filename.endswith(ending):
                    return phase
    return "other"


def _below(codes: Sequence[CodeType]) -> str:
    """The function that the line itself has called, with its module."""
    if not codes:
        return ""
    code = codes[-1]
    return f"{_module_of(code.co_filename)}.{getattr(code, 'co_qualname', code.co_name)}".lstrip(".")


def _module_of(file: str) -> str:
    """As it is imported: the path below the nearest folder of `sys.path`."""
    roots = [root for root in sys.path if root and file.startswith(root + os.sep)]
    path = file[len(max(roots, key=len, default="")) :].strip(os.sep)
    return path.removesuffix(".py").removesuffix(f"{os.sep}__init__").replace(os.sep, ".")
