"""The blocks of a profile with all that is known of them: category, operator, module and source line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.kept import kept
from stepscope.profile.memory.blocks import Blocks, blocks_of
from stepscope.profile.memory.categories import Categories, categories_of
from stepscope.profile.memory.exact_lines import exact_lines
from stepscope.profile.memory.snapshot_file import decode_snapshot
from stepscope.profile.profile import Profile
from stepscope.profile.trace.ancestors import nearest_of
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.modules import Modules, modules_of
from stepscope.profile.trace.own_lines import OwnLines, own_lines
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

_NODE = "autograd::engine::evaluate_function: "


@dataclass(frozen=True)
class Placed:
    trace: Trace
    blocks: Blocks
    categories: Categories
    modules: Modules | None
    lines: OwnLines | None
    outermost: Ints
    """For each block the outermost operator that allocated it, or -1."""
    innermost: Ints
    """For each block the innermost operator that allocated it, or -1."""
    exact: dict[int, str]
    """By block: its line, where CUDA's history knows it."""

    def module(self) -> Ints:
        """For each block the module node that allocated it in forward or backward, or -1."""
        host, modules = self.blocks.host, self.modules
        if modules is None:
            return np.full(len(host), -1, np.int32)
        backward = np.where(host >= 0, modules.backward[host], -1)
        return np.where(backward >= 0, backward, np.where(host >= 0, modules.forward[host], -1))

    def line(self, block: int) -> str | None:
        """The user's line that allocated a block; in backward, the line of its forward."""
        if block in self.exact:
            return self.exact[block]
        if self.lines is None:
            return None
        row = int(self.blocks.host[block])
        op = int(self.innermost[block])
        forward = int(self.trace.forward_op[op]) if op >= 0 else -1
        for at in (forward, row):
            carrier = int(self.lines.at[at]) if at >= 0 else -1
            if carrier >= 0:
                key = self.lines.keys[int(self.lines.key[carrier])]
                return f"{key.file}:{key.line}"
        return None

    def operator(self, block: int) -> str | None:
        """The outermost operator that allocated a block, as a person names it."""
        row = int(self.outermost[block])
        if row < 0:
            return None
        return self.trace.events.names[int(self.trace.events.name[row])].removeprefix(_NODE)


def placed_blocks(profile: Profile, rank: int) -> Placed | None:
    """The blocks of a rank; None where the trace has no memory."""
    return kept(profile, rank, _place)


def blocks_in(profile: Profile, rank: int) -> Blocks | None:
    """The blocks of a rank's trace, as the allocators reported them."""
    trace = profile.trace(rank)
    return None if trace is None else blocks_of(trace)


def modules_in(profile: Profile, rank: int) -> Modules | None:
    """The modules of a rank's trace."""
    trace = profile.trace(rank)
    return None if trace is None else modules_of(trace, profile.facts(rank))


def lines_in(profile: Profile, rank: int) -> OwnLines | None:
    """The user's own lines in a rank's trace."""
    trace = profile.trace(rank)
    return None if trace is None else own_lines(trace, profile.facts(rank))


def _place(profile: Profile, rank: int) -> Placed | None:
    trace = profile.trace(rank)
    blocks = kept(profile, rank, blocks_in)
    if trace is None or blocks is None:
        return None
    modules = kept(profile, rank, modules_in)
    is_op = trace.kind == Kind.OP.value
    outermost = nearest_of(trace.parent, is_op & (trace.op_parent < 0), blocks.host)
    module = None if modules is None else modules.forward
    lines, history = kept(profile, rank, lines_in), profile.read("memory", rank)
    files = {key.file for key in lines.keys} if lines is not None else set()
    return Placed(
        trace=trace,
        blocks=blocks,
        categories=categories_of(trace, blocks, profile.facts(rank), outermost, module),
        modules=modules,
        lines=lines,
        outermost=outermost,
        innermost=nearest_of(trace.parent, is_op, blocks.host),
        exact={} if history is None else exact_lines(decode_snapshot(history), blocks, files),
    )
