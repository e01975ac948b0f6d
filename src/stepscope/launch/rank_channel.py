"""Ranks talk through the store of the job's own process group: tiny messages, under our own prefix.

We have a connection of our own to the store: the script's waits do not hold us up, and ours never touch its keys or its
timeouts. A key that is not there is never waited for. Where the store is gone there is nothing to say.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

PREFIX = "stepscope"
TIMEOUT_S = 1.0


class Channel:
    """Messages between the ranks of one job. Every call answers at once; faults of the store close the channel."""

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self._store: Any = store
        self.rank, self.size = rank, size

    @property
    def is_open(self) -> bool:
        return self._store is not None

    def put(self, key: str, message: bytes) -> None:
        if self._store is not None:
            try:
                self._store.set(key, message)
            except RuntimeError:  # DistStoreError and DistNetworkError are
                self.close()

    def get(self, key: str) -> bytes | None:
        """The message, if there is one."""
        try:
            if self._store is None or not self._store.check([key]):
                return None
            return bytes(self._store.get(key))
        except RuntimeError:
            self.close()
            return None

    def add(self, key: str, amount: int = 1) -> int:
        """Add to a number that all ranks share; what it is then, 0 where nobody can say."""
        try:
            return 0 if self._store is None else int(self._store.add(key, amount))
        except RuntimeError:
            self.close()
            return 0

    def read(self, key: str) -> int:
        """The number as it stands."""
        return self.add(key, 0)

    def close(self) -> None:
        self._store = None


def open_channel() -> Channel | None:
    """A channel, once there is a process group of several ranks."""
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized() or dist.get_world_size() < 2:
        return None
    store = sys.modules["torch.distributed.distributed_c10d"]._get_default_store()
    if not hasattr(store, "clone"):  # before torch 2.5: one connection would make the script wait for us
        return None
    own = store.clone()
    own.set_timeout(timedelta(seconds=TIMEOUT_S))
    return Channel(dist.PrefixStore(PREFIX, own), dist.get_rank(), dist.get_world_size())
