"""The code of two runs: whether the commit is the same, and their uncommitted changes side by side, file by file."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from stepscope.records import GitState
from stepscope.views.context import Context
from stepscope.views.route import route

MAX_FILES = 200
MAX_LINES = 3000
"""Maximum changed lines per file: beyond, comparing line by line takes too long to be useful."""
_LONGEST = 2000
_FILE = re.compile(r'^diff --git (?:"?a/(?P<a>.*?)"?) "?b/(?P<b>.*?)"?$')


class CodeRequest(msgspec.Struct):
    a: str
    b: str
    """Two runs."""


class CodeLine(msgspec.Struct):
    """One line of the two patches side by side."""

    kind: Literal["same", "differs"]
    a: str | None
    """The line of the run's own patch, with its `+`, `-` or blank; None if this side has no line."""
    b: str | None


class CodeFile(msgspec.Struct):
    path: str
    where: Literal["a", "b", "both"]
    """Whose uncommitted changes include it."""
    same: bool
    """Both made the same change."""
    lines: list[CodeLine]
    """Empty for a file with the same change on both sides."""
    omitted: int = 0


class CodeComparison(msgspec.Struct):
    words: str
    """The summary, in one sentence."""
    a: GitState | None
    """The repository's state, without its diff."""
    b: GitState | None
    files: list[CodeFile]
    same_files: int
    """Files with the same change on both sides."""
    command: str = ""
    """Shows what was committed in between, if the commits differ."""
    cut: list[str] = []
    """Which side's changes were truncated."""
    omitted: int = 0


@route("POST", "/api/compare/code")
def compare_code(ctx: Context, request: CodeRequest) -> CodeComparison:
    """What the code of two runs has in common, and what differs."""
    a, b = (ctx.runs.get(run).meta.git for run in (request.a, request.b))
    files = changed_files(a, b)
    differing = [file for file in files if not file.same]
    return CodeComparison(
        words=code_words(a, b, differing),
        a=_bare(a),
        b=_bare(b),
        files=differing[:MAX_FILES],
        same_files=len(files) - len(differing),
        command=f"git diff {a.commit[:12]} {b.commit[:12]}" if a and b and a.commit != b.commit else "",
        cut=[side for side, git in (("a", a), ("b", b)) if git is not None and git.diff_truncated],
        omitted=max(0, len(differing) - MAX_FILES),
    )


def code_words(a: GitState | None, b: GitState | None, differing: list[CodeFile]) -> str:
    if a is None or b is None:
        whose = "Neither run says" if a is b else "One of the two does not say"
        return f"{whose} which code it was made from: no git repository was found where it started."
    commits = "The same commit" if a.commit == b.commit else f"Different commits, {a.commit[:10]} and {b.commit[:10]}"
    if not differing:
        return f"{commits}, {_alike(a, b)}."
    files = "1 file" if len(differing) == 1 else f"{len(differing)} files"
    return f"{commits}; uncommitted changes differ in {files}."


def _alike(a: GitState, b: GitState) -> str:
    if not (a.dirty or b.dirty):
        return "without uncommitted changes"
    if any(git.dirty and git.diff is None for git in (a, b)):
        return "with uncommitted changes that were not saved"
    return "and the same uncommitted changes"


def changed_files(a: GitState | None, b: GitState | None) -> list[CodeFile]:
    """Every file that either run changed since its commit; differing files first."""
    left, right = (files_of(git.diff or "") if git else {} for git in (a, b))
    found = [_file(path, left.get(path), right.get(path)) for path in dict.fromkeys([*left, *right])]
    return sorted(found, key=lambda file: (file.same, file.path))


def files_of(diff: str) -> dict[str, list[str]]:
    """A git diff as lines by file, without the header lines that only name blobs.

    >>> files_of("diff --git a/x.py b/x.py\\nindex 1..2 100644\\n--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a\\n+b\\n")
    {'x.py': ['@@ -1 +1 @@', '-a', '+b']}
    """
    files: dict[str, list[str]] = {}
    lines: list[str] = files.setdefault("", [])
    in_head = False
    for line in diff.splitlines():
        start = _FILE.match(line)
        if start is not None:
            lines, in_head = files.setdefault(start["b"], []), True
        elif in_head and line.startswith(("index ", "--- ", "+++ ", "similarity ", "old mode", "new mode")):
            continue
        else:
            in_head = in_head and not line.startswith("@@")
            lines.append(line[:_LONGEST])
    return {path: lines for path, lines in files.items() if path or lines}


def _file(path: str, a: list[str] | None, b: list[str] | None) -> CodeFile:
    where: Literal["a", "b", "both"] = "b" if a is None else "a" if b is None else "both"
    left, right = a or [], b or []
    if _body(left) == _body(right):
        return CodeFile(path=path, where=where, same=True, lines=[])
    omitted = max(0, len(left) - MAX_LINES) + max(0, len(right) - MAX_LINES)
    return CodeFile(
        path=path, where=where, same=False, lines=_beside(left[:MAX_LINES], right[:MAX_LINES]), omitted=omitted
    )


def _body(lines: list[str]) -> list[str]:
    """A hunk's position depends on the hunks before it; its content does not."""
    return [line.partition("@@ ")[2].partition(" @@")[2] if line.startswith("@@") else line for line in lines]


def _beside(a: list[str], b: list[str]) -> list[CodeLine]:
    out: list[CodeLine] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, _body(a), _body(b), autojunk=False).get_opcodes():
        if tag == "equal":
            out += [CodeLine("same", one, other) for one, other in zip(a[a1:a2], b[b1:b2], strict=True)]
            continue
        left: list[str | None] = [*a[a1:a2]]
        right: list[str | None] = [*b[b1:b2]]
        rows = max(len(left), len(right))
        left += [None] * (rows - len(left))
        right += [None] * (rows - len(right))
        out += [CodeLine("differs", one, other) for one, other in zip(left, right, strict=True)]
    return out


def _bare(git: GitState | None) -> GitState | None:
    return None if git is None else msgspec.structs.replace(git, diff=None)
