"""What a launched script's profile leaves in the run folder besides its windows."""

from __future__ import annotations

import sys
from pathlib import Path

from stepscope.common import clocks
from stepscope.profile.collect.phases import PhaseTable
from stepscope.profile.store import SIMPLE, new_folder, write_meta, write_part
from stepscope.records.profile import ProfileMeta, StepParts
from stepscope.runs.format.writer_identity import host_name
from stepscope.track import ranks

RANKS_S, MOST_RANKS = 1.0, 64
"""How long rank 0 waits for the profiles of this many ranks."""


def on_device() -> bool:
    """Whether the script has used an accelerator."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_initialized())


def keep_phases(run: Path, table: PhaseTable, rank: int) -> Path | None:
    """The simple profile of a run: each of its steps by phase."""
    if not len(table):
        return None
    parts = table.result(on_device=on_device())
    folder = new_folder(run, SIMPLE, rank)
    write_part(folder, f"rank{rank}.phases", parts)
    write_meta(folder, simple_meta(folder.name, parts), rank)
    return folder


def simple_meta(id: str, parts: StepParts) -> ProfileMeta:
    return ProfileMeta(
        id=id,
        kind="simple",
        created=clocks.time(),
        first_step=parts.steps[0] if parts.steps else None,
        last_step=parts.steps[-1] if parts.steps else None,
        why="every run is timed",
        host=host_name(),
        world=ranks.place().world_size,
    )


def wait_for_ranks(folder: Path, world: int, wait_s: float = RANKS_S) -> None:
    """All ranks stop after the same step: a moment later their profiles are there, where they share the folder."""
    until = clocks.monotonic() + wait_s
    missing = [folder / f"rank{rank}.profile.json" for rank in range(1, min(world, MOST_RANKS))]
    while any(not path.exists() for path in missing) and clocks.monotonic() < until:
        clocks.sleep(0.02)
