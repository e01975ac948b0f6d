"""What is put into other packages as they are imported, and taken away when the script is over."""

from __future__ import annotations

import os

from stepscope import fence
from stepscope.launch.debug_switches import apply_switches
from stepscope.launch.dry_run_files import FolderKept
from stepscope.launch.dry_run_saves import NothingSaved
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around


class Hooks(Part):
    """Waits for imports (`waits`); at the end everything that was installed on the way is taken away."""

    ending = "taking hooks away"

    def __init__(self, around: Around, *, waits: bool = True) -> None:
        self._imports, self._installed = around.imports, around.installed
        self._waits = waits

    def begin(self) -> None:
        if self._waits:
            self._imports.install()

    def end(self, ended: Ended) -> None:
        fence.call("taking hooks away", self._installed.remove)
        self._imports.remove()


class Switched(Part):
    """Deterministic, eager, without workers: what was asked for."""

    def __init__(self, around: Around) -> None:
        self._around = around

    def begin(self) -> None:
        around = self._around
        for notice in apply_switches(around.options.switches, around.imports, around.installed):
            around.reporter.note(notice)


class DryRun(Part):
    """Nothing is saved."""

    ending = "clearing the dry run's files"

    def __init__(self, around: Around) -> None:
        self._around = around
        self._saved: NothingSaved | None = None
        self._folder: FolderKept | None = None

    def begin(self) -> None:
        around = self._around
        if around.is_dry or around.options.no_save:
            self._saved = NothingSaved(around.imports, around.reporter.note)
            folders = [os.getcwd(), os.path.dirname(around.script.path)]
            self._folder = FolderKept(folders, around.reporter.note)

    def end(self, ended: Ended) -> None:
        if self._folder is not None:
            self._folder.remove()
        if self._saved is not None:
            self._saved.remove()
