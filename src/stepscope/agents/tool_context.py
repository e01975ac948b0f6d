"""What every tool receives: the stores in their current state, and run lookup."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from stepscope.errors import NotFound
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.resolve import choose
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.live import Hub
from stepscope.views.open_runs import OpenRuns
from stepscope.views.series import LineCache

LOOK_S = 1.0
"""Maximum age of an answer: an agent that asks ten questions at once causes one listing."""


class Desk:
    """The stores of one server."""

    def __init__(self, stores: Sequence[Path], allow_edit: bool = False) -> None:
        self.catalogue = Catalogue(*stores)
        self.allow_edit = allow_edit
        self._context = Context(
            catalogue=self.catalogue,
            runs=OpenRuns(self.catalogue),
            lines=LineCache(),
            hub=Hub(),
            read_only=not allow_edit,
            edited=lambda runs: self._look(),
        )
        self._lock = threading.Lock()
        self._looked = float("-inf")

    @property
    def ctx(self) -> Context:
        """For the views; the stores were listed at most a second ago."""
        with self._lock:
            if time.monotonic() - self._looked > LOOK_S:
                self._look()
        return self._context

    def _look(self) -> None:
        self.catalogue.refresh()
        self._looked = time.monotonic()

    def id_of(self, run: str) -> str:
        """The id of the named run: by id, the beginning of one, name, `project/name`, `last`, `@2`."""
        entries = self.ctx.catalogue.every()
        if not entries:
            stores = ", ".join(map(str, self.catalogue.stores))
            raise NotFound(
                f"there are no runs in {stores} yet; record one with `stepscope run train.py` or stepscope.init(), "
                "or start the server with the right folder: stepscope mcp DIR"
            )
        return choose(run.strip(), entries).id

    def open(self, run: str) -> RunFolder:
        """The run itself, up to date."""
        return self.ctx.runs.get(self.id_of(run))

    def close(self) -> None:
        self.catalogue.close()
