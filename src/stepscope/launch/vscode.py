"""What VS Code needs to know: launch configurations, and tasks whose findings appear in the Problems pane."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from stepscope.diagnose.outputs.lines import PATTERN
from stepscope.errors import BadData, StorageError
from stepscope.launch.debugpy_wait import PORT
from stepscope.launch.jsonc import Merged, merged


def _launch(name: str, args: list[str], **more: Any) -> dict[str, Any]:
    common = {"type": "debugpy", "request": "launch", "module": "stepscope", "args": args}
    return {"name": name, **common, "console": "integratedTerminal", "cwd": "${workspaceFolder}", **more}


CONFIGURATIONS: list[dict[str, Any]] = [
    _launch("Stepscope: run this file", ["run", "${file}"], justMyCode=True),
    _launch("Stepscope: run this file, into libraries too", ["run", "--no-workers", "${file}"], justMyCode=False),
    _launch("Stepscope: check this file", ["check", "${file}"], justMyCode=True),
    _launch("Stepscope: profile this file", ["profile", "${file}"], justMyCode=True),
    _launch("Stepscope: replay the last failure", ["replay"], justMyCode=False),
    {
        "name": "Stepscope: attach",
        "type": "debugpy",
        "request": "attach",
        "connect": {"host": "127.0.0.1", "port": PORT},
        "justMyCode": False,
    },
]

PROBLEM_MATCHER: dict[str, Any] = {
    "owner": "stepscope",
    "source": "stepscope",
    "fileLocation": ["autoDetect", "${workspaceFolder}"],
    "pattern": {
        "regexp": PATTERN,
        "file": 1,
        "line": 2,
        "column": 3,
        "endColumn": 4,
        "severity": 5,
        "message": 6,
        "code": 7,
    },
}


def _task(label: str, args: list[str], **more: Any) -> dict[str, Any]:
    return {
        "label": label,
        "type": "process",
        "command": "${command:python.interpreterPath}",
        "args": ["-m", "stepscope", *args, "${file}"],
        "options": {"cwd": "${workspaceFolder}"},
        "presentation": {"panel": "dedicated", "clear": True},
        "problemMatcher": PROBLEM_MATCHER,
        **more,
    }


TASKS: list[dict[str, Any]] = [
    _task("Stepscope: check this file", ["check", "--output", "lines"], group="test"),
    _task("Stepscope: run this file", ["run", "--output", "lines"]),
    _task("Stepscope: try the fix in this file", ["fix"]),
    _task("Stepscope: fix this file", ["fix", "--apply"]),
    _task("Stepscope: profile this file", ["profile", "--output", "lines"]),
]

_FILES: tuple[tuple[str, str, str, str, list[dict[str, Any]]], ...] = (
    ("launch.json", "0.2.0", "configurations", "name", CONFIGURATIONS),
    ("tasks.json", "2.0.0", "tasks", "label", TASKS),
)


class Written(NamedTuple):
    """What was done to a file, or would be."""

    path: Path
    merged: Merged

    @property
    def is_changed(self) -> bool:
        return bool(self.merged.added or self.merged.replaced)


def write_files(folder: Path, *, force: bool = False, dry_run: bool = False) -> list[Written]:
    """Add our entries to the folder's `.vscode/launch.json` and `tasks.json`, or make them; both or neither.

    With `force`, entries of our names are put back to what they are here.
    """
    plans: list[tuple[Written, bytes]] = []
    for file, version, key, name, entries in _FILES:
        path = folder / ".vscode" / file
        before = _read(path)
        text = before.decode("utf-8-sig")
        if text.strip():
            found = merged(text, key, entries, name=name, where=str(path), replace=force)
        else:
            whole = json.dumps({"version": version, key: entries}, indent=4) + "\n"
            found = Merged(whole, [str(one[name]) for one in entries], [], [])
        mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
        plans.append((Written(path, found), mark + found.text.encode()))
    for plan, content in plans:
        if plan.is_changed and not dry_run:
            _replace(plan.path, content)
    return [plan for plan, _ in plans]


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        content.decode("utf-8-sig")
    except FileNotFoundError:
        return b""
    except UnicodeDecodeError:
        raise BadData(f"{path} is not UTF-8 text; nothing was changed") from None
    except OSError as fault:
        raise StorageError(f"cannot read '{path}': {fault.strerror or fault}; nothing was changed") from None
    return content


def _replace(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        temporary.write_bytes(content)
        os.replace(temporary, path.resolve())
    except OSError as fault:
        raise StorageError(f"cannot write '{path}': {fault.strerror or fault}") from None
