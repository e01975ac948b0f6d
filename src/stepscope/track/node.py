"""Jobs of very many ranks: the logs of a node's ranks stay on the node, and one of its ranks leads.

The leader (`runs/node/leader.py`) keeps a band of every series, all events and the ranks that stand out, in one log of
the run. Should it end before others do, the rank that ends next passes on what is left. docs/design/041-ranks.md.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from stepscope.common import clocks
from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import make_private_folder
from stepscope.runs.format.layout import LARGEST_META, META, is_run_folder, write_file
from stepscope.runs.write.writer import RunWriter

if TYPE_CHECKING:
    from stepscope.runs.node.leader import NodeLeader
    from stepscope.track.ranks import Place
    from stepscope.track.run import Run

LEAST_RANKS = 64
"""The smallest job that is led (`STEPSCOPE_NODE_RANKS`; 0: none)."""
LOOK_S, LONGEST_S, LOOKS = 30.0, 120.0, 1000
"""A leader polls every half minute, and less often after a thousand polls."""
LAST_LOOK_S = 1.0
"""How long an ending leader waits for the other ranks of its node."""
_LOCK = "leader.lock"


def is_led(place: Place) -> bool:
    """Whether the ranks of this job keep their logs on their nodes."""
    try:
        least = int(os.environ.get("STEPSCOPE_NODE_RANKS", LEAST_RANKS))
    except ValueError:
        least = LEAST_RANKS
    return 0 < least <= place.world_size and place.local_size > 1 and hasattr(os, "getuid")


def local_folder(run: Path) -> Path | None:
    """The folder on this node for the logs of one run's ranks; None where it cannot be made private."""
    above = Path(os.environ.get("STEPSCOPE_NODE_DIR") or tempfile.gettempdir()) / f"stepscope-node-{os.getuid()}"
    path = above / run.name
    try:
        for folder in (above, path):
            make_private_folder(folder, exist_ok=True)
            if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
                return None
        if not is_run_folder(path):
            write_file(path / META, read_file(run / META, LARGEST_META, within=run))
    except OSError:
        return None
    return path


def serve(run: Run, shared: Path, place: Place) -> None:
    """Have the node of this rank led, by this rank if it is the node's first, and nothing left behind at its end."""
    local = local_folder(shared) if run.path == shared else run.path
    if local is None:
        return
    node = _Node(run, local, shared, place)
    if place.local_rank == 0:
        node.lead()
        run.every(LOOK_S, node.look, "leading the ranks of a node")
    run.after_end(node.end)


class _Node:
    """One rank's part in leading its node."""

    def __init__(self, run: Run, local: Path, shared: Path, place: Place) -> None:
        self._run, self._local, self._shared, self._place = run, local, shared, place
        self._leader: NodeLeader | None = None
        self._lock: IO[str] | None = None
        self._began, self._looked = clocks.monotonic(), 0.0

    def lead(self) -> None:
        """Be the one that leads from the beginning, so that ranks which end first leave the rest to this one."""
        self._leads()

    def look(self) -> None:
        """On a thread, every `LOOK_S`."""
        now = clocks.monotonic()
        wait_s = min(max(LOOK_S, (now - self._began) / LOOKS), LONGEST_S)
        if now - self._looked >= wait_s * 0.9 and self._leads():
            self._looked = now
            self._leader_of().look()

    def end(self) -> None:
        """This rank's own log is closed: pass on what there is, unless another rank still leads."""
        until = clocks.monotonic() + (LAST_LOOK_S if self._place.local_rank == 0 else 0.0)
        while self._leads():
            leader = self._leader_of()
            leader.look()
            while len(leader.ends) < self._ranks and clocks.monotonic() < until:
                clocks.sleep(0.05)
                leader.look()
            leader.close()
            self._hand_over()
            # A rank that ended meanwhile found the node led and left: what it wrote before is for us to pass on.
            if not leader.is_behind:
                break

    def _hand_over(self) -> None:
        ends = self._leader_of().ends
        if len(ends) >= self._ranks and all(end.status == "finished" for end in ends.values()):
            shutil.rmtree(self._local, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def _ranks(self) -> int:
        """How many ranks write to the node's folder: rank 0 writes to the run itself."""
        return self._place.local_size - (self._place.rank < self._place.local_size)

    def _leader_of(self) -> NodeLeader:
        if self._leader is None:
            from stepscope.runs.node.leader import NodeLeader  # numpy: not before a script that may have no use for it

            self._leader = NodeLeader(self._local, self._shared, self._writer)
        return self._leader

    def _writer(self) -> RunWriter:
        run = self._run
        return RunWriter(self._shared, run_id=self._shared.name, rank=run.rank, role="node", attempt=run.attempt)

    def _leads(self) -> bool:
        """Whether this rank is the one that leads, or becomes it now."""
        import fcntl

        if self._lock is None:
            try:
                lock = open(self._local / _LOCK, "a")  # noqa: SIM115 - held until this rank ends
            except OSError:  # the rank that ended last has removed the folder
                return False
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                return False
            self._lock = lock
        return True
