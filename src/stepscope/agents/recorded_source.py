"""The source stored in a run: the files of a saved step, and the lines around findings and recorded operations.

A run may come from anyone and name any file on this machine, so no file is ever opened by a path from a run: only
content inside the run folder is shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from stepscope.agents.words import cut
from stepscope.common.code_owner import is_library_path
from stepscope.common.units import listed
from stepscope.errors import NotFound, StepscopeError, UsageError
from stepscope.records import ArtifactFile
from stepscope.runs.read.folder import RunFolder

MAX_FILE = 4 << 20
MOST_FILES = 500
_SOURCE = "source/"
_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]{1,1000})", line (?P<line>\d{1,9})', re.MULTILINE)


@dataclass
class SourceFile:
    """One file as recorded: complete, or only some lines."""

    path: str
    whole: ArtifactFile | None = None
    """Its bytes, if a saved step has them."""
    lines: dict[int, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return self.whole is not None


def source_files(folder: RunFolder) -> dict[str, SourceFile]:
    """By path from the script's folder: the run's recorded source."""
    found: dict[str, SourceFile] = {}
    for artifact in folder.artifacts:
        if artifact.type != "capsule":
            continue
        for file in artifact.files:
            if file.path.startswith(_SOURCE) and file.reference is None and len(found) < MOST_FILES:
                path = file.path[len(_SOURCE) :]
                found.setdefault(path, SourceFile(path)).whole = file  # the newest saved step's
    for path, number, text in _noted(folder):
        if path in found or len(found) < MOST_FILES:
            found.setdefault(path, SourceFile(path)).lines.setdefault(number, text)
    return found


def _noted(folder: RunFolder) -> Iterator[tuple[str, int, str]]:
    for finding in folder.findings:
        places = [(finding.file, finding.source), *((one.file, one.source) for one in finding.related)]
        for file, lines in places:
            if file:
                yield from ((_from(file, folder.meta.cwd), number, text) for number, text in lines)


def _from(file: str, cwd: str) -> str:
    """A path relative to the script's folder, if it is inside it."""
    return os.path.relpath(file, cwd) if cwd and file.startswith(cwd.rstrip("/\\") + os.sep) else file


def source_file(folder: RunFolder, path: str) -> SourceFile:
    """The requested file: by its path, or by its name if that is unique."""
    found = source_files(folder)
    if not found:
        raise NotFound(
            "the run has no source; findings and saved steps do, and `stepscope run train.py` "
            "records both. Read the file itself if you can"
        )
    asked = _from(path.strip(), folder.meta.cwd)
    if not asked:
        if len(found) == 1:
            return next(iter(found.values()))
        raise UsageError(f"which file? The run has {listed(found, 20)}; give one as path")
    if asked in found:
        return found[asked]
    fits = [one for key, one in found.items() if key.replace("\\", "/").endswith("/" + asked)]
    if len(fits) == 1:
        return fits[0]
    raise NotFound(f"the run has no source of {path[:300]!r}; it has {listed(found, 20)}. Other files are never read")


def lines_of(folder: RunFolder, source: SourceFile) -> dict[int, str]:
    """All known numbered lines of a file."""
    if source.whole is None:
        return dict(sorted(source.lines.items()))
    if source.whole.size > MAX_FILE:
        raise StepscopeError(f"{source.path} has {source.whole.size:,} bytes; the maximum is {MAX_FILE:,}")
    text = folder.media_bytes(source.whole.sha256).decode("utf-8", "replace")
    return dict(enumerate(text.splitlines(), 1))


def short_traceback(traceback: str, most: int = 3500) -> str:
    """A traceback without the frames of installed packages, except the innermost, and without its rows of `^`.

    >>> frames = ["/a/train.py", *(f"/env/site-packages/torch/m{n}.py" for n in range(3))]
    >>> shown = "".join(f'  File "{file}", line 9, in f\\n    net(x)\\n    ^^^^^^\\n' for file in frames)
    >>> print(short_traceback(f"Traceback:\\n{shown}ValueError: bad"))
    Traceback:
      File "/a/train.py", line 9, in f
        net(x)
      (2 frames of installed packages)
      File "/env/site-packages/torch/m2.py", line 9, in f
        net(x)
    ValueError: bad
    """
    frames = _frames_of(traceback[-200_000:])
    kept: list[str] = []
    left = 0
    for frame, behind in zip(frames, [*frames[1:], []], strict=True):
        named = _FRAME.match(frame[0]) if frame else None
        is_innermost = not (behind and _FRAME.match(behind[0]))
        if named is not None and is_library_path(named["file"]) and not is_innermost:
            left += 1
            continue
        if left:
            kept.append(f"  ({left} frame{'s' if left > 1 else ''} of installed packages)")
            left = 0
        kept += frame
    return cut("\n".join(kept), most, keep="end")


def _frames_of(traceback: str) -> list[list[str]]:
    """The lines of each frame; text before, between and after tracebacks forms its own."""
    frames: list[list[str]] = [[]]
    for line in traceback.splitlines():
        ends_frames = bool(line) and not line.startswith(" ")
        in_frame = bool(frames[-1]) and _FRAME.match(frames[-1][0]) is not None
        if _FRAME.match(line) or (ends_frames and in_frame):
            frames.append([])
        if line.strip(" ^~"):
            frames[-1].append(line)
    return frames


def own_frames(traceback: str, cwd: str) -> list[str]:
    """The frames of a traceback in the script's own folder, innermost last: where to look first.

    >>> own_frames('  File "/a/train.py", line 3, in f\\n  File "/lib/torch/x.py", line 9, in g\\n', "/a")
    ['train.py:3']
    """
    inside = (cwd or "/").rstrip("/\\") + os.sep
    found = []
    for frame in _FRAME.finditer(traceback[-200_000:]):
        file = frame["file"]
        if cwd and file.startswith(inside) and not is_library_path(file):
            found.append(f"{os.path.relpath(file, cwd)}:{frame['line']}")
    return found[-6:]
