"""Ranks that the C++ of a library ended (SIGABRT, SIGSEGV): what Python's own fault handler wrote at that moment."""

from __future__ import annotations

import re
from pathlib import Path

from stepscope.common.code_owner import is_own_file
from stepscope.diagnose.known_frames import meaning_of
from stepscope.files.opening import read_file
from stepscope.records.hang import RankState

__all__ = ["fatal_file", "fatal_states"]

_FOLDER = "ranks"
_LARGEST = 1 << 20
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_NAME = re.compile(r"^fatal-(\d+)\.txt$")


def fatal_file(run: Path, rank: int) -> Path:
    """Where a rank's fault handler writes; empty while nothing has happened."""
    return run / _FOLDER / f"fatal-{rank}.txt"


def fatal_states(run: Path | None) -> list[RankState]:
    """The ranks of a run that were ended so, and where each was."""
    folder = None if run is None else run / _FOLDER
    if run is None or folder is None or not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.iterdir()):
        named = _NAME.match(path.name)
        if named is None:
            continue
        try:
            text = read_file(path, _LARGEST, within=run).decode(errors="replace")
        except OSError:
            continue
        if text:
            found.append(_state(int(named[1]), text))
    return found


def _state(rank: int, text: str) -> RankState:
    """The thread that runs the script; the innermost frame is written first.

    >>> said = 'Fatal Python error: Aborted\\n\\nThread 1 (most recent call first):\\n  File "/a/t.py", line 3 in main'
    >>> one = _state(1, said)
    >>> one.kind, one.error, one.file, one.line
    ('aborted', 'Aborted', '/a/t.py', 3)
    """
    what = text.partition("\n")[0].removeprefix("Fatal Python error: ")
    threads = [_frames(part) for part in text.split("\n\n")]
    own = [frames for frames in threads if any(is_own_file(file) for file, _, _ in frames)]
    frames = own[-1] if own else []
    kind, doing = meaning_of([(file, name) for file, _, name in frames])
    file, line = next(((file, line) for file, line, _ in reversed(frames) if is_own_file(file)), ("", 0))
    return RankState(rank=rank, kind="aborted", doing=doing if kind != "python" else "", file=file, line=line,
                     error=what, stack=tuple(frames))  # fmt: skip


def _frames(thread: str) -> list[tuple[str, int, str]]:
    found = [match for line in thread.splitlines() if (match := _FRAME.match(line))]
    return [(match[1], int(match[2]), match[3]) for match in reversed(found)]
