"""Build hook: a wheel always contains the built web app, so that nobody who installs Stepscope needs Node.

`make setup` has usually built it already. Otherwise it is built here with npm from the PATH; where there is none the
build stops with what to do, rather than shipping a package without its pages.

Where there is a C compiler the wheel also has the compiled trace scanner, and is one for this platform; else it is for
every platform, and reads traces with msgspec alone.
"""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sysconfig
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
            self.add_scanner(root, build_data)
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

    def add_scanner(self, root: Path, build_data: dict[str, Any]) -> None:
        script = root / "scripts/build-scanner"
        if not script.exists():
            return
        made = runpy.run_path(str(script))
        self.folder = tempfile.TemporaryDirectory(prefix="stepscope-scanner-")  # gone with the hook, after the build
        built = Path(self.folder.name) / f"_scanner{made['SUFFIX']}"
        if not made["build"](built):
            return
        build_data["force_include"][str(built)] = f"stepscope/profile/trace/{built.name}"
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
