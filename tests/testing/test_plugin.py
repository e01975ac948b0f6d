"""The plugin in real runs of pytest: faulty steps fail with the finding, healthy ones pass, budgets hold."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow
HEALTHY = Path(__file__).parent / "healthy_steps.py"
FAULTY = """
    import unittest
    import pytest
    import torch
    from torch import nn

    pytestmark = pytest.mark.stepscope
    torch.manual_seed(0)
    X = torch.randn(32, 8)
    Y = X.sum(1, keepdim=True)

    def make():
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
        return model, torch.optim.SGD(model.parameters(), lr=0.01)

    def test_not_cleared(training_step):
        model, optimizer = make()
        def step():
            nn.functional.mse_loss(model(X), Y).backward()
            optimizer.step()
        training_step(step)

    @pytest.mark.stepscope(allow=["opt.no-zero-grad"])
    def test_allowed():
        model, optimizer = make()
        for _ in range(5):
            nn.functional.mse_loss(model(X), Y).backward()
            optimizer.step()

    def test_crash():
        model, optimizer = make()
        model(X[:, :5]).sum().backward()

    def test_own_assertion():
        assert 1 == 2

    @pytest.mark.stepscope(max_ms=5)
    def test_nothing_measured():
        pass

    @pytest.mark.stepscope(max_time=5)
    def test_mistyped():
        pass

    @pytest.mark.stepscope(allow=["opt.no-zero-grda"])
    def test_mistyped_rule():
        pass

    class TestOfUnittest(unittest.TestCase):
        def test_method(self):
            model, optimizer = make()
            for _ in range(5):
                nn.functional.mse_loss(model(X), Y).backward()
                optimizer.step()

        def test_failing_method(self):
            self.assertEqual(1, 2)

    def test_called_with_nothing(training_step):
        training_step(3)
"""
BUDGET = """
    import os
    import time
    from pathlib import Path
    import pytest
    import torch
    from torch import nn

    SLOW = "SLOW" in os.environ
    model = nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(16, 64)

    def step():
        optimizer.zero_grad()
        wide = model(x).repeat(1, 64 if SLOW else 1)
        loss = wide.pow(2).mean()
        loss.backward()
        optimizer.step()
        time.sleep(0.2 if SLOW else 0.006)
        return loss.item()

    @pytest.mark.stepscope(baseline=True, tolerance=2, steps=3, repeats=4)
    @pytest.mark.parametrize("name", ["a", "b"])
    def test_baseline(training_step, name):
        drawn = torch.randn(2)
        torch.manual_seed(3)
        assert len(training_step(step)) == 3
        assert torch.equal(torch.randn(2), torch.randn(2, generator=torch.Generator().manual_seed(3)))

    @pytest.mark.stepscope(steps=6)
    def test_numbers(training_step):
        torch.manual_seed(1)
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))
        adam = torch.optim.Adam(net.parameters(), lr=1e-2)
        def train():
            batch = torch.randn(8, 4)
            adam.zero_grad()
            loss = nn.functional.mse_loss(net(batch), batch.sum(1, keepdim=True))
            loss.backward()
            adam.step()
            return loss.item().hex()
        weights = [training_step(train), *(one.tolist() for one in net.parameters()), torch.rand(1).item()]
        Path(os.environ["NUMBERS"]).write_text(repr(weights))

    @pytest.mark.stepscope(max_ms=1000, max_memory="1MB", repeats=3)
    def test_within(training_step):
        training_step(step)

    @pytest.mark.stepscope(max_ms=2, max_memory=100, repeats=3)
    def test_beyond(training_step):
        training_step(step)
"""


class Run(NamedTuple):
    outcomes: dict[str, str]
    texts: dict[str, str]
    output: str


def run_pytest(folder: Path, *args: str, **environment: str) -> Run:
    known = importlib.metadata.entry_points(group="pytest11", name="stepscope")
    plugin = [] if known else ["-p", "stepscope.testing.plugin"]
    command = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "--junitxml=out.xml", *args]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "STEPSCOPE"))}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300,
        env={**clean, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "NUMBERS": "numbers.txt", **environment},
    )  # fmt: skip
    assert (folder / "out.xml").exists(), done.stdout + done.stderr
    outcomes, texts = {}, {}
    for case in ElementTree.parse(folder / "out.xml").iter("testcase"):
        wrong = [part for part in case if part.tag in ("failure", "error", "skipped")]
        outcomes[case.attrib["name"]] = wrong[0].tag if wrong else "passed"
        texts[case.attrib["name"]] = "\n".join(part.text or "" for part in case)
    return Run(outcomes, texts, done.stdout)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("seen")
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\nfilterwarnings = ['error']\naddopts = '-rA'\n")
    (folder / "test_faulty.py").write_text(textwrap.dedent(FAULTY))
    (folder / "test_healthy.py").write_text(HEALTHY.read_text())
    return run_pytest(folder)


def test_a_finding_fails_the_test_with_its_place_and_fix(seen: Run) -> None:
    assert seen.outcomes["test_not_cleared"] == "failure"
    text = seen.texts["test_not_cleared"]
    assert "error[opt.no-zero-grad]: gradients of earlier steps are still there when" in text
    assert "--> test_faulty.py:19" in text
    assert "nn.functional.mse_loss(model(X), Y).backward()" in text
    assert "if this is intended: @pytest.mark.stepscope(allow=['opt.no-zero-grad'])" in text
    assert "Traceback" not in text


def test_an_allowed_finding_passes(seen: Run) -> None:
    assert seen.outcomes["test_allowed"] == "passed"


def test_healthy_steps_raise_no_alarm(seen: Run) -> None:
    names = [line.split("(")[0][4:] for line in HEALTHY.read_text().splitlines() if line.startswith("def test_")]
    assert len(names) > 35
    wrong = {name: how for name, how in seen.outcomes.items() if name.split("[")[0] in names and how != "passed"}
    assert wrong == {}, seen.output
    assert set(names) <= {name.split("[")[0] for name in seen.outcomes}


def test_a_crash_stays_the_tests_own_and_is_explained(seen: Run) -> None:
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied" in seen.texts["test_crash"]
    assert "stepscope/record" not in seen.texts["test_crash"], "our frames are in the traceback"
    assert "error[shape.linear-in]" in seen.output
    assert "assert 1 == 2" in seen.texts["test_own_assertion"]


def test_methods_of_unittest_are_watched_too(seen: Run) -> None:
    assert "error[opt.no-zero-grad]" in seen.texts["test_method"]
    assert "AssertionError: 1 != 2" in seen.texts["test_failing_method"]


def test_mistakes_are_told_in_a_line(seen: Run) -> None:
    assert "give it to the fixture" in seen.texts["test_nothing_measured"]
    assert "has no option 'max_time'; it has allow, steps, max_ms" in seen.texts["test_mistyped"]
    assert "opt.no-zero-grad" in seen.texts["test_mistyped_rule"]
    assert "training_step got 3; expected the function" in seen.texts["test_called_with_nothing"]
    assert [seen.outcomes[f"test_{name}"] for name in ("nothing_measured", "mistyped", "mistyped_rule")] == [
        "failure",
        "error",
        "error",
    ]
    assert "ERROR at teardown" not in seen.output


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A folder with baselines, made by two workers of xdist."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_budget.py").write_text(textwrap.dedent(BUDGET))
    return folder, run_pytest(
        folder, "-n", "2", "--stepscope-update-baseline", "-k", "baseline or numbers", NUMBERS="watched.txt"
    )


def test_baselines_of_several_workers_land_in_one_file(kept: tuple[Path, Run]) -> None:
    folder, run = kept
    assert set(run.outcomes.values()) == {"passed"}, run.output
    (machine,) = json.loads((folder / "tests" / ".stepscope-baseline.json").read_text())["machines"].values()
    assert list(machine["tests"]) == ["test_budget.py::test_baseline[a]", "test_budget.py::test_baseline[b]"]
    for row in machine["tests"].values():
        assert len(row["ms"]) == 4
        assert min(row["ms"]) > 6
        assert row["peak_bytes"] > 16 * 64 * 4
    assert "baseline of 2 tests written to tests/.stepscope-baseline.json" in run.output


def test_the_same_steps_pass_and_budgets_are_kept_or_told(kept: tuple[Path, Run]) -> None:
    run = run_pytest(kept[0])
    assert run.outcomes == {
        "test_baseline[a]": "passed",
        "test_baseline[b]": "passed",
        "test_numbers": "passed",
        "test_within": "passed",
        "test_beyond": "failure",
    }, run.output
    assert "time: a step takes " in run.texts["test_beyond"]
    assert "at most 2 ms is allowed (max_ms)" in run.texts["test_beyond"]
    assert "at its peak; at most 100 B is allowed (max_memory)" in run.texts["test_beyond"]


def test_a_slower_and_larger_step_fails_and_on_another_machine_nothing_is_compared(kept: tuple[Path, Run]) -> None:
    folder, _ = kept
    file = folder / "tests" / ".stepscope-baseline.json"
    whole = json.loads(file.read_text())
    (key,) = whole["machines"]
    elsewhere = {"tests": {"test_budget.py::test_baseline[b]": whole["machines"][key]["tests"].pop(
        "test_budget.py::test_baseline[b]")}}  # fmt: skip
    for row in whole["machines"][key]["tests"].values():
        row["reference_ms"] = 1e6  # the machine is not slower than then, however busy it is
    other = folder / "tests" / "other.json"
    other.write_text(json.dumps({"version": 1, "machines": {**whole["machines"], "elsewhere": elsewhere}}))
    run = run_pytest(folder, "-k", "baseline", "--stepscope-baseline", "tests/other.json", SLOW="1")
    assert run.outcomes == {"test_baseline[a]": "failure", "test_baseline[b]": "passed"}
    text = run.texts["test_baseline[a]"]
    assert "time: a step takes " in text
    assert "its baseline is" in text
    assert "memory: a step takes" in text
    assert "pytest --stepscope-update-baseline 'tests/test_budget.py::test_baseline[a]'" in text
    assert "test_baseline[b]: its baseline was made on another machine; nothing was compared" in run.output


def test_it_costs_nothing_where_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\ndef test_plain():\n"
        "    heavy = {'torch', 'numpy', 'rich', 'msgspec', 'click', 'starlette', 'stepscope.diagnose'}\n"
        "    assert sorted(heavy & set(sys.modules)) == []\n"
        "    assert 'stepscope.testing.plugin' in sys.modules\n"
    )
    run = run_pytest(tmp_path, "-p", "no:hypothesispytest")
    assert run.outcomes == {"test_plain": "passed"}, run.output
    assert "stepscope ---" not in run.output


def test_without_us_marked_tests_run_plainly(kept: tuple[Path, Run]) -> None:
    run = run_pytest(kept[0], "--no-stepscope", "--strict-markers", NUMBERS="plain.txt")
    assert set(run.outcomes.values()) == {"passed"}, run.output
    plain, watched = ((kept[0] / f"{name}.txt").read_text() for name in ("plain", "watched"))
    assert plain == watched, "losses, weights and the next random number are the same to the bit"
