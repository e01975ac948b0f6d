"""Build hook: a wheel always contains the built web app, so that nobody who installs Stepscope needs Node.

`make setup` has usually built it already. Otherwise it is built here with npm from the PATH; where there is none the
build stops with what to do, rather than shipping a package without its pages.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebAppHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # scripts/setup builds the app itself, after this
            return
        root = Path(self.root)
        if (root / "src/stepscope/server/static/index.html").exists():
            return
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError(
                "the web app is not built and there is no npm to build it: run 'make setup' first, "
                "or install Node 20.19 or newer"
            )
        for arguments in (["install", "--no-save", "--no-audit", "--no-fund"], ["run", "build"]):
            subprocess.run([npm, *arguments], cwd=root / "web", check=True)
