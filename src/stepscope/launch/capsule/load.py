"""A capsule opened again: found in a run or a folder, every file checked, nothing in it run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stepscope.errors import BadData, NotFound, UnsafeFile
from stepscope.files.opening import plain_size, read_file
from stepscope.launch.capsule.manifest import Manifest, read_manifest
from stepscope.launch.capsule.sources import sha256_of
from stepscope.runs.artifacts import check_inner_path, restore

if TYPE_CHECKING:
    from stepscope.inspect.safetensors import StoredTensor
    from stepscope.records import Artifact
    from stepscope.runs.read.folder import RunFolder

_LARGEST_MANIFEST = 256 << 20
_LARGEST_SOURCE = 64 << 20


class Capsule:
    """An opened capsule; close it (or use `with`) to remove the copy it was read from."""

    def __init__(self, folder: Path, copy: tempfile.TemporaryDirectory[str] | None = None) -> None:
        self.folder = folder
        self._copy = copy
        described = folder / "capsule.json"
        try:
            raw = read_file(described, _LARGEST_MANIFEST, within=folder)
        except OSError as fault:
            raise NotFound(f"'{folder}' holds no capsule: capsule.json cannot be read ({fault.strerror})") from None
        self.manifest: Manifest = read_manifest(raw, str(described))
        self._stored: dict[str, StoredTensor] | None = None
        self._read: dict[tuple[str, tuple[int, ...] | None], Any] = {}

    def tensor(self, name: str, order: list[int] | None) -> Any:
        """One tensor by its name in the capsule; the same name is the same tensor."""
        from stepscope.launch.capsule.tensors import open_tensors, read_tensor

        if self._stored is None:
            path = self.folder / "tensors.safetensors"
            if plain_size(path) is None:
                raise NotFound(f"the capsule in '{self.folder}' has no tensors.safetensors")
            self._stored = open_tensors(path)
        if name not in self._stored:
            raise BadData(f"the capsule refers to a tensor {name!r} that its file does not contain; was it changed?")
        key = (name, None if order is None else tuple(order))
        if key not in self._read:
            self._read[key] = read_tensor(self._stored[name], order)
        return self._read[key]

    def source(self, inner: str, sha256: str) -> bytes:
        """The text of one of the user's files, checked against its hash."""
        path = self.folder / check_inner_path(inner)
        try:
            content = read_file(path, _LARGEST_SOURCE, within=self.folder)
        except UnsafeFile:
            raise
        except OSError as fault:
            raise NotFound(f"the capsule lacks its file '{inner}' ({fault.strerror})") from None
        if sha256_of(content) != sha256:
            raise BadData(f"'{inner}' of the capsule differs from the file that was saved: its hash does not match")
        return content

    def close(self) -> None:
        self._stored, self._read = None, {}
        if self._copy is not None:
            self._copy.cleanup()

    def __enter__(self) -> Capsule:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def capsules_of(run: RunFolder) -> list[Artifact]:
    """The capsules of a run, oldest first."""
    return [artifact for artifact in run.artifacts if artifact.type == "capsule"]


def open_capsule(run: RunFolder, *, step: int | None = None, rank: int | None = None) -> Capsule:
    """A run's capsule: the newest, or that of a step or rank."""
    there = capsules_of(run)
    if not there:
        raise NotFound(
            f"run {run.name!r} has no capsule; `stepscope run` keeps one when a step raises an error or its loss or "
            "gradient is not finite"
        )
    fitting = [one for one in there if _fits(one, step, rank)]
    if not fitting:
        names = ", ".join(one.name for one in there)
        raise NotFound(f"run {run.name!r} has no capsule of that step and rank; it has {names}")
    copy = tempfile.TemporaryDirectory(prefix="stepscope-capsule-")
    try:
        restore(run.path, max(fitting, key=_most_telling), copy.name)
        return Capsule(Path(copy.name), copy)
    except BaseException:
        copy.cleanup()
        raise


def _most_telling(artifact: Artifact) -> tuple[int, bool, float]:
    """The latest step; of its ranks one whose own loss or code failed, and not only the shared gradient."""
    notes = artifact.metadata
    return int(notes.get("step", 0)), notes.get("why") != "gradient", artifact.time


def _fits(artifact: Artifact, step: int | None, rank: int | None) -> bool:
    notes = artifact.metadata
    return (step is None or notes.get("step") == step) and (rank is None or notes.get("rank", 0) == rank)


def open_folder(folder: Path) -> Capsule:
    """A capsule that was copied out of a run (`stepscope restore RUN capsule-step-12`)."""
    return Capsule(folder)
