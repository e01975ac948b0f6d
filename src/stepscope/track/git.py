"""The code of a run: commit and branch from git's files at once, the diff from git itself, later.

Nothing here may disturb the repository: no hooks, no pager, no locks, no prompts, and a time limit.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import msgspec

from stepscope.files.opening import read_text
from stepscope.records import GitState
from stepscope.track.secrets import mask_text

MAX_DIFF_BYTES = 1 << 20
TIMEOUT_S = 10.0
_LARGEST = 64 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def quick_state(folder: Path) -> GitState | None:
    """Commit and branch, read from `.git` in well under a millisecond; None outside a repository."""
    git_dir = _git_dir(folder)
    if git_dir is None:
        return None
    try:
        head = read_text(git_dir / "HEAD", _LARGEST).strip()
        if not head.startswith("ref: "):
            return GitState(commit=head) if _COMMIT.fullmatch(head) else None
        reference = head[5:]
        commit = _resolve(git_dir, reference)
    except OSError:
        return None
    return GitState(commit=commit or "", branch=reference.removeprefix("refs/heads/"))


def repository_name(folder: Path) -> str | None:
    """The repository's name: from its `origin`, else its folder; None outside one, and for a home folder."""
    try:
        root = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
        if root is None or root == Path.home() or root == root.parent:
            return None
    except (OSError, RuntimeError):
        return None
    remote = (_remote(folder) or "").rstrip("/").removesuffix(".git")
    named = [part for part in re.split(r"[/\\:]", remote) if part not in ("", ".", "..")]
    return named[-1] if named else root.name


def _git_dir(folder: Path) -> Path | None:
    for parent in (folder, *folder.parents):
        found = parent / ".git"
        if found.is_dir():
            return found
        if found.is_file():  # a worktree or submodule: `gitdir: PATH`
            target = read_text(found, _LARGEST).strip().removeprefix("gitdir: ")
            return Path(os.path.normpath(parent / target))
    return None


def _common(git_dir: Path) -> Path:
    """Where the worktrees of a repository store what they share."""
    link = git_dir / "commondir"
    return Path(os.path.normpath(git_dir / read_text(link, _LARGEST).strip())) if link.is_file() else git_dir


def _resolve(git_dir: Path, reference: str) -> str | None:
    common = _common(git_dir)
    for base in (git_dir, common):
        if (base / reference).is_file():
            return read_text(base / reference, _LARGEST).strip()
    packed = common / "packed-refs"
    if packed.is_file():
        for line in read_text(packed, _LARGEST).splitlines():
            commit, _space, name = line.partition(" ")
            if name == reference:
                return commit
    return None


def full_state(folder: Path) -> GitState | None:
    """The state with remote, dirtiness and diff; secrets masked, the diff truncated at 1 MiB."""
    state = quick_state(folder)
    if state is None:
        return None
    raw = _git(folder, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD")
    return msgspec.structs.replace(
        state,
        remote=_remote(folder),
        dirty=bool(raw),
        diff=mask_text(raw[:MAX_DIFF_BYTES].decode("utf-8", "replace")) if raw else None,
        diff_truncated=raw is not None and len(raw) > MAX_DIFF_BYTES,
    )


def _remote(folder: Path) -> str | None:
    """The `origin` URL, without user and password."""
    git_dir = _git_dir(folder)
    try:
        text = read_text(_common(git_dir) / "config", _LARGEST) if git_dir is not None else ""
    except OSError:
        return None
    section = re.search(r'^\[remote "origin"\]$(.*?)(?=^\[|\Z)', text, re.MULTILINE | re.DOTALL)
    url = re.search(r"^\s*url\s*=\s*(\S+)", section[1], re.MULTILINE) if section else None
    return mask_text(re.sub(r"(?<=://)[^/@]*@", "", url[1])) if url else None


def _git(folder: Path, *arguments: str) -> bytes | None:
    """The output of git, up to a little more than is stored; None if git is missing, fails or takes too long."""
    command = ["git", "--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
