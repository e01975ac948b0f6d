from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.diagnose.outputs.github import write
from stepscope.records import Finding


def test_one_line_a_finding_with_everything_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Finding(
        rule="opt.no-zero-grad",
        severity="error",
        message="100% wrong\x1b[31m\n::warning::no",
        file=str(tmp_path / "a:b.py"),
        line=88,
        column=8,
        end_column=23,
        label="norm 1 -> 2",
        fix="clear\nthem",
    )
    write([found, Finding(rule="loss.nan", severity="warning", message="NaN")], root=tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "::error file=a%3Ab.py,line=88,col=9,endColumn=23,title=opt.no-zero-grad"
        "::100%25 wrong%0A::warning::no%0Anorm 1 -> 2%0Afix: clear%0Athem",
        "::warning title=loss.nan::NaN",
    ]
