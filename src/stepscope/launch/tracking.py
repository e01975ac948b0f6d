"""The run folder of a launched script: Stepscope's own, or the one the script opens itself; never two."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.records import Event
from stepscope.track import session
from stepscope.track.config import flatten, plain
from stepscope.track.ending import Ending
from stepscope.track.logger import Logger
from stepscope.track.masked_writer import MaskedWriter
from stepscope.track.run import Run
from stepscope.track.sweep_assignment import offer_name

_OPENS_ITS_OWN = re.compile(
    rb"\bstepscope\s*\.\s*init\s*\(|from\s+stepscope\s+import[^\n]*\b(init|wandb)\b|\bstepscope\s*\.\s*wandb\b"
)
BESIDE = "watched/"
"""Before our names in a run that the script opened, so that they are never mistaken for its own."""


class Tracking:
    """Where the launcher's numbers, settings and findings go. Every call is safe without a run."""

    def __init__(self, script: str, *, project: str | None, name: str | None, dir: Path | None, on: bool) -> None:
        self._on = on
        self._named: dict[str, Any] = {"project": project, "name": name, "dir": dir}
        self._own: Run | None = None
        self._run: Run | None = None
        self._logger: Logger | None = None
        self._settings: dict[str, Any] = {}
        self._origins: dict[str, str] = {}
        self._base, self._last = 0, -1
        """The first step of this run in our own count, and the last one of all."""
        self.is_dropped = False
        """The run is removed when it ends."""
        self._waits = on and _opens_its_own(script)
        offer_name(name)

    @property
    def run(self) -> Run | None:
        """The run of the moment: the script's if it has one, else ours."""
        self._follow()
        return self._run

    @property
    def is_own(self) -> bool:
        return self._run is not None and self._run is self._own

    @fence.fenced("opening the run folder")
    def open(self) -> None:
        """Open our run, unless the script's text says that it will open one."""
        if self._on and not self._waits:
            self._open_own()

    @fence.fenced("opening the run folder")
    def ensure(self) -> None:
        """The script is training, or has ended: without a run of its own it gets ours now."""
        self._follow()
        if self._on and self._run is None:
            self._waits = False
            self._open_own()

    def _open_own(self) -> None:
        # The metering thread would import it: a child forked meanwhile inherits an import lock that is never released.
        import psutil  # noqa: F401

        self._own = session.init(**self._named)
        self._own.is_launched = True
        self._follow()

    def _follow(self) -> None:
        """Notice that the script has opened a run; ours, if nothing is in it yet, makes room."""
        now = session.current()
        if now is None or now is self._run:
            return
        if self._run is self._own is not None:
            fence.fenced("giving way to the script's run")(_discard)(self._own)
        self._run = now
        self._logger = Logger(now._sink)
        if self._settings:
            self._tell(self._settings, self._origins)

    def log(self, values: Mapping[str, Any], step: int) -> None:
        """Numbers at a step of our own count; the script's own counting is not disturbed."""
        self._follow()
        run, logger = self._run, self._logger
        if run is None or logger is None or run.is_finished:
            return
        self._last = max(self._last, step)
        step -= self._base if step >= self._base else 0
        if not self.is_own:
            values = {BESIDE + name: value for name, value in values.items()}
        logger.log(values, step)
        if self.is_own:
            run._logger.step = max(run._logger.step, step)  # what the console and the meters are put beside

    def settings(
        self, values: Mapping[str, Any], overrule: bool = False, origins: Mapping[str, str] | None = None
    ) -> None:
        """Hyper-parameters that were seen, and where each comes from; what the script itself gave its run stays.

        With `overrule` the script has changed what it said before (`wandb.config.update`).
        """
        self._follow()
        flat = flatten(values)
        fresh = {name: value for name, value in flat.items() if overrule or not self._knows(name, value, origins)}
        said = {name: origin for name, origin in (origins or {}).items() if name in fresh}
        self._settings.update(fresh)
        self._origins = {name: each for name, each in self._origins.items() if name not in fresh} | said
        self._tell(fresh, said)

    def _knows(self, name: str, value: Any, origins: Mapping[str, str] | None) -> bool:
        """Whether a setting was seen. A trainer's `lr` may be the `model/lr` of its command line."""
        if name in self._settings or origins is not None:
            return name in self._settings
        same = [known for known in self._settings if known.endswith(f"/{name}") and not known.startswith("optimizer")]
        return any(plain(self._settings[known]) == plain(value) for known in same)

    def _tell(self, values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
        run = self._run
        if run is None or run.is_finished or not values:
            return
        known = {} if self.is_own else dict(run.config)
        mine = {name: one for name, one in values.items() if name not in known or plain(known[name]) == plain(one)}
        run.config.take(mine, {name: said for name, said in origins.items() if name in mine})

    def another(self, number: int, group: str) -> None:
        """The script begins one of several jobs in one process (a multirun of Hydra): each is a run of its own."""
        self._named["group"] = Path(group).name
        if self._own is None or not self.is_own:
            return
        if self._last < self._base and self._own._logger.step == 0:
            self._own._end(Ending("finished", 0))
            _discard(self._own)
        else:
            self.close(Ending("finished", 0))
        self._settings, self._origins, self._base = {}, {}, self._last + 1
        self._run = self._logger = None
        name = self._named["name"]
        self._own = session.init(**{**self._named, "name": name and f"{name}-{number}"})
        self._own.is_launched = True
        self._follow()

    def summary(self, values: Mapping[str, Any]) -> None:
        """Summary values of the run."""
        self._follow()
        if self._run is not None and not self._run.is_finished:
            before = "" if self.is_own else BESIDE
            self._run.summary.update({f"{before}{name}": value for name, value in values.items()})

    def event(self, event: Event) -> None:
        """Something that happened. Also after the script has finished its run: it is written beside it."""
        self._follow()
        run = self._run
        if run is None:
            return
        if not run.is_finished:
            run._writer.event(event)
            return
        if run.path is None:
            return
        writer = MaskedWriter(run.path, run_id=run.id, role="worker", attempt=run.attempt, heartbeat_s=0, fsync_s=0)
        writer.event(event)
        writer.close()

    def after_fork(self) -> None:
        """In a child: its `log` calls are its own business."""
        self._on, self._run, self._own, self._logger = False, None, None, None

    def close(self, ending: Any = None) -> None:
        """End our own run, if the process's hooks have not; the script's is the script's."""
        if self._logger is not None:
            self._logger.flush()
        if self._own is not None and ending is not None:
            self._own._end(ending)

    @fence.fenced("removing an empty run")
    def drop_empty(self) -> None:
        """Remove our own run once it has ended: the script ended before it began, and nothing was logged."""
        own = self._own
        if own is not None and self._last < 0:
            self.is_dropped = True
            own.after_end(lambda: _discard(own))

    @property
    def seconds(self) -> float:
        return 0.0 if self._run is None else clocks.time() - self._run._meta.created


def _discard(run: Run) -> None:
    if run._logger.step == 0 and run.path is not None and run.is_finished:
        shutil.rmtree(run.path, ignore_errors=True)


def _opens_its_own(script: str) -> bool:
    try:
        return bool(_OPENS_ITS_OWN.search(Path(script).read_bytes()))
    except OSError:
        return False
