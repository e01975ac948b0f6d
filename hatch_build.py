"""Build hook: a wheel always contains the built web app, so that nobody who installs Stepscope needs Node.

`make setup` has usually built it already. Otherwise it is built here with npm from the PATH; where there is none the
build stops with what to do, rather than shipping a package without its pages.

Where there is a C compiler the wheel also has what `scripts/build-compiled` builds, and is one for this platform and,
with Python's headers, this version of Python. Else, or with STEPSCOPE_PURE=1, it is for all of them, and Python does
the same work more slowly.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebAppHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # scripts/setup builds the app itself, after this
            return
        root = Path(self.root)
        if self.target_name == "wheel":
            self.add_compiled(root, build_data)
            build_data["force_include"][str(root / "examples")] = "stepscope/demo/scripts"  # for `stepscope demo`
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

    def add_compiled(self, root: Path, build_data: dict[str, Any]) -> None:
        script = root / "scripts/build-compiled"
        if not script.exists() or os.environ.get("STEPSCOPE_PURE"):
            return
        compiled = runpy.run_path(str(script))
        self.folder = tempfile.TemporaryDirectory(prefix="stepscope-compiled-")  # gone with the hook, after the build
        built: dict[Path, str] = compiled["build_all"](compiled["ALL"], Path(self.folder.name))
        if not built:
            return
        for path, source in built.items():
            inside = Path(source).relative_to("src").with_name(path.name)
            build_data["force_include"][str(path)] = inside.as_posix()
        build_data["pure_python"] = False
        build_data["tag"] = compiled["wheel_tag"](built.values())
