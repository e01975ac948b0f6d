"""The slow script and its five steps to a fast one learn the same thing."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAGES = sorted((ROOT / "examples" / "slow_training").glob("step*.py"))


def test_there_is_a_stage_for_each_advice() -> None:
    assert [stage.name for stage in STAGES] == [f"step{number}.py" for number in range(6)]


def test_every_stage_learns_as_well_as_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = {}
    for stage in STAGES:
        monkeypatch.setattr(sys, "argv", [str(stage), "40"])
        runpy.run_path(str(stage), run_name="__main__")
        found = re.match(r"accuracy ([\d.]+)%", capsys.readouterr().out)
        assert found is not None, stage
        right[stage.name] = float(found[1])
    assert min(right.values()) > 60
    assert max(right.values()) - min(right.values()) < 1, right


def test_the_page_shows_every_stage_and_names_advice_that_exists() -> None:
    from stepscope.diagnose.rule import rules_for

    page = (ROOT / "docs" / "faster.md").read_text()
    assert all(stage.name in page for stage in STAGES)
    named = set(re.findall(r"perf\.[a-z0-9-]+", page))
    assert named - set(rules_for("profile")) == set()
    for stage in STAGES[1:]:
        said = re.findall(r"perf\.[a-z0-9-]+", ast.get_docstring(ast.parse(stage.read_text())) or "")
        assert said
        assert set(said) <= named, f"docs/faster.md does not tell of {said}"
