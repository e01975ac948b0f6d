"""The user's own source files that a run has loaded: read as text, and compared with the disk later."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from stepscope.common.code_owner import is_own_file
from stepscope.launch.capsule.manifest import Source
from stepscope.track.secrets import mask_text

_LARGEST = 4 << 20
_MOST = 2000


def own_folders() -> list[str]:
    """The folders of the path that hold the user's own modules."""
    folders = [os.path.abspath(folder or os.curdir) for folder in sys.path if not folder.endswith(".zip")]
    return [folder for folder in folders if is_own_file(os.path.join(folder, "module.py"))]


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
