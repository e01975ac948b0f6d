"""In a dry run nothing is saved: what the script writes with torch.save and its kin goes to a temporary folder.

A script that loads its best checkpoint again at the end still finds it: `torch.load` of such a path reads the copy.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports

# package -> (attribute, position of the path among the arguments, its name)
_WRITERS = {
    "torch": [("save", 1, "f")],
    "torch.jit": [("save", 1, "f")],
    "safetensors.torch": [("save_file", 1, "filename"), ("save_model", 1, "filename")],
    "safetensors.numpy": [("save_file", 1, "filename")],
    "torchvision.utils": [("save_image", 1, "fp")],
    "numpy": [("save", 0, "file"), ("savez", 0, "file"), ("savez_compressed", 0, "file"), ("savetxt", 0, "fname")],
    "joblib": [("dump", 1, "filename")],
    "matplotlib.figure": [("Figure.savefig", 1, "fname")],
    "PIL.Image": [("Image.save", 1, "fp")],
}
_READERS = {
    "torch": [("load", 0, "f")],
    "torch.jit": [("load", 0, "f")],
    "safetensors.torch": [("load_file", 0, "filename"), ("load_model", 1, "filename")],
    "numpy": [("load", 0, "file")],
    "joblib": [("load", 0, "filename")],
}


class NothingSaved:
    """Keeps a script's files away from the disk it means, until `remove`."""

    def __init__(self, imports: Imports, say: Callable[[str], None]) -> None:
        self.redirected: dict[str, str] = {}
        """Where each file was to go, and where it is."""
        self._say = say
        self._folder: str | None = None
        self._installed = Installed()
        self._left_over: list[str] = []
        """Folders of checkpoints that a trainer has made: without their weights they are none."""
        imports.when("transformers.trainer", self._hook_trainer)
        for package in {*_WRITERS, *_READERS}:
            imports.when(package, lambda module, package=package: self._hook(package))  # type: ignore[misc]

    def remove(self) -> None:
        self._installed.remove()
        for folder in self._left_over:
            shutil.rmtree(folder, ignore_errors=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _hook_trainer(self, module: Any) -> None:
        def saves(frame: FrameType, trainer: Any, *args: Any, **kwargs: Any) -> None:
            folder = os.path.abspath(os.path.join(trainer.args.output_dir, f"checkpoint-{trainer.state.global_step}"))
            if not os.path.exists(folder):
                self._left_over.append(folder)

        who = "keeping a checkpoint from being saved"
        self._installed.before("transformers.trainer:Trainer._save_checkpoint", who, saves, owner=module.Trainer)

    def _hook(self, package: str) -> None:
        for table, redirect in ((_WRITERS, self._elsewhere), (_READERS, self._copy_of)):
            for path, position, name in table.get(package, ()):
                self._installed.wrap(f"{package}:{path}", _with_path(position, name, redirect))

    def _elsewhere(self, path: str) -> str:
        known = self.redirected.get(path)
        if known is not None:
            return known
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="stepscope-dry-")
            self._say(f"nothing is saved in a dry run: {os.path.basename(path)} and later files are not written")
        place = os.path.join(self._folder, f"{len(self.redirected)}-{os.path.basename(path)}")
        self.redirected[path] = place
        return place

    def _copy_of(self, path: str) -> str:
        return self.redirected.get(path, path)


def _with_path(position: int, name: str, redirect: Callable[[str], str]) -> Callable[[Any], Any]:
    """A layer that passes the path argument through `redirect`; open files and buffers stay as they are."""
    safe = fence.fenced("keeping a file from being saved")(redirect)

    def layer(function: Any) -> Any:
        @wraps(function)
        def elsewhere(*args: Any, **kwargs: Any) -> Any:
            given = kwargs[name] if name in kwargs else args[position] if len(args) > position else None
            if isinstance(given, str | os.PathLike):
                place = safe(os.path.abspath(os.fspath(given)))
                if place is not None and place != os.path.abspath(os.fspath(given)):
                    if name in kwargs:
                        kwargs[name] = place
                    else:
                        args = (*args[:position], place, *args[position + 1 :])
            return function(*args, **kwargs)

        return elsewhere

    return layer
