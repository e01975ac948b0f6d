"""`stepscope sync` beside a training, if the user is logged in to a server.

It is a detached process: the training has no socket or thread for it and never waits for it, so a dead, slow or
malicious server cannot affect the training. One process at a time follows a store, until its runs have ended and are
sent.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stepscope.common.config_files import servers_file
from stepscope.fence import fenced

OFF = "STEPSCOPE_SYNC"
"""Set to 0 to disable automatic sending."""
_PASSED_ON = ("STEPSCOPE_CONFIG", "STEPSCOPE_CACHE", "STEPSCOPE_SHARED")
_started: list[subprocess.Popen[bytes]] = []


@fenced("starting `stepscope sync`")
def start_sync(store: Path) -> None:
    """Send the runs of a store from now on, if there is a server to send them to."""
    if os.environ.get(OFF) == "0" or not servers_file().is_file():
        return
    silent = subprocess.DEVNULL
    ours = {
        name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_") or name in _PASSED_ON
    }
    words = [sys.executable, "-m", "stepscope", "sync", str(store.absolute()), "--beside"]
    _started.append(
        subprocess.Popen(
            words,
            stdin=silent,
            stdout=silent,
            stderr=silent,
            cwd=os.sep,  # not where a user's module could shadow ours
            env={**ours, OFF: "0"},
            start_new_session=True,
        )
    )
