from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from tests.diagnose.sample_rules import RULES, sample_rules as sample_rules

from stepscope.cli.main import commands
from stepscope.errors import ConfigError, NotFound

pytestmark = pytest.mark.usefixtures("sample_rules")


def say(*args: str) -> str:
    return CliRunner().invoke(commands, args, catch_exceptions=False).output


def test_lists_the_rules_by_group() -> None:
    lines = [line.split() for line in say("rules").splitlines() if line.strip()]
    assert [words[0] for words in lines[:-2]] == [
        "loss",
        "loss.nan",
        "opt",
        "opt.no-zero-grad",
        "opt.stale-params",
        "repro",
        "repro.no-seed",
    ]
    assert lines[3][1:4] == ["error", "Gradients", "accumulate"]
    assert " ".join(lines[-2]) == "4 rules (2 error, 1 warning, 1 info)"


def test_chooses_by_group_pattern_and_severity() -> None:
    def listed(*args: str) -> list[str]:
        return [rule["id"] for rule in json.loads(say("rules", "--json", *args))]

    assert listed("opt") == ["opt.no-zero-grad", "opt.stale-params"]
    assert listed("*.no-*") == ["opt.no-zero-grad", "repro.no-seed"]
    assert listed("--severity", "warning") == ["loss.nan"]
    assert listed() == sorted(RULES)
    with pytest.raises(ConfigError, match="did you mean 'opt'"):
        listed("optt")


def test_explains_a_rule_with_both_examples_and_how_to_silence_it() -> None:
    assert say("explain", "opt.no-zero-grad") == EXPLAINED
    assert say("explain", "error[opt.no-zero-grad]:") == EXPLAINED


def test_a_name_that_is_no_rule_is_answered_with_what_was_meant() -> None:
    with pytest.raises(NotFound, match=r"did you mean 'opt\.no-zero-grad'"):
        say("explain", "opt.nozerograd")
    with pytest.raises(NotFound, match="'opt' is a group of rules; 'stepscope rules opt' lists them"):
        say("explain", "opt")


EXPLAINED = """\
error[opt.no-zero-grad]  Gradients accumulate because nothing clears them between optimizer steps.

Why it matters
Each update uses the sum of all gradients so far, so the step grows without bound.

What to do
Call optimizer.zero_grad() once per step.

How it is found
The gradients of a step are looked at before its backward().

Bad
    loss.backward()
    optimizer.step()

Good
    optimizer.zero_grad()
    loss.backward()

To silence it
on one line       # stepscope: ignore[opt.no-zero-grad]
for one run       --ignore opt.no-zero-grad
for the project   ignore = ["opt.no-zero-grad"] under [tool.stepscope] in pyproject.toml

Runs during training, from the second optimizer step on.
"""
