"""A real MCP client asks `stepscope mcp` why real runs failed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CRASH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.head = nn.Linear(8 * 28 * 28, 10)  # LINE: crash

    def forward(self, x):
        return self.head(self.conv(x).relu().flatten(1))

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
print("starting training", flush=True)
for step in range(5):
    loss = nn.functional.cross_entropy(net(torch.randn(4, 1, 28, 28)), torch.randint(0, 10, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NAN = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)

def spread(x):
    p = x.abs() / x.abs().max()
    p[0, 0] = 0.0
    return -(p * torch.log(p)).sum()  # LINE: nan

for step in range(40):
    x = torch.randn(32, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    if step >= 25:
        loss = loss + 0.01 * spread(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def line_of(script: str, mark: str) -> int:
    return next(number for number, text in enumerate(script.splitlines(), 1) if f"# LINE: {mark}" in text)


class Made:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "runs"
        self.env = {**os.environ, "STEPSCOPE_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
        self.env.pop("STEPSCOPE_DIR", None)

    def start(self, name: str, script: str) -> subprocess.Popen[bytes]:
        (self.folder / f"{name}.py").write_text(script)
        line = [sys.executable, "-m", "stepscope", "run", "--dir", str(self.store), "--name", name, f"{name}.py"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(line, cwd=self.folder, env=self.env, **quiet)

    def ask(self, *arguments: str, do: Callable[[ClientSession], Awaitable[Any]]) -> Any:
        """Start the server as an agent does, do something with the session, and end it."""

        async def talk() -> Any:
            words = ["-m", "stepscope", "mcp", str(self.store), *arguments]
            server = StdioServerParameters(command=sys.executable, args=words, env=self.env, cwd=self.folder)
            async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
                hello = await session.initialize()
                assert wire(hello)["serverInfo"]["name"] == "stepscope"
                return await do(session)

        return asyncio.run(talk())


def wire(message: Any) -> dict[str, Any]:
    """As it stands on the wire: the SDK's versions name fields differently."""
    found: dict[str, Any] = message.model_dump(by_alias=True, mode="json")
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    made = Made(tmp_path_factory.mktemp("mcp"))
    for process in [made.start("crash", CRASH), made.start("nan", NAN)]:
        process.wait(300)
    return made


async def call(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    return wire(await session.call_tool(tool, arguments))


def text_of(answer: dict[str, Any]) -> str:
    return "".join(part["text"] for part in answer["content"])


def test_a_client_asks_why_the_runs_failed_and_gets_the_line(made: Made) -> None:
    async def ask(session: ClientSession) -> list[dict[str, Any]]:
        return [await call(session, "why_did_it_fail", run=run) for run in ("crash", "nan")]

    crash, nan = made.ask(do=ask)

    assert not crash["isError"]
    assert f"at `crash.py:{line_of(CRASH, 'crash')}`" in text_of(crash)
    assert "is built for 6272 values" in text_of(crash)
    assert "mat1 and mat2 shapes cannot be multiplied" in text_of(crash)
    assert "starting training" in text_of(crash)
    finding = crash["structuredContent"]["findings"][0]
    assert (finding["rule"], finding["evidence"]["right"]) == ("shape.flatten", 5408)

    assert f"at `nan.py:{line_of(NAN, 'nan')}`" in text_of(nan)
    assert "return -(p * torch.log(p)).sum()" in text_of(nan)
    assert nan["structuredContent"]["findings"][0]["rule"] == "num.log-zero"
    assert "NaN first at step 25" in text_of(nan)
    assert nan["structuredContent"]["not_finite"]["train/loss"].startswith("finite up to step 24")


def test_the_tools_are_listed_with_schemas_and_read_only_hints(made: Made) -> None:
    async def ask(session: ClientSession) -> list[dict[str, Any]]:
        return [wire(tool) for tool in (await session.list_tools()).tools]

    tools = {one["name"]: one for one in made.ask(do=ask)}

    assert len(tools) == 13
    assert "edit_run" not in tools
    assert all(one["annotations"]["readOnlyHint"] is True for one in tools.values())
    assert all(one["description"] for one in tools.values())
    series = tools["get_series"]["inputSchema"]
    assert series["required"] == ["keys"]
    assert series["properties"]["keys"]["type"] == "array"
    assert "desk" not in series["properties"]
    assert "name" in series["properties"]["run"]["description"]
    with_edit = {one["name"]: one for one in made.ask("--allow-edit", do=ask)}
    assert with_edit["edit_run"]["annotations"]["readOnlyHint"] is False


def test_a_whole_conversation(made: Made) -> None:
    async def ask(session: ClientSession) -> dict[str, dict[str, Any]]:
        return {
            "runs": await call(session, "list_runs"),
            "failed": await call(session, "list_runs", query="status = failed"),
            "series": await call(session, "get_series", run="nan", keys=["train/loss"], points=8),
            "source": await call(session, "read_source", run="nan", path="nan.py", line=line_of(NAN, "nan"), around=1),
            "outside": await call(session, "read_source", run="nan", path="/etc/passwd"),
            "missing": await call(session, "get_run", run="nope"),
            "wrong": await call(session, "get_findings", run="nan", limit=0),
            "rule": await call(session, "explain_rule", rule="shape.flatten"),
            "profile": await call(session, "get_profile", run="nan"),
            "search": await call(session, "search", text="starting training"),
        }

    got = made.ask(do=ask)

    assert {one["name"] for one in got["runs"]["structuredContent"]["runs"]} == {"crash", "nan"}
    assert [one["name"] for one in got["failed"]["structuredContent"]["runs"]] == ["crash"]
    assert got["series"]["structuredContent"]["series"][0]["nan_at"][0] == 25.0
    assert "torch.log(p)" in text_of(got["source"])
    for wrong, words in (("outside", "never read"), ("missing", "there is no run 'nope'"), ("wrong", "limit")):
        assert got[wrong]["isError"] is True
        assert words in text_of(got[wrong])
    assert "Why it matters" in text_of(got["rule"])
    assert "Forward" in text_of(got["profile"])
    assert "crash" in text_of(got["search"])


def test_resources_and_prompts(made: Made) -> None:
    async def ask(session: ClientSession) -> tuple[Any, ...]:
        templates = wire(await session.list_resource_templates())["resourceTemplates"]
        read = wire(await session.read_resource("stepscope://run/crash/failure"))["contents"][0]
        wrong = wire(await session.read_resource("stepscope://run/nope"))["contents"][0]
        prompt = wire(await session.get_prompt("debug_run", {"run": "crash"}))
        return templates, read, wrong, prompt

    templates, read, wrong, prompt = made.ask(do=ask)

    assert "stepscope://run/{run}" in [one["uriTemplate"] for one in templates]
    assert "shape.flatten" in read["text"]
    assert wrong["text"].startswith("error: there is no run 'nope'")
    assert 'why_did_it_fail(run="crash")' in prompt["messages"][0]["content"]["text"]


def test_edits_land_in_the_run_when_they_are_allowed(made: Made) -> None:
    async def ask(session: ClientSession) -> dict[str, Any]:
        return await call(session, "edit_run", run="crash", add_tags=["seen-by-agent"])

    assert made.ask("--allow-edit", do=ask)["structuredContent"]["tags"] == ["seen-by-agent"]


# -- over HTTP -------------------------------------------------------------------------------------------------------


@pytest.fixture
def port(made: Made) -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    line = [sys.executable, "-m", "stepscope", "mcp", str(made.store), "--http", "--port", str(port)]
    server = subprocess.Popen(line, env={**made.env, "STEPSCOPE_TOKEN": "t" * 24}, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield port
    server.terminate()
    server.wait(300)


def post(port: int, **headers: str) -> tuple[int, str]:
    client = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    known = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", data=body, headers=known)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_http_answers_only_who_has_the_token_and_means_this_machine(port: int) -> None:
    token = {"Authorization": f"Bearer {'t' * 24}"}

    assert post(port)[0] == 401
    assert post(port, Authorization="Bearer wrong")[0] == 401
    status, said = post(port, **token)
    assert (status, '"name":"stepscope"' in said) == (200, True)
    assert post(port, **token, Host="evil.example")[0] in (403, 421)
    assert post(port, **token, Origin="https://evil.example")[0] == 403
