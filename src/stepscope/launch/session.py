"""One launched script: a list of parts around it, from `begin` to `close`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from stepscope.launch.options import Options


class Session:
    """Calls the parts at their moments: in the order of the list, and at the end from the last to the first.

    Nothing of it raises into the script.
    """

    def __init__(self, around: Around, parts: Sequence[Part], exit_code: Callable[[], int] | None = None) -> None:
        self.around = around
        self._parts = parts
        self._exit_code = exit_code or around.exit_code
        self._over = False
        self._pid = os.getpid()

    @property
    def options(self) -> Options:
        return self.around.options

    def begin(self) -> None:
        """Arrange everything; nothing of torch is imported before the script does."""
        for part in self._parts:
            fence.call("preparing the launch", part.begin)
        self.around.imports.when("torch", self._torch_came)

    def _torch_came(self, torch: ModuleType) -> None:
        if os.getpid() != self._pid:  # a forked child that imports it first
            return
        for part in self._parts:
            fence.call("hooking into torch", part.torch_came, torch)

    def conclude(self, error: BaseException | None) -> None:
        """The script has ended: ask the rules a last time, explain a crash, remove everything of Stepscope's.

        The run stays open: what `atexit` handlers print still belongs to it.
        """
        if self._over or os.getpid() != self._pid:  # a forked child that comes to the script's end
            return
        from stepscope.record.collector import Rested

        self._over = True
        ended = Ended(error)
        with Rested():
            for part in reversed(self._parts):
                fence.call(part.ending, part.end, ended)

    def close(self, error: BaseException | None) -> None:
        """The process is about to end this way."""
        for part in reversed(self._parts):
            fence.call("closing the run", part.close, error)

    @property
    def exit_code(self) -> int:
        """For a script that ended well."""
        return self._exit_code()
