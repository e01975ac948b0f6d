"""Putting an output where it was asked for: whole or not at all, and `-` for the standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from stepscope.errors import StorageError
from stepscope.records import Edit, Finding

_kept: int | None = None


def keep_stdout() -> None:
    """From now on standard output is ours: what the script and its processes print there goes to standard error.

    For the rest of the process: a document that a program reads must stand alone, whatever is printed after it.
    """
    global _kept
    if _kept is None and sys.stdout is not None and sys.stderr is not None:
        sys.stdout.flush()
        _kept = os.dup(1)
        os.dup2(2, 1)


def place(data: str, path: str | os.PathLike[str]) -> None:
    """Replace the file at once, so that whoever reads it meanwhile, or after a crash, finds the old or the new one."""
    if os.fspath(path) == "-":
        _print(data)
        return
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():  # a pipe or a device is written to, not replaced
            with target.open("w", encoding="utf-8") as file:
                file.write(data)
            return
        _replace(Path(os.path.realpath(target)), data.encode("utf-8"))
    except OSError as fault:
        raise StorageError(f"{target} could not be written: {fault.strerror or fault}; choose another file") from fault


def _print(data: str) -> None:
    if _kept is None:
        sys.stdout.write(data)
        sys.stdout.flush()
        return
    rest = memoryview(data.encode("utf-8"))
    while rest:
        rest = rest[os.write(_kept, rest) :]


def _replace(target: Path, data: bytes) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def relative_to(root: Path, file: str) -> str:
    """The path as others know it: from the root with forward slashes; as it is when it lies elsewhere."""
    if not os.path.isabs(file):
        return file.replace(os.sep, "/")
    try:
        seen = os.path.relpath(file, root)
    except ValueError:  # another drive
        return Path(file).as_posix()
    return Path(file).as_posix() if seen.startswith("..") else seen.replace(os.sep, "/")


def with_paths(finding: Finding, turned: Callable[[str], str]) -> Finding:
    """A finding with all its paths turned: its own, its related places' and its edits'."""

    def edit(one: Edit) -> Edit:
        return replace(one, changes=[replace(change, file=turned(change.file)) for change in one.changes])

    return replace(
        finding,
        file=turned(finding.file) if finding.file else finding.file,
        related=[replace(one, file=turned(one.file)) for one in finding.related],
        edits=[edit(one) for one in finding.edits],
    )
