"""`stepscope run torchrun ...`: the launcher's command, with `stepscope run` for every rank."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.errors import UsageError
from stepscope.launch.launchers import is_launcher, launcher_command

TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]


def test_every_rank_of_torchrun_is_a_run_of_ours() -> None:
    words = ["--nproc-per-node", "2", "--standalone", "train.py", "--nproc-per-node", "9", "-m", "x"]
    assert launcher_command("torchrun", words, ["--name", "a"]) == [
        *TORCHRUN, "--nproc-per-node", "2", "--standalone", "-m",
        "stepscope", "run", "--name", "a", "train.py", "--nproc-per-node", "9", "-m", "x",
    ]  # fmt: skip


def test_a_module_stays_a_module() -> None:
    words = ["--nproc_per_node=2", "-m", "pkg.train", "--lr", "1"]
    assert launcher_command("torchrun", words, []) == [
        *TORCHRUN, "--nproc_per_node=2", "-m", "stepscope", "run", "-m", "pkg.train", "--lr", "1",
    ]  # fmt: skip


def test_other_launchers_are_told_where_to_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="put srun first"):
        launcher_command("srun", ["train.py"], [])
    with pytest.raises(UsageError, match=r"leave out .python.: stepscope run train"):
        launcher_command("python", ["train.py", "--lr", "1"], [])
    with pytest.raises(UsageError, match="only `accelerate launch`"):
        launcher_command("accelerate", ["config"], [])
    with pytest.raises(UsageError, match="not Python"):
        launcher_command("torchrun", ["--no-python", "prog"], [])
    assert is_launcher("torchrun")
    (tmp_path / "torchrun").write_text("")
    assert not is_launcher("torchrun"), "a script of that name"


def test_a_launcher_may_be_named_by_its_path() -> None:
    assert is_launcher("/opt/env/bin/torchrun")
    assert not is_launcher("/opt/env/bin/train.py")
    assert launcher_command("/opt/env/bin/torchrun", ["train.py"], []) == [
        *TORCHRUN,
        "-m",
        "stepscope",
        "run",
        "train.py",
    ]


LAUNCHER = """
import sys
if sys.argv[1] == "raises":
    raise RuntimeError("a rank has failed")
print(__name__, sys.argv[1:])
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize(("word", "code", "out", "last"), [
    ("0", 0, "__main__ ['0', 'train.py']\n", ""),
    ("3", 3, "__main__ ['3', 'train.py']\n", ""),
    ("raises", 1, "", "RuntimeError: a rank has failed"),
])  # fmt: skip
def test_this_process_becomes_the_launcher(tmp_path: Path, word: str, code: int, out: str, last: str) -> None:
    (tmp_path / "launcher.py").write_text(LAUNCHER)
    become = "from stepscope.launch.launchers import start_launcher; start_launcher(['python', '-m', 'launcher', "
    done = subprocess.run(
        [sys.executable, "-c", f"{become}{word!r}, 'train.py'])"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, out), done.stderr
    assert done.stderr.splitlines()[-1:] == ([last] if last else [])
    assert "stepscope" not in done.stderr, "a traceback without our frames"
