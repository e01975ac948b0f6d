"""A run beside the process's own: for programs that manage many trainings at once, like a tuner's driver.

It has a folder, a config, series and an end like every run. It records neither console nor machine, installs nothing
in the process, and `stepscope.log` does not use it: only its opener writes to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import stepscope
from stepscope.common import clocks
from stepscope.records import RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.track import messages
from stepscope.track.config import flatten, masked
from stepscope.track.environment import quick_facts
from stepscope.track.masked_writer import MaskedWriter
from stepscope.track.names import as_name, default_project, friendly_name
from stepscope.track.opening import DEFAULT_DIR, create_folder, open_off
from stepscope.track.run import Run
from stepscope.track.secrets import learn_from, mask_text
from stepscope.track.sink import RunSink


def open_detached(
    project: str | None = None,
    name: str | None = None,
    config: Any = None,
    tags: Iterable[str] = (),
    group: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    *,
    created: float | None = None,
    records: bool = True,
) -> Run:
    """Open a run that is not the current one; the caller finishes it. `created` is its start time, if not now.

    With `records=False` it discards everything.
    """
    learn_from(os.environ)
    flat = flatten(config)
    meta = RunMeta(
        id=new_run_id(),
        project=mask_text(as_name(project)) if project else default_project(),
        name=mask_text(as_name(name)) if name else friendly_name(),
        created=clocks.time() if created is None else created,
        config=masked(flat),
        tags=[mask_text(as_name(tag)) for tag in tags],
        group=None if group is None else mask_text(as_name(group)),
        stepscope=stepscope.__version__,
        **quick_facts(),
    )
    off = not records or os.environ.get("STEPSCOPE_MODE") == "off"
    store = Path(dir or os.environ.get("STEPSCOPE_DIR") or DEFAULT_DIR).absolute()
    path = None if off else create_folder(store, meta)
    if path is None:
        return open_off(meta, flat)
    writer = MaskedWriter(path, run_id=meta.id, on_problem=messages.say)
    return Run(meta, path, writer, RunSink(writer), config=flat)
