"""Autograd nodes: every run of the engine, also one inside another, and each node it executes.

A follower is asked about each node of a graph when the engine is about to run it, and is then called around the node.
The hooks live as long as that run of the engine; no node is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import torch

from stepscope import fence
from stepscope.events import patches
from stepscope.events.backwards import EngineDoor
from stepscope.events.operations import seen_again


class NodeFollower(Protocol):
    """Who is called around autograd nodes. Its faults are reported under `who`, but for those around a node: `begin`
    and what `ending` gives catch their own."""

    who: str

    def listens(self) -> bool:
        """Whether this run of the engine, on this thread, is its business."""

    def engine_begins(self, roots: Any) -> bool:
        """The engine is about to run from these roots; True to be called around its nodes."""

    def engine_runs(self) -> None:
        """All is prepared; called last before it starts."""

    def engine_ends(self) -> None:
        """It has returned or raised."""

    def meet(self, node: Any) -> Any:
        """A node of the graph: what to give to `begin` and `ending`."""

    def met(self, nodes: list[Any], known: dict[int, Any]) -> list[bool]:
        """All of them, by id: for each, whether it wants `begin` besides its end."""

    def begin(self, known: Any, gradients: Any) -> None:
        """A node is about to run with these gradients."""

    def ending(self, known: Any) -> Callable[[Any, Any], None]:
        """What to call when it has run: with what it produced, and with its gradients."""


def follow_nodes(follower: NodeFollower) -> Callable[[], object]:
    """Have the runs of the engine followed; what is returned ends it."""
    layer = partial(_layer, follower)
    if "_engine_run_backward" in vars(torch.autograd):
        return patches.install(torch.autograd, "_engine_run_backward", layer, "autograd.backward")
    variable = torch.autograd.Variable  # before torch 2.3 the door is a method of the engine itself
    engine = EngineDoor(variable._execution_engine, layer)
    return patches.replace(variable, "_execution_engine", engine, "autograd.backward")


def _layer(follower: NodeFollower, run: Any) -> Any:
    def door(roots: Any, *args: Any, **kwargs: Any) -> Any:
        if not follower.listens():
            return run(roots, *args, **kwargs)
        handles: list[Any] = []
        if fence.call(follower.who, follower.engine_begins, roots):
            fence.call(follower.who, _hook, follower, roots, handles)
        try:
            with seen_again():
                follower.engine_runs()
                return run(roots, *args, **kwargs)
        finally:
            for handle in handles:
                handle.remove()
            fence.call(follower.who, follower.engine_ends)

    return door


def _hook(follower: NodeFollower, roots: Any, handles: list[Any]) -> None:
    """Walk the graph once, and put the hooks on."""
    with torch._C.DisableTorchFunction():
        start = [root.grad_fn if isinstance(root, torch.Tensor) else root.node for root in roots]
        nodes: list[Any] = []
        known: dict[int, Any] = {}
        meet = follower.meet
        stack = [node for node in start if node is not None]
        while stack:
            node = stack.pop()
            if id(node) not in known:
                known[id(node)] = meet(node)
                nodes.append(node)
                stack.extend(source for source, _ in node.next_functions if source is not None)
        begin, ending = follower.begin, follower.ending
        for node, early in zip(nodes, follower.met(nodes, known), strict=True):
            mine = known[id(node)]
            if early:
                handles.append(node.register_prehook(partial(begin, mine)))
            handles.append(node.register_hook(ending(mine)))
