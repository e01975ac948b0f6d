"""Files of a run: `wandb.save`, `wandb.restore`, `run.dir` and the code. Each is stored as an artifact of the run."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from glob import glob as matching
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope import fence
from stepscope.runs.artifacts import read_artifacts, restore as write_out
from stepscope.track.messages import say_once
from stepscope.wandb import artifacts
from stepscope.wandb.public import Api

if TYPE_CHECKING:
    from stepscope.wandb.handle import Run

FOLDER = "wandb-files"
_POLICIES = ("now", "live", "end")
_SKIPPED = {"stepscope-runs", "wandb", "node_modules", "__pycache__", ".git", ".venv", "venv"}


class Files:
    """Which of a run's files to store, now and at its end."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._at_end: dict[str, Path] = {}
        self._folder: Path | None = None

    @property
    def folder(self) -> Path:
        """Created on first use: most runs need none."""
        if self._folder is None:
            path = self._run._run.path
            if path is None:
                self._folder = Path(tempfile.mkdtemp(prefix="stepscope-off-"))
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            else:
                self._folder = path / FOLDER
                self._folder.mkdir(mode=0o700, exist_ok=True)
        return self._folder

    def save(self, glob_str: Any, base_path: Any, policy: str, glob: bool) -> bool | list[str]:
        if policy not in _POLICIES:
            raise ValueError(f"policy {policy!r} is unknown; use one of {', '.join(_POLICIES)}")
        return True if glob_str is None else self._saved(glob_str, base_path, policy, glob)

    @fence.fenced("wandb.save()", default=False)
    def _saved(self, glob_str: Any, base_path: Any, policy: str, glob: bool) -> bool | list[str]:
        pattern = os.fspath(glob_str)
        found = [Path(each) for each in (matching(pattern) if glob else [pattern]) if os.path.isfile(each)]
        if not found:
            say_once(("wandb", "save", pattern), f"wandb.save({pattern!r}) matches no file")
        kept = []
        for path in found:
            name = self._name(path, pattern, base_path)
            if policy != "end":
                self._keep(name, path)
            if policy != "now":
                self._at_end[name] = path.absolute()
            kept.append(str(path.absolute()))
        return kept

    def _name(self, path: Path, pattern: str, base_path: Any) -> str:
        """Relative to `base_path`; without one, a relative path keeps its folders and an absolute one its name."""
        absolute = path.absolute()
        if base_path is not None:
            base = Path(base_path).absolute()
            return absolute.relative_to(base).as_posix() if absolute.is_relative_to(base) else path.name
        if self._folder is not None and absolute.is_relative_to(self._folder):
            return absolute.relative_to(self._folder).as_posix()
        return path.name if path.is_absolute() or ".." in path.parts else path.as_posix()

    def _keep(self, name: str, path: Path) -> None:
        self._run._run.log_artifact({name: path}, name.replace(":", "-"), "file")

    def keep_all(self) -> None:
        """At the end: store the files registered for it, and those in the run's own folder."""
        for name, path in self._at_end.items():
            if path.is_file():
                self._keep(name, path)
        if self._folder is not None and self._run._run.path is not None:
            for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
                name = path.relative_to(self._folder).as_posix()
                if name not in self._at_end:
                    self._keep(name, path)


def restore(run: Run | None, name: str, run_path: str | None, replace: bool, root: str | None) -> Any:
    """Write a stored file out and open it; W&B's errors for a missing one."""
    if run is None and run_path is None:
        raise ValueError("wandb.restore() needs run_path= or an open run: call wandb.init() first")
    folder = _folder_of(run, run_path)
    own_folder = Path.cwd() if run is None else run._files.folder
    where = own_folder if root is None else Path(root)
    target = where / name
    if target.is_file() and not replace:
        return open(target)
    if folder is None:
        return None
    for artifact in reversed(read_artifacts(folder)):
        files = [file for file in artifact.files if file.path == name]
        if files:
            write_out(folder, msgspec.structs.replace(artifact, files=files), where, overwrite=True)
            return open(target, errors="surrogateescape")
    searched = run_path or ("" if run is None else run.path)
    raise ValueError(f"File {name} not found in run {searched}")


def _folder_of(run: Run | None, run_path: str | None) -> Path | None:
    if run is not None and run_path is None:
        return run._run.path
    return Api().run(run_path or "").folder


def is_code(path: str, root: str | None = None) -> bool:
    name = os.path.basename(path)
    return name.endswith(".py") or name.startswith(("requirements", "Dockerfile"))


def is_ours(path: str, root: str | None = None) -> bool:
    """Folders that are not part of the script's code."""
    inner = os.path.relpath(path, root) if root else path
    return bool(_SKIPPED & set(Path(inner).parts))


def log_code(
    run: Run, root: str | None, name: str | None, include: Callable[..., bool], exclude: Callable[..., bool]
) -> artifacts.Artifact | None:
    """Store the source files below a folder."""
    top = os.path.abspath(root or ".")
    artifact = artifacts.Artifact(name or f"source-{run.project}".replace("/", "-"), "code")
    for path in _walk(top):
        if _says(include, path, top) and not _says(exclude, path, top):
            artifact.add_file(path, os.path.relpath(path, top).replace(os.sep, "/"), policy="immutable")
    if not artifact.manifest.entries:
        say_once(("wandb", "log_code"), f"wandb.log_code() found no source files in {top}")
        return None
    return run.log_artifact(artifact)


def _walk(top: str) -> Iterator[str]:
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(each for each in inner if each not in _SKIPPED)
        yield from (os.path.join(folder, name) for name in sorted(names))


def _says(function: Callable[..., bool], path: str, root: str) -> bool:
    """W&B accepts functions of the path, and of the path and the root."""
    import inspect

    try:
        count = len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        count = 1
    return bool(function(path, root) if count >= 2 else function(path))
