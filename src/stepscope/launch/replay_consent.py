"""A replay runs code out of a capsule. Say what would run, and ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stepscope.errors import Forbidden
from stepscope.launch.capsule.manifest import Manifest
from stepscope.launch.replay.source_selection import Compared

_SAID = {
    "same": "the same file as on this disk",
    "changed": "differs from the file on this disk",
    "gone": "not on this disk",
}
_MOST = 20


def what_would_run(manifest: Manifest, compared: Sequence[Compared], current: bool) -> str:
    """The files, their hashes and how they compare with the disk, the command line and the folder."""
    script = f"-m {manifest.script}" if manifest.is_module else manifest.script
    lines = [f"this would run: {' '.join([script, *manifest.argv])}", f"  in {manifest.cwd}"]
    lines += [f"  {one.source.sha256[:12]}  {one.source.path}  ({_SAID[one.state]})" for one in compared[:_MOST]]
    if len(compared) > _MOST:
        lines.append(f"  and {len(compared) - _MOST} more files")
    if current:
        lines.append("  with the files on this disk, not the capsule's (--current)")
    elif any(one.state != "same" for one in compared):
        lines.append("  with the capsule's files: some differ from those on this disk (--current uses the disk's)")
    lines.append("  tensors and values are read as plain data; nothing is unpickled")
    return "\n".join(lines)


def ask_for_trust(
    manifest: Manifest,
    compared: Sequence[Compared],
    *,
    trusted: bool,
    current: bool,
    is_terminal: bool,
    say: Callable[[str], None],
    confirm: Callable[[str], bool],
) -> None:
    """Return when the code may run, raise when it may not.

    Always asks: even files that match those on this disk may have come with the capsule, and `argv` and the folder are
    the capsule's.
    """
    if trusted:
        return
    say(what_would_run(manifest, compared, current))
    if not is_terminal:
        raise Forbidden("a replay runs the code above, and nobody can confirm it here; if you trust it, add --trust")
    if not confirm("run it?"):
        raise Forbidden("nothing was run")
