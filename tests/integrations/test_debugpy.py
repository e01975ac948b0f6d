"""`stepscope run --debugpy` with the real debugpy: an editor attaches, stops in the script, looks, and goes on."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import stepscope

# Without torch: importing it under a debugger takes half a minute on a small machine, and is none of what is tested.
TRAIN = """\
import random

random.seed(0)
weight = 0.0
for step in range(5):
    x = random.random()
    loss = (weight * x - 3 * x) ** 2
    weight -= 0.1 * 2 * (weight * x - 3 * x) * x
    print(f"{step} {loss:.9f}", flush=True)
"""
BREAK_AT = 8


class Editor:
    """A client of the Debug Adapter Protocol, as small as one can be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._file = self._socket.makefile("rb")
        self._number = 0
        self.heard: list[dict[str, Any]] = []

    def send(self, command: str, **arguments: Any) -> int:
        self._number += 1
        body = json.dumps({"seq": self._number, "type": "request", "command": command, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._number

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        number = self.send(command, **arguments)
        found = self.wait(lambda one: one["type"] == "response" and one["request_seq"] == number)
        assert found["success"], found
        body: dict[str, Any] = found.get("body") or {}
        return body

    def event(self, name: str) -> dict[str, Any]:
        body: dict[str, Any] = self.wait(lambda one: one["type"] == "event" and one["event"] == name).get("body") or {}
        return body

    def wait(self, fits: Any) -> dict[str, Any]:
        for one in self.heard:
            if fits(one):
                self.heard.remove(one)
                return one
        while True:
            one = self._read()
            if fits(one):
                return one
            self.heard.append(one)

    def _read(self) -> dict[str, Any]:
        length = 0
        while line := self._file.readline().strip():
            length = int(line.partition(b":")[2])
        assert length, f"the adapter hung up; heard so far: {self.heard}"
        found: dict[str, Any] = json.loads(self._file.read(length))
        return found

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "PYTEST"))}
    return {**clean, "OMP_NUM_THREADS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def attached(process: subprocess.Popen[str], port: int) -> Editor:
    """An editor, once the script says that it waits."""
    assert process.stderr is not None
    said = ""
    while f"waiting for an editor on 127.0.0.1:{port}" not in said:
        line = process.stderr.readline()
        assert line, f"it ended before it waited: {said}"
        said += line
    for _ in range(100):
        try:
            return Editor(port)
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise AssertionError("nothing listens on the port it named")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    return path


def test_attach_stop_look_and_go_on(script: Path, port: int) -> None:
    plain = subprocess.run(
        [sys.executable, script.name], cwd=script.parent, capture_output=True, text=True, env=environment(), check=True
    )
    command = [sys.executable, "-m", "stepscope", "run", "--no-run", "--debugpy", str(port), script.name]
    process = subprocess.Popen(
        command, cwd=script.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    editor = None
    try:
        editor = attached(process, port)
        editor.ask("initialize", adapterID="debugpy", clientID="test", pathFormat="path", linesStartAt1=True)
        ours = f"{Path(stepscope.__file__).parent}/**"  # in site-packages, where users have it, debugpy knows by itself
        editor.send("attach", justMyCode=True, rules=[{"path": ours, "include": False}])
        editor.event("initialized")
        source = {"path": str(script)}
        (placed,) = editor.ask("setBreakpoints", source=source, breakpoints=[{"line": BREAK_AT}])["breakpoints"]
        assert placed["verified"]
        editor.ask("configurationDone")
        stopped = editor.event("stopped")
        assert stopped["reason"] == "breakpoint"
        frames = editor.ask("stackTrace", threadId=stopped["threadId"])["stackFrames"]
        assert [(Path(frame["source"]["path"]).name, frame["line"]) for frame in frames] == [("train.py", BREAK_AT)], (
            "frames of ours are among the user's"
        )
        frame = frames[0]["id"]
        assert editor.ask("evaluate", expression="step", frameId=frame)["result"] == "0"
        seen = editor.ask("evaluate", expression="f'{loss:.9f}'", frameId=frame)["result"].strip("'")
        editor.ask("setBreakpoints", source=source, breakpoints=[])
        editor.ask("continue", threadId=stopped["threadId"])
        editor.event("terminated")
        editor.ask("disconnect")
        out, err = process.communicate(timeout=300)
    finally:
        if editor is not None:
            editor.close()
        process.kill()
        process.communicate()
    assert process.returncode == 0, err
    assert out == plain.stdout, "the script gives the same numbers, to the last digit"
    assert out.startswith(f"0 {seen}\n")


def test_without_a_debugger_the_port_is_named_and_a_taken_one_is_told(script: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "stepscope", "run", "--no-run", "--debugpy", str(port), script.name]
        done = subprocess.run(
            command, cwd=script.parent, capture_output=True, text=True, env=environment(), timeout=300
        )
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert done.stdout == ""
