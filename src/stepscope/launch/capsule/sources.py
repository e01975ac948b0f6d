"""The user's own source files that a run has loaded: read as text, and compared with the disk later."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

import stepscope
from stepscope.launch.capsule.manifest import Source
from stepscope.track.secrets import mask_text

__all__ = ["inner_path", "is_own_file", "own_sources", "project_root", "sha256_of"]

_LARGEST = 4 << 20
_MOST = 2000
_LIBRARY = tuple(os.path.join(os.path.abspath(folder), "") for folder in set(sysconfig.get_paths().values()))
_OURS = os.path.join(os.path.dirname(os.path.abspath(stepscope.__file__)), "")


def is_own_file(path: str) -> bool:
    """Whether a file or folder is the user's, and not Python's, an installed package's or ours."""
    full = os.path.abspath(path)
    if "site-packages" in full or full.endswith(".zip"):
        return False
    if os.path.join(full, "").startswith((*_LIBRARY, _OURS)):
        return False
    return not any(full == folder or full.startswith(folder + os.sep) for folder in _installed_folders())


def _installed_folders() -> list[str]:
    """Folders on the path that packages were installed into (`pip install --target`): their files are nobody's own."""
    return [folder for folder in sys.path if folder and _holds_installed(folder)]


@lru_cache(maxsize=256)
def _holds_installed(folder: str) -> bool:
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def own_sources(script: str | None) -> tuple[list[Source], dict[str, bytes], list[str]]:
    """The files of the user's that are loaded: what they are, their bytes by inner path, and what was left out."""
    files = list(dict.fromkeys(_loaded(script)))
    root = project_root(files)
    sources: list[Source] = []
    contents: dict[str, bytes] = {}
    left_out: list[str] = []
    for file in files:
        try:
            content = Path(file).read_bytes()
        except OSError as fault:
            left_out.append(f"source {file}: {fault.strerror}")
            continue
        if len(content) > _LARGEST or len(sources) >= _MOST:
            left_out.append(f"source {file}: too large, or more than {_MOST} files")
            continue
        inner = inner_path(file, root)
        contents[inner] = shown = _without_secrets(content)
        original = "" if shown == content else sha256_of(content)
        sources.append(Source(path=file, inner=inner, sha256=sha256_of(shown), original_sha256=original))
    return sources, contents, left_out


def _without_secrets(content: bytes) -> bytes:
    try:
        return mask_text(content.decode()).encode()
    except UnicodeError:
        return content


def _loaded(script: str | None) -> Iterator[str]:
    if script and os.path.isfile(script):
        yield os.path.abspath(script)
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_own_file(file) and os.path.isfile(file):
            yield os.path.abspath(file)


def project_root(files: list[str]) -> str:
    """The folder that holds all of them."""
    if not files:
        return os.getcwd()
    try:
        return os.path.commonpath([os.path.dirname(file) for file in files])
    except ValueError:  # on several drives
        return os.path.dirname(files[0])


def inner_path(file: str, root: str) -> str:
    """Where a file's text lies in the capsule: below `source/`, as it lay below the project's folder."""
    relative = os.path.relpath(file, root)
    if relative.startswith(".."):
        relative = os.path.join("elsewhere", sha256_of(os.fsencode(os.path.dirname(file)))[:8], os.path.basename(file))
    return str(PurePosixPath("source", *Path(relative).parts))
