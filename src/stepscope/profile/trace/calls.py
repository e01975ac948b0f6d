"""Spans that lie in each other as a call tree: all calls of the same function from the same place are one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import depths
from stepscope.profile.trace.library import call_nodes

Ints = npt.NDArray[Any]


@dataclass(frozen=True)
class Calls:
    """Nodes, parents before their children; columns of one length."""

    label: Ints
    """What was called: the number given to `call_tree`."""
    parent: Ints
    """The node it was called from, or -1."""
    calls: Ints
    total_ns: Ints
    own_ns: Ints
    """The total without that of the nodes below."""
    node: Ints
    """For each span, its node."""

    def __len__(self) -> int:
        return len(self.label)


def call_tree(parent: Ints, label: Ints, dur: Ints) -> Calls:
    """The tree of spans, given for each span the span around it (its position here, or -1), its label and duration.

    >>> tree = call_tree(np.array([-1, 0, 0]), np.array([7, 8, 8]), np.array([10, 3, 4]))
    >>> tree.label.tolist(), tree.parent.tolist(), tree.calls.tolist(), tree.own_ns.tolist()
    ([7, 8], [-1, 0], [1, 2], [3, 7])
    """
    compiled = call_nodes(parent, label)
    if compiled is None:
        labels, up, node = _nodes(parent, label)
    else:  # few nodes are left of many spans; those are numbered as numpy would
        node, first = compiled
        above = parent[first]
        labels, up, number = _nodes(np.where(above >= 0, node[above], -1), label[first])
        node = number[node]
    dur = np.maximum(dur, 0)  # -1: a call that the trace does not see returning
    made = len(labels)
    # A child that the clock lets outlive its parent may not make the parent's own time negative.
    total = np.bincount(node, dur, made).astype(np.int64)
    below = np.bincount(up[up >= 0], total[up >= 0], made).astype(np.int64)
    return Calls(
        label=labels,
        parent=up,
        calls=np.bincount(node, minlength=made),
        total_ns=total,
        own_ns=np.maximum(total - below, 0),
        node=node,
    )


def _nodes(parent: Ints, label: Ints) -> tuple[Ints, Ints, Ints]:
    """The nodes' labels and parents, level by level from the outermost; and for each span its node."""
    node = np.full(len(parent) + 1, -1, np.int64)
    labels, parents = [], []
    made, width = 0, int(label.max()) + 1 if len(label) else 1
    depth = depths(parent)
    narrow = depth.astype(np.uint16) if len(depth) and int(depth.max()) < 1 << 16 else depth
    order = np.argsort(narrow, kind="stable")  # of two bytes each: numpy sorts those by their digits
    edges = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2)) if len(depth) else np.zeros(1, np.int64)
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        here = order[begin:end]
        found, place = np.unique((node[parent[here]] + 1) * width + label[here], return_inverse=True)
        node[here] = made + place
        labels.append(found % width)
        parents.append(found // width - 1)
        made += len(found)
    if not labels:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), node[:-1]
    return np.concatenate(labels), np.concatenate(parents), node[:-1]
