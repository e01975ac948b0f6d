"""Files that another tracker keeps: we note their names and where they lie, and copy nothing while the script waits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.common import clocks
from stepscope.records import Artifact, ArtifactFile
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

_MOST_FILES = 1_000


def noted(name: str, kind: str, files: Mapping[str, str], aliases: Any, step: int) -> Artifact:
    """An artifact of references: inner path -> place."""
    from stepscope.runs.artifacts import digest_of  # it comes with numpy, for which a script may have settings to make

    listed = [_file(inner, place) for inner, place in list(files.items())[:_MOST_FILES]]
    given = [aliases] if isinstance(aliases, str) else [str(alias) for alias in aliases]
    metadata = {} if len(files) <= _MOST_FILES else {"files in all": len(files)}
    clean = "".join(letter if letter.isprintable() and letter != ":" else "-" for letter in as_name(name))[:200]
    return Artifact(
        time=clocks.time(),
        name=clean or "artifact",
        type=as_name(kind),
        version=0,
        digest=digest_of(listed),
        files=listed,
        aliases=given,
        metadata=metadata,
        step=step,
    )


def _file(inner: str, place: str) -> ArtifactFile:
    import mimetypes

    try:
        size = os.stat(place).st_size
        place = os.path.abspath(place)
    except (OSError, ValueError):
        size = 0
    mime = mimetypes.guess_type(inner)[0] or "application/octet-stream"
    return ArtifactFile(path=as_name(inner), sha256="", size=size, mime=mime, reference=mask_text(as_name(place)))


def files_in(folder: Path) -> dict[str, str]:
    """The files below a folder (or the file itself) by their inner paths."""
    if folder.is_file():
        return {folder.name: str(folder)}
    found: dict[str, str] = {}
    for where, inner, names in os.walk(folder):
        inner.sort()
        for name in sorted(names):
            path = Path(where) / name
            found[path.relative_to(folder).as_posix()] = str(path)
            if len(found) > _MOST_FILES:
                return found
    return found
