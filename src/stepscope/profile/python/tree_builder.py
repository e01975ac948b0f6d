"""Stacks in, a call tree out: what samplers, speedscope files and collapsed stacks all need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stepscope.records.profile import Stack, Unit

Frame = tuple[str, str, int, int]
"""(label, file, the function's first line, the line it is at; 0: not known)"""


class TreeBuilder:
    """Adds up stacks that begin alike.

    >>> builder = TreeBuilder()
    >>> for stack in (["main", "load"], ["main", "load"], ["main"]):
    ...     builder.add([(name, "", 0, 0) for name in stack], 1.0)
    >>> tree = builder.stack(id="t", title="T")
    >>> tree.names, tree.parent, tree.total, tree.own, tree.calls
    (['main', 'load'], [-1, 0], [3.0, 2.0], [1.0, 2.0], [])
    """

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, int], int] = {}
        self._nodes: dict[tuple[int, int], int] = {}
        self._parent: list[int] = []
        self._name: list[int] = []
        self._total: list[float] = []
        self._own: list[float] = []
        self._lines: dict[tuple[int, int], list[float]] = {}

    def add(self, frames: Sequence[Frame], weight: float) -> None:
        """One stack, outermost frame first."""
        node, seen = -1, set()
        for text, file, first, line in frames:
            name = self._names.setdefault((text, file, first), len(self._names))
            node = self._child(node, name)
            self._total[node] += weight
            if line and (name, line) not in seen:  # once a stack, also when a function calls itself
                seen.add((name, line))
                self._lines.setdefault((name, line), [0.0, 0.0])[1] += weight
        if node >= 0:
            self._own[node] += weight
            if frames[-1][3]:
                self._lines[self._name[node], frames[-1][3]][0] += weight

    def _child(self, parent: int, name: int) -> int:
        node = self._nodes.get((parent, name))
        if node is None:
            node = self._nodes[parent, name] = len(self._parent)
            self._parent.append(parent)
            self._name.append(name)
            self._total.append(0.0)
            self._own.append(0.0)
        return node

    def stack(self, *, id: str, title: str, unit: Unit = "ns", notes: Iterable[str] = ()) -> Stack:
        return Stack(
            id=id,
            title=title,
            names=[text for text, _, _ in self._names],
            files=[file for _, file, _ in self._names],
            lines=[first for _, _, first in self._names],
            parent=self._parent,
            name=self._name,
            total=self._total,
            own=self._own,
            unit=unit,
            by_line=[[name, line, own, total] for (name, line), (own, total) in self._lines.items()],
            notes=list(notes),
        )
