"""Checks where nobody looks at the terminal: exit codes, the Action's own commands, the hook, what GitHub accepts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.launch.conftest import Done, environment, launch_all

from stepscope.diagnose.outputs.sarif import write
from stepscope.launch.vscode import PROBLEM_MATCHER
from stepscope.records import Finding

ROOT = Path(__file__).parent.parent.parent
GOOD = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 4)
for step in range(8):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()
    optimizer.step()
"""
STALE = GOOD.replace("    optimizer.zero_grad()\n", "")
WARNED = "[tool.stepscope.severity]\n'opt.no-zero-grad' = 'warning'\n"
HINTED = WARNED.replace("warning", "info")
CASES: dict[str, tuple[str, str, list[str], int]] = {
    "good": (GOOD, "", ["check", "--strict"], 0),
    "error": (STALE, "", ["check"], 0),
    "error, strict": (STALE, "", ["check", "--strict", "--output", "lines"], 1),
    "warning, strict": (STALE, WARNED, ["check", "--strict"], 1),
    "warning, strict run": (STALE, WARNED, ["run", "--no-run", "--strict"], 1),
    "hint, strict": (STALE, HINTED, ["check", "--strict"], 0),
    "profile with strict settings": (STALE, "[tool.stepscope]\nstrict = true\n", ["profile"], 0),
    "crash": ("raise SystemExit(7)", "", ["check"], 7),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ci")


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Done]:
    cases = []
    for name, (text, settings, words, _) in CASES.items():
        home = folder / name
        home.mkdir()
        (home / "train.py").write_text(text)
        (home / "pyproject.toml").write_text(settings)
        cases.append({"args": [*words, "train.py"], "cwd": str(home)})
    return dict(zip(CASES, launch_all(cases, torch=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_exit_codes(name: str, done: dict[str, Done]) -> None:
    assert done[name].code == CASES[name][3], done[name].err


def test_the_problem_matcher_reads_what_a_check_prints(done: dict[str, Done]) -> None:
    pattern = PROBLEM_MATCHER["pattern"]
    found = [match for line in done["error, strict"].err.splitlines() if (match := re.match(pattern["regexp"], line))]
    assert len(found) == 1, done["error, strict"].err
    told = {name: found[0].group(number) for name, number in pattern.items() if name != "regexp"}
    line = STALE.splitlines()[int(told["line"]) - 1]
    assert line[int(told["column"]) - 1 : int(told["endColumn"]) - 1] == "loss.backward()"
    assert (told["file"], told["severity"], told["code"]) == ("train.py", "error", "opt.no-zero-grad")


def action_step(name: str) -> dict[str, Any]:
    whole = yaml.safe_load((ROOT / "action.yml").read_text())
    defaults = {key: one.get("default", "") for key, one in whole["inputs"].items()}
    (step,) = [one for one in whole["runs"]["steps"] if one["name"] == name]
    return {"run": step["run"], "env": step["env"], "defaults": defaults}


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The Action's check as GitHub runs it: its shell, its environment, its commands."""
    step = action_step("Check")
    given = {**step["defaults"], **inputs}
    assert set(given) == set(step["defaults"])
    filled = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**environment(), **filled, "PATH": path, "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(folder.parent)}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def checked(folder: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Two scripts, checked by the Action in a folder of the repository."""
    home = folder / "repository" / "my project"
    home.mkdir(parents=True)
    (home / "train.py").write_text(STALE)
    (home / "good.py").write_text(GOOD)
    return home, run_action(home, scripts="train.py good.py", options="--ignore repro")


def test_the_action_fails_annotates_and_leaves_a_file(checked: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    home, done = checked
    assert done.returncode == 1, done.stderr
    assert "::error file=my project/train.py,line=9,col=5,endColumn=19,title=opt.no-zero-grad::" in done.stdout
    (result,) = json.loads((home / "stepscope.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20project/train.py"


def test_the_action_takes_no_arguments_for_several_scripts_and_runs_nothing_that_is_pasted(folder: Path) -> None:
    told = run_action(folder, scripts="a.py b.py", args="--lr 1")
    assert told.returncode == 2
    assert "args go with one script" in told.stdout
    told = run_action(folder, scripts="$(touch${IFS}pwned) `touch pwned`; touch pwned")
    assert told.returncode == 3
    assert not (folder / "pwned").exists()


def test_github_takes_every_result(checked: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """What code scanning refuses or drops: https://docs.github.com/en/code-security, "SARIF support"."""
    odd = [
        Finding(rule="other.rule", severity="warning", message="without a place"),
        Finding(rule="opt.no-zero-grad", severity="info", message="elsewhere", file="a.py", line=3),
        Finding(rule="opt.no-zero-grad", severity="info", message="elsewhere", file="a.py", line=3),
    ]
    write(odd, tmp_path / "odd.sarif", otherwise=str(Path.cwd() / "train.py"))
    for file in (checked[0] / "stepscope.sarif", tmp_path / "odd.sarif"):
        log = json.loads(file.read_text())
        assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
        run = log["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        for rule in rules:
            assert 0 < len(rule["shortDescription"]["text"]) <= 1024
            assert 0 < len(rule["fullDescription"]["text"]) <= 1024
            assert rule["help"]["text"]
            assert rule["name"].isalnum()
        prints = []
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note")
            assert result["message"]["text"]
            place = result["locations"][0]["physicalLocation"]
            assert not place["artifactLocation"]["uri"].startswith(("/", "file:"))
            assert place["region"]["startLine"] >= 1
            prints.append(result["partialFingerprints"]["primaryLocationLineHash"])
        assert len(set(prints)) == len(prints)


def test_the_hook_names_commands_that_are_there(folder: Path, done: dict[str, Done]) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "stepscope-check"
    assert [bool(re.search(hook["files"], name)) for name in ("train.py", "src/train_vae.py", "trainer/data.py")] == [
        True, True, False,
    ]  # fmt: skip
    words = hook["entry"].split()
    case = {"args": [*words[1:], "--ignore", "opt", "error/train.py"], "cwd": str(folder)}
    (told,) = launch_all([case])
    assert told.code == 0, told.err
    assert "stepscope check train.py: nothing suspicious was found\n  tried " in told.err
    assert "passed" not in told.err


def test_the_example_workflow_uses_the_action_with_its_own_inputs() -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "github_action.yml").read_text())
    known = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (used,) = [step for step in workflow["jobs"]["check"]["steps"] if "stepscope/" in step.get("uses", "")]
    assert set(used["with"]) <= set(known)
    assert workflow["permissions"]["security-events"] == "write"
