"""Which source runs in a replay: the files on this disk if they are the same, else those in the capsule."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from stepscope.errors import BadData, NotFound
from stepscope.files.opening import read_file
from stepscope.launch.capsule.load import Capsule
from stepscope.launch.capsule.manifest import Manifest, Source
from stepscope.launch.capsule.sources import project_root, sha256_of
from stepscope.launch.script import Script

_LARGEST = 64 << 20

State = Literal["same", "changed", "gone"]


class Compared(NamedTuple):
    """A source of the capsule beside the file of that name on this disk."""

    source: Source
    state: State


class Stage(NamedTuple):
    """What will run, and from where."""

    script: Script
    from_capsule: bool
    folder: str


def compare_sources(manifest: Manifest) -> list[Compared]:
    """Each source: the same on this disk, changed since, or gone."""
    found = []
    for source in manifest.sources:
        try:
            same = sha256_of(read_file(source.path, _LARGEST)) == (source.original_sha256 or source.sha256)
        except (OSError, ValueError):
            found.append(Compared(source, "gone"))
            continue
        found.append(Compared(source, "same" if same else "changed"))
    return found


@contextmanager
def staged(capsule: Capsule, *, current: bool) -> Iterator[Stage]:
    """Have the script ready to run; the process is put back afterward.

    `current` takes the files as they are on the disk now, to see whether a change has fixed the step.
    """
    manifest = capsule.manifest
    from_capsule = not current and any(one.state != "same" for one in compare_sources(manifest))
    argv, path, cwd, modules = list(sys.argv), list(sys.path), os.getcwd(), dict(sys.modules)
    with tempfile.TemporaryDirectory(prefix="stepscope-replay-") as folder, _environment(manifest):
        try:
            if os.path.isdir(manifest.cwd):
                os.chdir(manifest.cwd)
            _set_path(manifest, folder if from_capsule else None)
            if from_capsule:
                _write_sources(capsule, Path(folder))
            yield Stage(_script(manifest, folder if from_capsule else None), from_capsule, os.getcwd())
        finally:
            os.chdir(cwd)
            sys.argv[:], sys.path[:] = argv, path
            sys.modules["__main__"] = modules["__main__"]


def _root(manifest: Manifest) -> str:
    return project_root([source.path for source in manifest.sources])


def _moved(path: str, root: str, folder: str) -> str | None:
    """Where a file or folder of the project lies in the staged copy."""
    relative = os.path.relpath(path, root)
    return None if relative.startswith("..") else os.path.normpath(os.path.join(folder, relative))


def _write_sources(capsule: Capsule, folder: Path) -> None:
    for source in capsule.manifest.sources:
        target = folder.joinpath(*Path(source.inner).parts[1:])
        if not target.resolve().is_relative_to(folder.resolve()):
            raise BadData(f"the capsule cannot be trusted: it would write '{source.inner}' elsewhere")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(capsule.source(source.inner, source.sha256))


def _set_path(manifest: Manifest, folder: str | None) -> None:
    """The user's folders first, as they were; in a staged copy its folders before them."""
    known = set(sys.path)
    own = [path for path in manifest.path if os.path.isdir(path) and path not in known]
    if folder is not None:
        root = _root(manifest)
        staged = [_moved(path, root, folder) for path in manifest.path]
        own = [path for path in dict.fromkeys([*staged, folder]) if path is not None] + own
    sys.path[:] = [*own, *sys.path] if own else list(sys.path)


def _script(manifest: Manifest, folder: str | None) -> Script:
    if not manifest.script:
        raise NotFound("the capsule does not say which script ran; it was not made by `stepscope run`")
    if manifest.is_module:
        try:
            spec = importlib.util.find_spec(manifest.script)
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{manifest.script}.__main__")
        if spec is None or spec.origin is None:
            raise NotFound(f"module {manifest.script!r} is not on this machine; replay it in its project's folder")
        return Script(spec.origin, (spec.origin, *manifest.argv), sys.path[0], spec)
    path = manifest.script
    if folder is not None:
        path = _moved(path, _root(manifest), folder) or path
    if not os.path.isfile(path):
        raise NotFound(f"the script '{path}' is not on this disk, and its text is not in the capsule")
    return Script(path, (path, *manifest.argv), os.path.dirname(os.path.realpath(path)))


@contextmanager
def _environment(manifest: Manifest) -> Iterator[None]:
    """Alone in the job: a rank of many is replayed as a job of one."""
    changes: dict[str, str] = {}
    if manifest.facts.get("WORLD_SIZE", "1") != "1":
        changes = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
        changes["MASTER_PORT"] = str(_free_port())
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
