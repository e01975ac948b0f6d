"""Every part of the launcher broken on purpose: the script prints and ends as if nothing had happened."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from .conftest import Done, launch_all
from .test_training import TRAIN

PARTS = [
    "events.imports:Imports.when",
    "tracking:Tracking",
    "reporting:Reporter.take",
    "reporting:Reporter.say",
    "reporting:Reporter.close",
    "limits:Limiter._plan",
    "limits:Limiter._batch_is_asked",
    "limits:Limiter._pass_begins",
    "limits:Limiter._learn",
    "loader_roles:Roles",
    "auto_metrics:Logbook",
    "hyperparameters:Hyperparameters",
    "evaluations:Evaluations",
    "parts.loop:FirstStep._stepped",
    "session:Session._torch_came",
    "parts.loop:Limited",
    "parts.watch:Watch._start",
    "session:Session.begin",
    "session:Session.conclude",
    "parts.verdict:SummedUp",
    "parts.final_rules:LastLook",
    "parts.hooks:Hooks",
    "parts.verdict:by_severity",
    "loop:samples_in",
    "auto_metrics:memory",
    "evaluation_pass:EvaluationPass",
    "printed.series:PrintedSeries",
    "parts.printed:PrintedNumbers",
    "parts.steps_by_hand:StepsByHand",
    "parts.unrecognized:NothingRecognized",
]

WRITERS = [
    "runs.write.logfile:LogFile.append",
    "runs.write.writer:RunWriter.event",
    "runs.write.writer:RunWriter.wide",
    "runs.write.writer:RunWriter",
    "diagnose.outputs.json:write",
    "diagnose.outputs.sarif:write",
    "diagnose.outputs.github:write",
    "diagnose.show:render",
    "diagnose.engine:Engine._take",
    "record.observers.crash.observe:observe",
    "diagnose.crash.explain:explain",
    "launch.capsule.keeper:Keeper",
    "launch.capsule.keeper:Keeper._write",
    "launch.capsule.keeper:Keeper.crashed",
]
CRASH = """
    import torch
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        loss = model(torch.randn(4, 3)).square().sum()
        loss.backward()
        optimizer.step()
        print("step", loss.item().hex())
    model(torch.randn(4, 7))
    """


def _address(part: str) -> str:
    return f"stepscope.{part}" if part.startswith("events.") else f"stepscope.launch.{part}"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    cases = []
    for part in ["", *PARTS]:
        folder = tmp_path_factory.mktemp("fault")
        (folder / "train.py").write_text(textwrap.dedent(TRAIN).replace("epochs = 0.1, 3", "epochs = 0.1, 1"))
        args = ["run", "--dir", "runs", "--limit-val-batches", "2", "train.py"]
        cases.append({"args": args, "cwd": str(folder), "break": [_address(part)] if part else []})
    return dict(zip(["", *PARTS], launch_all(cases, torch=True), strict=True))


@pytest.mark.parametrize("part", PARTS)
def test_a_fault_of_ours_never_reaches_the_script(done: dict[str, Done], part: str) -> None:
    steps = [line for line in done[""].out.splitlines() if line.startswith(("step", "weights", "finally"))]
    ours = [line for line in done[part].out.splitlines() if line.startswith(("step", "weights", "finally"))]
    assert (ours, done[part].code) == (steps, 0)
    assert len(steps) == 7
    assert "Traceback" not in done[part].err


def test_a_fault_is_said_once(done: dict[str, Done]) -> None:
    said = done["parts.loop:FirstStep._stepped"].err
    assert said.count("broken on purpose") == 1
    assert "training continues" in said


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    cases = []
    for part in ["", *WRITERS]:
        folder = tmp_path_factory.mktemp("writer")
        (folder / "train.py").write_text(textwrap.dedent(CRASH))
        args = ["run", "--dir", "runs", "--json", "found.json", "--sarif", "found.sarif", "train.py"]
        more = {"break": [f"stepscope.{part}"] if part else [], "env": {"GITHUB_ACTIONS": "true"}}
        cases.append({"args": args, "cwd": str(folder), **more})
    return dict(zip(["", *WRITERS], launch_all(cases, torch=True), strict=True))


def test_the_unbroken_run_finds_the_fault_and_keeps_the_step(crashed: dict[str, Done]) -> None:
    assert all(said in crashed[""].err for said in ("opt.no-zero-grad", "shape.linear-in", "is saved"))
    at = [crashed[""].err.index(f"error[{rule}]") for rule in ("opt.no-zero-grad", "shape.linear-in")]
    assert at == sorted(at), "what ended the script stands next to the prompt"


@pytest.mark.parametrize("part", WRITERS)
def test_a_writer_that_fails_takes_nothing_from_the_script(crashed: dict[str, Done], part: str) -> None:
    def steps(one: Done) -> list[str]:
        return [line for line in one.out.splitlines() if not line.startswith("::")]

    assert (steps(crashed[part]), crashed[part].code) == (steps(crashed[""]), 1)
    assert len(steps(crashed[part])) == 6
    (raised,) = (line for line in crashed[""].err.splitlines() if line.startswith("RuntimeError: "))
    assert raised in crashed[part].err.splitlines()
    said = [line for line in crashed[part].err.splitlines() if "broken on purpose" in line]
    assert len(said) == len(set(said))


def test_a_store_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "train.py").write_text("print('trains')")
    (done,) = launch_all([{"args": ["run", "--dir", "file/runs", "train.py"], "cwd": str(tmp_path)}])
    assert (done.out, done.code) == ("trains\n", 0)
