"""An editor gets the findings of the newest run of a file, and their edits while the file is as it was."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest

from stepscope.diagnose.edits.apply import changed_text
from stepscope.diagnose.edits.spans import digest
from stepscope.integrations.language_server import serve
from stepscope.records import End, RunMeta
from stepscope.records.run import Edit, Finding, FindingEvent, TextChange
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

TEXT = "loss = f(x)\nloss.backward()\nopt.step()\n"
FIXED = "loss = f(x)\nopt.zero_grad()\nloss.backward()\nopt.step()\n"
ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "my train.py"
    file.write_text(TEXT)
    return file


def write_run(store: Path, script: Path, *findings: Finding) -> None:
    meta = RunMeta(
        id=new_run_id(), project="p", name="r", created=time.time(), script=script.name, cwd=str(script.parent)
    )
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    for finding in findings:
        writer.event(FindingEvent(time=time.time(), finding=finding))
    writer.close(End(time=time.time(), status="finished"))


def no_zero_grad(script: Path) -> Finding:
    change = TextChange(file=str(script), line=2, old=[], new=["opt.zero_grad()"], sha256=digest(TEXT))
    return Finding(
        rule="opt.no-zero-grad", severity="error", message="gradients pile up", file=str(script), line=2, column=0,
        end_column=15, fix="clear them", source=[(2, "loss.backward()")], edits=[Edit(changes=[change])],
    )  # fmt: skip


def conversation(store: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """What the server says to these messages."""
    asked, said = io.BytesIO(), io.BytesIO()
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        asked.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    asked.seek(0)
    serve([store], asked, said)
    parts = said.getvalue().split(b"Content-Length: ")[1:]
    return [json.loads(part.partition(b"\r\n\r\n")[2]) for part in parts]


def opened(script: Path, text: str = TEXT) -> dict[str, Any]:
    return {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": script.as_uri(), "text": text}}}


def actions(script: Path) -> dict[str, Any]:
    params = {"textDocument": {"uri": script.as_uri()}, "range": ALL, "context": {"diagnostics": []}}
    return {"id": 2, "method": "textDocument/codeAction", "params": params}


def test_shows_a_finding_and_offers_its_edit(tmp_path: Path, script: Path) -> None:
    write_run(tmp_path / "runs", script, no_zero_grad(script))
    start = {"id": 1, "method": "initialize", "params": {}}
    began, shown, offered = conversation(tmp_path / "runs", start, opened(script), actions(script))
    assert began["result"]["capabilities"]["codeActionProvider"] == {"codeActionKinds": ["quickfix"]}
    (diagnostic,) = shown["params"]["diagnostics"]
    assert (diagnostic["code"], diagnostic["severity"]) == ("opt.no-zero-grad", 1)
    assert diagnostic["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 15}}
    (action,) = offered["result"]
    assert action["title"] == "clear them [opt.no-zero-grad]"
    (edit,) = action["edit"]["changes"][script.as_uri()]
    assert edit["range"]["start"] == edit["range"]["end"] == {"line": 1, "character": 0}
    change = TextChange(file="", line=2, old=[], new=edit["newText"].splitlines(), sha256=digest(TEXT))
    assert changed_text(TEXT, [change]) == FIXED


def test_offers_no_edit_once_the_file_has_changed(tmp_path: Path, script: Path) -> None:
    write_run(tmp_path / "runs", script, no_zero_grad(script))
    later = TEXT + "print(loss)\n"
    change = {
        "method": "textDocument/didChange",
        "params": {"textDocument": {"uri": script.as_uri()}, "contentChanges": [{"text": later}]},
    }
    _, still, offered = conversation(tmp_path / "runs", opened(script), change, actions(script))
    assert [one["code"] for one in still["params"]["diagnostics"]] == ["opt.no-zero-grad"]
    assert offered["result"] == []


def test_a_finding_goes_with_its_line_and_with_a_newer_run(tmp_path: Path, script: Path) -> None:
    write_run(tmp_path / "runs", script, no_zero_grad(script))
    (fixed,) = conversation(tmp_path / "runs", opened(script, FIXED))
    assert fixed["params"]["diagnostics"] == []
    time.sleep(1.1)  # ids have seconds
    write_run(tmp_path / "runs", script)
    (newer,) = conversation(tmp_path / "runs", opened(script))
    assert newer["params"]["diagnostics"] == []


def test_says_that_it_does_not_know_a_request(tmp_path: Path) -> None:
    hover, ended = conversation(tmp_path, {"id": 1, "method": "textDocument/hover"}, {"id": 2, "method": "shutdown"})
    assert hover["error"]["code"] == -32601
    assert ended["result"] is None
