"""A call tree out of cProfile's caller graph, which knows of each function its callers, but not their callers.

A function's time under one caller is shared among the paths that lead to that caller, in proportion to the time each
path has there. That is what icicle views of `.prof` files (snakeviz) show; sampled stacks need no such guess.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping
from itertools import count

from stepscope.profile.python.stats import Function, ProfStats
from stepscope.records.profile import Stack

MOST_NODES = 20_000
SMALLEST = 1 / 20_000
"""Of the whole: what is smaller is part of its parent's own time."""


def call_tree(stats: ProfStats, *, id: str = "python-profile", title: str = "Python call tree") -> Stack:
    """The tree of a profile, in nanoseconds."""
    tree = _Tree(stats)
    tree.grow()
    return tree.stack(id, title)


class _Tree:
    """Grown from the roots, the largest branch first, so that a cap cuts off the smallest."""

    def __init__(self, stats: ProfStats) -> None:
        self._stats = stats
        self._children = _edges(stats)
        self._function: list[Function] = []
        self._parent: list[int] = []
        self._total: list[float] = []
        self._own: list[float] = []
        self._calls: list[float] = []
        self._cut = 0
        self._loops = False

    def grow(self) -> None:
        roots = _roots(self._stats)
        whole = sum(seconds for seconds, _ in roots.values()) or 1.0
        order = count()
        queue: list[tuple[float, int, Function, int, float]] = []
        for function, (seconds, calls) in roots.items():
            heapq.heappush(queue, (-seconds, next(order), function, -1, calls))
        while queue:
            minus, _, function, parent, calls_here = heapq.heappop(queue)
            if len(self._function) >= MOST_NODES:
                self._cut += 1
                continue
            node = self._add(function, parent, -minus, calls_here)
            above = self._path(parent) | {function}
            for child, (total_s, times) in self._shares(function, -minus):
                if child in above:
                    self._loops = self._loops or child != function
                elif total_s >= whole * SMALLEST:
                    heapq.heappush(queue, (-total_s, next(order), child, node, times))
                else:
                    self._cut += 1

    def _add(self, function: Function, parent: int, total_s: float, calls: float) -> int:
        self._function.append(function)
        self._parent.append(parent)
        self._total.append(total_s)
        self._own.append(total_s)  # less what children take of it
        self._calls.append(calls)
        if parent >= 0:
            self._own[parent] -= total_s
        return len(self._function) - 1

    def _path(self, node: int) -> set[Function]:
        found: set[Function] = set()
        while node >= 0:
            found.add(self._function[node])
            node = self._parent[node]
        return found

    def _shares(self, function: Function, total_s: float) -> list[tuple[Function, tuple[float, float]]]:
        """What each callee takes of this node: its time under this function, by the node's part of the function."""
        whole = self._stats.functions[function].calls.total_s
        part = min(total_s / whole, 1.0) if whole else 0.0
        return [(child, (seconds * part, calls * part)) for child, (seconds, calls) in self._children[function].items()]

    def stack(self, id: str, title: str) -> Stack:
        known: dict[Function, int] = {}
        name = [known.setdefault(function, len(known)) for function in self._function]
        notes = ["cProfile knows callers, not whole paths: a function's time is shared among its paths in proportion."]
        if self._loops:
            notes.append("Functions that call each other in a circle are shown once on a path; the rest is their own.")
        if self._cut:
            notes.append(f"{self._cut} small branches are part of their parents' own time.")
        if self._stats.counts_only:
            notes.append("This profile counts calls between functions but does not time them: shares go by calls.")
        return Stack(
            id=id,
            title=title,
            names=[label(one) for one in known],
            files=[one[0] for one in known],
            lines=[one[1] for one in known],
            parent=self._parent,
            name=name,
            total=[seconds * 1e9 for seconds in self._total],
            own=[max(seconds, 0.0) * 1e9 for seconds in self._own],
            calls=[max(1, round(calls)) for calls in self._calls],
            notes=notes,
        )


def label(function: Function) -> str:
    """How a function is written in a view.

    >>> label(("/home/me/train.py", 12, "step")), label(("~", 0, "<built-in method time.sleep>"))
    ('step (train.py:12)', 'built-in method time.sleep')
    """
    file, line, name = function
    if file == "~" and not line:
        return name.strip("<>")
    return f"{name} ({os.path.basename(file)}:{line})"


def _edges(stats: ProfStats) -> Mapping[Function, dict[Function, tuple[float, float]]]:
    """Of each function its callees: (seconds, calls) under it."""
    found: dict[Function, dict[Function, tuple[float, float]]] = {function: {} for function in stats.functions}
    for function, one in stats.functions.items():
        calls = sum(edge.total for edge in one.callers.values()) or 1
        for caller, edge in one.callers.items():
            if caller in found:
                seconds = one.calls.total_s * edge.total / calls if stats.counts_only else edge.total_s
                found[caller][function] = (seconds, float(edge.total))
    return found


def _from_outside(function: Function, stats: ProfStats) -> tuple[float, int]:
    """Seconds and calls of a function that no other function in the profile made."""
    one = stats.functions[function]
    known = [edge for caller, edge in one.callers.items() if caller in stats.functions and caller != function]
    repeated = one.callers.get(function)
    calls = one.calls.total - sum(edge.total for edge in known) - (repeated.total if repeated else 0)
    if stats.counts_only:
        return one.calls.total_s * calls / max(one.calls.total, 1), calls
    return one.calls.total_s - sum(edge.total_s for edge in known), calls


def _roots(stats: ProfStats) -> dict[Function, tuple[float, float]]:
    """Where paths begin: (seconds, calls) of functions without a known caller in the profile.

    A profile that began in the middle of a program has many: whatever the frames that were open then called. Functions
    that are only ever called in a circle are reached by none; the largest represents its circle.
    """
    children = _edges(stats)
    roots: dict[Function, tuple[float, float]] = {}
    for function in stats.functions:
        seconds, calls = _from_outside(function, stats)
        if calls > 0 and seconds > 0:
            roots[function] = (seconds, float(calls))
    reached: set[Function] = set()
    for root in roots:
        _reach(root, children, reached)
    for function in sorted(stats.functions, key=lambda one: -stats.functions[one].calls.total_s):
        if function not in reached:
            whole = stats.functions[function].calls
            roots[function] = (whole.total_s, float(whole.total))
            _reach(function, children, reached)
    return roots


def _reach(
    function: Function, children: Mapping[Function, dict[Function, tuple[float, float]]], reached: set[Function]
) -> None:
    rest = [function]
    while rest:
        one = rest.pop()
        if one not in reached:
            reached.add(one)
            rest.extend(children[one])
