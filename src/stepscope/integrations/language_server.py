"""Findings and their edits for editors, over the Language Server Protocol on stdin and stdout.

A file shows the findings of the newest run that executed it or has findings in it. A finding is shown while its line
is unchanged; its edit is offered as a quick fix while the whole file is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from stepscope.diagnose.edits.apply import read_source
from stepscope.diagnose.edits.spans import digest
from stepscope.errors import StepscopeError
from stepscope.records import Edit, Finding
from stepscope.runs.catalogue.discover import find_run_folders
from stepscope.runs.read.folder import open_run

__all__ = ["LanguageServer", "serve"]

Message = dict[str, Any]
_RUNS = 30
"""Number of newest runs searched for a file."""
_LEVELS = {"error": 1, "warning": 2, "info": 3}
_CAPABILITIES = {
    "textDocumentSync": {"openClose": True, "change": 1, "save": True},
    "codeActionProvider": {"codeActionKinds": ["quickfix"]},
}
_METHOD_NOT_FOUND = -32601


class LanguageServer:
    """Answers an editor. `send` receives every message for it."""

    def __init__(self, stores: Sequence[Path], send: Callable[[Message], None]) -> None:
        self._stores = stores
        self._send = send
        self._texts: dict[str, str] = {}
        """The open files with the editor's content, by URI."""
        self._found: dict[str, list[Finding]] = {}

    def handle(self, message: Message) -> bool:
        """Handle one message; False if it was the last."""
        method, params = message.get("method"), message.get("params") or {}
        if method == "exit":
            return False
        if method == "initialize":
            self._answer(message, {"capabilities": _CAPABILITIES, "serverInfo": {"name": "stepscope"}})
        elif method == "textDocument/codeAction":
            self._answer(message, list(self._actions(params["textDocument"]["uri"], params["range"])))
        elif method == "shutdown":
            self._answer(message, None)
        elif method in ("textDocument/didOpen", "textDocument/didSave", "textDocument/didChange"):
            self._changed(str(method), params)
        elif method == "textDocument/didClose":
            self._texts.pop(params["textDocument"]["uri"], None)
        elif "id" in message and method:
            error = {"code": _METHOD_NOT_FOUND, "message": f"{method} is not supported"}
            self._send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return True

    def _answer(self, request: Message, result: Any) -> None:
        self._send({"jsonrpc": "2.0", "id": request.get("id"), "result": result})

    def _changed(self, method: str, params: Message) -> None:
        document = params["textDocument"]
        uri = document["uri"]
        if "text" in document:
            self._texts[uri] = document["text"]
        for change in params.get("contentChanges", []):
            self._texts[uri] = change["text"]
        if not method.endswith("didChange"):
            self._found[uri] = _found_in(_path(uri), self._stores)
        shown = [_diagnostic(one) for one in self._shown(uri)]
        params = {"uri": uri, "diagnostics": shown}
        self._send({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})

    def _shown(self, uri: str) -> Iterator[Finding]:
        """The findings whose line is unchanged."""
        lines = self._texts.get(uri, "").splitlines()
        for finding in self._found.get(uri, []):
            number = finding.line or 1
            was = dict(finding.source).get(number)
            if number <= len(lines) and was is not None and lines[number - 1].rstrip() == was.rstrip():
                yield finding

    def _actions(self, uri: str, asked: Message) -> Iterator[Message]:
        first, last = asked["start"]["line"], asked["end"]["line"]
        for finding in self._shown(uri):
            if not first <= (finding.line or 1) - 1 <= last:
                continue
            for edit in finding.edits:
                changes = self._changes(edit)
                if changes is not None:
                    yield {
                        "title": f"{edit.label or finding.fix} [{finding.rule}]",
                        "kind": "quickfix",
                        "diagnostics": [_diagnostic(finding)],
                        "isPreferred": len(finding.edits) == 1,
                        "edit": {"changes": changes},
                    }

    def _changes(self, edit: Edit) -> dict[str, list[Message]] | None:
        """An edit by file; None if one of its files has changed."""
        opened = {_path(uri): uri for uri in self._texts}
        changes: dict[str, list[Message]] = {}
        for change in edit.changes:
            file = os.path.realpath(change.file)
            uri = opened.get(file) or Path(file).as_uri()
            try:
                text = self._texts[uri] if uri in self._texts else read_source(file)
            except StepscopeError:
                return None
            if digest(text) != change.sha256:
                return None
            start, end = change.line - 1, change.line - 1 + len(change.old)
            new = "".join(f"{line}\n" for line in change.new)
            changes.setdefault(uri, []).append({"range": _range(start, 0, end, 0), "newText": new})
        return changes


def _found_in(path: str, stores: Sequence[Path]) -> list[Finding]:
    """The findings in a file of the newest run about it."""
    folders = [found.path for store in stores for found in find_run_folders(store)]
    for folder in sorted(folders, key=os.path.basename, reverse=True)[:_RUNS]:  # ids begin with the time
        try:
            run = open_run(Path(folder))
            script = os.path.realpath(os.path.join(run.meta.cwd or "", run.meta.script or ""))
            here = [one for one in run.findings if one.file and os.path.realpath(one.file) == path]
        except (StepscopeError, OSError):
            continue
        if here or script == path:
            return here
    return []


def _diagnostic(finding: Finding) -> Message:
    line = (finding.line or 1) - 1
    start = finding.column or 0
    end = finding.end_column if finding.end_column is not None else max(start + 1, len(dict(finding.source)[line + 1]))
    words = [
        finding.message,
        *([finding.label] if finding.label else []),
        *([f"Fix: {finding.fix}"] if finding.fix else []),
    ]
    return {
        "range": _range(line, start, line, end),
        "severity": _LEVELS[finding.severity],
        "code": finding.rule,
        "source": "stepscope",
        "message": "\n".join(words),
    }


def _range(line: int, column: int, end_line: int, end_column: int) -> Message:
    return {"start": {"line": line, "character": column}, "end": {"line": end_line, "character": end_column}}


def _path(uri: str) -> str:
    return os.path.realpath(unquote(urlsplit(uri).path))


def serve(stores: Sequence[Path], read: BinaryIO, write: BinaryIO) -> None:
    """Handle messages until the editor sends `exit` or closes the pipe."""

    def send(message: Message) -> None:
        body = json.dumps(message).encode()
        write.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        write.flush()

    server = LanguageServer(stores, send)
    while (message := _next(read)) is not None and server.handle(message):
        pass


def _next(read: BinaryIO) -> Message | None:
    length = 0
    while line := read.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    message: Message | None = json.loads(read.read(length)) if length else None
    return message
