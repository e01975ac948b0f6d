"""DataLoaders: made, iterated, asked for a batch, exhausted."""

from __future__ import annotations

import functools
import sys
from typing import Any, ClassVar

from torch.utils.data import dataloader

from stepscope.common import clocks
from stepscope.events import patches
from stepscope.events.source import Source, ask, tell


class Loaders(Source):
    """Doors at `DataLoader.__init__` and `__iter__`, and at `__next__` of its iterators; nothing is wrapped."""

    kinds: ClassVar[tuple[str, ...]] = (
        "loader_made", "pass_asked", "pass_began", "batch_asked", "batch_given", "pass_ended",
    )  # fmt: skip
    closing: ClassVar[frozenset[str]] = frozenset({"batch_given", "pass_ended"})

    def __init__(self) -> None:
        super().__init__()
        self._undo: dict[str, Any] = {}

    def install(self) -> None:
        self.changed()

    def remove(self) -> None:
        self.changed()

    def changed(self) -> None:
        """Each door is there while somebody listens at it."""
        self._door("__init__", dataloader.DataLoader, self._make, self.loader_made)
        self._door("__iter__", dataloader.DataLoader, self._iterate, (self.pass_asked, self.pass_began))
        asked = self.batch_asked or self.batch_given or self.pass_ended
        self._door("__next__", dataloader._BaseDataLoaderIter, self._ask, asked)

    def _door(self, name: str, owner: Any, layer: Any, wanted: Any) -> None:
        wanted = any(wanted) if isinstance(wanted, tuple) else wanted
        if wanted and name not in self._undo:
            self._undo[name] = patches.install(owner, name, layer, f"DataLoader.{name}")
        elif not wanted and name in self._undo:
            self._undo.pop(name)()

    def _make(self, make: Any) -> Any:
        @functools.wraps(make)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
            make(loader, *args, **kwargs)
            if self.loader_made:
                tell(self.loader_made, loader, sys._getframe(1))

        return __init__

    def _iterate(self, start: Any) -> Any:
        @functools.wraps(start)
        def __iter__(loader: Any) -> Any:
            ask(self.pass_asked, loader)
            iterator = start(loader)
            tell(self.pass_began, loader, iterator, sys._getframe(1))
            return iterator

        return __iter__

    def _ask(self, give: Any) -> Any:
        wall, own = clocks.perf_counter, clocks.thread_time

        @functools.wraps(give)
        def __next__(iterator: Any) -> Any:
            ask(self.batch_asked, iterator)
            wall_began, own_began = wall(), own()
            try:
                batch = give(iterator)
            except StopIteration:
                tell(self.pass_ended, iterator)
                raise
            tell(self.batch_given, iterator, batch, wall() - wall_began, own() - own_began)
            return batch

        return __next__
