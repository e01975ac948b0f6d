"""Scripts without PyTorch: tracked as any other, and told in a line what was not looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stepscope

PLAIN = "import math\nprint(math.floor(2.5))\n"
SLOW = """
def slow(n):
    return sum(int(str(i)) for i in range(n))
for _ in range(8):
    slow(100_000)
"""


@pytest.fixture
def launched(tmp_path: Path):
    def run(text: str, *words: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "script.py").write_text(text)
        return subprocess.run(
            [sys.executable, "-m", "stepscope", *words, "script.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_run_says_in_one_line_what_needs_torch_and_records_the_rest(launched, tmp_path: Path) -> None:
    done = launched(PLAIN, "run", "--name", "mine")
    assert (done.returncode, done.stdout) == (0, "2\n")
    said = done.stderr.splitlines()
    assert len(said) == 1
    assert said[0].startswith("stepscope: script.py does not use PyTorch: what it logs and prints")
    assert said[0].endswith("findings, steps and phases need PyTorch; see it with: stepscope show mine")
    run = stepscope.run("mine", tmp_path / "stepscope-runs")
    assert run.status == "finished"


OWN = "import stepscope\nfor name in ({}):\n    stepscope.init(name=name, system=False, git=False).finish()\n"


@pytest.mark.parametrize(
    ("given", "names"),
    [("None,", ["mine"]), ("'own',", ["own"]), ("'own', None", ["mine", "own"])],
)
def test_the_name_goes_to_the_first_run_that_the_script_leaves_nameless(
    launched, tmp_path: Path, given: str, names: list[str]
) -> None:
    done = launched(OWN.format(given), "run", "-q", "--name", "mine")
    assert done.returncode == 0, done.stderr
    assert sorted(run.name for run in stepscope.runs(tmp_path / "stepscope-runs")) == names


def test_quiet_says_nothing(launched) -> None:
    assert launched(PLAIN, "run", "-q").stderr == ""


def test_the_framework_is_named(launched) -> None:
    pytest.importorskip("sklearn")
    done = launched("import sklearn.linear_model\n", "run")
    assert "script.py trains with scikit-learn, not with PyTorch" in done.stderr


def test_a_script_that_only_imports_torch_is_not_said_to_lack_it(launched) -> None:
    assert launched("import torch\n", "run").stderr == ""


def test_check_says_that_nothing_could_be_checked(launched) -> None:
    done = launched(PLAIN, "check")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "stepscope check script.py: nothing could be checked",
        "  tried        0 training steps; the script finished",
        "  not checked  script.py does not use PyTorch; all checks look at PyTorch's tensors, models and steps",
    ]


def test_data_says_that_it_saw_none(launched) -> None:
    done = launched(PLAIN, "data")
    assert done.returncode == 0
    assert "no data was seen: script.py does not use PyTorch; only data from a DataLoader is examined" in (
        " ".join((done.stdout + done.stderr).split())
    )


def test_profile_samples_the_python_of_a_script_without_steps(launched) -> None:
    done = launched(SLOW, "profile")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines() if "%" in line]
    assert rows[0][0] == "slow.<locals>.<genexpr>"  # by own time, the most first
    assert "script.py:" in rows[0][1]
    assert "its Python code was sampled from start to end" in " ".join(done.stdout.split())


@pytest.mark.parametrize("command", ["run", "check", "profile", "data"])
def test_a_crash_stays_the_scripts_own(launched, command: str) -> None:
    done = launched("def f(rows):\n    return rows[10]\nf([1])\n", command)
    assert done.returncode == 1
    assert "\nIndexError: list index out of range\n" in done.stderr
    assert 'script.py", line 2, in f' in done.stderr
    assert "stepscope/" not in done.stderr.split("Traceback")[1]
