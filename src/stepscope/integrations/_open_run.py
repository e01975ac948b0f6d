"""The run an integration writes to: the open one, or one that it opens itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope.track import session
from stepscope.track.run import Run

__all__ = ["open_run"]

_opened: dict[str, object] = {}
"""The last run that an integration opened, by id, and for which one."""


def open_run(owner: object, named: Mapping[str, Any], *, afresh: bool = False) -> Run:
    """The open run, or else a new one named by `named` (the arguments of `stepscope.init`).

    A run opened by the script or `stepscope run` is always used. One opened by another trainer's integration is used
    too, unless a new training starts (`afresh`): two trainings in one process are then two runs. Invalid arguments in
    `named` raise, as in `stepscope.init`; this is before the first step.
    """
    run = session.current()
    if run is not None and not (afresh and run.id in _opened and _opened[run.id] is not owner):
        return run
    made = session.init(**{name: value for name, value in named.items() if value is not None})
    _opened.clear()
    _opened[made.id] = owner
    return made
