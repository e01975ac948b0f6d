"""What every part of a session may know: the script, what was asked for, the run, the loop, and whom to tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.diagnose.settings import load_settings
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.loop import Loop
from stepscope.launch.options import Options
from stepscope.launch.rank_notes import RankNotes
from stepscope.launch.reporting import Reporter
from stepscope.launch.script import Script
from stepscope.launch.tracking import Tracking
from stepscope.track import ranks

if TYPE_CHECKING:
    from stepscope.records.verdict import ScriptVerdict


class Around:
    """Shared by all parts. Nothing in it knows any of them."""

    def __init__(self, script: Script, options: Options, *, dry: bool = False) -> None:
        self.script = script
        self.options = options
        self.is_dry = dry or options.check or options.limits.fast_dev_run is not None
        place = ranks.place()
        self.rank, self.world = place.rank, place.world_size
        self.settings = load_settings(
            script.path,
            select=options.select,
            ignore=options.ignore,
            strict=options.strict or None,
            project=options.project,
            dir=None if options.dir is None else str(options.dir),
        )
        self.tracking = Tracking(
            script.path,
            project=self.settings.project,
            name=options.name,
            dir=None if self.settings.dir is None else Path(self.settings.dir),
            on=options.record and not self.is_dry,
        )
        self.rank_notes = RankNotes()
        record = self.rank_notes.once(self.tracking.event)
        self.reporter = Reporter(options, self.settings, record, speaks=self.rank == 0, script=script.path)
        self.loop = Loop()
        self.imports = Imports()
        self.installed = Installed()
        """What is taken away when the script is over, whoever has put it there."""
        self.judged: ScriptVerdict | None = None
        """How the script came off, once it is over."""

    @property
    def keeps(self) -> bool:
        """Whether there is a run to keep things in."""
        return self.options.record and not self.is_dry

    @property
    def keeps_traceback(self) -> bool:
        """Whether a whole traceback is in the run, so that the terminal may show the user's frames alone."""
        return self.keeps and self.tracking.run is not None and not self.tracking.is_dropped

    def run_folder(self) -> Path | None:
        run = self.tracking.run
        return None if run is None else run.path

    def shared_folder(self) -> Path | None:
        """The run's folder that all ranks share, also where this one's logs stay on its node."""
        run = self.tracking.run
        joining = None if run is None else run._joining
        return self.run_folder() if joining is None else joining.shared or self.run_folder()

    def exit_code(self) -> int:
        """For a script that ended well."""
        return 1 if self.reporter.fails else 0
