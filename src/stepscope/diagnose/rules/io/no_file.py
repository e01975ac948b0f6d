from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.value_origin import Made, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_PATH = re.compile(r"(?:directory|denied|file|exists): '([^']+)'|Parent directory (\S+?) does not")
_KINDS = ("FileNotFoundError", "PermissionError", "IsADirectoryError", "NotADirectoryError", "FileExistsError")


@rule("io.no-file", severity="error", needs="crash")
def no_file(run: Evidence) -> Iterator[Proof]:
    """A file or folder is missing, is of the wrong kind, or may not be opened.

    Why it matters: at the end of a training this loses the result; in a dataset it stops an epoch in the middle.

    What to do: check the path and from which folder the script was started; make the folder first
    (`os.makedirs(folder, exist_ok=True)`).

    How it is found: the path in the message, and the expression in your code that it comes from.

    Bad:
        torch.save(model.state_dict(), "checkpoints/best.pt")
    Good:
        os.makedirs("checkpoints", exist_ok=True)
        torch.save(model.state_dict(), "checkpoints/best.pt")
    """
    crash = run.crash
    if crash is None or crash.last is None or crash.worker is not None:
        return
    parent = crash.is_a("RuntimeError") and crash.says(r"parent directory .* does not exist")
    if not parent and not crash.is_a(*_KINDS):
        return
    told = _PATH.search(crash.text)
    path = next((one for one in (told.groups() if told is not None else ()) if one), "")
    made = _made(crash)
    kind = next((one for one in _KINDS if crash.is_a(one)), "RuntimeError")
    said_, fix = _words(kind, path)
    relative = bool(path) and not os.path.isabs(path)
    there = "; the path is relative to the folder the script is started from" if relative else ""
    moved = made is not None and made.site.line != crash.last.line
    yield Proof(
        where=crash.site,
        message=said_,
        label="opened here" if kind != "RuntimeError" else "written here",
        evidence={"path": path, "error": crash.type},
        fix=f"{fix}{there}",
        related=[(made.site, "the path comes from here")] if made is not None and moved else [],
    )


def _words(kind: str, path: str) -> tuple[str, str]:
    shown = f"`{path}`" if path else "the file"
    folder = os.path.dirname(path) or "."
    return {
        "FileNotFoundError": (f"there is no {shown}", "check the path (its folder has to exist too)"),
        "PermissionError": (
            f"{shown} cannot be opened: permission denied",
            "use a writable folder, or change its permissions",
        ),
        "IsADirectoryError": (f"{shown} is a folder, not a file", "add the file's name to the path"),
        "NotADirectoryError": (f"a part of {shown} is a file, not a folder", "check the path"),
        "FileExistsError": (f"{shown} is there already", "use os.makedirs(folder, exist_ok=True), or another name"),
        "RuntimeError": (
            f"the folder {shown} does not exist",
            f'make it first: os.makedirs("{path or folder}", exist_ok=True)',
        ),
    }[kind]


def _made(crash: Crash) -> Made | None:
    """Where the path on the failing line was made."""
    frame = crash.last
    node = None if frame is None else frame.running
    if frame is None or not isinstance(node, ast.Call):
        return None
    for argument in [*node.args, *(word.value for word in node.keywords)]:
        found = origin_of(crash, frame, argument)
        if isinstance(argument, (ast.Name, ast.Attribute)) and getattr(frame.value_of(argument), "type", "") in (
            "str",
            "PosixPath",
            "WindowsPath",
        ):
            return found
    return None
