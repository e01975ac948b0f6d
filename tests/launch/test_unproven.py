"""A rule that saw too little has not passed: `check` says so, and the run keeps it."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from stepscope.runs.read.folder import RunFolder

from .conftest import Done, launch_all

SCRIPT = """
    import sys, torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    if "compiled" in sys.argv:
        model = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(400, 4)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
    for number, (inputs, targets) in enumerate(loader):
        if "short" in sys.argv and number == 2:
            break
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
CASES = {
    "plain": ["check", "--json", "train.py"],
    "compiled": ["check", "--json", "train.py", "compiled"],
    "short": ["check", "--json", "train.py", "short"],
    "run": ["run", "-q", "--dir", "runs", "train.py", "compiled"],
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, Path]]:
    folders = {name: tmp_path_factory.mktemp(name) for name in CASES}
    for folder in folders.values():
        (folder / "train.py").write_text(textwrap.dedent(SCRIPT))
    cases = [{"args": args, "cwd": str(folders[name])} for name, args in CASES.items()]
    answers = launch_all(cases, torch=True)
    assert [one.err for one in answers if one.code] == []
    return {name: (one, folders[name]) for name, one in zip(CASES, answers, strict=True)}


def states(done: Done) -> dict[str, tuple[str, str]]:
    (script,) = json.loads(done.out)["scripts"]
    return {one["question"]: (one["state"], one["said"]) for one in script["answers"]}


def test_what_was_watched_closely_passes_and_the_rules_that_saw_too_little_are_named(
    done: dict[str, tuple[Done, Path]],
) -> None:
    given = states(done["plain"][0])
    assert given["gradients reach every trainable parameter"][0] == "passed"
    state, said = given["inputs are finite, scaled and well shuffled"]
    assert state == "passed"
    assert "data.label-noise" in said
    assert "did not see enough: passes over the training data were cut short" in said
    assert given["checkpoints contain what they should"] == ("not checked", "nothing was saved or loaded")


def test_nothing_passes_of_a_compiled_model_but_what_was_seen(done: dict[str, tuple[Done, Path]]) -> None:
    given = states(done["compiled"][0])
    for question in ("gradients reach every trainable parameter", "the loss matches the model's output"):
        state, said = given[question]
        assert (state, said) == ("not checked", "none of 7 steps were watched in detail: the script compiles its model")
    assert given["gradients are cleared and steps taken in the right order"][0] == "not checked"


def test_two_steps_are_too_few_for_rules_on_their_order(done: dict[str, tuple[Done, Path]]) -> None:
    given = states(done["short"][0])
    question = "gradients are cleared and steps taken in the right order"
    assert given[question] == ("not checked", "only 2 optimizer steps of at least 3")


def test_the_run_keeps_which_rules_prove_nothing(done: dict[str, tuple[Done, Path]]) -> None:
    (path,) = (one for one in (done["run"][1] / "runs").iterdir() if one.is_dir())
    coverage = RunFolder(path).coverage
    assert coverage is not None
    unproven = {one.need: one for one in coverage.unproven}
    assert "loss.broadcast" in unproven["operations"].rules
    assert "opt.no-zero-grad" in unproven["steps"].rules
    assert unproven["steps"].why == "none of 50 steps were watched in detail: the script compiles its model"
