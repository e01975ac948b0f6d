"""The live panel under a cell: drawn by a separate thread at a slow pace, left as an image when the run ends."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from stepscope import fence
from stepscope.notebook import frame, kernel
from stepscope.notebook.panel_html import bundle
from stepscope.notebook.run_overview import glance
from stepscope.runs.read.folder import RunFolder

if TYPE_CHECKING:
    from stepscope.track.run import Run

VARIABLE = "STEPSCOPE_PANEL"
FIRST_S = 0.4
EVERY_S = 1.0
SLOWEST_S = 10.0
PATIENCE_S = 1.0
"""How long the end of a cell waits for a drawing in progress."""
SHARE = 0.02
"""Fraction of time that may be spent on drawing: a panel that took 50 ms is redrawn after 2.5 s."""
_CALM = ((60.0, 1.0), (600.0, 2.0), (float("inf"), 5.0))
"""Minimum interval between redraws, up to this age of the run."""
_shown: set[Panel] = set()


def is_shown() -> bool:
    """Whether the panel of an open run is visible."""
    return bool(_shown)


def switch(on: bool) -> None:
    """Enable or disable panels from the next run on; child processes and later kernels are unaffected."""
    os.environ[VARIABLE] = "on" if on else "off"


def show(run: Run, wanted: bool | None, word: str = "") -> Panel | None:
    """Start a panel for a run that was just opened, if there is a notebook to show it.

    `wanted` is the argument of `init(panel=...)`; the default is STEPSCOPE_PANEL, else on.
    """
    if wanted is None:
        wanted = os.environ.get(VARIABLE, "on").lower() not in ("off", "0", "no", "false")
    if not wanted or run.path is None or run.rank or run.is_worker or kernel.shell() is None:
        return None
    panel = Panel(run.path, word)
    panel.start()
    run.after_end(panel.finish)
    return panel


class Panel:
    """One run's panel. Everything in it is fenced: an error is reported once and the training continues."""

    def __init__(self, path: Path, word: str = "") -> None:
        self._path = path
        self._word = word
        self._id = f"stepscope-{uuid4().hex}"
        self._folder: RunFolder | None = None
        self._began = time.monotonic()
        self._shown = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="stepscope-panel", daemon=True)
        self._pid = os.getpid()
        self._shell: Any | None = None
        self._drawing = threading.Lock()
        self._failed = False
        self._cell_end = self._at_cell_end  # a bound method is a new object at each access; this is the registered one

    def start(self) -> None:
        self._folder = RunFolder(self._path)  # here and not in the thread: nothing is imported beside the training
        self._draw(first=True)
        self._shell = kernel.shell()
        if self._shell is not None:
            self._shell.events.register("post_run_cell", self._cell_end)
        self._thread.start()
        _shown.add(self)

    def _at_cell_end(self, result: object) -> None:
        """Show what a cell logged last, even if the notebook is saved right after."""
        self._renew()

    def _follow(self) -> None:
        wait = FIRST_S
        while not self._stop.wait(wait):
            began = time.thread_time()
            self._renew()
            wait = self._pause(time.thread_time() - began)

    def _renew(self) -> None:
        """Draw again; not after an error, which would recur and has been reported."""
        if not self._failed:
            self._failed = fence.call("drawing the panel", self._draw) is None

    def _pause(self, cost_s: float) -> float:
        age = time.monotonic() - self._began
        calm = next(pause for limit, pause in _CALM if age < limit)
        return min(SLOWEST_S, max(EVERY_S, calm, cost_s / SHARE))

    def _draw(self, first: bool = False) -> bool:
        """Always True: a fence returns None after an error."""
        folder = self._folder
        if folder is None or os.getpid() != self._pid:  # in a forked child the notebook belongs to the parent
            return True
        if not self._drawing.acquire(timeout=PATIENCE_S):  # the thread is drawing right now, and is blocked
            return True
        try:
            folder.refresh()
            made = bundle(glance(folder), self._word, frame.page_of(self._path))
            if made["text/html"] != self._shown:
                self._shown = made["text/html"]
                kernel.publish(made, self._id, update=not first)
        finally:
            self._drawing.release()
        return True

    def finish(self) -> None:
        """The run is over: stop updating, and leave an image that stays with the notebook."""
        if os.getpid() != self._pid:
            return
        self._stop.set()
        _shown.discard(self)
        if self._shell is not None:
            fence.call("leaving the notebook", self._shell.events.unregister, "post_run_cell", self._cell_end)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5.0)
        self._renew()
        self._folder = None
