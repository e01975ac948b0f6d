"""`stepscope run` keeps what it saw; rules are asked again from the folder, on a machine without torch."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.launch.conftest import Done, environment, launch_all

from stepscope.diagnose.stored.stored_evidence import ask_kept, kept_evidence
from stepscope.evidence.bundle import FOLDER

NO_ZERO = """
import torch
torch.manual_seed(0)
password = "hunter2-hunter2-hunter2"
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(12):
    x = torch.randn(8, 4)
    torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
"""
CRASH = """
import torch
layer = torch.nn.Linear(4, 2)
images = torch.zeros(8, 5)
layer(images)
"""
PROCESSES = """
import torch
import torch.multiprocessing as mp

def train(rank):
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(12):
        x = torch.randn(8, 4)
        torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()

def fail(rank):
    layer = torch.nn.Linear(4, 2)
    layer(torch.zeros(8, 5))

if __name__ == "__main__":
    torch.manual_seed(0)
    mp.spawn(train, nprocs=1)
    context = mp.get_context("fork")
    for target in (train, fail):
        child = context.Process(target=target, args=(1,))
        child.start()
        child.join()
    print(torch.nn.Linear(2, 2)(torch.zeros(1, 2)).shape)
"""
PREEMPTED = (
    NO_ZERO
    + """
import os, signal
os.kill(os.getpid(), signal.SIGTERM)
torch.nn.Linear(4, 2)(torch.zeros(8, 5))
"""
)
SCRIPTS = {"no_zero": NO_ZERO, "crash": CRASH, "processes": PROCESSES, "preempted": PREEMPTED}
AGAIN = """
import json, sys
sys.modules["torch"] = None
from pathlib import Path
from stepscope.diagnose.stored.stored_evidence import ask_kept
found = ask_kept(Path(sys.argv[1]))
print(json.dumps([found.rules, found.not_seen, [(f.rule, f.line, f.message) for f in found.findings]]))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Done]]:
    folder = tmp_path_factory.mktemp("kept")
    cases = []
    for name, code in SCRIPTS.items():
        (folder / f"{name}.py").write_text(code)
        arguments = [
            "run",
            "--dir",
            str(folder / name),
            "--json",
            str(folder / f"{name}.json"),
            str(folder / f"{name}.py"),
        ]
        cases.append({"args": arguments, "cwd": str(folder)})
    done = launch_all(cases, torch=True)
    return {name: (next((folder / name).iterdir()), one) for name, one in zip(SCRIPTS, done, strict=True)}


@pytest.mark.parametrize(
    ("name", "rule", "line"),
    [
        ("no_zero", "opt.no-zero-grad", 9),
        ("crash", "shape.linear-in", 3),
        ("processes", "opt.no-zero-grad", 11),
        ("processes", "shape.linear-in", 15),
        ("preempted", "opt.no-zero-grad", 9),
    ],
)
def test_the_same_is_found_without_torch(runs: dict[str, tuple[Path, Done]], name: str, rule: str, line: int) -> None:
    run, _ = runs[name]
    live = json.loads((run.parent.parent / f"{name}.json").read_text())["findings"]
    out = subprocess.run(
        [sys.executable, "-c", AGAIN, str(run)], capture_output=True, text=True, env=environment(), check=True
    )
    rules, not_seen, found = json.loads(out.stdout)
    assert (rule, line) in [(one["rule"], one["line"]) for one in live]
    assert sorted((one[0], one[1], one[2]) for one in found) == sorted(
        (f["rule"], f["line"], f["message"]) for f in live
    )
    assert (rules > 150, not_seen, out.stderr) == (True, {}, "")


def test_each_process_has_a_file_beside_that_of_the_script(runs: dict[str, tuple[Path, Done]], tmp_path: Path) -> None:
    run, _ = runs["processes"]
    names = sorted((path.name for path in (run / FOLDER).iterdir()), key=lambda name: name.count("."))
    script, *others = names
    assert len(others) == 3
    assert all(one.startswith(script.removesuffix("gz")) for one in others)
    (tmp_path / FOLDER).mkdir()
    for name in names:  # another attempt of the same run, which started no process
        (tmp_path / FOLDER / name).write_bytes((run / FOLDER / name).read_bytes())
    assert len(kept_evidence(tmp_path)) == 4
    (tmp_path / FOLDER / "0.zzz.gz").write_bytes((run / FOLDER / script).read_bytes())
    assert len(kept_evidence(tmp_path)) == 1


def test_secrets_in_the_source_are_masked(runs: dict[str, tuple[Path, Done]]) -> None:
    run, _ = runs["no_zero"]
    (kept,) = (run / FOLDER).iterdir()
    plain = gzip.decompress(kept.read_bytes())
    assert b"hunter2" not in plain
    assert b"torch.nn.Linear(4, 1)" in plain


def test_a_damaged_file_is_named_and_the_run_still_opens(runs: dict[str, tuple[Path, Done]], tmp_path: Path) -> None:
    run, _ = runs["no_zero"]
    (kept,) = (run / FOLDER).iterdir()
    data = bytearray(kept.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / kept.name).write_bytes(data)
    problems: list[str] = []
    assert kept_evidence(tmp_path, problems) == []
    assert len(problems) == 1
    assert "cannot be read" in problems[0]
    assert ask_kept(tmp_path).rules == 0
    assert "a new `stepscope run` of the script keeps it again" in problems[0]
