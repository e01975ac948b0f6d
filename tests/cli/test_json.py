"""`--json` on every command: there, alone on stdout, and JSON that every parser reads; of errors too."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from tests.launch.conftest import Done, environment, launch_all

import stepscope
from stepscope.cli.main import commands

TRAIN = """
import sys
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(64, 4)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
print("{the script's own words")
for epoch in range(3):
    for a, b in loader:
        loss = torch.nn.functional.mse_loss(model(a), b)
        if "crash" in sys.argv:
            loss = loss + torch.ones(3) @ torch.ones(2)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
"""
NET = "import torch\nprint('made')\nclass Net(torch.nn.Linear):\n    def __init__(self): super().__init__(3, 2)\n"
SWEEP = "command: python train.py\nparameters:\n  lr:\n    values: [1, 2]\nmetric: loss\n"

CASES: dict[str, list[str]] = {
    "check": ["train.py"],
    "compact": [],
    "compare": ["first", "second"],
    "data": ["--no-run", "--samples", "8", "train.py"],
    "delete": ["first", "--yes", "--dir", "mine"],
    "demo": ["--dry-run"],
    "diagnose": ["first"],
    "doctor": [],
    "edit": ["second", "--tag", "new", "--dir", "mine"],
    "explain": ["opt.no-zero-grad"],
    "fix": ["first"],
    "export": ["first"],
    "export-site": ["site"],
    "import": ["nowhere/"],
    "init-vscode": [],
    "login": ["http://127.0.0.1:1", "--token-file", "nowhere/token"],
    "inspect": ["net.py:Net", "--input", "2,3"],
    "lsp": ["stepscope-runs"],
    "mcp": ["stepscope-runs"],
    "merge": ["first", "stepscope-runs"],
    "profile": ["--dir", "profiles", "--steps", "2:4", "train.py"],
    "replay": ["--dir", "crashed", "--trust"],
    "report": ["first", "-o", "report.html"],
    "restore": ["first"],
    "rules": ["opt"],
    "run": ["--no-run", "train.py"],
    "runs": [],
    "scrub": ["second", "nothing-like-it", "--dir", "mine"],
    "server": ["made", "--token-file", "nowhere/token"],
    "show": ["first"],
    "stacks": ["first"],
    "sweep": ["sweep.yaml", "--dry-run"],
    "sync": ["nowhere", "--to", "http://127.0.0.1:1"],
    "tail": ["first"],
    "trash": [],
    "tune-batch": ["--seconds", "2", "--batches", "2", "--max-batch", "8", "train.py"],
    "tune-data": ["--seconds", "2", "--batches", "5", "--max-workers", "0", "train.py"],
    "ui": ["--test-webhook"],
}
EXITS = {"fix": 3, "stacks": 3, "import": 3, "login": 1, "replay": 1, "server": 2, "sync": 3, "ui": 2}
"""Paths that are not there, a step that fails again, no webhook to test."""


def names() -> list[str]:
    return commands.list_commands(click.Context(commands))


def parsed(text: str) -> Any:
    return json.loads(text, parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    for name, text in (("train.py", TRAIN), ("net.py", NET), ("sweep.yaml", SWEEP)):
        (folder / name).write_text(text)
    for name in ("first", "second"):
        with stepscope.init(
            name=name, project="p", dir=folder / "stepscope-runs", config={"n": 2**70}, console=False, system=False,
            git=False,
        ) as run:  # fmt: skip
            for step in range(4):
                run.log({"loss": 1 / (step + 1), "odd \x1b[31m": float("nan")}, step=step)
    shutil.copytree(folder / "stepscope-runs", folder / "mine")
    launch_all([{"args": ["run", "--dir", "crashed", "train.py", "crash"], "cwd": str(folder)}], torch=True)
    return folder


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Done]:
    lines = {name: [name, "--json", *args] for name, args in CASES.items()}
    cases = [{"args": args, "cwd": str(folder)} for args in lines.values()]
    return dict(zip(lines, launch_all(cases, torch=True), strict=True))


@pytest.fixture(scope="module")
def refused(folder: Path) -> dict[str, Done]:
    cases = [{"args": [name, "--json", "--no-such-option", "x"], "cwd": str(folder)} for name in names()]
    return dict(zip(names(), launch_all(cases), strict=True))


@pytest.mark.parametrize("name", names())
def test_every_command_prints_one_document(name: str, done: dict[str, Done]) -> None:
    assert name in CASES, f"add an example of `stepscope {name} --json` here"
    told = done[name]
    assert told.code == EXITS.get(name, 0), told
    found = [parsed(line) for line in told.out.splitlines()] if name == "tail" else parsed(told.out)
    assert isinstance(found, dict | list)
    fails = name in ("fix", "import", "login", "server", "stacks", "sync", "ui")
    assert ("error" in found and "exit_code" in found["error"]) == fails, told.out


@pytest.mark.parametrize("name", names())
def test_every_command_tells_its_errors_the_same_way(name: str, refused: dict[str, Done]) -> None:
    assert refused[name].code == 2
    error = parsed(refused[name].out)["error"]
    assert error.pop("message")
    assert error == {"kind": "UsageError", "exit_code": 2}
    assert refused[name].err.startswith("error: ")


def test_nothing_of_ours_fails_on_the_way(done: dict[str, Done]) -> None:
    assert [(name, one.err) for name, one in done.items() if "failed and was skipped" in one.err] == []


def test_what_a_script_prints_is_not_in_the_document(done: dict[str, Done]) -> None:
    (found,) = parsed(done["run"].out)["findings"]
    assert (found["rule"], found["file"], found["line"]) == ("opt.no-zero-grad", "train.py", 16)
    for name in ("run", "check", "profile", "data", "tune-data", "inspect"):
        assert "the script's own words" in done[name].err or "made" in done[name].err, name


def test_a_check_and_a_run_give_their_verdict_with_the_findings(done: dict[str, Done]) -> None:
    told, ran = parsed(done["check"].out), parsed(done["run"].out)
    assert (told["version"], told["command"], told["verdict"]) == (1, "check", "suspicious")
    assert told["counts"]["error"] == sum(one["severity"] == "error" for one in told["findings"]) == 1
    (script,) = told["scripts"]
    assert (script["script"], script["headline"], script["exit_code"]) == ("train.py", "1 error", 0)
    assert script["headline"] in done["check"].err
    assert script["tried"] in done["check"].err
    doubtful = [one["said"] for one in script["answers"] if one["state"] == "suspicious"]
    assert doubtful == ["opt.no-zero-grad"]
    assert {one["state"] for one in script["answers"]} == {"passed", "suspicious", "not checked"}
    assert (ran["command"], ran["verdict"], ran["scripts"][0]["steps"]) == ("run", "suspicious", 24)
    assert ran["scripts"][0]["answers"] == []


def test_the_fields_that_programs_rely_on(done: dict[str, Done]) -> None:
    assert {"id", "name", "project", "status", "config", "metrics", "findings", "path"} <= set(
        parsed(done["runs"].out)[0]
    )
    assert {"id", "name", "status", "metrics", "findings", "summary"} <= set(parsed(done["show"].out))
    assert parsed(done["show"].out)["metrics"]["odd \x1b[31m"]["last"] == "NaN"
    assert [one["name"] for one in parsed(done["delete"].out)["deleted"]] == ["first"]
    assert parsed(done["edit"].out)[0]["tags"] == ["new"]
    assert set(parsed(done["explain"].out)) >= {"id", "severity", "summary", "why", "fix", "bad", "good"}
    assert parsed(done["export"].out)["series"]["loss"]["values"][0] == 1.0
    replayed = parsed(done["replay"].out)
    assert (replayed["reached"], replayed["failed_again"], replayed["same_error"]) == (True, True, True)
    assert parsed(done["report"].out)["written"]["runs"] == 1
    assert [parsed(line)["event"] for line in done["tail"].out.splitlines()] == ["metrics", "status"]
    assert parsed(done["import"].out)["error"]["kind"] == "NotFound"


def test_an_error_goes_to_the_file_that_was_named(folder: Path) -> None:
    cases = [
        {"args": ["check", "--json", "out.json", "nope.py"], "cwd": str(folder)},
        {"args": ["check", "--json", "nope.py"], "cwd": str(folder)},
        {"args": ["run", "--json", "--sarif", "train.py"], "cwd": str(folder)},
        {"args": ["run", "train.py", "--json", "theirs"], "cwd": str(folder)},
    ]
    named, alone, both, _ = launch_all(cases)
    assert named.out == ""
    assert parsed((folder / "out.json").read_text())["error"]["exit_code"] == 3
    assert parsed(alone.out)["error"]["kind"] == "NotFound"
    assert "cannot both go to the standard output" in parsed(both.out)["error"]["message"]
    assert not (folder / "theirs").exists()
    assert (folder / "train.py").read_text() == TRAIN


def test_the_server_says_where_it_is_in_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "stepscope", "ui", "--json", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout is not None
    try:
        told = parsed(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert told["address"] == f"{told['url']}/?token={told['token']}"
    assert (out, "Stepscope is on" in err) == ("", True)
