"""What a stored run was: the script it ran and what was found in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.diagnose.edits.apply import read_source
from stepscope.diagnose.edits.spans import digest
from stepscope.errors import Conflict, NotFound
from stepscope.launch.fixing.version import Target
from stepscope.records import Finding

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


def target_of(folder: RunFolder) -> Target:
    """The script of a run, as it was called."""
    meta = folder.meta
    if not meta.script:
        raise NotFound(f"run {folder.name!r} was not recorded from a script; name the script: stepscope fix train.py")
    cwd = Path(meta.cwd) if meta.cwd and os.path.isdir(meta.cwd) else Path.cwd()
    script = os.path.join(cwd, meta.script)
    if not os.path.isfile(script):
        raise NotFound(f"the script of run {folder.name!r}, {meta.script}, is no longer on this machine")
    words = list(meta.command)
    named = [at for at, word in enumerate(words) if os.path.basename(word) == os.path.basename(script)]
    return Target(script, tuple(words[named[-1] + 1 :] if named else ()), cwd)


def findings_of(folder: RunFolder) -> list[Finding]:
    """What the rules find in it, with edits for files that are as they were."""
    from stepscope.diagnose.settings import load_settings
    from stepscope.diagnose.stored.engine import diagnose_run

    found = diagnose_run(folder, load_settings()).findings
    for change in (change for one in found for edit in one.edits for change in edit.changes):
        if digest(read_source(change.file)) != change.sha256:
            raise Conflict(f"{change.file} has changed since run {folder.name!r}; use: stepscope fix {change.file}")
    return found
