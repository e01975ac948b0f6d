"""Where a user's settings are stored, independent of any project."""

from __future__ import annotations

import os
from pathlib import Path


def servers_file() -> Path:
    """The servers a user has logged in to: `$STEPSCOPE_CONFIG/servers.json`, by default in `~/.config/stepscope`."""
    given = os.environ.get("STEPSCOPE_CONFIG")
    if given:
        return Path(given) / "servers.json"
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "stepscope" / "servers.json"
