"""VS Code's launch configurations: ours added to `.vscode/launch.json`, everything that is there left as it is.

The file is JSON with comments. It is read only to see which names are taken; what is added is added as text, so that
comments, order and layout stay.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from stepscope.errors import BadData, StorageError
from stepscope.launch.debugpy_wait import PORT

__all__ = ["CONFIGURATIONS", "Written", "add_configurations", "write_launch_file"]


def _launch(name: str, args: list[str], **more: Any) -> dict[str, Any]:
    common = {"type": "debugpy", "request": "launch", "module": "stepscope", "args": args}
    return {"name": name, **common, "console": "integratedTerminal", "cwd": "${workspaceFolder}", **more}


CONFIGURATIONS: list[dict[str, Any]] = [
    _launch("Stepscope: run this file", ["run", "${file}"], justMyCode=True),
    _launch("Stepscope: run this file, into libraries too", ["run", "--no-workers", "${file}"], justMyCode=False),
    _launch("Stepscope: check this file", ["check", "${file}"], justMyCode=True),
    _launch("Stepscope: replay the last failure", ["replay"], justMyCode=False),
    {
        "name": "Stepscope: attach",
        "type": "debugpy",
        "request": "attach",
        "connect": {"host": "127.0.0.1", "port": PORT},
        "justMyCode": False,
    },
]


class Written(NamedTuple):
    """What was done to the file."""

    path: Path
    added: list[str]
    kept: list[str]
    """Names that were there already; their entries were not touched."""


def write_launch_file(folder: Path) -> Written:
    """Add our configurations to the folder's `.vscode/launch.json`, or make one."""
    path = folder / ".vscode" / "launch.json"
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        text = ""
    except UnicodeDecodeError:
        raise BadData(f"{path} is not UTF-8 text; nothing was changed") from None
    changed, added, kept = add_configurations(text, str(path))
    if added:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(".launch.json.stepscope")
            temporary.write_bytes(changed.encode())
            os.replace(temporary, path.resolve())
        except OSError as fault:
            raise StorageError(f"cannot write '{path}': {fault.strerror or fault}") from None
    return Written(path, added, kept)


def add_configurations(text: str, where: str = "launch.json") -> tuple[str, list[str], list[str]]:
    """The text with our configurations added; the names added, and those that were there.

    >>> add_configurations("")[1][0]
    'Stepscope: run this file'
    """
    if not text.strip():
        whole = {"version": "0.2.0", "configurations": CONFIGURATIONS}
        return json.dumps(whole, indent=4) + "\n", [str(one["name"]) for one in CONFIGURATIONS], []
    plain = _blanked(text)
    there = _read(plain, where)
    names = {str(one.get("name")) for one in there if isinstance(one, dict)}
    new = [one for one in CONFIGURATIONS if one["name"] not in names]
    kept = [str(one["name"]) for one in CONFIGURATIONS if one["name"] in names]
    if not new:
        return text, [], kept
    return _inserted(text, plain, new), [str(one["name"]) for one in new], kept


def _read(plain: str, where: str) -> list[Any]:
    try:
        found = json.loads(re.sub(r",(\s*[}\]])", r"\1", _without_strings_commas(plain)))
    except ValueError as fault:
        raise BadData(f"{where} cannot be read ({fault}); nothing was changed. Mend it, or move it away") from None
    listed = found.get("configurations", []) if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise BadData(f"{where}: expected an object with a list of configurations; nothing was changed")
    return listed


def _without_strings_commas(plain: str) -> str:
    """Commas before a bracket are dropped by the caller; those inside strings must not look like such."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', lambda match: match.group().replace(",", "\\u002c"), plain)


def _blanked(text: str) -> str:
    """The text with comments as blanks: the same length, so that places in it are places in the text."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)


def _inserted(text: str, plain: str, new: list[dict[str, Any]]) -> str:
    indent = _indent(plain)
    body = json.dumps(new, indent=indent)[1:-1].strip("\n")  # the entries, one level deep
    key = re.search(r'"configurations"\s*:\s*\[', plain)
    if key is None:
        brace = plain.index("{") + 1
        comma = "," if plain[brace:].strip() != "}" else ""
        block = _deeper(f'"configurations": [\n{body}\n]{comma}', indent)
        return f"{text[:brace]}\n{block}{text[brace:]}"
    end = _closing(plain, key.end())
    last = len(plain[:end].rstrip())
    separator = "" if plain[last - 1] in "[," else ","
    tail = text[last:end].rstrip()  # comments that stand behind the last entry
    return f"{text[:last]}{separator}{tail}\n{_deeper(body, indent)}\n{' ' * indent}{text[end:]}"


def _deeper(block: str, indent: int) -> str:
    return "\n".join(" " * indent + line for line in block.splitlines())


def _indent(plain: str) -> int:
    found = re.search(r"\n( +)\S", plain)
    return len(found.group(1)) if found else 4


def _closing(plain: str, start: int) -> int:
    """Where the list that begins before `start` ends."""
    depth = 1
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]]', plain[start:]):
        depth += {"[": 1, "]": -1}.get(match.group(), 0)
        if depth == 0:
            return start + match.start()
    raise BadData("the list of configurations does not end")
