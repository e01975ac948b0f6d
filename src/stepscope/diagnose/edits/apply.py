"""Edits made to texts and files: never over changes made since, all files or none."""

from __future__ import annotations

import difflib
import io
import os
import shutil
import tokenize
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from stepscope.diagnose.edits.spans import digest
from stepscope.errors import Conflict, NotFound, StorageError
from stepscope.records import Edit, TextChange


def changed_text(text: str, changes: Sequence[TextChange]) -> str:
    """A text (with `\\n` line ends) with changes made; a `Conflict` where it is not the one they were made for.

    >>> changed_text("a\\nb\\n", [TextChange(file="t.py", line=2, old=["b"], new=["c", "d"])])
    'a\\nc\\nd\\n'
    """
    lines = text.split("\n")
    for change in sorted(changes, key=lambda one: one.line, reverse=True):
        first = change.line - 1
        known = not change.sha256 or change.sha256 == digest(text)
        if not known or lines[first : first + len(change.old)] != change.old:
            raise Conflict(f"{change.file} has changed since the finding was made; run the script again")
        lines[first : first + len(change.old)] = change.new
    return "\n".join(lines)


def edited_texts(edit: Edit, read: Callable[[str], str]) -> dict[str, str]:
    """Each file of an edit with its new text."""
    files = dict.fromkeys(change.file for change in edit.changes)
    return {file: changed_text(read(file), [one for one in edit.changes if one.file == file]) for file in files}


def read_source(file: str | os.PathLike[str]) -> str:
    """The text of a Python file, with `\\n` at the end of each line."""
    try:
        with tokenize.open(os.fspath(file)) as opened:
            return opened.read()
    except FileNotFoundError:
        raise NotFound(f"there is no file {os.fspath(file)!r} any more; the fix was made for it") from None
    except (OSError, SyntaxError, UnicodeDecodeError) as fault:
        raise StorageError(f"{os.fspath(file)} cannot be read: {fault}") from fault


def write_sources(texts: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Write files at once, as they were encoded; a `Conflict` where one is not what `known` says of it.

    Their line ends and permissions stay. Whoever reads meanwhile finds the old or the new text of each.
    """
    for file, before in known.items():
        if digest(read_source(file)) != digest(before):
            raise Conflict(f"{file} was edited in the meantime and is left unchanged; run stepscope fix again")
    parts: list[tuple[Path, Path]] = []
    try:
        for file, text in texts.items():
            target = Path(os.path.realpath(file))
            part = target.with_name(f".{target.name}.{os.getpid()}.part")
            parts.append((part, target))
            part.write_bytes(_encoded(target.read_bytes(), text))
            shutil.copymode(target, part)
        for part, target in parts:
            os.replace(part, target)
    except OSError as fault:
        raise StorageError(f"the fix could not be written: {fault.strerror or fault}") from fault
    finally:
        for part, _ in parts:
            part.unlink(missing_ok=True)


def _encoded(before: bytes, text: str) -> bytes:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(before).readline)
    ends = b"\r\n" if before.count(b"\r\n") * 2 > before.count(b"\n") else b"\n"
    if not before.endswith((b"\n", b"\r")):
        text = text.rstrip("\n")
    return text.encode(encoding).replace(b"\n", ends)


def unified(before: Mapping[str, str], after: Mapping[str, str], name: Callable[[str], str], context: int = 3) -> str:
    """The unified diff of several files, as `patch` and `git apply` read it."""
    pieces = []
    for file, text in after.items():
        old, new = before[file].splitlines(keepends=True), text.splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, f"a/{name(file)}", f"b/{name(file)}", n=context)
        pieces += [line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines]
    return "".join(pieces)


def patch_text(edit: Edit, name: Callable[[str], str] = os.path.basename) -> str:
    """An edit as a patch without context, from the edit alone: for `git apply --unidiff-zero`.

    >>> change = TextChange(file="t.py", line=2, old=["b"], new=["c", "d"])
    >>> print(patch_text(Edit(changes=[change])))
    --- a/t.py
    +++ b/t.py
    @@ -2,1 +2,2 @@
    -b
    +c
    +d
    """
    lines: list[str] = []
    for file in dict.fromkeys(change.file for change in edit.changes):
        lines += [f"--- a/{name(file)}", f"+++ b/{name(file)}"]
        moved = 0
        for change in sorted((one for one in edit.changes if one.file == file), key=lambda one: one.line):
            old, new = len(change.old), len(change.new)
            first = change.line - (not old)
            begin = change.line + moved - (not new)
            lines.append(f"@@ -{first},{old} +{begin},{new} @@")
            lines += [f"-{line}" for line in change.old] + [f"+{line}" for line in change.new]
            moved += new - old
    return "\n".join(lines)


def diff_lines(edit: Edit) -> list[tuple[str, str]]:
    """An edit as a small diff: ("-", line) and ("+", line), with ("@", "train.py:12") before each place."""
    files = {change.file for change in edit.changes}
    shown: list[tuple[str, str]] = []
    for change in sorted(edit.changes, key=lambda one: (one.file, one.line)):
        if len(files) > 1 or len(edit.changes) > 1:
            shown.append(("@", f"{os.path.basename(change.file)}:{change.line}"))
        shown += [("-", line) for line in change.old] + [("+", line) for line in change.new]
    return shown
