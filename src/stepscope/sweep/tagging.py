"""Leaving a word in the folder of a run that the sweep has stopped, so that its page says why."""

from __future__ import annotations

import time

from stepscope.records import Alert, TagsChange
from stepscope.runs.read.folder import RunFolder
from stepscope.track.masked_writer import MaskedWriter


def tag_run(folder: RunFolder, tag: str, reason: str) -> None:
    """Add the tag, and the reason as an alert that notifies nobody: to prune is a sweep's everyday work."""
    writer = MaskedWriter(folder.path, run_id=folder.id, role="edit", heartbeat_s=0, fsync_s=0)
    writer.event(TagsChange(time=time.time(), add=[tag]))
    said = Alert(time=time.time(), title=f"stopped by the sweep: {tag}", text=reason, level="info", quiet=True)
    writer.event(said)
    writer.close()
